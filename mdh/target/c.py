"""C with GNU's vectors (GCC, Clang) as Dialect sees it: OpenCL C's view of vectors, spelled otherwise.

A work-group is one turn of the kernel's loop over groups, so it has one work-item; what its lanes do that
C's operators cannot say for vectors is in small functions (`c_helpers`), which compilers turn into single
instructions.
"""

from mdh.hardware import CacheHint, Space
from mdh.ir.copy_engine import CopyEngineStmt
from mdh.ir.dtype import F32, F64, NARROW, DType
from mdh.ir.expr import Call, Const, Expr
from mdh.ir.intrinsic import Intrinsic
from mdh.ir.kernel import Atomic, Barrier, Buf, For, Store
from mdh.ir.library_call import MatrixCall
from mdh.ir.matrix import MatrixStmt
from mdh.target.blas import call_line
from mdh.target.clike import POSTFIX, UNARY, lanes_of, place, text
from mdh.target.dialect import ExprText, PrintScope
from mdh.target.opencl import OpenCL
from mdh.target.operators import OPERATOR_NAMES
from mdh.target.shared import shared_elements
from mdh.target.statements import updated
from mdh.target.sums import IN_ORDER, sums_in_order
from mdh.target.vectors import widened

VALUE = {
    "f8e4m3": "float", "f8e5m2": "float", "f16": "float", "bf16": "float", "f32": "float", "f64": "double",
    "i8": "int8_t", "i16": "int16_t", "i32": "int", "i64": "int64_t",
    "u8": "uint8_t", "u16": "uint16_t", "u32": "uint32_t", "u64": "uint64_t",
}  # fmt: skip
LINE = 64
"""Bytes that a packed buffer is aligned to: a line of the caches."""
_MOST = 64
"""Turns by which a loop of an unknown number of them is unrolled."""


