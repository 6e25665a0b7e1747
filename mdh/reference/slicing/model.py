"""The data that a slice is computed from: loop bodies, written variables, and their readers and writers."""

from dataclasses import dataclass, field

from mdh.ir.syntax import ForStatement
from mdh.reference.c.types import Type
from mdh.reference.slicing.forms import AffineForm
from mdh.reference.slicing.tables import SubscriptTable

Subscript = AffineForm | SubscriptTable | None
"""None may be any element."""


@dataclass(eq=False, slots=True)
class DeclaredVariable:
    """An array or a scalar in its scope. extents: of the array as declared; for a pointer, its number of
    elements.

    loops: the number of loops around the declaration; each of their iterations has its own variable. integer:
    the type of an integer scalar.
    """

    name: str
    extents: tuple[int, ...]
    loops: int
    integer: Type | None = None


@dataclass(frozen=True, slots=True)
class ElementAccess:
    """One read or write of a variable's element.

    subscripts: over the enclosing loops' values. order: the place of its statement in the text. fresh: how
    many loops around it, from outside, begin each iteration with an unconditional assignment of what is read
    here, so that values of other iterations are never seen.
    """

    variable: DeclaredVariable
    subscripts: tuple[Subscript, ...]
    body: "LoopBody"
    order: int
    fresh: int


@dataclass(eq=False, slots=True)
class LoopBody:
    """The statements in the body of a loop that are in no inner loop; for depth 0, of the function.

    loop: None for the function. outer: the bodies around it, from the function's on. trips: the values of the
    variables of the loops around it, its own last; where the header depends on outer variables, all that it
    ever has, and exact is False. statements: the most that run in an iteration.
    """

    loop: ForStatement | None
    outer: tuple["LoopBody", ...]
    trips: tuple[range, ...]
    exact: bool = True
    reads: list[ElementAccess] = field(default_factory=list)
    statements: int = 0

    @property
    def depth(self) -> int:
        return len(self.trips)

    @property
    def chain(self) -> tuple["LoopBody", ...]:
        return (*self.outer, self)


@dataclass(frozen=True, slots=True)
class Structure:
    """A function for given sizes. bodies: the function's first, outer ones before inner ones."""

    bodies: tuple[LoopBody, ...]
    parameters: dict[str, DeclaredVariable]
    writes: dict[DeclaredVariable, list[ElementAccess]]
