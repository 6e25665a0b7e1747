"""Which elements of its arrays a stage touches, in all and while some of its loops run."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import prod

from mdh.decompose.accesses import affine_index
from mdh.decompose.image import image
from mdh.ir.affine import Affine
from mdh.ir.expr import Expr, loads
from mdh.ir.layout import Levels, strides_for
from mdh.ir.program import Program, Stage

Linear = tuple[Affine | None, ...]


@dataclass(frozen=True, slots=True)
class ArrayAccess:
    """One load or store. index: for each dimension of the buffer a function of the stage's dimensions, which
    are named by position; None where it is data (gather, scatter). finish: not of the scalar function, but of
    what starts and finishes a result, which one unit does where several hold parts of it."""

    buffer: str
    index: tuple[Affine | None, ...]
    store: bool
    finish: bool = False

    @property
    def linear(self) -> Linear:
        """The index without its constants."""
        return tuple(None if f is None else Affine(f.terms) for f in self.index)


@dataclass(frozen=True, slots=True)
class AccessGroup:
    """All loads, or all stores, of a buffer whose indices differ by constants alone. size: bytes of an
    element."""

    buffer: str
    size: int
    shape: tuple[int, ...]
    linear: Linear
    store: bool
    members: tuple[ArrayAccess, ...]

    @property
    def gather(self) -> bool:
        """Data decides where it reads or writes."""
        return None in self.linear

    @property
    def dims(self) -> frozenset[int]:
        """Dimensions of the stage that the index names."""
        return frozenset(int(name) for f in self.linear if f is not None for name in f.names)

    @property
    def rows(self) -> int:
        """In how many rows of the buffer, which its last dimension runs along, the constants lie."""
        return len({tuple(0 if f is None else f.const for f in a.index[:-1]) for a in self.members})

    @property
    def row_bytes(self) -> tuple[int, ...]:
        """Bytes between neighbours in the buffer, along each of its dimensions."""
        return tuple(n * self.size for n in strides_for(self.shape, tuple(range(len(self.shape)))))

    def box(self, levels: Levels, inside: frozenset[str]) -> tuple[int, ...]:
        """Extents of what it touches while the levels of `inside` run. A dimension that is indexed by data
        counts whole."""
        out = []
        for k, (function, whole) in enumerate(zip(self.linear, self.shape, strict=True)):
            shifts: list[tuple[int, ...]] = [
                (f.const,) for a in self.members if (f := a.index[k]) is not None
            ]
            extent = whole if function is None else image(levels, (function,), shifts, inside)[0].extent
            out.append(min(whole, extent))
        return tuple(out)


def accesses_of(program: Program, stage: Stage) -> tuple[ArrayAccess, ...]:
    """Distinct accesses; loads first, in the order of the text."""

    def access(buffer: str, index: tuple[Expr, ...], store: bool) -> ArrayAccess:
        found = [affine_index(program, stage, (e,)) for e in index]
        return ArrayAccess(buffer, tuple(None if f is None else f[0] for f in found), store)

    def loaded(*expressions: Expr) -> list[ArrayAccess]:
        return [access(x.buffer, x.index, False) for e in expressions for x in loads(e)]

    scalar = loaded(*(let.value for let in stage.lets), *(v for r in stage.results for v in r.values))
    written = [access(o.buffer, o.index, True) for r in stage.results for o in r.outputs]
    every = dict.fromkeys((*loaded(*stage.expressions()), *written))
    return tuple(replace(a, finish=a not in scalar and not stage.scattered) for a in every)


def access_groups_of(program: Program, stage: Stage) -> tuple[AccessGroup, ...]:
    """The same, those that differ by constants alone together."""
    groups: dict[tuple[str, Linear, bool], list[ArrayAccess]] = {}
    for a in accesses_of(program, stage):
        groups.setdefault((a.buffer, a.linear, a.store), []).append(a)
    return tuple(
        AccessGroup(name, (b := program.buffer_of[name]).dtype.bytes, b.shape, linear, store, tuple(members))
        for (name, linear, store), members in groups.items()
    )


def compulsory_bytes(program: Program, stage: Stage) -> int:
    """Of the distinct elements that the stage reads and writes: the least that DM can carry."""
    accesses, total = accesses_of(program, stage), 0
    for buffer, store in dict.fromkeys((a.buffer, a.store) for a in accesses):
        known = program.buffer_of[buffer]
        mine = [a.index for a in accesses if (a.buffer, a.store) == (buffer, store)]
        extents = (
            _touched(stage, [index[k] for index in mine], whole) for k, whole in enumerate(known.shape)
        )
        total += prod(extents) * known.dtype.bytes
    return total


def _touched(stage: Stage, functions: Sequence[Affine | None], whole: int) -> int:
    """Of `whole` elements of a dimension those between the first and the last that the functions reach; of
    one function alone, which may have holes, no more than it has values."""
    ranges = {str(d): (0, dim.extent - 1) for d, dim in enumerate(stage.dims)}
    known = [f for f in functions if f is not None]
    if len(known) < len(functions):
        return whole
    ends = [f.bounds(ranges) for f in known]
    extent = max(high for _, high in ends) - min(low for low, _ in ends) + 1
    if len(set(known)) == 1:
        extent = min(extent, prod(stage.dims[int(name)].extent for name in known[0].names))
    return min(whole, extent)