class C(OpenCL):
    language = "c"
    long_suffix = "LL"
    both, either, neither = "&", "|", "~"

    def value_type(self, dtype: DType, lanes: int = 1) -> str:
        held = F32 if dtype in NARROW else dtype
        return VALUE[held.name] if lanes == 1 else f"{held.name}x{lanes}"

    def stored_type(self, dtype: DType, lanes: int = 1) -> str:
        held = f"u{dtype.bits}" if dtype in NARROW else dtype.name
        return VALUE[held] if lanes == 1 else f"{held}x{lanes}"

    def address(self, buf: Buf) -> str:
        return ""

    def aligned(self, n: int) -> str:
        return f"_Alignas({n}) "

    def packed(self, buf: Buf, scope: PrintScope) -> list[str]:
        """Inside of a branch, so that those of its two sides may lie in the same place of the stack."""
        return [self.packed_array(buf, scope)] if scope.depth > 1 else []

    def packed_array(self, buf: Buf, scope: PrintScope) -> str:
        size = shared_elements(buf)
        return f"{self.aligned(LINE)}{self.element_type(buf)} {scope.name(buf.name)}[{size}];"

    def repeated(self, dtype: DType, lanes: int, value: str, *, stored: bool = False) -> str:
        return f"all_{(self.stored_type if stored else self.value_type)(dtype, lanes)}({value})"

    def converted(self, dtype: DType, lanes: int, value: str) -> str:
        return f"__builtin_convertvector({value}, {self.value_type(dtype, lanes)})"

    def same_bits(self, dtype: DType, lanes: int, value: str) -> ExprText:
        return ExprText(f"({self.value_type(dtype, lanes)})({value})", UNARY)

    def chosen(self, mask: ExprText, then: str, other: str, dtype: DType, lanes: int) -> ExprText:
        return ExprText(f"pick_{self.value_type(dtype, lanes)}({mask.text}, {then}, {other})", POSTFIX)

    def alike(self, then: str, other: str, dtype: DType, lanes: int) -> str:
        """What is read at any address has a type of its own, and both sides must be of one type."""
        kind = self.value_type(dtype, lanes)
        return f"({kind})({then}) : ({kind})({other})"

    def numbers(self, dtype: DType, values: str, lanes: int) -> ExprText:
        return ExprText(f"({self.value_type(dtype, lanes)}){{{values}}}", POSTFIX)

    def picked(self, vector: str, number: int) -> str:
        return f"{vector}[{number}]"

    def unroll(self, factor: int, trips: int | None) -> str:
        return f"#pragma GCC unroll {factor or trips or _MOST}"

    def opening(self, loop: For, scope: PrintScope) -> list[str]:
        return [f"{IN_ORDER};"] if sums_in_order(loop, scope) else []

    def stored(self, buf: Buf, value: Expr, scope: PrintScope) -> str:
        out = super().stored(buf, value, scope)
        if buf.lanes > 1 and lanes_of(value, scope) == 1:
            return self.repeated(buf.dtype, buf.lanes, out, stored=True)
        return out

    def coordinate(self, call: Call, scope: PrintScope) -> str:
        """The number of the turn, taken apart: x is innermost."""
        axis, grid = call.args[0], scope.kernel.launch.grid
        assert isinstance(axis, Const)
        at = int(axis.value)
        if call.fn == Intrinsic.THREAD_ID or grid[at] == 1:
            return "0"
        if scope.kernel.launch.counts:
            return self._digit(at, scope)
        inner = grid[0] ** (at > 0) * grid[1] ** (at > 1)
        outer = grid[at + 1 :]
        out = f"group / {inner}" if inner > 1 else "group"
        return f"{out} % {grid[at]}" if any(n > 1 for n in outer) else out

    def _digit(self, at: int, scope: PrintScope) -> str:
        """The same where open sizes give the grid."""
        launch = scope.kernel.launch
        counts = [text(launch.count(a), scope, self, POSTFIX) for a in range(3)]
        inner = " * ".join(counts[a] for a in range(at) if launch.grid[a] > 1)
        inner = f"({inner})" if " * " in inner else inner
        out = f"group / {inner}" if inner else "group"
        return f"{out} % {counts[at]}" if any(n > 1 for n in launch.grid[at + 1 :]) else out

    def call(self, e: Call, scope: PrintScope) -> ExprText:
        lanes = lanes_of(e, scope)
        args = ", ".join(widened(a, lanes, scope, self) for a in e.args)
        name = self.function(e.fn, e.dtype)
        return ExprText(f"{name if lanes == 1 else f'{name}_x{lanes}'}({args})", POSTFIX)

    def function(self, fn: str, dtype: DType) -> str:
        """C's name for the type; integers have functions of ours, whose names end in the type."""
        if not dtype.is_float:
            return f"{fn.removeprefix('i') if fn in ('imin', 'imax') else fn}_{dtype.name}"
        return fn if dtype == F64 else fn + "f"

    def store(self, s: Store, scope: PrintScope) -> list[str]:
        buf, lanes = scope.buffers[s.buffer], s.lanes
        scalar = lanes > buf.lanes and lanes_of(s.value, scope) == 1 and buf.dtype not in NARROW
        if not scalar or updated(s):
            return super().store(s, scope)
        value = self.repeated(buf.dtype, lanes, self.stored(buf, s.value, scope))
        return [self.put(buf, place(buf, s.index, scope, self), value, lanes, s.cache, scope)]

    def put(self, buf: Buf, where: str, value: str, lanes: int, cache: str, scope: PrintScope) -> str:
        if cache != CacheHint.STREAM or buf.space is not Space.DM or lanes == 1 or buf.lanes > 1:
            return super().put(buf, where, value, lanes, cache, scope)
        return f"stream_{self.stored_type(buf.dtype, lanes)}(&{where}, {value});"

    def atomic(self, s: Atomic, scope: PrintScope) -> list[str]:
        buf = scope.buffers[s.buffer]
        where = place(buf, s.index, scope, self)
        name = f"atomic_{OPERATOR_NAMES[s.op]}_{buf.dtype.name}"
        call = f"{name}(&{where}, {text(s.value, scope, self)})"
        if s.result is None:
            return [f"{call};"]
        return [f"const {self.value_type(buf.dtype)} {scope.name(s.result)} = {call};"]

    def barrier(self, s: Barrier, scope: PrintScope) -> list[str]:
        return []  # a group has one work-item

    def instruction(self, s: MatrixStmt | CopyEngineStmt | MatrixCall, scope: PrintScope) -> list[str]:
        if isinstance(s, MatrixCall):
            return [call_line(s, scope, self)]
        return super().instruction(s, scope)

    def fence(self) -> str:
        return "__atomic_thread_fence(__ATOMIC_SEQ_CST);"
