"""A Schedule as values: what the text says, holes included, before any program is known.

docs/language.md defines the language. Names are canonical: the parser resolves aliases, and the spans keep
the spelling that the user wrote. Spans do not take part in equality.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from mdh.hardware import Layer, Space
from mdh.ir.open_size import OpenSize
from mdh.source import Source, Span


@dataclass(frozen=True, slots=True)
class Caret:
    """`^`: the same as in the previous step."""


@dataclass(frozen=True, slots=True)
class Hole:
    """`?`, `?name`, `?{8,16}`, `?tm{8,16}`, or the bare set `{8,16}`, which is printed with `?`.

    values: the allowed values (ints, or words such as `SM`, `BLK.x`, `FOR.1`, `^`). None means the default
    domain.
    """

    name: str | None = None
    values: tuple["int | str", ...] | None = None
    span: Span | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Arg:
    """An attribute argument: `4`, `vec=4`, `grouped(8)`, `?{2,3}`, `regs=40/232`, with `else` alternatives.

    value: an int, a word (`async`; `40/232` is the word "40/232"), a hole, or a call `word(args)`.
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
class TileEntry:
    """An entry of the first group: a tile size, `^` or a hole."""

    value: int | Caret | Hole
    attrs: tuple[Attr, ...] = ()
    span: Span | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class BufferPlace:
    """`BUF:REGION[layout]`. Layout entries are 1-based dimensions of the buffer, the slowest first. A hole
    stands for the whole layout (`[?]`) or for one entry."""

    buffer: str
    region: Space | Hole
    layout: tuple[int | Hole, ...] | Hole


@dataclass(frozen=True, slots=True)
class Mem:
    """An entry of the second group: where a buffer's part lies at this step."""

    value: BufferPlace | Caret | Hole
    attrs: tuple[Attr, ...] = ()
    span: Span | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Unit:
    """A core layer and axis: `BLK.y`, `THR.x`, `MMA.k`."""

    layer: Layer
    axis: str


@dataclass(frozen=True, slots=True)
class ForEntry:
    """`FOR.n`: a sequential loop. n: its place among the step's loops."""

    number: int


@dataclass(frozen=True, slots=True)
class Core:
    """An entry of the third group: who works on the parts of a dimension."""

    value: Unit | ForEntry | Caret | Hole
    attrs: tuple[Attr, ...] = ()
    span: Span | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Step:
    """One `(de-)comp` or `(de/re)-comp`. slash: which spelling was used, so that printing is exact."""

    label: int | None
    tiles: tuple[TileEntry, ...]
    inputs: tuple[Mem, ...]
    outputs: tuple[Mem, ...]
    cores: tuple[Core, ...]
    attrs: tuple[Attr, ...] = ()
    slash: bool = False
    span: Span | None = field(default=None, compare=False, repr=False)
    comments: tuple[str, ...] = field(default=(), compare=False, repr=False)
    """Comment lines above or inside the step, without their slashes."""
    remark: str = field(default="", compare=False, repr=False)
    """The comment after the step, on its last line."""


# `where` expressions: ints, names (named holes, program constants), operators.


@dataclass(frozen=True, slots=True)
class NameRef:
    text: str
    hole: bool
    span: Span | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Operation:
    """An operator and its operands. op: + - * / % < <= > >= == != and or not. `not` and unary - have one
    operand. `/` is floor division."""

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
class Fuse:
    """`fuse n, p, q`: dimensions that are one in the steps of the section, the fastest in memory last.
    spans: of the names."""

    names: tuple[str, ...]
    span: Span | None = field(default=None, compare=False, repr=False)
    spans: tuple[Span, ...] = field(default=(), compare=False, repr=False)
    comments: tuple[str, ...] = field(default=(), compare=False, repr=False)
    remark: str = field(default="", compare=False, repr=False)


class How(StrEnum):
    """How a stage is computed: by a kernel of its own, or by the stages that read its results."""

    KERNEL = "kernel"
    INLINE = "inline"


@dataclass(frozen=True, slots=True)
class Within:
    """`in C:n`: the stage is computed where step `step` of stage `reader` stages its results."""

    reader: str
    step: int
    span: Span | None = field(default=None, compare=False, repr=False)


LIBRARIES = ("cublaslt", "cudnn", "openblas", "onednn")
"""The libraries whose calls a schedule may name."""


