"""The names of a C function during the walk: what each stands for, and what was accessed where."""

from dataclasses import dataclass, field, replace

from mdh.diagnostics import Diagnostic
from mdh.frontend.c.places import Places
from mdh.frontend.statements import Array, OperatorPragma, Statement, Use
from mdh.frontend.tables import ConstantTable
from mdh.ir.dtype import DType
from mdh.ir.expr import Expr, Load
from mdh.ir.statement import LoopVar
from mdh.source import Span


@dataclass(frozen=True, slots=True)
class Local:
    """A scalar local of the body with its value at this place; None if it has none.

    lost: the buffer whose change invalidated the value, which was an expression over it. one_side: the
    condition of a branch of which only one side gives a value. last_of: the loop whose last iteration left
    the value, if which one that is varies. uses: the accesses in the value.
    """

    dtype: DType
    value: Expr | None
    lost: str = ""
    one_side: Span | None = None
    last_of: Span | None = None
    uses: tuple[Use, ...] = ()


@dataclass(frozen=True, slots=True)
class LocalRows:
    """An array that is local to loops: the part of the array `name` that the iteration has for itself. index:
    its first subscripts, which say the iteration."""

    name: str
    index: tuple[Expr, ...]


@dataclass
class NameScope:
    """The mutable state of the walk. values: C names -> their current meaning."""

    places: Places
    arrays: dict[str, Array] = field(default_factory=dict)
    values: dict[str, Expr] = field(default_factory=dict)
    tables: dict[str, ConstantTable] = field(default_factory=dict)
    looked_up: list[tuple[ConstantTable, Use]] = field(default_factory=list)
    locals: dict[str, Local] = field(default_factory=dict)
    cells: dict[str, Load] = field(default_factory=dict)
    """Locals that live across loops; each is an element of a temporary array."""
    held: set[str] = field(default_factory=set)
    """The arrays of such locals, and of `rows`."""
    unset: list[tuple[str, str, Span]] = field(default_factory=list)
    """Reads in loops of arrays of the function's own that nothing has been stored in yet: (array, name,
    place)."""
    rows: dict[str, LocalRows] = field(default_factory=dict)
    """Arrays that are declared inside of loops."""
    last: dict[str, Local] = field(default_factory=dict)
    """Locals whose values at the end of the current loop's body are their values after the loop."""
    loops: tuple[LoopVar, ...] = ()
    conds: tuple[Expr, ...] = ()
    uses: list[Use] = field(default_factory=list)
    """Every access in the text."""
    gathered: list[Use] = field(default_factory=list)
    """The accesses of the current statement so far, with those in the locals that it reads."""
    cond_uses: tuple[Use, ...] = ()
    """The accesses of `conds`."""
    position: int = 0
    statements: list[Statement] = field(default_factory=list)
    taken: set[str] = field(default_factory=set)
    stage_names: dict[int, str] = field(default_factory=dict)
    """Statement number -> name given by `#pragma mdh stage(NAME)`."""
    operators: dict[int, OperatorPragma] = field(default_factory=dict)
    """Statement number -> what `#pragma mdh( … )` says of it."""
    allowed: set[str] = field(default_factory=set)
    """What `#pragma mdh allow(WORD)` allows."""
    written: set[str] = field(default_factory=set)
    errors: list[Diagnostic] = field(default_factory=list)
    """The errors found so far."""
    returns: bool = False
    """Whether the function returns a value, which is an error that is reported."""
    broken: set[str] = field(default_factory=set)
    """Names that erroneous statements would have declared or set."""
    declared: dict[str, str] = field(default_factory=dict)
    """Names declared in the current block -> where `locals` keeps the one of an outer block, if any."""

    def begin(self) -> None:
        """Begins the next statement of the text."""
        self.position += 1
        self.gathered = []

    def accesses(self, load: Load, span: Span, *, write: bool = False) -> None:
        """Notes an access at the current place. A statement has its conditions itself, besides those that
        protect its reads."""
        use = Use(load, self.loops, span, self.conds, write, self.position)
        self.uses.append(use)
        self.gathered.append(replace(use, conds=()) if write else use)

    def array(self, name: str | None) -> tuple[Array, tuple[Expr, ...]] | None:
        """The array of this name, and its first subscripts if it is a part of one; None if there is none."""
        if name in self.tables:
            return self.tables[name].array, ()
        if name in self.rows:
            return self.arrays[self.rows[name].name], self.rows[name].index
        return (
            None if name is None or name in self.held or name not in self.arrays else (self.arrays[name], ())
        )

    def declare(self, name: str) -> None:
        """From here to the end of the block, `name` means another variable than outside."""
        if name not in self.declared:
            hidden = name
            while hidden in self.locals:
                hidden += "'"
            self.declared[name] = hidden if name in self.locals else ""
            if name in self.locals:
                self.locals[hidden] = self.locals.pop(name)
        self.cells.pop(name, None)
        self.rows.pop(name, None)
        self.locals.pop(name, None)

    def end_block(self, outer: dict[str, str]) -> None:
        """Restores names declared in the block to their meaning outside. outer: of the outer block."""
        for name, hidden in self.declared.items():
            self.locals.pop(name, None)
            if hidden:
                self.locals[name] = self.locals.pop(hidden)
        self.declared = outer

    def renumber(self, places: dict[int, int]) -> None:
        """Moves what is noted by statement numbers after statements have moved."""
        self.stage_names = {places.get(n, n): name for n, name in self.stage_names.items()}
        self.operators = {places.get(n, n): pragma for n, pragma in self.operators.items()}
