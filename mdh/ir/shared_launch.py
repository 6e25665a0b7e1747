"""Stages whose kernels are one (`stage Q beside P`): the launch has the blocks of P, and then those of Q.

Such stages know nothing of one another, so their blocks may run in any order, and at the same time. Stages
between them in the text run in front of the launch or behind it.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace

from mdh.ir.turns import Turns

Order = tuple[tuple[int, ...], ...]
"""Numbers of stages in the order in which they run; those of one launch stand together."""


@dataclass(frozen=True, slots=True)
class Touched:
    """The arrays that the kernel of a stage reads and writes in device memory."""

    read: frozenset[str]
    written: frozenset[str]

    def __or__(self, other: "Touched") -> "Touched":
        return Touched(self.read | other.read, self.written | other.written)

    def meets(self, other: "Touched") -> frozenset[str]:
        """The arrays that one of the two writes and the other one reads or writes."""
        mine, theirs = self.read | self.written, other.read | other.written
        return self.written & theirs | other.written & mine


class BesideError(Exception):
    """Stages cannot share a launch. `first`, `second`: numbers of two of them. `between`: numbers of stages
    that must run behind the first and in front of the second. `arrays`: where they meet."""

    def __init__(
        self, first: int, second: int, arrays: Collection[str] = (), between: Sequence[int] = ()
    ) -> None:
        super().__init__(first, second)
        self.first, self.second = first, second
        self.arrays, self.between = tuple(sorted(arrays)), tuple(between)


@dataclass(frozen=True, slots=True)
class _Item:
    """What moves as a whole: stages of one launch, or a loop with all that is in it. member: the stage of the
    group that it is."""

    stages: Order
    touched: Touched
    member: int | None = None


def arranged(touched: Sequence[Touched], loops: Sequence[Turns], groups: Sequence[tuple[int, ...]]) -> Order:
    """The order in which the stages run, where those of each group share a launch: in the group's order.

    touched: of each stage. groups: numbers of stages, each in one group at most. Raises BesideError if two of
    a group touch what one of them writes, or stand in different loops, or if a stage between them must run
    behind one and in front of another.
    """
    order: Order = tuple((n,) for n in range(len(touched)))
    for group in groups:
        order = _with_group(order, touched, loops, group)
    return order


def _with_group(
    order: Order, touched: Sequence[Touched], loops: Sequence[Turns], group: tuple[int, ...]
) -> Order:
    around = [_around(loops, n) for n in group]
    for k, second in enumerate(group):
        for i in range(k):
            if around[i] != around[k]:
                raise BesideError(group[i], second)
            arrays = touched[group[i]].meets(touched[second])
            if arrays:
                raise BesideError(group[i], second, arrays)
    places = [k for k, launch in enumerate(order) if launch[0] in group]
    low, high = min(places), max(places)
    items = _items(order[low : high + 1], touched, loops, group, around[0])
    before, behind = list[_Item](), list[_Item]()
    for item in items:
        met = [x for x in behind if x.touched.meets(item.touched)]
        if item.member is None:
            (behind if met else before).append(item)
            continue
        late = [n for x in met if x.member is None for launch in x.stages for n in launch]
        if late:
            first = next(x.member for x in behind if x.member is not None)
            raise BesideError(first, item.member, (), late)
        behind.append(item)
    front = (launch for x in before for launch in x.stages)
    after = (launch for x in behind if x.member is None for launch in x.stages)
    return (*order[:low], *front, group, *after, *order[high + 1 :])


def _around(loops: Sequence[Turns], stage: int) -> tuple[str, ...]:
    return tuple(x.var for x in loops if x.first <= stage <= x.last)


def _items(
    order: Order, touched: Sequence[Touched], loops: Sequence[Turns], group: tuple[int, ...],
    around: tuple[str, ...],
) -> list[_Item]:  # fmt: skip
    """The parts of the order that move as a whole. around: the loops around the group."""
    out: list[_Item] = []
    last = ""
    for launch in order:
        whole = touched[launch[0]]
        for n in launch[1:]:
            whole |= touched[n]
        if launch[0] in group:
            out.append(_Item((launch,), whole, launch[0]))
            last = ""
            continue
        inner = next((v for v in _around(loops, launch[0]) if v not in around), "")
        if inner and inner == last:
            out[-1] = _Item((*out[-1].stages, launch), out[-1].touched | whole)
        else:
            out.append(_Item((launch,), whole))
        last = inner
    return out


def loops_around(loops: Sequence[Turns], order: Order) -> tuple[Turns, ...]:
    """The loops around the launches of an order, as numbered in it."""
    out = []
    for x in loops:
        inside = [k for k, launch in enumerate(order) if x.first <= launch[0] <= x.last]
        out.append(replace(x, first=inside[0], last=inside[-1]))
    return tuple(out)
