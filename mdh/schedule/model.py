"""A Schedule as values: what the text says, holes included, before any program is known.

The language is docs/language.md; names here are canonical (aliases are resolved by the parser, which also
records the spelling that the user wrote in the spans). Spans take no part in equality.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

from mdh.hardware import Layer, Space
from mdh.source import Source, Span


@dataclass(frozen=True, slots=True)
class Caret:
    """`^`: as in the previous step."""


@dataclass(frozen=True, slots=True)
class Hole:
    """`?`, `?name`, `?{8,16}`, `?tm{8,16}` or the bare set `{8,16}` (printed with `?`).

    values: the allowed values (ints or words such as `SM`, `BLK.x`, `FOR.1`, `^`), None = the default domain.
    """

    name: str | None = None
    values: tuple["int | str", ...] | None = None
    span: Span | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Arg:
    """An attribute argument: `4`, `vec=4`, `grouped(8)`, `?{2,3}`, `regs=40/232`, with `else` alternatives.

    value: int, word (`async`; `40/232` is the word "40/232"), hole, or a call `word(args)`.
    """

    value: "int | str | Hole | ArgCall"
    name: str | None = None
    fallback: "Arg | None" = None
    span: Span | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class ArgCall:
    name: str
    args: tuple[Arg, ...]


@dataclass(frozen=True, slots=True)
class Attr:
    """`@name(args)`."""

    name: str
    args: tuple[Arg, ...] = ()
    span: Span | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Tile:
    """First group: a tile size, `^` or a hole."""

    value: int | Caret | Hole
    attrs: tuple[Attr, ...] = ()
    span: Span | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Place:
    """`BUF:REGION[layout]`; layout entries are 1-based buffer dims, the slowest first; a hole stands for
    the whole layout (`[?]`) or for one entry."""

    buffer: str
    region: Space | Hole
    layout: tuple[int | Hole, ...] | Hole


@dataclass(frozen=True, slots=True)
class Mem:
    """Second group: where a buffer's part lies at this step."""

    value: Place | Caret | Hole
    attrs: tuple[Attr, ...] = ()
    span: Span | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Unit:
    """A core layer and axis: `BLK.y`, `THR.x`, `MMA.k`."""

    layer: Layer
    axis: str


@dataclass(frozen=True, slots=True)
class For:
    """`FOR.n`."""

    number: int


@dataclass(frozen=True, slots=True)
class Core:
    """Third group: who works on the parts of a dimension."""

    value: Unit | For | Caret | Hole
    attrs: tuple[Attr, ...] = ()
    span: Span | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Step:
    """One `(de-)comp` or `(de/re)-comp`; the spelling is kept (`slash`) so that printing is exact."""

    label: int | None
    tiles: tuple[Tile, ...]
    inputs: tuple[Mem, ...]
    outputs: tuple[Mem, ...]
    cores: tuple[Core, ...]
    attrs: tuple[Attr, ...] = ()
    slash: bool = False
    span: Span | None = field(default=None, compare=False, repr=False)
    comments: tuple[str, ...] = field(default=(), compare=False, repr=False)
    """Comment lines above or inside the step, without their slashes."""
    remark: str = field(default="", compare=False, repr=False)
    """The comment behind the step, on its last line."""


# `where` expressions: ints, names (named holes, program constants), operators.


@dataclass(frozen=True, slots=True)
class NameRef:
    text: str
    hole: bool
    span: Span | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Operation:
    """op: + - * / % < <= > >= == != and or not; `not` and unary - have one operand. `/` is floor division."""

    op: str
    operands: tuple["WhereExpr", ...]
    span: Span | None = field(default=None, compare=False, repr=False)


WhereExpr = int | NameRef | Operation


@dataclass(frozen=True, slots=True)
class Where:
    condition: WhereExpr
    span: Span | None = field(default=None, compare=False, repr=False)
    comments: tuple[str, ...] = field(default=(), compare=False, repr=False)
    remark: str = field(default="", compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Section:
    """The steps and conditions of one stage; `name` None: the schedule of the program's only stage."""

    name: str | None
    steps: tuple[Step, ...]
    wheres: tuple[Where, ...] = ()
    span: Span | None = field(default=None, compare=False, repr=False)
    comments: tuple[str, ...] = field(default=(), compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class SizeHeader:
    """`for`: sizes and machines that the schedule was made for; `small`: small sizes of the same structure.

    word: `for` or `small`. program: a C function; None: that of the line `program`, or any. machines: empty:
    that of the line `target`. places: of the names of sizes and machines.
    """

    word: str
    sizes: tuple[tuple[str, int], ...]
    program: str | None = None
    machines: tuple[str, ...] = ()
    span: Span | None = field(default=None, compare=False, repr=False)
    places: Mapping[str, Span] = field(default_factory=dict, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Schedule:
    """target, program: the header lines `target NAME` (a machine) and `program NAME` (a C function)."""

    sections: tuple[Section, ...]
    target: str | None = None
    program: str | None = None
    sizes: tuple[SizeHeader, ...] = ()
    """The header lines `for` and `small`, in the order of the text."""
    comments: tuple[str, ...] = field(default=(), compare=False)
    """Comment lines at the head of the file, without their slashes; the printer keeps them."""
    source: Source | None = field(default=None, compare=False, repr=False)
    places: Mapping[str, Span] = field(default_factory=dict, compare=False, repr=False)
    """Of the names behind `target` and `program`."""
    trailing: tuple[str, ...] = field(default=(), compare=False)
    """Comment lines behind the last item."""
