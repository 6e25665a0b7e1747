"""Each program by numpy: a peer, and on doubles the judge of all contestants."""

from time import perf_counter

import numpy as np

from bench.cases import Contraction, contraction_of
from bench.cpu.data import Arrays
from mdh.compare.calling import Call, Kept
from mdh.compare.numpy_calls import CALLS


def prepare(program: str, a: Arrays) -> Call:
    """What computes `program` on these arrays, in place where numpy can."""
    if contraction := contraction_of(program):
        return _einsum(contraction, a)
    return CALLS[program](a)


def _einsum(c: Contraction, a: Arrays) -> Call:
    """Into the array of the result, or into one that numpy makes, whichever is faster. A sum over one array
    may be a view of it, and CCSD(T) is to be in the order of the program: these are always copied."""
    given, (letters, _, kept) = [a[name] for name in c.factors], c.letters.partition("->")
    out = a[c.result] if kept else a[c.result].reshape(())

    def placed() -> None:
        np.einsum(c.letters, *given, optimize=True, out=out)

    def put(found: object) -> None:
        out[...] = found

    if "," not in letters or c.result == "X":
        return placed
    forms: tuple[Call, ...] = (placed, Kept(lambda: np.einsum(c.letters, *given, optimize=True), put))
    return min(forms, key=_seconds)


def _seconds(call: Call) -> float:
    """Of the second call."""
    for _ in range(2):
        start = perf_counter()
        call()
    return perf_counter() - start
