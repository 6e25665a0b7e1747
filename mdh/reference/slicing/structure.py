"""A function's statements as loop bodies, with the reads and writes of each."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import prod
from typing import Any, assert_never

from numpy.typing import NDArray

from mdh.ir.syntax import (
    Assignment,
    Block,
    Declaration,
    Element,
    Expression,
    ForStatement,
    Function,
    IfStatement,
    Infix,
    Name,
    Statement,
    Values,
    operands,
    walked,
)
from mdh.reference.c.types import Type
from mdh.reference.slicing.assigned import Assigned
from mdh.reference.slicing.forms import AffineForm, fitting, form_of, integer_type
from mdh.reference.slicing.headers import counter_of, trips
from mdh.reference.slicing.model import DeclaredVariable, ElementAccess, LoopBody, Structure, Subscript
from mdh.reference.slicing.tables import Reading, SubscriptTable, table_of

Size = int | float
_MOST_LOCAL = 1 << 24
"""The most elements of an array that a function declares; the interpreter holds all of them."""
_FILLED = 64
"""The number of elements that are made in the time of a statement."""


class UnknownStructureError(Exception):
    """The function does something that slices do not support, so it is not sliced."""


@dataclass(frozen=True, slots=True)
class _LoopCounter:
    """A loop's variable inside of the loop. The loop is given by its position among the loops around."""

    loop: int
    type: Type


@dataclass(slots=True)
class _Frame:
    """A block while its statements are read: the loops around it, its names, the forms of integers in it,
    and what it has assigned without a condition."""

    loops: int
    names: dict[str, "DeclaredVariable | _LoopCounter"] = field(default_factory=dict)
    values: dict[DeclaredVariable, AffineForm | SubscriptTable] = field(default_factory=dict)
    assigned: list[Assigned] = field(default_factory=list)


def structure_of(
    function: Function,
    scalars: Mapping[str, Size],
    shapes: Mapping[str, tuple[int, ...]],
    arrays: Mapping[str, NDArray[Any]],
) -> Structure:
    """The structure. Raises UnknownStructureError. scalars: values of scalar parameters. shapes: of array
    parameters. arrays: their contents, if known."""
    reader = _StructureReader(function, arrays)
    for parameter in function.parameters:
        reader.parameter(parameter, scalars, shapes)
    for statement in (*function.constants, *function.body.body):
        reader.statement(statement)
    return Structure(tuple(reader.bodies), reader.parameters, reader.writes)


