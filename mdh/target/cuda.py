"""CUDA C++ as Dialect sees it."""

from math import prod

from mdh.hardware import CacheHint, Space, SyncScope
from mdh.ir.copy_engine import CopyEngineStmt
from mdh.ir.dtype import BF16, EIGHTHS, F16, F64, DType
from mdh.ir.expr import Call, Cast, Const, Expr, Load
from mdh.ir.intrinsic import Intrinsic
from mdh.ir.kernel import Atomic, Barrier, Buf, For, Move, Store
from mdh.ir.library_call import MatrixCall
from mdh.ir.matrix import MatrixStmt
from mdh.target.clike import POSTFIX, UNARY, place, same_value_type, text
from mdh.target.cuda_copy_engine import copy_engine_line
from mdh.target.cuda_matrices import matrix_lines
from mdh.target.cuda_moves import move_lines, vector_type
from mdh.target.dialect import ExprText, PrintScope
from mdh.target.eighths import from_function
from mdh.target.operators import atomic_helper
from mdh.target.statements import updated

STORAGE = {
    "f8e4m3": "unsigned char", "f8e5m2": "unsigned char",
    "f16": "__half", "bf16": "__nv_bfloat16", "f32": "float", "f64": "double",
    "i8": "signed char", "i16": "short", "i32": "int", "i64": "long long",
    "u8": "unsigned char", "u16": "unsigned short", "u32": "unsigned int", "u64": "unsigned long long",
}  # fmt: skip
TO_FLOAT = {F16: "__half2float", BF16: "__bfloat162float", **{t: f"{t.name}_to_f32" for t in EIGHTHS}}
FROM_FLOAT = {
    F16: "__float2half_rn",
    BF16: "__float2bfloat16_rn",
    **{t: from_function(t, kept=False) for t in EIGHTHS},
}
LOW_OF_PAIR = {
    F16: "__low2half(__floats2half2_rn({}, 0.0f))", BF16: "__low2bfloat16(__floats2bfloat162_rn({}, 0.0f))"
}  # fmt: skip
"""Conversions from float by the instruction for pairs. ptxas serialises wgmma where one of a single number
reads an accumulator (C7514). Where the number is one of the results themselves, CUDA 13.0 asks for a pair of
them: `f16_of_pair`."""
COORDINATES: dict[str, str] = {Intrinsic.BLOCK_ID: "blockIdx", Intrinsic.THREAD_ID: "threadIdx"}
SHUFFLES: dict[str, str] = {
    Intrinsic.SHFL: "__shfl_sync",
    Intrinsic.SHFL_UP: "__shfl_up_sync",
    Intrinsic.SHFL_XOR: "__shfl_xor_sync",
}
UNCHANGED = frozenset({"isnan", "isinf", "isfinite", "signbit"})
NATIVE_ATOMICS = {"+": "atomicAdd", "min": "atomicMin", "max": "atomicMax"} | {
    "&": "atomicAnd", "|": "atomicOr", "^": "atomicXor"
}  # fmt: skip


