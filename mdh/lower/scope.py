"""Places in a kernel that is being written: what is known there, and what stands inside of the loops.

The code of a kernel is written from outside in. Each part of it gets a Scope and makes statements.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum

from mdh.hardware import Space
from mdh.ir.affine import Affine, to_expr
from mdh.ir.expr import Expr, Var, substitute
from mdh.ir.kernel import Buf, Stmt
from mdh.ir.layout import Axis, Level

Key = tuple[str, tuple[Affine, ...]]
"""A buffer and the linear part of an access's index: accesses that differ by constants share a key."""


class Role(StrEnum):
    """What threads do with the parts of inputs that the copy engine brings."""

    LOAD = "load"
    MATH = "math"


# -- where elements lie ------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Instance:
    """Where a buffer's elements live at some place in the code: `buf` holds those that the axes name. A copy
    of a buffer holds the image of its accesses over the levels inside (language.md section 5).

    slot: the pipeline slot to read, prefixed to every index. span: as of a Tile; the number of the block then
    stands before the other dimensions.
    """

    buf: Buf
    axes: tuple[Axis, ...]
    slot: Affine | None = None
    span: int = 0

    def local(self, index: tuple[Affine, ...]) -> tuple[Affine, ...]:
        return tuple(axis.local(i) for axis, i in zip(self.axes, index, strict=True))


def whole(buf: Buf) -> Instance:
    """An array of device memory."""
    return Instance(buf, tuple(Axis(Affine(), n, False, ()) for n in buf.shape))


@dataclass(frozen=True, slots=True)
class Region:
    """Partial results of fold `fold` in SM or RM, open from before item `opens` to the end of its loops.

    axes: per dim of the output, the inside levels as (name, radix); names in code order are `loops`.
    lanes: vector levels of reduction dims, whose partial results stay apart until the region closes. first:
    what atoms add to instead, until the region takes it over (`@promote`).
    """

    fold: int
    space: Space
    opens: int
    bufs: tuple[Buf, ...]
    axes: tuple[tuple[tuple[str, int], ...], ...]
    loops: tuple[str, ...]
    lanes: tuple[str, ...]
    first: Buf | None = None

    def index(self, values: Mapping[str, Expr]) -> tuple[Expr, ...]:
        """Index of the element that the current level variables own. values: of those that are not free."""
        return tuple(substitute(to_expr(Affine.of(dict(axis))), dict(values)) for axis in self.axes)


@dataclass(frozen=True, slots=True)
class Stream:
    """How the blocks of a grid share the iterations of all tiles (`@combine(stream)`).

    level: the loop that they share. iterations: of all tiles together; blocks: of the grid. counter, flags,
    parts: workspaces: the next block's number, which parts of a sum are there, and these parts by block,
    register and thread. The others are variables: rank: of the block in the order of the iterations that it
    takes, begin, end: of these; tile; first, last: the iterations of a tile that are the block's.
    """

    level: Level
    iterations: int
    blocks: int
    counter: str
    flags: str
    parts: str
    rank: str
    begin: str
    end: str
    tile: str
    first: str
    last: str


# -- what is done inside of the loops ----------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Point:
    """Every result takes in the value of the point."""


POINT = Point()


@dataclass(frozen=True, slots=True)
class Scatter:
    """Of every result the element that the data chooses takes in the value of the point."""


@dataclass(frozen=True, slots=True)
class OpenCarries:
    """At item `at`, outside of all loops over the scanned dim, the running values of the scans begin in the
    regions `carries`. Then come the loops up to item `parts_at`, where units scan their own parts.

    prefixes: by scan, the workspace that holds what the blocks before each block make.
    """

    at: int
    parts_at: int
    carries: tuple[Region, ...]
    prefixes: Mapping[int, str]


@dataclass(frozen=True, slots=True)
class ScanParts:
    """At item `at` each unit scans its own part of the points, scan after scan."""

    at: int
    carries: tuple[Region, ...]


@dataclass(frozen=True, slots=True)
class KeptPrefixes:
    """Registers for what a thread's points make of those before them in its part."""

    buf: Buf
    loops: tuple[str, ...]

    def index(self, scope: "Scope") -> tuple[Expr, ...]:
        return tuple(substitute(Var(v), dict(scope.values)) for v in self.loops)


