"""`mdh.einsum`: a kernel for each text and types of arrays, found again by a key of them."""

import os
from collections.abc import Mapping, Sequence
from functools import lru_cache
from threading import Lock
from typing import Any, NamedTuple

from mdh.api.compile import compile
from mdh.api.explained import add_notes, explained
from mdh.api.kernel import Kernel
from mdh.api.options import numpy_array, of_type
from mdh.api.shaped import MOST_SHAPES, Shaped
from mdh.api.texts import Text
from mdh.device.arrays import view_of
from mdh.diagnostics import Failed, fail
from mdh.frontend.constant_arrays import constant_text, no_array
from mdh.frontend.einsum.arrays import Shape, fitted
from mdh.frontend.einsum.parser import outline
from mdh.source import Source

MOST_KEPT = 256
"""The most einsum texts whose kernels are kept."""
_KINDS = {"float32": "float", "float64": "double", "float16": "half"}
"""Types of numpy that the languages call otherwise."""


def einsum(
    subscripts: str,
    *operands: Any,
    device: str | None = None,
    tune: float | str | None = None,
    schedule: Text | None = None,
    constants: Mapping[str, Any] = {},
    strict_fp: bool = False,
    allow: Sequence[str] = (),
) -> Any:
    """The sum of products that `subscripts` says, in numpy's grammar: `mdh.einsum("bmk,bkn->bmn", A, B)`.

    The operands hold elements of one type, which is the result's. Extents of 1 are repeated as in numpy. More
    than two operands are multiplied in pairs, in an order that opt_einsum chooses if it is installed, else
    numpy. Kernels are kept by subscripts, types and shapes. Options are those of `mdh.compile`. In schedules
    and constants the operands are called in0, in1, …, and the result out: with `constants={"in1": B}` the
    call leaves B out. Raises Failed E1xx, A1xx.
    """
    key: Any = None
    options: _Options = device, tune, schedule, strict_fp, tuple(allow)
    try:
        if not constants:
            facts = [(type(a), a.shape, a.dtype) for a in operands]
            key = subscripts, options, None if schedule is None else _version(schedule), *facts
        known = _known.get(key)
    except Exception:  # another library's methods may raise anything; `_first` says what is wrong
        key = known = None
    if known is None:
        return _first(key, subscripts, operands, options, constants)
    try:
        out = known.calls(operands if known.shapes is None else _reshaped(operands, known.shapes))
    except Failed as failed:
        add_notes(failed)
        raise
    return out.reshape(()) if known.scalar else out


_Options = tuple[str | None, float | str | None, Text | None, bool, tuple[str, ...]]
"""device, tune, schedule, strict_fp, allow: as of `mdh.compile`."""


class _Known(NamedTuple):
    """The calls of `mdh.einsum` with one text on arrays of certain types and shapes. shapes: those that the
    operands take first, None if they have them. scalar: the result has no dimensions."""

    calls: Shaped
    shapes: tuple[Shape, ...] | None
    scalar: bool


_known: dict[Any, _Known] = {}
_lock = Lock()


def _first(
    key: Any, subscripts: str, operands: Sequence[Any], options: _Options, constants: Mapping[str, Any]
) -> Any:
    """A call whose key is not known. If later ones can go by it, it is."""
    with explained():
        of_type("subscripts", subscripts, str, "a str")
        of_type("constants", constants, Mapping, "a mapping of names to arrays")
        outline(Source("einsum", subscripts), subscripts)
        places, arrays = _placed(operands, constants)
        found = fitted(subscripts, [tuple(a.shape) for n, a in enumerate(arrays) if _shaped(n, a)])
        text = f"{found.text}:{_kind_of_all(arrays)}"
        arrays = _reshaped(arrays, found.shapes)
        kept = {name: constant_text(arrays[n]) for name, n in places.items()}
    given = [a for n, a in enumerate(arrays) if n not in places.values()]
    kernel = _einsum(text, options, _version(options[2]), tuple(kept.items()))
    out = kernel(*given)
    calls = None if key is None else kernel.shaped(tuple(given))
    if calls is not None:
        same = all(tuple(a.shape) == shape for a, shape in zip(operands, found.shapes, strict=True))
        with _lock:
            while len(_known) >= MOST_SHAPES:
                del _known[next(iter(_known))]
            _known[key] = _Known(calls, None if same else found.shapes, found.scalar)
    return out.reshape(()) if found.scalar else out


@lru_cache(MOST_KEPT)
def _einsum(text: str, options: _Options, version: Any, constants: tuple[tuple[str, str], ...]) -> Kernel:
    device, tune, schedule, strict_fp, allow = options
    return compile(
        Source(f"{text}.einsum", text), schedule, device, tune=tune, strict_fp=strict_fp, allow=allow,
        defines=dict(constants),
    )  # fmt: skip


def _version(schedule: Any) -> Any:
    """Of the file of a schedule, so that a kernel is made anew when it changes."""
    if not isinstance(schedule, str | os.PathLike):
        return None
    try:
        found = os.stat(schedule)
    except (OSError, ValueError):  # what reads the schedule says why
        return None
    return found.st_mtime_ns, found.st_size


def _placed(operands: Sequence[Any], constants: Mapping[str, Any]) -> tuple[dict[str, int], Sequence[Any]]:
    """The places of the constants among all operands, and these. Raises Failed C127."""
    if not constants:
        return {}, operands
    names = [f"in{n}" for n in range(len(operands) + len(constants))]
    unknown = next((name for name in constants if name not in names), None)
    if unknown is not None:
        raise no_array(str(unknown), names, "einsum")
    others = iter(operands)
    arrays = [numpy_array("constants", constants[n]) if n in constants else next(others) for n in names]
    return {name: names.index(name) for name in constants}, arrays


def _reshaped(operands: Sequence[Any], shapes: Sequence[Shape]) -> tuple[Any, ...]:
    """Without extents of 1 that are repeated; numbers as arrays of one element. Nothing is copied."""
    return tuple(
        [
            a if tuple(a.shape) == shape else a.reshape(shape)
            for a, shape in zip(operands, shapes, strict=True)
        ]
    )


def _kind_of_all(operands: Sequence[Any]) -> str:
    """The type of the elements, as the languages call it. Raises Failed A103 for several."""
    kinds = list(dict.fromkeys(_kind(a) for a in operands))
    if len(kinds) > 1:
        raise fail("A103", f"the operands hold {' and '.join(kinds)}", help="convert them to one type")
    return kinds[0]


def _shaped(number: int, array: Any) -> bool:
    """Raises Failed A102 for what is no array."""
    if all(hasattr(array, name) for name in ("shape", "dtype", "reshape")):
        return True
    kind = type(array).__name__
    raise fail("A102", f"operand {number + 1} is of type {kind}", help="give arrays of numpy, cupy or torch")


def _kind(array: Any) -> str:
    name = getattr(array.dtype, "name", None)
    if name is None:
        view = view_of(array)
        name = "" if view is None else view.dtype.name
    return _KINDS.get(name, name)