class Cuda:
    language = "cuda"
    long_suffix = "LL"

    def value_type(self, dtype: DType, lanes: int = 1) -> str:
        return "float" if dtype in TO_FLOAT else STORAGE[dtype.name]

    def opening(self, loop: For, scope: PrintScope) -> list[str]:
        return []

    def element_type(self, buf: Buf) -> str:
        return STORAGE[buf.dtype.name]

    def aligned(self, n: int) -> str:
        return f"__align__({n}) "

    def packed(self, buf: Buf, scope: PrintScope) -> list[str]:
        return []

    def zeros(self, buf: Buf) -> str:
        return "{}"

    def unroll(self, factor: int, trips: int | None) -> str:
        return f"#pragma unroll {factor}" if factor else "#pragma unroll"

    def subscript(self, buf: Buf, e: Expr, scope: PrintScope) -> Expr:
        return e

    def coordinate(self, call: Call, scope: PrintScope) -> str:
        if call.fn == Intrinsic.CLUSTER_RANK:
            return "cluster_rank()"
        axis = call.args[0]
        assert isinstance(axis, Const)
        return f"(int){COORDINATES[call.fn]}.{'xyz'[int(axis.value)]}"

    def cast(self, e: Cast, scope: PrintScope) -> ExprText:
        if e.dtype in FROM_FLOAT:
            if e.arg.dtype == e.dtype:
                return ExprText(text(e.arg, scope, self, POSTFIX), POSTFIX)
            rounded = f"{FROM_FLOAT[e.dtype]}({text(e.arg, scope, self)})"
            return ExprText(f"{TO_FLOAT[e.dtype]}({rounded})", POSTFIX)
        if same_value_type(e.arg.dtype, e.dtype, self):
            return ExprText(text(e.arg, scope, self, UNARY), UNARY)
        return ExprText(f"({self.value_type(e.dtype)}){text(e.arg, scope, self, UNARY)}", UNARY)

    def call(self, e: Call, scope: PrintScope) -> ExprText:
        args = ", ".join(text(a, scope, self) for a in e.args)
        if e.fn in SHUFFLES:
            return ExprText(f"{SHUFFLES[e.fn]}(0xffffffff, {args})", POSTFIX)
        if e.fn in (Intrinsic.IMIN, Intrinsic.IMAX):
            return ExprText(f"{e.fn[1:]}({args})", POSTFIX)
        if e.fn == Intrinsic.PACKED:
            return ExprText(f"packed_{e.args[1].dtype.name}({args})", POSTFIX)
        if e.fn == Intrinsic.UNPACKED:
            return ExprText(f"unpacked_{e.dtype.name}({args})", POSTFIX)
        if e.fn in (Intrinsic.FIRST_LANE, Intrinsic.TO_TF32):
            return ExprText(f"{e.fn}({args})", POSTFIX)
        if e.fn == Intrinsic.DIVIDED:
            return ExprText(f"divided_{e.dtype.name}({args})", POSTFIX)
        if e.fn == Intrinsic.PEER:
            return ExprText(f"peer_{e.dtype.name}(&{args})", POSTFIX)
        return ExprText(f"{self.function(e.fn, e.dtype)}({args})", POSTFIX)

    def function(self, fn: str, dtype: DType) -> str:
        if fn in UNCHANGED:
            return fn
        if not dtype.is_float:
            return "llabs" if fn == "abs" and dtype.bits == 64 else fn
        return fn if dtype == F64 else fn + "f"

    def vector(self, e: Expr, scope: PrintScope) -> ExprText | None:
        return None

    def load(self, buf: Buf, place: str, lanes: int, *, scope: PrintScope) -> ExprText:
        spun = buf.name in scope.spun
        if spun:
            place = f"*(volatile const {STORAGE[buf.dtype.name]} *)&{place}"
        if buf.dtype in TO_FLOAT:
            return ExprText(f"{TO_FLOAT[buf.dtype]}({place})", POSTFIX)
        return ExprText(place, UNARY if spun else POSTFIX)

    def store(self, s: Store, scope: PrintScope) -> list[str]:
        buf = scope.buffers[s.buffer]
        where = place(buf, s.index, scope, self)
        update = updated(s)
        if update and buf.dtype not in TO_FLOAT and s.cache != CacheHint.STREAM:
            op, right = update
            return [f"{where} {op}= {text(right, scope, self)};"]
        value = self.stored(buf, s.value, scope)
        if buf.name in scope.spun:
            where = f"*(volatile {STORAGE[buf.dtype.name]} *)&{where}"
        if s.cache == CacheHint.STREAM and buf.space is Space.DM:
            return [f"__stcs(&{where}, {value});"]
        return [f"{where} = {value};"]

    def stored(self, buf: Buf, value: Expr, scope: PrintScope) -> str:
        dtype = buf.dtype
        if dtype not in FROM_FLOAT:
            return text(value, scope, self)
        convert = FROM_FLOAT[dtype]
        if dtype in EIGHTHS and value.dtype == dtype and not isinstance(value, Cast):
            convert = from_function(dtype, kept=True)
        while isinstance(value, Cast) and value.dtype == dtype:
            value = value.arg  # the store rounds
        rounded = text(value, scope, self)
        if scope.grouped and buf.space is Space.DM and dtype in LOW_OF_PAIR:
            held = scope.buffers.get(value.buffer) if isinstance(value, Load) else None
            if held is not None and held.space is Space.RM and prod(held.shape) % 2 == 0:
                name, _, where = rounded.partition("[")
                return f"{dtype.name}_of_pair({name}, {where.removesuffix(']')})"
            return LOW_OF_PAIR[dtype].format(rounded)
        return f"{convert}({rounded})"

    def move(self, s: Move, scope: PrintScope) -> list[str]:
        return move_lines(s, scope, self)

    def atomic(self, s: Atomic, scope: PrintScope) -> list[str]:
        buf = scope.buffers[s.buffer]
        where = f"&{place(buf, s.index, scope, self)}"
        value = text(s.value, scope, self)
        if s.lanes > 1:
            kind = vector_type(buf.dtype, s.lanes)
            where, value = f"({kind} *){where}", f"*(const {kind} *)&{value}"
        call = self.atomic_call(s.op, buf.dtype, where, value)
        if s.result is None:
            return [f"{call};"]
        kind = self.value_type(buf.dtype)
        cast = f"({kind})" if buf.dtype.name == "i64" else ""
        return [f"const {kind} {scope.name(s.result)} = {cast}{call};"]

    def atomic_call(self, op: str, dtype: DType, where: str, value: str) -> str:
        native = NATIVE_ATOMICS.get(op)
        if dtype.name in ("i32", "u32", "u64") and native:
            return f"{native}({where}, {value})"
        if dtype.name == "i64" and native:
            if op in ("min", "max"):
                return f"{native}({where}, {value})"
            wide = "unsigned long long"
            return f"{native}(({wide} *){where}, ({wide})({value}))"
        if dtype.name in ("f32", "f64") and op == "+":
            return f"atomicAdd({where}, {value})"
        return f"{atomic_helper(op, dtype)}({where}, {value})"

    def barrier(self, s: Barrier, scope: PrintScope) -> list[str]:
        note = f"  // {s.reason}" if s.reason else ""
        match s.scope:
            case SyncScope.CLUSTER:
                return [f"cluster_sync();{note}"]
            case SyncScope.DEVICE:
                return ["__threadfence();", f"__syncthreads();{note}"]
            case SyncScope.GROUP:
                return [f"group_sync();{note}"]
            case SyncScope.BLOCK:
                return [f"__syncthreads();{note}"]

    def fence(self) -> str:
        return "__threadfence();"

    def commit(self) -> list[str]:
        return ["cp_async_commit();"]

    def wait(self, pending: int) -> list[str]:
        return [f"cp_async_wait<{pending}>();"]

    def await_kernels(self) -> list[str]:
        return ['asm volatile("griddepcontrol.wait;" ::: "memory");  // the kernels in front have ended']

    def instruction(self, s: MatrixStmt | CopyEngineStmt | MatrixCall, scope: PrintScope) -> list[str]:
        assert not isinstance(s, MatrixCall), "K182 refuses calls here"
        if isinstance(s, MatrixStmt):
            return matrix_lines(s, scope, self)
        return [copy_engine_line(s, scope, self)]
