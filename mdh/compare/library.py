"""Libraries as baselines, for programs that are a product which they know.

Each has a module of its own, and only that imports the library, and only if it is asked for.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib import import_module
from typing import Any, Protocol

from mdh.decompose.contraction import MatrixProduct
from mdh.reference.numbers import Array
from mdh.results.comparison import Peer

HOST = 300e-6
"""Seconds that a GPU is kept busy while a library does its part on the host, before a call is timed."""
NAMES = ("numpy", "torch", "mkl", "cublas")
_ON = {"numpy": ("cpu",), "torch": ("cpu", "cuda"), "mkl": ("cpu",), "cublas": ("cuda",)}
_WHERE = {"cpu": "the CPU", "cuda": "an NVIDIA GPU by CUDA"}


class UnfitError(Exception):
    """The library does not take part; the text is the reason."""


@dataclass(frozen=True)
class Bound:
    """A library's computation on arrays. call: computes, and returns when that is done. seconds: of one call,
    by the library's own clock; None: it is timed from outside. fetch: copies the results into the host's
    arrays. note: what a reader must know of how it computes."""

    call: Callable[[], object]
    fetch: Callable[[], object]
    seconds: Callable[[], float] | None = None
    note: str = ""


class LibraryModule(Protocol):
    """A module mdh.compare.by_NAME."""

    def version(self) -> str:
        """The library and its version: `numpy 2.1.0, openblas 0.3`."""

    def bind(self, what: MatrixProduct, arrays: Mapping[str, Array], place: str) -> Bound:
        """The computation on these arrays. place: `cpu`, or a GPU's spec such as `cuda:0`. Raises
        UnfitError."""


class Caller(Protocol):
    """A library that also knows computations by name."""

    def named(self, call: str, values: Mapping[str, Array | int | float], place: str) -> Bound:
        """The computation of this name on arrays and scalars. Raises KeyError for another name."""


def computes_on(name: str, kind: str, spec: str) -> bool:
    """Whether a library can compute on a device at all, installed or not."""
    return _place(kind, spec) in _ON[name]


def _place(kind: str, spec: str) -> str:
    return "cpu" if kind == "cpu" else spec.partition(":")[0]


def open_library(name: str, kind: str, spec: str) -> LibraryModule:
    """A library for a device. kind: `cpu` or `gpu`; spec: the device's name. Raises UnfitError."""
    if not computes_on(name, kind, spec):
        where = " or ".join(_WHERE[there] for there in _ON[name])
        raise UnfitError(f"{name} computes on {where}, and {spec} is another device")
    try:
        found: Any = import_module(f"mdh.compare.by_{name}")
        found.version()
    except (ImportError, OSError) as error:
        raise UnfitError(f"{name} is not installed: {error}") from None
    library: LibraryModule = found
    return library


def bound_call(
    library: LibraryModule, peer: Peer, values: Mapping[str, Array | int | float], place: str
) -> Bound:
    """The named computation of a peer. Raises UnfitError where the library has none of that name."""
    caller: Any = library
    try:
        bound: Bound = caller.named(peer.call, values, place)
    except (AttributeError, KeyError):
        raise UnfitError(f"{peer.library} has no call for this program") from None
    return bound
