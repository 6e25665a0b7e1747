"""OpenCL C 1.2 as Dialect sees it: vectors are values, narrow floats are bit patterns in ushort and uchar."""

from math import isfinite, prod

from mdh.hardware import Space, SyncScope
from mdh.ir.copy_engine import CopyEngineStmt
from mdh.ir.dtype import F32, F64, NARROW, DType
from mdh.ir.expr import Call, Cast, Const, Expr
from mdh.ir.intrinsic import Intrinsic
from mdh.ir.kernel import Atomic, Barrier, Buf, For, Move, Store
from mdh.ir.library_call import MatrixCall
from mdh.ir.matrix import MatrixStmt
from mdh.target.clike import CONDITIONAL, POSTFIX, UNARY, lanes_of, place, same_value_type, text
from mdh.target.dialect import ExprText, PrintScope
from mdh.target.eighths import from_function
from mdh.target.offset import as_long
from mdh.target.operators import atomic_helper
from mdh.target.statements import updated
from mdh.target.vectors import vector_piece, widened

VALUE = {
    "f8e4m3": "float", "f8e5m2": "float", "f16": "float", "bf16": "float", "f32": "float", "f64": "double",
    "i8": "char", "i16": "short", "i32": "int", "i64": "long",
    "u8": "uchar", "u16": "ushort", "u32": "uint", "u64": "ulong",
}  # fmt: skip
STORED = {8: "uchar", 16: "ushort"}
"""The bits of narrow floats, by their number."""
ADDRESS = {Space.DM: "__global ", Space.SM: "__local ", Space.RM: ""}
COORDINATES: dict[str, str] = {Intrinsic.BLOCK_ID: "get_group_id", Intrinsic.THREAD_ID: "get_local_id"}
ATOMICS = {"+": "add", "min": "min", "max": "max", "&": "and", "|": "or", "^": "xor"}


