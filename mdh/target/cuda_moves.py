"""Moves in CUDA C++: plain, through vector types, or cp.async."""

from mdh.hardware import CacheHint, Engine, Space
from mdh.ir.dtype import F32, F64, I32, I64, U32, U64, DType
from mdh.ir.expr import Const, Expr
from mdh.ir.kernel import Buf, Move
from mdh.target.clike import CONDITIONAL, place, text
from mdh.target.dialect import Dialect, PrintScope

VECTORS = {F32: "float", F64: "double", I32: "int", U32: "uint", I64: "longlong", U64: "ulonglong"}
"""Element types that have vector types of their own; others travel as unsigned words."""
WORDS = {2: "unsigned short", 4: "unsigned int", 8: "uint2", 16: "uint4"}
HINTS = {CacheHint.STREAM: "__ldcs", CacheHint.KEEP: "__ldg"}
ASYNC_BYTES = (4, 8, 16)


def move_lines(s: Move, scope: PrintScope, dialect: Dialect) -> list[str]:
    """One move as statements; a vector of more than 16 bytes becomes several accesses."""
    src = scope.buffers[s.src]
    most = max(1, 16 // src.dtype.bytes)
    out: list[str] = []
    for first in range(0, s.lanes, most):
        out.extend(_piece(s, first, min(most, s.lanes - first), scope, dialect))
    return out


def _piece(s: Move, first: int, lanes: int, scope: PrintScope, dialect: Dialect) -> list[str]:
    dst, src = scope.buffers[s.dst], scope.buffers[s.src]
    to = place(dst, s.dst_index, scope, dialect, first)
    frm = place(src, s.src_index, scope, dialect, first)
    if s.engine == Engine.ASYNC and lanes * src.dtype.bytes in ASYNC_BYTES and dst.space is Space.SM:
        return _async(s, to, frm, lanes, scope, dialect)
    kind = vector_type(src.dtype, lanes)
    if kind:
        to, frm = f"*({kind} *)&{to}", f"*(const {kind} *)&{frm}"
    value = _hinted(s, src, frm)
    if s.pred is None:
        return [_write(s, dst, to, value)]
    empty = _empty(src.dtype, lanes, kind, s.fill, scope, dialect, dst)
    if empty is None:
        fills = _fill(s, dst, first, lanes, scope, dialect)
        cond = text(s.pred, scope, dialect)
        return [f"if ({cond}) {{", f"    {_write(s, dst, to, value)}", "} else {", *fills, "}"]
    cond = text(s.pred, scope, dialect, CONDITIONAL + 1)
    return [_write(s, dst, to, f"{cond} ? {value} : {empty}")]


def _write(s: Move, dst: Buf, to: str, value: str) -> str:
    if s.cache == CacheHint.STREAM and dst.space is Space.DM:
        return f"__stcs(&{to}, {value});" if not to.startswith("*") else f"__stcs({to[1:]}, {value});"
    return f"{to} = {value};"


def _hinted(s: Move, src: Buf, frm: str) -> str:
    hint = HINTS.get(s.cache)
    if hint is None or src.space is not Space.DM or (s.cache == CacheHint.KEEP and not src.readonly):
        return frm
    return f"{hint}({frm[1:]})" if frm.startswith("*") else f"{hint}(&{frm})"


def vector_type(dtype: DType, lanes: int) -> str:
    """The type that `lanes` elements travel as; empty for a single element."""
    if lanes == 1:
        return ""
    if dtype in VECTORS and lanes * dtype.bytes <= 16 and lanes in (2, 4):
        return f"{VECTORS[dtype]}{lanes}"
    return WORDS[lanes * dtype.bytes]


def _empty(
    dtype: DType, lanes: int, kind: str, fill: Expr | None, scope: PrintScope, dialect: Dialect, dst: Buf
) -> str | None:
    """What a predicated-off move stores, as one value; None where it takes several stores."""
    value = fill if fill is not None else Const(0, dtype)
    if lanes == 1:
        return dialect.stored(dst, value, scope)
    if dtype in VECTORS and kind.startswith(VECTORS[dtype]):
        return f"make_{kind}({', '.join([text(value, scope, dialect)] * lanes)})"
    zero = isinstance(value, Const) and value.value == 0
    if zero and kind in ("uint2", "uint4"):
        return f"make_{kind}({', '.join(['0'] * int(kind[-1]))})"
    return "0" if zero else None


def _fill(s: Move, dst: Buf, first: int, lanes: int, scope: PrintScope, dialect: Dialect) -> list[str]:
    value = s.fill if s.fill is not None else Const(0, dst.dtype)
    out = []
    for k in range(first, first + lanes):
        out.append(f"    {place(dst, s.dst_index, scope, dialect, k)} = {dialect.stored(dst, value, scope)};")
    return out


def _async(s: Move, to: str, frm: str, lanes: int, scope: PrintScope, dialect: Dialect) -> list[str]:
    n = lanes * scope.buffers[s.src].dtype.bytes
    if s.pred is None:
        return [f"cp_async_{n}(&{to}, &{frm});"]
    pred = text(s.pred, scope, dialect)
    zero = s.fill is None or (isinstance(s.fill, Const) and s.fill.value == 0)
    if zero:
        return [f"cp_async_{n}_if({pred}, &{to}, &{frm});"]
    fills = _fill(s, scope.buffers[s.dst], 0, lanes, scope, dialect)
    return [f"if ({pred}) {{", f"    cp_async_{n}(&{to}, &{frm});", "} else {", *fills, "}"]
