"""Combine operators as C text, for the compare-and-swap loops that stand in for missing atomics."""

from mdh.ir.dtype import DType

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


def swizzle(name: str, span: int, size: int, inline: str) -> str:
    """A function from element offset to element offset: the 16-byte chunk's number is XORed with the number
    of its 128-byte row, within `span` bytes (the pattern of TMA's 32, 64 and 128-byte modes)."""
    chunk, row, rows = 16 // size, 128 // size, span // 16
    return f"""{inline} int {name}(int i)
{{
    return i ^ (i / {row} % {rows} * {chunk});
}}
"""
