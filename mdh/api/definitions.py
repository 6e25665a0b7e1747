"""Programs from texts in Python: `mdh.tc`, `mdh.diesel`, `mdh.c` and `mdh.einsum`."""

from collections.abc import Mapping, Sequence
from functools import lru_cache
from hashlib import sha256
from inspect import signature
from threading import Lock
from typing import Any, NamedTuple

from mdh.api.compile import compile
from mdh.api.explained import add_notes, explained
from mdh.api.kernel import Kernel
from mdh.api.options import of_type
from mdh.api.shaped import MOST_SHAPES, Shaped
from mdh.device.arrays import view_of
from mdh.diagnostics import Failed, fail
from mdh.frontend.einsum.parser import explicit
from mdh.frontend.read import function_names
from mdh.source import Source
from mdh.textfile import plain

MOST_KEPT = 256
"""The most einsum texts whose kernels are kept."""
_OPTIONS = frozenset(signature(compile).parameters) - {"file", "function"}
_KINDS = {"float32": "float", "float64": "double", "float16": "half"}
"""Types of numpy that the languages call otherwise."""


class Functions:
    """The functions of a text, as attributes: `mdh.tc(text).mm(A, B)`. Each is an `mdh.Kernel`, made when it
    is first used. A name that Python does not take is a key: `mdh.tc(text)["2LUT"]`."""

    def __init__(self, source: Source, names: Sequence[str], options: Mapping[str, Any]) -> None:
        self._source, self._names, self._options = source, tuple(names), dict(options)
        self._kernels: dict[str, Kernel] = {}
        self._lock = Lock()

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *self._names]

    def __repr__(self) -> str:
        return f"<functions {', '.join(self._names)} of {self._source.name}>"

    def __getattr__(self, name: str) -> Kernel:
        if name.startswith("__") or name not in self._names:
            known = ", ".join(self._names)
            raise AttributeError(f"the text defines no function `{name}`; it defines {known}")
        return self[name]

    def __getitem__(self, name: str) -> Kernel:
        if name not in self._names:
            raise KeyError(name)
        with self._lock:
            if name not in self._kernels:
                self._kernels[name] = compile(self._source, function=name, **self._options)
            return self._kernels[name]


def tc(text: str, **options: Any) -> Functions:
    """The functions of a Tensor Comprehensions text.

        C = mdh.tc('''
            def mm(float(M,K) A, float(K,N) B) -> (C) {
              C(m,n) +=! A(m,k) * B(k,n)
            }''').mm(A, B)

    A call binds sizes by the shapes of its arrays, and allocates results where the first of them lies, unless
    they are given as further arguments. options: those of `mdh.compile`, such as `schedule`, `device`,
    `tune`. Raises Failed, and TypeError for an option that there is not.
    """
    return _functions(text, "tc", options)


def c(text: str, **options: Any) -> Functions:
    """The functions of a C text: `mdh.c(text).matmul(A=A, B=B, C=C)`. options: those of `mdh.compile`. Raises
    Failed, and TypeError for an option that there is not."""
    return _functions(text, "c", options)


def diesel(text: str, **options: Any) -> Kernel:
    """A Diesel text as a callable of its matrices in order: `mdh.diesel(text)(A, B)`.

    It binds sizes and allocates results as the functions of `mdh.tc` do. options: those of `mdh.compile`.
    Raises Failed, and TypeError for an option that there is not.
    """
    with explained():
        source = _source(text, "diesel", options)
    return compile(source, **options)


def einsum(
    subscripts: str, *operands: Any, device: str | None = None, tune: float | str | None = None
) -> Any:
    """The sum of products that `subscripts` says, in numpy's grammar: `mdh.einsum("bmk,bkn->bmn", A, B)`.

    The operands hold elements of one type, which is the result's. More than two are multiplied in pairs, in
    an order that opt_einsum chooses if it is installed, else numpy. Kernels are kept by subscripts, types and
    shapes. device, tune: as of `mdh.compile`. Raises Failed E1xx, A1xx.
    """
    key: Any = None
    try:
        key = subscripts, device, tune, *[(type(a), a.shape, a.dtype) for a in operands]
        known = _known.get(key)
    except Exception:  # methods of other libraries may raise anything; below, words are found for it
        known = None
    if known is None:
        return _first(key, subscripts, operands, device, tune)
    try:
        out = known.calls(operands)
    except Failed as failed:
        add_notes(failed)
        raise
    return out.reshape(()) if known.scalar else out


class _Known(NamedTuple):
    """The calls of `mdh.einsum` with one text on arrays of certain types and shapes. scalar: the result has
    no dimensions."""

    calls: Shaped
    scalar: bool


_known: dict[Any, _Known] = {}
_lock = Lock()


def _first(
    key: Any, subscripts: str, operands: tuple[Any, ...], device: str | None, tune: float | str | None
) -> Any:
    """A call whose key is not known. If later ones can go by it, it is."""
    with explained():
        of_type("subscripts", subscripts, str, "a str")
        facts = tuple((len(a.shape), _kind(n, a)) for n, a in enumerate(operands) if _shaped(n, a))
        text = _text(subscripts, facts)
    kernel, scalar = _einsum(text, device, tune), "->:" in text
    out = kernel(*operands)
    calls = kernel.shaped(operands)
    if calls is not None:
        with _lock:
            while len(_known) >= MOST_SHAPES:
                del _known[next(iter(_known))]
            _known[key] = _Known(calls, scalar)
    return out.reshape(()) if scalar else out


@lru_cache(MOST_KEPT)
def _einsum(text: str, device: str | None, tune: float | str | None) -> Kernel:
    return compile(Source(f"{text}.einsum", text), device=device, tune=tune)


@lru_cache(MOST_KEPT)
def _text(subscripts: str, facts: tuple[tuple[int, str], ...]) -> str:
    """The text with letters and a type. facts: dimensions and type of each operand. Raises Failed A103,
    E1xx."""
    kinds = list(dict.fromkeys(kind for _, kind in facts))
    if len(kinds) > 1:
        raise fail("A103", f"the operands hold {' and '.join(kinds)}", help="convert them to one type")
    return f"{explicit(subscripts, [rank for rank, _ in facts])}:{''.join(kinds)}"


def _shaped(number: int, array: Any) -> bool:
    """Raises Failed A102 for what is no array."""
    if not hasattr(array, "shape") or not hasattr(array, "dtype"):
        kind = type(array).__name__
        raise fail(
            "A102", f"operand {number + 1} is of type {kind}", help="give arrays of numpy, cupy or torch"
        )
    return True


def _kind(number: int, array: Any) -> str:
    """The type of an operand's elements, as the languages call it."""
    name = getattr(array.dtype, "name", None)
    if name is None:
        view = view_of(array)
        name = "" if view is None else view.dtype.name
    return _KINDS.get(name, name)


def _functions(text: str, language: str, options: Mapping[str, Any]) -> Functions:
    with explained():
        source = _source(text, language, options)
        return Functions(source, function_names(source), options)


def _source(text: str, language: str, options: Mapping[str, Any]) -> Source:
    """A text in Python as a file of its language. Its name tells texts apart in messages."""
    of_type("text", text, str, "a str")
    unknown = next((name for name in options if name not in _OPTIONS), None)
    if unknown is not None:
        raise TypeError(f"there is no option `{unknown}`; options: {', '.join(sorted(_OPTIONS))}")
    return plain(f"text-{sha256(text.encode()).hexdigest()[:8]}.{language}", text)