@dataclass(frozen=True, slots=True)
class ReducePart:
    """The first of two passes over a thread's part: scan number `fold` reduces it to `total`.

    kept: where the prefixes of the points are kept for the second pass, None: nowhere. overruns: points past
    the end of the scanned dim may be computed as well, as what holds the results has room for them.
    """

    fold: int
    total: Buf
    kept: KeptPrefixes | None
    overruns: bool


@dataclass(frozen=True, slots=True)
class ScanPart:
    """The second pass: prefixes from what stands in `before` on are stored."""

    fold: int
    before: Buf
    kept: KeptPrefixes | None
    overruns: bool


@dataclass(frozen=True, slots=True)
class ScanChunk:
    """A few points are scanned from the identity, in `running`; the variable `carry`, which stands for all
    that came before, joins each prefix as it is stored."""

    fold: int
    running: Buf
    carry: str


@dataclass(frozen=True, slots=True)
class Atoms:
    """From item `at` on, warps multiply fragments with the atoms of tensor cores."""

    at: int


Leaf = Point | Scatter | Atoms | OpenCarries | ScanParts | ReducePart | ScanPart | ScanChunk


@dataclass(frozen=True, slots=True)
class NextFragments:
    """How warps load fragments of their factors while they multiply those before. fragments: registers of A
    and B, for two parts of k in turn. live: where the next turn of the loop finds the factors. meet: what
    makes sure that they are there. pieces: copies for later turns, to be dealt out among the atoms. first:
    before the loop, where only the fragments of its first part are loaded.
    """

    fragments: tuple[Buf, Buf]
    live: Mapping[Key, Instance]
    meet: tuple[Stmt, ...] = ()
    pieces: tuple[Stmt, ...] = ()
    first: bool = False


# -- what is known at a place ------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class LoopLimits:
    """The values of a loop's variable, `low <= v < high`; None: no limit."""

    low: Expr | None
    high: Expr | None


@dataclass(frozen=True)
class Scope:
    """What is known at a place: live instances, loop variables with one known value, full levels."""

    leaf: Leaf = POINT
    """What stands inside of the loops that are still to come."""
    live: Mapping[Key, Instance] = field(default_factory=dict)
    fixed: Mapping[str, int] = field(default_factory=dict)
    full: frozenset[str] = frozenset()
    values: Mapping[str, Expr] = field(default_factory=dict)
    """Level variables that stand for an expression (digits of a cooperative loop's counter)."""
    position: int = 0
    peels: int = 0
    limits: Mapping[str, int] = field(default_factory=dict)
    """Loop variables that take fewer values here than their level has parts."""
    ends: Mapping[str, Expr | int] = field(default_factory=dict)
    """Last values of loops that end early, whether or not this is the part in which they do."""
    inside: frozenset[int] = frozenset()
    """Dimensions with an open extent whose points all exist here."""
    turns: Mapping[str, LoopLimits] = field(default_factory=dict)
    """Of loops whose copies run ahead: the turns in which something changes. They begin with these copies."""
    in_domain: bool = False
    """Whether all points here are in the stage's domain."""
    ahead: NextFragments | None = None
    """Of the loop around atoms, if their fragments are loaded ahead."""

    def at(self, position: int) -> "Scope":
        return replace(self, position=position)

    def limited(self, var: str, count: int) -> "Scope":
        """Where a loop has only its first `count` parts."""
        return replace(self, limits={**self.limits, var: count})

    def at_part(self, var: str, part: int) -> "Scope":
        """In one part of a loop, whose number is known."""
        return replace(self, fixed={**self.fixed, var: part})

    def value(self, var: str) -> Expr:
        """What a level variable stands for here."""
        return self.values.get(var, Var(var))

    def with_values(self, values: Mapping[str, Expr]) -> "Scope":
        """Where level variables stand for expressions."""
        return replace(self, values={**self.values, **values})


def key_of(buffer: str, index: tuple[Affine, ...]) -> Key:
    return buffer, tuple(Affine(i.terms, 0) for i in index)