class OpenCL:
    language = "opencl"
    long_suffix = "L"
    both, either, neither = "&&", "||", "!"

    def value_type(self, dtype: DType, lanes: int = 1) -> str:
        return VALUE[dtype.name] + _width(lanes)

    def stored_type(self, dtype: DType, lanes: int = 1) -> str:
        """The type of elements in memory, or of a vector of them."""
        return stored_type(dtype) + _width(lanes)

    def address(self, buf: Buf) -> str:
        """The qualifier of the memory in which a buffer lies, with the blank after it."""
        return ADDRESS[buf.space] if buf.values is None else "__constant "

    def repeated(self, dtype: DType, lanes: int, value: str, *, stored: bool = False) -> str:
        """A vector whose lanes all are the scalar `value`: of values, or of elements as they are stored."""
        return f"({(self.stored_type if stored else self.value_type)(dtype, lanes)})({value})"

    def converted(self, dtype: DType, lanes: int, value: str) -> str:
        """A vector `value` with each lane converted to the value type of `dtype`."""
        return f"convert_{self.value_type(dtype, lanes)}({value})"

    def chosen(self, mask: ExprText, then: str, other: str, dtype: DType, lanes: int) -> ExprText:
        test = mask.text if mask.rank > CONDITIONAL else f"({mask.text})"
        return ExprText(f"{test} ? {then} : {other}", CONDITIONAL)

    def alike(self, then: str, other: str, dtype: DType, lanes: int) -> str:
        return f"{then} : {other}"

    def numbers(self, dtype: DType, values: str, lanes: int) -> ExprText:
        return ExprText(f"({self.value_type(dtype, lanes)})({values})", UNARY)

    def picked(self, vector: str, number: int) -> str:
        return f"{vector}.s{number:x}"

    def unroll(self, factor: int, trips: int | None) -> str:
        return f"#pragma unroll {factor}" if factor else "#pragma unroll"

    def opening(self, loop: For, scope: PrintScope) -> list[str]:
        return []

    def element_type(self, buf: Buf) -> str:
        return self.stored_type(buf.dtype, buf.lanes)

    def aligned(self, n: int) -> str:
        return f"__attribute__((aligned({n}))) "

    def packed(self, buf: Buf, scope: PrintScope) -> list[str]:
        return []

    def zeros(self, buf: Buf) -> str:
        return "{0}" if buf.lanes == 1 else ""

    def stored(self, buf: Buf, value: Expr, scope: PrintScope) -> str:
        if buf.dtype not in NARROW:
            lanes = lanes_of(value, scope)
            if lanes > 1 and not same_value_type(value.dtype, buf.dtype, self):
                value = Cast(value, buf.dtype)
            return text(value, scope, self)
        kept = value.dtype == buf.dtype and not isinstance(value, Cast)
        while isinstance(value, Cast) and value.dtype == buf.dtype and value.arg.dtype.is_float:
            value = value.arg  # the store rounds
        return self.from_float(buf.dtype, value, scope, kept=kept)

    def from_float(self, dtype: DType, value: Expr, scope: PrintScope, *, kept: bool = False) -> str:
        """The bits of a narrow float. kept: `value` is a number of the type."""
        if not same_value_type(value.dtype, F32, self):
            value = Cast(value, F32)
        function = from_function(dtype, kept=kept)
        return f"{function}{_lanes_suffix(lanes_of(value, scope))}({text(value, scope, self)})"

    def subscript(self, buf: Buf, e: Expr, scope: PrintScope) -> Expr:
        """CPUs address memory in 64 bits: a sum in 32 costs them an addition and a conversion an access,
        where one in 64 is folded into the access."""
        return e if buf.space is Space.RM or not alone(scope) else as_long(e)

    def coordinate(self, call: Call, scope: PrintScope) -> str:
        axis = call.args[0]
        assert isinstance(axis, Const)
        return f"(int){COORDINATES[call.fn]}({axis.value})"

    def cast(self, e: Cast, scope: PrintScope) -> ExprText:
        lanes = lanes_of(e.arg, scope)
        if e.dtype in NARROW and e.arg.dtype != e.dtype:
            rounded = self.from_float(e.dtype, e.arg, scope)
            return ExprText(f"{e.dtype.name}_to_f32{_lanes_suffix(lanes)}({rounded})", POSTFIX)
        if same_value_type(e.arg.dtype, e.dtype, self):
            return ExprText(text(e.arg, scope, self, UNARY), UNARY)
        if lanes > 1:
            arg = text(e.arg, scope, self)
            if _same_bits(e.arg.dtype, e.dtype):
                return self.same_bits(e.dtype, lanes, arg)
            return ExprText(self.converted(e.dtype, lanes, arg), POSTFIX)
        return ExprText(f"({self.value_type(e.dtype)}){text(e.arg, scope, self, UNARY)}", UNARY)

    def same_bits(self, dtype: DType, lanes: int, value: str) -> ExprText:
        """A vector of integers as one of the other sign."""
        return ExprText(f"as_{self.value_type(dtype, lanes)}({value})", POSTFIX)

    def call(self, e: Call, scope: PrintScope) -> ExprText:
        lanes = lanes_of(e, scope)
        args = ", ".join(_endless(a, lanes) + widened(a, lanes, scope, self) for a in e.args)
        match e.fn:
            case Intrinsic.IMIN | Intrinsic.IMAX:
                return ExprText(f"{e.fn[1:]}({args})", POSTFIX)
            case Intrinsic.DIVIDED:
                return ExprText(f"divided_{e.dtype.name}({args})", POSTFIX)
            case "abs":  # OpenCL's abs is unsigned
                return ExprText(f"as_{self.value_type(e.dtype, lanes)}(abs({args}))", POSTFIX)
            case "nearbyint":
                return ExprText(f"rint({args})", POSTFIX)
            case _:
                return ExprText(f"{e.fn}({args})", POSTFIX)

    def vector(self, e: Expr, scope: PrintScope) -> ExprText | None:
        return vector_piece(e, scope, self)

    def load(self, buf: Buf, place: str, lanes: int, *, scope: PrintScope) -> ExprText:
        rank = POSTFIX
        if lanes > buf.lanes:
            place, rank = self.access(buf, place, lanes, scope, const=True), UNARY
        elif buf.name in scope.spun:
            kind = f"volatile {self.address(buf)}const {self.stored_type(buf.dtype)}"
            place, rank = f"*({kind} *)&{place}", UNARY
        if buf.dtype in NARROW:
            suffix = _lanes_suffix(max(lanes, buf.lanes))
            return ExprText(f"{buf.dtype.name}_to_f32{suffix}({place})", POSTFIX)
        return ExprText(place, rank)

    def access(self, buf: Buf, place: str, lanes: int, scope: PrintScope, *, const: bool = False) -> str:
        """Element `place` of an array seen as a vector.

        CPUs (one work-item a group) read vectors at any address, through an under-aligned type; GPUs need
        the alignment that the lowering has proven.
        """
        loose = "_u" if alone(scope) else ""
        kind = self.stored_type(buf.dtype, lanes) + loose
        return f"*({self.address(buf)}{'const ' if const else ''}{kind} *)&{place}"

    def store(self, s: Store, scope: PrintScope) -> list[str]:
        buf = scope.buffers[s.buffer]
        where = place(buf, s.index, scope, self)
        update = updated(s)
        if update and buf.dtype not in NARROW:
            op, right = update
            if s.lanes > buf.lanes:
                where = self.access(buf, where, s.lanes, scope)
            return [f"{where} {op}= {text(right, scope, self)};"]
        value = self.stored(buf, s.value, scope)
        if buf.dtype in NARROW and max(s.lanes, buf.lanes) > lanes_of(s.value, scope):
            value = self.repeated(buf.dtype, max(s.lanes, buf.lanes), value, stored=True)
        return [self.put(buf, where, value, s.lanes, s.cache, scope)]

    def put(self, buf: Buf, where: str, value: str, lanes: int, cache: str, scope: PrintScope) -> str:
        """The statement that stores `value`, of `lanes` elements, at element `where`. `@cache` says nothing
        to OpenCL C."""
        return f"{self.access(buf, where, lanes, scope) if lanes > buf.lanes else where} = {value};"

    def move(self, s: Move, scope: PrintScope) -> list[str]:
        dst, src = scope.buffers[s.dst], scope.buffers[s.src]
        lanes = max(s.lanes, dst.lanes, src.lanes)
        to = place(dst, s.dst_index, scope, self)
        value = place(src, s.src_index, scope, self)
        if lanes > src.lanes:
            value = self.access(src, value, lanes, scope, const=True)
        if s.pred is not None:
            fill = s.fill if s.fill is not None else Const(0, dst.dtype)
            empty = self.stored(dst, fill, scope)
            if lanes > 1:
                empty = self.repeated(dst.dtype, lanes, empty, stored=True)
            value = f"{text(s.pred, scope, self, CONDITIONAL + 1)} ? {value} : {empty}"
        return [self.put(dst, to, value, lanes, s.cache, scope)]

    def atomic(self, s: Atomic, scope: PrintScope) -> list[str]:
        buf = scope.buffers[s.buffer]
        where = f"&{place(buf, s.index, scope, self)}"
        call = f"{atomic_name(s.op, buf)}({where}, {text(s.value, scope, self)})"
        if s.result is None:
            return [f"{call};"]
        return [f"const {self.value_type(buf.dtype)} {scope.name(s.result)} = {call};"]

    def barrier(self, s: Barrier, scope: PrintScope) -> list[str]:
        fence = "CLK_LOCAL_MEM_FENCE"
        if s.scope == SyncScope.DEVICE or SyncScope.DEVICE in s.reason or scope.handed:
            fence += " | CLK_GLOBAL_MEM_FENCE"
        return [f"barrier({fence});" + (f"  // {s.reason}" if s.reason else "")]

    def instruction(self, s: MatrixStmt | CopyEngineStmt | MatrixCall, scope: PrintScope) -> list[str]:
        raise AssertionError("K165, K171 and K182 refuse the copy engine, tensor cores and calls here")

    def fence(self) -> str:
        return "mem_fence(CLK_GLOBAL_MEM_FENCE);"

    def commit(self) -> list[str]:
        return []  # async moves are plain ones here

    def wait(self, pending: int) -> list[str]:
        return []

    def await_kernels(self) -> list[str]:
        return []  # no kernel is launched before those in front have ended


