"""The accesses of a stage as affine functions of its dimensions, which are named by position."""

from dataclasses import dataclass, replace
from functools import cached_property, lru_cache

from mdh.decompose.image import image
from mdh.ir.affine import Affine, from_expr
from mdh.ir.expr import Expr, Var, loads, substitute
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


@dataclass(frozen=True)
class AccessGroup:
    """All loads, or all stores, of a buffer whose indices differ by constants alone. size: bytes of an
    element."""

    buffer: str
    size: int
    shape: tuple[int, ...]
    linear: Linear
    store: bool
    members: tuple[ArrayAccess, ...]

    @cached_property
    def gather(self) -> bool:
        """Data decides where it reads or writes."""
        return None in self.linear

    @cached_property
    def dims(self) -> frozenset[int]:
        """Dimensions of the stage that the index names."""
        return frozenset(int(n) for f in self.linear if f is not None for n in f.names if n.isdecimal())

    @cached_property
    def rows(self) -> int:
        """In how many rows of the buffer, which its last dimension runs along, the constants lie."""
        return len({shift[:-1] for shift in self.shifts})

    @cached_property
    def row_bytes(self) -> tuple[int, ...]:
        """Bytes between neighbours in the buffer, along each of its dimensions."""
        return tuple(n * self.size for n in strides_for(self.shape, tuple(range(len(self.shape)))))

    @cached_property
    def affine(self) -> tuple[Affine, ...]:
        """The index without its constants. Empty where data decides: a copy is then the whole buffer."""
        return () if self.gather else tuple(f for f in self.linear if f is not None)

    @cached_property
    def shifts(self) -> list[tuple[int, ...]]:
        """The constants of each member, 0 where its index is data."""
        return [tuple(0 if f is None else f.const for f in a.index) for a in self.members]

    def box(self, levels: Levels, inside: frozenset[str]) -> tuple[int, ...]:
        """Extents of what it touches while the levels of `inside` run. A dimension that is indexed by data
        counts whole."""
        out = list(self.shape)
        for k, function in enumerate(self.linear):
            if function is not None:
                shifts = [(shift[k],) for shift in self.shifts]
                out[k] = min(out[k], image(levels, (function,), shifts, inside)[0].extent)
        return tuple(out)


def affine_index(program: Program, stage: Stage, index: tuple[Expr, ...]) -> tuple[Affine, ...] | None:
    """The indices as affine functions of the stage's dimensions, and of the units, loops and turns around it
    by name; None if one is data (a gather)."""
    out = tuple(_affine(program, stage, e) for e in index)
    fixed = program.turns
    known = tuple(
        f for f in out if f is not None and all(name.isdecimal() or name in fixed for name in f.names)
    )
    return known if len(known) == len(out) else None


def moving_index(program: Program, stage: Stage, index: tuple[Expr, ...]) -> tuple[Affine, ...] | None:
    """Like `affine_index`, also for indices that move from turn to turn of loops around the stage."""
    found = tuple(_affine(program, stage, e) for e in index)
    known = tuple(f for f in found if f is not None and _known(program, f))
    return known if len(known) == len(found) else None


def _known(program: Program, f: Affine) -> bool:
    return all(name.isdecimal() or name in program.turns for name in f.names)


def movement(program: Program, stage: Stage, e: Expr) -> Affine | None:
    """How an index moves with the stage's dimensions in a turn of the loops around it; None if it is data."""
    found = _affine(program, stage, e)
    if found is None or not _known(program, found):
        return None
    return Affine(tuple(t for t in found.terms if t[0].isdecimal()))


def _affine(program: Program, stage: Stage, e: Expr) -> Affine | None:
    names: dict[str, Expr] = {d.name: Var(str(n)) for n, d in enumerate(stage.dims)}
    return from_expr(substitute(substitute(e, program.size_constants), names))


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


@dataclass(frozen=True, slots=True, eq=False)
class StageKey:
    """A stage of a program as a key. Two are equal where they are the same objects: to compare or hash a
    stage by its contents takes long."""

    program: Program
    stage: Stage

    def __hash__(self) -> int:
        return hash((id(self.program), id(self.stage)))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, StageKey) and self.program is other.program and self.stage is other.stage


def access_groups(program: Program, stage: Stage) -> tuple[AccessGroup, ...]:
    """Distinct accesses, those that differ by constants alone together. They are kept for later calls."""
    return _groups(StageKey(program, stage))


@lru_cache(maxsize=256)
def _groups(key: StageKey) -> tuple[AccessGroup, ...]:
    groups: dict[tuple[str, Linear, bool], list[ArrayAccess]] = {}
    for a in accesses_of(key.program, key.stage):
        groups.setdefault((a.buffer, a.linear, a.store), []).append(a)
    out = []
    for (name, linear, store), members in groups.items():
        buffer = key.program.buffer_of[name]
        out.append(AccessGroup(name, buffer.dtype.bytes, buffer.shape, linear, store, tuple(members)))
    return tuple(out)


def staged_groups(program: Program, stage: Stage, buffer: str) -> list[AccessGroup]:
    """The loads of a buffer, one group for each copy of it. Where data decides of all of them, a copy of the
    whole buffer serves them."""
    loads = [g for g in access_groups(program, stage) if g.buffer == buffer and not g.store]
    return [g for g in loads if not g.gather] or loads[:1]