class _StructureReader:
    """Walks the text once and keeps track of the blocks and loops around the current statement."""

    def __init__(self, function: Function, arrays: Mapping[str, NDArray[Any]]) -> None:
        changed = written_arrays(function)
        self.arrays = {n: a for n, a in arrays.items() if a.dtype.kind in "iu" and n not in changed}
        self.fixed: dict[str, NDArray[Any]] = {}
        self.assignments = assignments(function)
        self.counters = outer_counters(function)
        self.parameters: dict[str, DeclaredVariable] = {}
        self.writes: dict[DeclaredVariable, list[ElementAccess]] = {}
        self.body = LoopBody(None, (), ())
        self.bodies = [self.body]
        self.frames = [_Frame(0)]
        self.order = 0
        # by identity of the element, because the contents of a table may be large
        self.known: dict[int, tuple[Subscript, ...]] = {}

    def parameter(
        self, p: Declaration, scalars: Mapping[str, Size], shapes: Mapping[str, tuple[int, ...]]
    ) -> None:
        if p.name not in shapes:
            variable = self._declared(p, ())
            value = scalars.get(p.name)
            if variable.integer is not None and value is not None and not self.assignments.get(p.name):
                self.frames[-1].values[variable] = AffineForm(int(value), (), variable.integer)
            return
        shape = shapes[p.name]
        if p.pointer:
            shape = (prod(shape),)
        elif len(shape) != len(p.extents):
            raise UnknownStructureError
        self.parameters[p.name] = self._declared(p, shape)
        if p.name in self.arrays:
            self.fixed[p.name] = self.arrays[p.name].reshape(shape)

    def _declared(self, d: Declaration, extents: tuple[int, ...]) -> DeclaredVariable:
        integer = None if extents else integer_type(d.type)
        variable = DeclaredVariable(d.name, extents, self.body.depth, integer)
        self.frames[-1].names[d.name] = variable
        self.writes[variable] = []
        return variable

    def statement(self, statement: Statement) -> None:
        self.order += 1
        match statement:
            case Declaration():
                self._declaration(statement)
            case Assignment():
                self._assignment(statement)
            case Block(statements):
                self._block(statements)
            case IfStatement(cond, then, other):
                self.body.statements += 1
                self.reads(cond)
                self._block((then,))
                self._block(() if other is None else (other,))
            case ForStatement():
                self._loop(statement)
            case _:
                assert_never(statement)

    def _block(self, statements: Sequence[Statement]) -> _Frame:
        self.frames.append(_Frame(self.body.depth))
        for s in statements:
            self.statement(s)
        return self.frames.pop()

    def _declaration(self, d: Declaration) -> None:
        self.body.statements += 1
        extents = tuple(self._extent(e) for e in d.extents)
        if prod(extents) > _MOST_LOCAL:
            raise UnknownStructureError
        # a local array is a new one each time its declaration runs
        self.body.statements += prod(extents) // _FILLED if extents else 0
        initial = d.initial
        if isinstance(initial, Values):
            self._values(initial)
        elif initial is not None:
            self.reads(initial)
        variable = self._declared(d, extents)
        if initial is None:
            return
        self._write(variable, (None,) * len(extents))
        if not extents and not isinstance(initial, Values):
            self._assigned(variable, (), initial)

    def _extent(self, extent: Expression | None) -> int:
        form = None if extent is None else self.form(extent)
        if form is None or not form.fixed:
            raise UnknownStructureError
        return form.constant

    def _values(self, values: Values) -> None:
        for item in values.items:
            if isinstance(item, Values):
                self._values(item)
            else:
                self.reads(item)

    def _assignment(self, a: Assignment) -> None:
        self.body.statements += 1
        self.reads(a.value)
        subscripts: tuple[Subscript, ...] = ()
        if isinstance(a.target, Element):
            for s in a.target.subscripts:
                self.reads(s)
            subscripts = self._subscripts(a.target)
        # `x += …` reads x too, and a reader of its result needs every earlier write of x in any case
        variable = self._resolved(a.target.name if isinstance(a.target, Name) else a.target.array)
        if not isinstance(variable, DeclaredVariable):
            raise UnknownStructureError
        self._write(variable, subscripts)
        if a.op == "=":
            self._assigned(variable, subscripts, a.value)

    def _write(self, variable: DeclaredVariable, subscripts: tuple[Subscript, ...]) -> None:
        access = ElementAccess(variable, self._complete(variable, subscripts), self.body, self.order, 0)
        self.writes[variable].append(access)

    def _assigned(
        self, variable: DeclaredVariable, subscripts: tuple[Subscript, ...], value: Expression
    ) -> None:
        """After a write: notes its value if that is a form, and that it hides values of earlier
        iterations."""
        frame = self.frames[-1]
        known = tuple(f for f in subscripts if isinstance(f, AffineForm))
        if len(known) == len(variable.extents) == len(subscripts):
            frame.assigned.append(Assigned(variable, known))
        if variable.integer is None or self.assignments.get(variable.name) != 1:
            return
        found = self._subscript(value)
        if isinstance(found, AffineForm):
            found = fitting(found.constant, found.coefficients, variable.integer, self.body.trips)
        elif found is not None:
            found = found.of_type(variable.integer)
        if found is not None:
            frame.values[variable] = found

    def reads(self, expr: Expression) -> None:
        """Notes every variable that the expression may read, whatever its conditions are."""
        for part in operands(expr):
            self.reads(part)
        if isinstance(expr, Name | Element):
            self._read(expr)

    def _read(self, target: Name | Element) -> None:
        variable = self._resolved(target.name if isinstance(target, Name) else target.array)
        if not isinstance(variable, DeclaredVariable):
            return
        if isinstance(target, Name) and target.name in self.counters:
            # slices do not know a counter's value after its loop
            raise UnknownStructureError
        forms = self._subscripts(target) if isinstance(target, Element) else ()
        forms = self._complete(variable, forms)
        fresh = variable.loops
        for frame in self.frames:
            if any(a.variable is variable and a.holds(forms, self.body.trips) for a in frame.assigned):
                fresh = max(fresh, frame.loops)
        self.body.reads.append(ElementAccess(variable, forms, self.body, self.order, fresh))

    def _subscripts(self, element: Element) -> tuple[Subscript, ...]:
        if id(element) not in self.known:
            self.known[id(element)] = tuple(self._subscript(s) for s in element.subscripts)
        return self.known[id(element)]

    def _subscript(self, expr: Expression) -> Subscript:
        form = self.form(expr)
        if form is not None or not self.fixed:
            return form
        return table_of(expr, Reading(self.fixed, self.form, self._table, self.body.trips))

    def _table(self, name: str) -> SubscriptTable | None:
        found = self._held(name)
        return found if isinstance(found, SubscriptTable) else None

    @staticmethod
    def _complete(variable: DeclaredVariable, forms: tuple[Subscript, ...]) -> tuple[Subscript, ...]:
        """As many subscripts as the array has dimensions; any element if the text has another number."""
        return forms if len(forms) == len(variable.extents) else (None,) * len(variable.extents)

    def _resolved(self, name: str) -> DeclaredVariable | _LoopCounter | None:
        """The variable of a name; None for a constant of a standard header."""
        for frame in reversed(self.frames):
            if name in frame.names:
                return frame.names[name]
        return None

    def form(self, expr: Expression) -> AffineForm | None:
        return form_of(expr, self._meaning, self.body.trips)

    def _meaning(self, name: str) -> AffineForm | None:
        found = self._resolved(name)
        if isinstance(found, _LoopCounter):
            return AffineForm(0, (*(0,) * found.loop, 1), found.type)
        held = self._held(name)
        return held if isinstance(held, AffineForm) else None

    def _held(self, name: str) -> AffineForm | SubscriptTable | None:
        """The value here of a scalar that is assigned once."""
        found = self._resolved(name)
        for frame in reversed(self.frames):
            if isinstance(found, DeclaredVariable) and found in frame.values:
                return frame.values[found]
        return None

    def _loop(self, loop: ForStatement) -> None:
        outside = self.body
        outside.statements += 1
        name = counter_of(loop)
        for part in (loop.first, loop.cond, loop.next):
            self._header(part, name)
        declared = None if name is None else self._resolved(name)
        own = declared.integer if isinstance(declared, DeclaredVariable) else None
        found = trips(loop, own, self._meaning, outside.trips)
        if name is None or found is None:
            raise UnknownStructureError
        kind = own
        if isinstance(loop.first, Declaration):
            kind = integer_type(loop.first.type)
        if kind is None:
            raise UnknownStructureError
        values = found.values
        self.body = LoopBody(loop, (*outside.outer, outside), (*outside.trips, values), found.exact)
        self.bodies.append(self.body)
        self.frames.append(_Frame(self.body.depth, {name: _LoopCounter(outside.depth, kind)}))
        inner = self._block(loop.body.body if isinstance(loop.body, Block) else (loop.body,))
        self.frames.pop()
        self.body = outside
        if not found.exact:
            return
        swept = (a.swept(outside.depth, values) for a in inner.assigned)
        self.frames[-1].assigned += [a for a in swept if a is not None]

    def _header(self, part: Declaration | Assignment | Expression | None, counter: str | None) -> None:
        match part:
            case None:
                pass
            case Declaration(initial=initial):
                if isinstance(initial, Expression):
                    self.reads(initial)
            case Assignment(_, _, value):
                self._header(value, counter)
            case Name(name) if name == counter:
                pass
            case Infix(_, left, right):
                self._header(left, counter)
                self._header(right, counter)
            case _:
                self.reads(part)


def assignments(function: Function) -> dict[str, int]:
    """The number of places that assign a scalar of this name; parameters and constants have none."""
    counts: dict[str, int] = {}
    for s in (*function.constants, *walked(function.body)):
        match s:
            case Assignment(Name(name), op):
                counts[name] = counts.get(name, 0) + (1 if op == "=" else 2)
            case Declaration(name, initial=initial) if initial is not None:
                counts[name] = counts.get(name, 0) + 1
            case _:
                pass
    return counts


def outer_counters(function: Function) -> frozenset[str]:
    """Names that are counters of loops which do not declare them."""
    found = set()
    for s in walked(function.body):
        match s:
            case ForStatement(first=Assignment(Name(name))):
                found.add(name)
            case _:
                pass
    return frozenset(found)


def written_arrays(function: Function) -> frozenset[str]:
    """Names of arrays whose elements the text assigns."""
    return frozenset(
        s.target.array
        for s in walked(function.body)
        if isinstance(s, Assignment) and isinstance(s.target, Element)
    )
