"""What the splits of a dimension leave for the others to agree with: units of the layers, axes, shared names.

Two choices of tiles and layers with the same signature may stand for one another in every point of the space.
That lets points be counted without being listed: dimensions are counted apart, and joined by signature.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from itertools import product

from mdh.machine import Machine
from mdh.tune.values import Value

COUNTED = ("WRP", "THR")
"""Layers whose number of units is bounded by the language or the machine."""
LANES = 32
AXES = "xyz"


@dataclass(frozen=True, slots=True)
class Signature:
    """units: of the layers COUNTED. claims: of each layer (name, axes that each split over it may take, as
    bit sets, sorted); names: values of variables that other dimensions share, by index, sorted."""

    units: tuple[int, ...] = (1,) * len(COUNTED)
    claims: tuple[tuple[str, tuple[int, ...]], ...] = ()
    names: tuple[tuple[int, Value], ...] = ()


NEUTRAL = Signature()


@dataclass(frozen=True, slots=True)
class Bounds:
    """Most threads of a block; None on a CPU, where threads are loops."""

    threads: int | None

    @staticmethod
    def of(machine: Machine) -> "Bounds":
        return Bounds(None if machine.kind == "cpu" else machine.threads_per_block)

    def possible(self, s: Signature) -> bool:
        """Further splits may still make `s` legal."""
        return self.units_possible(s.units) and all(assignments(masks) for _, masks in s.claims)

    def units_possible(self, units: tuple[int, ...]) -> bool:
        """Units only grow."""
        warps, threads = units
        if self.threads is not None and warps * threads > self.threads:
            return False
        return warps == 1 or LANES % threads == 0

    def units_legal(self, units: tuple[int, ...]) -> bool:
        """Language section 3: THR under WRP are the lanes of a warp, exactly 32."""
        warps, threads = units
        return self.units_possible(units) and (warps == 1 or threads == LANES)


def joined(a: Signature, b: Signature) -> Signature | None:
    """Both together; None where they give a shared name two values."""
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
    return Signature((x[0] * y[0], x[1] * y[1]), claims, names)


def split_over(s: Signature, layer: str, axes: int, parts: int) -> Signature:
    """One more split of `parts` units over a layer, on one of `axes`."""
    units = tuple(u * parts if name == layer else u for name, u in zip(COUNTED, s.units, strict=True))
    claims = dict(s.claims)
    claims[layer] = tuple(sorted((*claims.get(layer, ()), axes)))
    return Signature(units, tuple(sorted(claims.items())), s.names)


@cache
def assignments(masks: tuple[int, ...]) -> int:
    """In how many ways splits over one layer can take an axis each, no axis twice."""
    return sum(1 for _ in assigned(masks))


def assigned(masks: tuple[int, ...]) -> Iterator[tuple[int, ...]]:
    """Those ways, in order: an axis (0, 1, 2) for each split."""
    allowed = [[a for a in range(len(AXES)) if mask >> a & 1] for mask in masks]
    for axes in product(*allowed):
        if len(set(axes)) == len(axes):
            yield axes


def axis_choices(s: Signature) -> int:
    n = 1
    for _, masks in s.claims:
        n *= assignments(masks)
    return n
