"""Each program by cupy's kernels and CUB, contractions by cuTENSOR where it is installed. No products: graphs
do not capture cupy's calls of cuBLAS, and torch's are those of the same library."""

from collections.abc import Callable, Sequence
from importlib import import_module
from typing import Any

from bench.gpu.cases import Case
from bench.gpu.clock import Made, made
from bench.gpu.gpu import Tensors, cupy
from mdh.compare.calling import Call, Kept

PAIR = 2
"""Factors of the contractions that cuTENSOR has a call for."""
Make = Callable[[Tensors], Call]


def prepare(case: Case, sets: Sequence[Tensors]) -> Made | None:
    make = _CALLS.get(case.program)
    if make is None:
        return None
    # counting asks the host how many bins there are
    return made([make(_arrays(t)) for t in sets], case.program != "histogram")


def cutensor(case: Case, sets: Sequence[Tensors]) -> Made | None:
    """Raises ImportError where it is not installed."""
    c = case.contraction
    if c is None or len(c.factors) != PAIR:
        return None
    library = import_module("cupyx.cutensor")
    inputs, result = c.letters.split("->")
    left, right = inputs.split(",")

    def call(a: Tensors) -> Call:
        first, second = (a[name] for name in c.factors)
        return lambda: library.contraction(1.0, first, left, second, right, 0.0, a[c.result], result)

    return made([call(_arrays(t)) for t in sets])


def _arrays(t: Tensors) -> Tensors:
    """cupy's names for torch's memory."""
    return {name: cupy.asarray(tensor) for name, tensor in t.items()}


def _put(array: Any) -> Callable[[Any], None]:
    def put(found: Any) -> None:
        array[...] = found

    return put


def _argmax(a: Tensors) -> Call:
    def make() -> Any:
        place = a["A"].argmax(axis=1)
        return place, cupy.take_along_axis(a["A"], place[:, None], axis=1)[:, 0]

    def put(found: Any) -> None:
        a["place"][...], a["best"][...] = found

    return Kept(make, put)


def _histogram(a: Tensors) -> Call:
    bins = a["H"].size

    def call() -> None:
        a["H"] += cupy.bincount(a["B"], minlength=bins).astype(a["H"].dtype)

    return call


_CALLS: dict[str, Make] = {
    "histogram": _histogram, "row_argmax": _argmax,
    "dot": lambda a: Kept(lambda: a["A"].dot(a["B"]), _put(a["C"])),
    "prefix_sum": lambda a: lambda: cupy.cumsum(a["A"], out=a["S"]),
    "row_max": lambda a: lambda: a["A"].max(axis=1, out=a["best"]),
    "transpose": lambda a: lambda: cupy.copyto(a["B"], a["A"].T),
}  # fmt: skip
