"""Names of a C function while it is walked: what each stands for, and what was accessed where."""

from dataclasses import dataclass, field

from mdh.frontend.places import Places
from mdh.ir.dtype import DType
from mdh.ir.expr import Expr, Load
from mdh.source import Span


@dataclass(frozen=True, slots=True)
class LoopVar:
    """A normalised loop: `name` (unique in the function) runs over 0 … extent-1.

    C's variable is start + step * name."""

    name: str
    cname: str
    start: int
    step: int
    extent: int
    span: Span


@dataclass(frozen=True, slots=True)
class Array:
    """An array by name: shape None for a plain pointer; temp: local to the function."""

    name: str
    dtype: DType
    shape: tuple[int, ...] | None
    const: bool
    temp: bool
    span: Span


@dataclass(frozen=True, slots=True)
class Use:
    """One access in the text, made where all of `conds` hold."""

    load: Load
    loops: tuple[LoopVar, ...]
    span: Span
    conds: tuple[Expr, ...]
    write: bool


@dataclass(frozen=True, slots=True)
class Assign:
    """target[index] = value at every point of `loops`, where `cond` holds."""

    target: str
    index: tuple[Expr, ...]
    value: Expr
    cond: Expr | None
    loops: tuple[LoopVar, ...]
    span: Span


@dataclass(frozen=True, slots=True)
class Best:
    """`if (x > m) { m = x; p = e; … }`: targets[0] is the key, the others what goes with it."""

    op: str
    tie: str
    targets: tuple[tuple[str, tuple[Expr, ...]], ...]
    values: tuple[Expr, ...]
    loops: tuple[LoopVar, ...]
    span: Span


Statement = Assign | Best


@dataclass(frozen=True, slots=True)
class OperatorPragma:
    """`#pragma mdh( target : operators )`."""

    target: str
    operators: str
    span: Span


@dataclass(frozen=True, slots=True)
class Local:
    """A scalar local of the body and its value at this place, None where it has none.

    `lost`: the buffer whose change took the value away, which was an expression over it.
    """

    dtype: DType
    value: Expr | None
    lost: str = ""


@dataclass
class Scope:
    """Mutable state of the walk; `values` maps C names to their current meaning."""

    places: Places
    arrays: dict[str, Array] = field(default_factory=dict)
    values: dict[str, Expr] = field(default_factory=dict)
    locals: dict[str, Local] = field(default_factory=dict)
    cells: dict[str, Load] = field(default_factory=dict)
    """Locals that live across loops: an element of a temporary array each."""
    loops: tuple[LoopVar, ...] = ()
    conds: tuple[Expr, ...] = ()
    uses: list[Use] = field(default_factory=list)
    statements: list[Statement] = field(default_factory=list)
    taken: set[str] = field(default_factory=set)
    stage_names: dict[int, str] = field(default_factory=dict)
    """Statement number → name given by `#pragma mdh stage(NAME)`."""
    operators: dict[int, OperatorPragma] = field(default_factory=dict)
    """Statement number → what `#pragma mdh( … )` says of it."""
    written: set[str] = field(default_factory=set)

    def fresh(self, stem: str) -> str:
        name, n = stem, 2
        while name in self.taken:
            name, n = f"{stem}_{n}", n + 1
        self.taken.add(name)
        return name