def _same_bits(one: DType, other: DType) -> bool:
    """Integers of one width. Their conversion keeps the bits and needs no function. PoCL's functions take
    vectors of 64 bytes in other registers than its kernels pass them in, on processors with AVX-512."""
    return one.bits == other.bits and not one.is_float and not other.is_float


def _endless(e: Expr, lanes: int) -> str:
    """A cast for infinities and NaN as doubles: their names are floats, and functions go by types."""
    found = isinstance(e, Const) and e.dtype == F64 and not isfinite(e.value)
    return "(double)" if found and lanes == 1 else ""


def stored_type(dtype: DType) -> str:
    return STORED[dtype.bits] if dtype in NARROW else VALUE[dtype.name]


def alone(scope: PrintScope) -> bool:
    """A work-group has one work-item, as on CPUs."""
    return prod(scope.kernel.launch.block) == 1


def atomic_name(op: str, buf: Buf) -> str:
    """OpenCL 1.2's function for 32-bit integers, the 64-bit extension's `+`, else a compare-and-swap loop."""
    if buf.dtype.name in ("i32", "u32") and op in ATOMICS:
        return f"atomic_{ATOMICS[op]}"
    if buf.dtype.name in ("i64", "u64") and op == "+":
        return "atom_add"
    return f"{atomic_helper(op, buf.dtype)}_{'local' if buf.space is Space.SM else 'global'}"


def _width(lanes: int) -> str:
    return str(lanes) if lanes > 1 else ""


def _lanes_suffix(lanes: int) -> str:
    return f"x{lanes}" if lanes > 1 else ""
