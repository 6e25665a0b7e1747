"""Arrays whose elements are known when a program is read: `--const C=C.npy`, `constants={"C": array}`.

They travel among the defines, as a text: the type, then the elements as nested JSON lists. So all that keeps,
hashes or sends defines keeps, hashes and sends them too.
"""

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from math import isfinite, prod
from typing import Any

from mdh.diagnostics import Diagnostic, Failed, Label
from mdh.frontend.tables import MOST_CONSTANTS
from mdh.ir.dtype import BF16, F16, F32, F64, I8, I16, I32, I64, U8, U16, U32, U64, DType
from mdh.source import Span
from mdh.wording import meant

CODE = "C127"
_TYPES = {
    "float16": F16, "bfloat16": BF16, "float32": F32, "float64": F64, "int8": I8, "int16": I16, "int32": I32,
    "int64": I64, "uint8": U8, "uint16": U16, "uint32": U32, "uint64": U64,
}  # fmt: skip
_FORM = re.compile(r"(const|pattern) (\w+) (\[.*\])", re.S)
_NAME = {t: name for name, t in _TYPES.items()}
Nested = list[Any]
"""Numbers in nested lists, row by row."""


@dataclass(frozen=True, slots=True)
class ConstantArray:
    """dtype: of the elements, none for a pattern. pattern: only its zeros are known; the elements are 1 where
    the array may be another number."""

    dtype: DType | None
    shape: tuple[int, ...]
    elements: Nested
    pattern: bool = False

    @property
    def flat(self) -> list[int | float]:
        """The elements in row-major order."""
        out = self.elements
        for _ in self.shape[1:]:
            out = [x for row in out for x in row]
        return out


def constant_text(array: Any, *, pattern: bool = False) -> str:
    """The define of a numpy array. Raises Failed C127 for an array that no program can have as a constant."""
    demand_constant(array.dtype, array.shape, pattern=pattern)
    if pattern:
        if not array.any():
            hint = "give the zeros as a constant, by --const or constants=, or another pattern"
            raise refused("the pattern is 0 everywhere, so calls would have nothing to give", hint)
        return f"pattern bool {json.dumps((array != 0).astype('int8').tolist())}"
    kind = str(array.dtype.name)
    if kind == "bfloat16":
        array = array.astype("float32")
    if not all(isfinite(x) for x in array.ravel().tolist()):
        raise refused("an element is infinite or no number", "give finite numbers")
    return f"const {kind} {json.dumps(array.tolist())}"


def demand_constant(dtype: Any, shape: tuple[int, ...], *, pattern: bool) -> None:
    """Raises Failed C127 if no array of this type of numpy and this shape can be a constant."""
    kind = str(dtype.name)
    if kind not in _TYPES and not (pattern and dtype.kind in "biuf"):
        known = "truth values, or numbers" if pattern else f"known types: {', '.join(_TYPES)}"
        raise refused(f"the elements are {_elements_of(dtype)}", known)
    if not shape:
        raise refused("the array has no dimensions", "give an array of the parameter's shape")
    if prod(shape) == 0:
        raise refused("the array has no elements", "give an array of the parameter's shape")
    if prod(shape) > MOST_CONSTANTS:
        what = f"the array has {prod(shape):,} elements, more than {MOST_CONSTANTS:,}"
        raise refused(what, "kernels hold constants in their text; pass a larger array at the call")


def _elements_of(dtype: Any) -> str:
    """What the elements of a type of numpy are that has no name in the languages."""
    kinds = {"U": "text", "S": "text", "O": "objects", "b": "truth values", "c": "complex numbers"}
    kinds |= {"M": "dates", "m": "spans of time", "V": "records" if dtype.names else "bytes"}
    return kinds.get(dtype.kind, f"of the type {dtype.name}")


def refused(what: str, hint: str, name: str = "", span: Span | None = None) -> Failed:
    """C127. name: of the constant, whose define the command line shows."""
    labels = () if span is None else (Label(span),)
    witness = (("define", name),) if name else ()
    return Failed(Diagnostic(CODE, what, labels, help=hint, witness=witness))