@dataclass(frozen=True, slots=True)
class Library:
    """`= library(openblas)`: a call of a library computes the stage."""

    name: str
    span: Span | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Beside:
    """`beside P`: the stage shares the launch of stage `host`, whose blocks come first."""

    host: str
    span: Span | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Online:
    """`online t, u`: the stage is reduced in one pass with stages inside of it. spans: of the names."""

    names: tuple[str, ...]
    span: Span | None = field(default=None, compare=False, repr=False)
    spans: tuple[Span, ...] = field(default=(), compare=False, repr=False)


Way = How | Within | Online | Beside | Library | Hole
"""How a stage is computed."""


@dataclass(frozen=True, slots=True)
class Section:
    """The steps and conditions of one stage, and which dimensions are one in its steps. name: None for the
    schedule of a program's only stage.

    derived: it has no steps of its own (`stage T inline`, `stage T kernel`); a kernel has those of the
    default schedule. chosen: `how` is the value of a hole. The steps of readers then have the entries that
    they have if the stage has a kernel.
    """

    name: str | None
    steps: tuple[Step, ...]
    wheres: tuple[Where, ...] = ()
    span: Span | None = field(default=None, compare=False, repr=False)
    comments: tuple[str, ...] = field(default=(), compare=False, repr=False)
    fuses: tuple[Fuse, ...] = ()
    how: Way = How.KERNEL
    attrs: tuple[Attr, ...] = ()
    derived: bool = False
    chosen: bool = field(default=False, compare=False)
    remark: str = field(default="", compare=False, repr=False)
    """The comment after a section without steps, on its line."""
    counters: tuple[str, ...] = ()
    """Of the section of a loop around stages: the counters of C that it is. Its steps have no memory entries.
    """

    @property
    def groups(self) -> tuple[tuple[str, ...], ...]:
        """The names of each `fuse`."""
        return tuple(fuse.names for fuse in self.fuses)


@dataclass(frozen=True, slots=True)
class SizeHeader:
    """`for`: sizes and machines that the schedule was made for. `small`: small sizes of the same structure.

    word: `for` or `small`. program: a C function; None for that of the line `program`, or any. machines: if
    empty, that of the line `target`. places: where the names of sizes
    stand, and those of machines behind the key `on NAME`.
    """

    word: str
    sizes: tuple[tuple[str, int], ...]
    program: str | None = None
    machines: tuple[str, ...] = ()
    span: Span | None = field(default=None, compare=False, repr=False)
    places: Mapping[str, Span] = field(default_factory=dict, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class SizeCase:
    """`over M=17..4096 { … }`: the sections of a table that are for these sizes. A range may have one value.
    places: of the ranges, by name."""

    ranges: tuple[OpenSize, ...]
    sections: tuple[Section, ...]
    span: Span | None = field(default=None, compare=False, repr=False)
    places: Mapping[str, Span] = field(default_factory=dict, compare=False, repr=False)
    comments: tuple[str, ...] = field(default=(), compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Schedule:
    """A schedule. sections: of stages. target, program: the header lines `target NAME` (a machine) and
    `program NAME` (a C function). cases: of a table, whose `sections` are empty (`schedule/cases.py`).
    derived: mdh made all of it, and no text says it."""

    sections: tuple[Section, ...]
    target: str | None = None
    program: str | None = None
    sizes: tuple[SizeHeader, ...] = ()
    """The header lines `for` and `small`, in the order of the text."""
    comments: tuple[str, ...] = field(default=(), compare=False)
    """Comment lines at the head of the file, without their slashes; the printer keeps them."""
    source: Source | None = field(default=None, compare=False, repr=False)
    places: Mapping[str, Span] = field(default_factory=dict, compare=False, repr=False)
    """Where the names after `target` and `program` stand."""
    trailing: tuple[str, ...] = field(default=(), compare=False)
    """Comment lines behind the last item."""
    cases: tuple[SizeCase, ...] = ()
    loops: tuple[Section, ...] = ()
    """The sections `loop NAME( … ) { … }` of loops around stages."""
    derived: bool = field(default=False, compare=False)

    @property
    def sharing(self) -> frozenset[str | None]:
        """The stages that share a launch with others."""
        pairs = ((s.name, s.how.host) for s in self.sections if isinstance(s.how, Beside))
        return frozenset(name for pair in pairs for name in pair)
