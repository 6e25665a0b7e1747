"""Combine operators as C text, for the compare-and-swap loops that stand in for missing atomics."""

import re

from mdh.ir.dtype import DType
from mdh.ir.kernel import Buf, swizzle_row

OPERATOR_NAMES = {
    "+": "add", "*": "mul", "min": "min", "max": "max", "&": "and", "|": "or", "^": "xor",
    "&&": "all", "||": "any",
}  # fmt: skip
OPERATORS = {name: op for op, name in OPERATOR_NAMES.items()}


def atomic_helper(op: str, dtype: DType) -> str:
    """The name of the compare-and-swap loop for `op` on elements of `dtype`."""
    return f"atomic_{OPERATOR_NAMES[op]}_{dtype.name}"


def combined(op: str, held: str, value: str) -> str:
    """C text of `held op value`; min and max are C's comparisons."""
    if op in ("min", "max"):
        return f"{value} {'<' if op == 'min' else '>'} {held} ? {value} : {held}"
    return f"{held} {op} {value}"


def swizzle_name(buf: Buf) -> str:
    """`swizzle_128_4_32`: span in bytes, bytes of an element, elements of a row."""
    return f"swizzle_{buf.swizzle}_{buf.dtype.bytes}_{swizzle_row(buf)}"


def swizzle(name: str, inline: str) -> str | None:
    """The function of such a name, from element offset to element offset: the number of the 16-byte chunk is
    XORed with the number of its row, within the span. None for other names."""
    found = re.fullmatch(r"swizzle_(\d+)_(\d+)_(\d+)", name)
    if found is None:
        return None
    span, size, row = (int(n) for n in found.groups())
    chunk, rows = 16 // size, span // 16
    return f"""{inline} int {name}(int i)
{{
    return i ^ (i / {row} % {rows} * {chunk});
}}
"""


def quotient(name: str, inline: str) -> str | None:
    """The function of such a name, of CUDA or OpenCL: x / (y / scale), by the correctly rounded reciprocal
    of y. None for other names."""
    found = re.fullmatch(r"divided_(f32|f64)", name)
    if found is None:
        return None
    kind = "float" if found[1] == "f32" else "double"
    f = "f" if found[1] == "f32" and inline != "inline" else ""
    return f"""// one step corrects q to the rounded quotient, but makes NaN beside infinities and 0 of -0
{inline} {kind} {name}({kind} x, {kind} y, {kind} reciprocal, {kind} scale)
{{
    const {kind} q = x * reciprocal;
    const {kind} corrected = fma{f}(fma{f}(-q, y, x), reciprocal, q);
    return copysign{f}(isnan(corrected) ? q : corrected, q) * scale;
}}
"""