def no_array(name: str, arrays: Iterable[str], function: str) -> Failed:
    """C127 for a constant that is none of a function's array parameters."""
    known = tuple(arrays)
    hint = meant(name, known, cutoff=0.5, otherwise=f"arrays: {', '.join(known)}" if known else "it has none")
    return refused(f"`{function}` has no array parameter `{name}`", hint, name)


def is_constant(value: object) -> bool:
    """Whether a define's value is an array."""
    return isinstance(value, str) and _FORM.fullmatch(value) is not None


def constant_of(name: str, text: str) -> ConstantArray:
    """The array of a define. Raises Failed C127 for a text that `constant_text` did not write."""
    found = _FORM.fullmatch(text)
    elements: Nested = []
    try:
        elements = json.loads(found[3]) if found else []
        shape = _shape(elements)
    except (ValueError, RecursionError):
        shape = ()
    if found is None or not shape or prod(shape) > MOST_CONSTANTS:
        raise refused(f"`{name}` is bound to what is no array", "write --const NAME=FILE.npy", name)
    pattern = found[1] == "pattern"
    if not pattern and found[2] not in _TYPES:
        raise refused(f"`{name}` has the type {found[2]}", f"known types: {', '.join(_TYPES)}", name)
    return ConstantArray(_TYPES.get(found[2]), shape, elements, pattern)


def _shape(elements: Any) -> tuple[int, ...]:
    """Of nested lists of numbers. Raises ValueError if rows differ or something else stands in them."""
    if isinstance(elements, list):
        inner = {_shape(x) for x in elements}
        if len(inner) != 1:
            raise ValueError
        return (len(elements), *inner.pop())
    if type(elements) not in (int, float) or not isfinite(elements):
        raise ValueError
    return ()


def split_constants(
    defines: Mapping[str, str | int],
) -> tuple[dict[str, ConstantArray], dict[str, str | int]]:
    """The arrays among the defines, and the other ones. Raises Failed C127."""
    arrays = {n: constant_of(n, str(v)) for n, v in defines.items() if is_constant(v)}
    return arrays, {n: v for n, v in defines.items() if n not in arrays}


THERE, AT = "_there", "_at"
"""Endings of the two tables of an array of which only the zeros are known."""


def packed(pattern: ConstantArray) -> tuple[ConstantArray, ConstantArray]:
    """Of a pattern: 1 where an element may differ from zero, and the place of each such element among them in
    row-major order, 0 for the others."""
    count = 0

    def places(elements: Nested) -> Nested:
        nonlocal count
        out = Nested()
        for x in elements:
            if isinstance(x, list):
                out.append(places(x))
            else:
                out.append(count if x else 0)
                count += x != 0
        return out

    there = replace(pattern, dtype=I32, pattern=False)
    return there, replace(there, elements=places(pattern.elements))


def check_type(name: str, given: ConstantArray, dtype: DType, span: Span) -> None:
    """Raises Failed C127 if a constant has another type than its parameter."""
    if given.dtype not in (None, dtype):
        known = _NAME.get(dtype)
        hint = f"convert it: array.astype('{known}')" if known else "pass it at the call"
        raise refused(f"`{name}` holds {dtype}, the constant {given.dtype}", hint, name, span)


def check_shape(name: str, given: ConstantArray, shape: tuple[int, ...], span: Span) -> None:
    """Raises Failed C127 if a constant has another shape than its parameter."""
    if shape != given.shape:
        what = f"`{name}` has shape {shape_text(shape)}, the constant {shape_text(given.shape)}"
        raise refused(what, "bind other sizes by -D, or give another array", name, span)


def number_text(value: float, kind: DType) -> str:
    """The absolute value of a number as a literal of C."""
    text = repr(abs(value))
    if kind.is_float:
        return text + ("" if any(c in text for c in ".e") else ".0") + ("" if kind == F64 else "f")
    return text + ("u" if kind.kind == "uint" else "") + ("l" if kind.bits == 64 else "")


def shape_text(shape: tuple[int, ...]) -> str:
    """3×4."""
    return "×".join(map(str, shape))


def shortened(value: str | int) -> str | int:
    """A define's value for people: an array by its type and shape."""
    if isinstance(value, int) or not is_constant(value):
        return value
    given = constant_of("", value)
    return f"{'pattern' if given.pattern else given.dtype} {shape_text(given.shape)}"
