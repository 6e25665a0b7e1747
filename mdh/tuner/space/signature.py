"""The signature of a dimension: units of layers, axes and shared names that other dimensions must agree with.

Two choices of tiles and layers with the same signature are interchangeable in every point of the space. So
dimensions are counted separately and joined by signature, and points need not be listed.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache, lru_cache
from itertools import product
from math import prod
from typing import NamedTuple

from mdh.checker.rules.warps import LANES
from mdh.hardware import Layer
from mdh.machine import Machine
from mdh.results.trial import Value

COUNTED = (Layer.WRP, Layer.THR)
"""Layers whose number of units is bounded by the language or the machine."""
AXES = "xyz"


class Signature(NamedTuple):
    """units: of the layers COUNTED. claims: for each layer, its name and the axes that each split over it may
    take, as bit sets, sorted. names: values of variables that other dimensions share, by index, sorted.
    marks: the marks of the frame (see `frames`) that are due and set, as a bit set."""

    units: tuple[int, ...] = (1,) * len(COUNTED)
    claims: tuple[tuple[str, tuple[int, ...]], ...] = ()
    names: tuple[tuple[int, Value], ...] = ()
    marks: int = 0


NEUTRAL = Signature()


@dataclass(frozen=True, slots=True)
class Bounds:
    """threads: the most threads of a block; None on a CPU, where threads are loops. atoms: an MMA step takes
    the lanes of warps, and no step splits over THR."""

    threads: int | None
    atoms: bool = False

    @staticmethod
    def of(machine: Machine, *, atoms: bool) -> "Bounds":
        return Bounds(None if machine.kind == "cpu" else machine.threads_per_block, atoms)

    def units_possible(self, units: tuple[int, ...]) -> bool:
        """Whether units may still become legal; further splits only increase them."""
        warps, threads = units
        if self.atoms:
            return threads == 1 and (self.threads is None or warps * LANES <= self.threads)
        if self.threads is not None and warps * threads > self.threads:
            return False
        return warps == 1 or LANES % threads == 0

    def units_legal(self, units: tuple[int, ...]) -> bool:
        """Whether units are legal. Language section 3: THR under WRP are the lanes of a warp, exactly 32."""
        warps, threads = units
        return self.units_possible(units) and (self.atoms or warps == 1 or threads == LANES)


def joined(a: Signature, b: Signature) -> Signature | None:
    """The two joined; None if they give a shared name different values."""
    names = a.names
    if b.names:
        known = dict(a.names)
        if any(known.setdefault(n, v) != v for n, v in b.names):
            return None
        names = tuple(sorted(known.items()))
    claims = a.claims or b.claims
    if a.claims and b.claims:
        merged = dict(a.claims)
        for layer, masks in b.claims:
            merged[layer] = tuple(sorted(merged.get(layer, ()) + masks))
        claims = tuple(sorted(merged.items()))
    x, y = a.units, b.units
    return Signature((x[0] * y[0], x[1] * y[1]), claims, names, a.marks | b.marks)


@lru_cache(maxsize=1 << 17)
def split(bounds: Bounds, s: Signature, layer: Layer, axes: int, parts: int, mark: int) -> Signature | None:
    """`s` with one more split of `parts` units over a layer; None if it cannot become legal any more."""
    units = tuple(u * parts if name == layer else u for name, u in zip(COUNTED, s.units, strict=True))
    claims = dict(s.claims)
    claims[layer] = tuple(sorted((*claims.get(layer, ()), axes)))
    found = Signature(units, tuple(sorted(claims.items())), s.names, s.marks | mark)
    return found if bounds.units_possible(units) and axis_choices(found.claims) else None


@cache
def assignments(masks: tuple[int, ...]) -> int:
    """The number of ways in which splits over one layer can each take an axis, no axis twice."""
    return 0 if len(masks) > len(AXES) else sum(1 for _ in assigned(masks))


def assigned(masks: tuple[int, ...]) -> Iterator[tuple[int, ...]]:
    """Those ways, in order: an axis (0, 1, 2) for each split."""
    allowed = [[a for a in range(len(AXES)) if mask >> a & 1] for mask in masks]
    for axes in product(*allowed):
        if len(set(axes)) == len(axes):
            yield axes


@cache
def axis_choices(claims: tuple[tuple[str, tuple[int, ...]], ...]) -> int:
    """The number of ways in which the splits over all layers can take their axes."""
    return prod(assignments(masks) for _, masks in claims)
