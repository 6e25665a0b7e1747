"""Libraries as baselines, for programs that are a product which they know.

Each has a module of its own, and only that imports the library, and only if it is asked for.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib import import_module
from typing import Any, Protocol

from mdh.decompose.contraction import MatrixProduct
from mdh.reference.numbers import Array

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


def open_library(name: str, kind: str, spec: str) -> LibraryModule:
    """A library for a device. kind: `cpu` or `gpu`; spec: the device's name. Raises UnfitError."""
    place = "cpu" if kind == "cpu" else spec.partition(":")[0]
    if place not in _ON[name]:
        where = " or ".join(_WHERE[there] for there in _ON[name])
        raise UnfitError(f"{name} computes on {where}, and {spec} is another device")
    try:
        found: Any = import_module(f"mdh.compare.by_{name}")
        found.version()
    except (ImportError, OSError) as error:
        raise UnfitError(f"{name} is not installed: {error}") from None
    library: LibraryModule = found
    return library
