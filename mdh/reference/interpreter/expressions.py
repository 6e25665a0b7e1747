"""Translates expressions to closures: types are resolved once, values each time (C11 6.5)."""

from collections import ChainMap
from collections.abc import Callable
from dataclasses import dataclass
from typing import assert_never

from mdh.ir.syntax import (
    Conditional,
    Conversion,
    Element,
    Expression,
    Infix,
    Invocation,
    Name,
    Number,
    Prefix,
)
from mdh.reference.c.constants import CONSTANTS
from mdh.reference.c.integers import COMPARE, Undecided, converting, integer_operation, wrapping
from mdh.reference.c.literals import number
from mdh.reference.c.types import (
    DOUBLE,
    E4M3,
    E5M2,
    FLOAT,
    INT,
    LLONG,
    LONG,
    Type,
    common,
    computed,
    promoted,
    type_of,
)
from mdh.reference.functions import FUNCTIONS
from mdh.reference.interpreter.arithmetic import Value
from mdh.reference.interpreter.memory import ArrayObject
from mdh.reference.interpreter.places import element_index
from mdh.reference.interpreter.rounding import rounded
from mdh.reference.interpreter.scope import ExecutionState, Names, ScalarObject, UnknownMeaning
from mdh.source import Span

Run = Callable[[], Value]
_CONVERSIONS = {
    "fp8_e4m3_to_float": (E4M3, FLOAT), "fp8_e5m2_to_float": (E5M2, FLOAT),
    "fp8_e4m3_from_float": (FLOAT, E4M3), "fp8_e5m2_from_float": (FLOAT, E5M2),
}  # fmt: skip
"""The functions of mdh.h: the types of the argument and of the result."""
_ABSOLUTE = {"abs": INT, "labs": LONG, "llabs": LLONG, "imaxabs": LONG}


@dataclass(frozen=True, slots=True)
class Code:
    """An expression: its type, and the closure that computes it. slot: of the scalar, if it only reads one.
    constant: the value of an integer that the text alone gives."""

    type: Type
    run: Run
    slot: int | None = None
    constant: int | None = None


class Expressions:
    """Translates expressions. statement: the number of the current statement; place: where it stands."""

    def __init__(self, machine: ExecutionState) -> None:
        self.machine = machine
        self.scope: Names = ChainMap()
        self.statement = 0
        self.place: Span | None = None

    def expression(self, e: Expression) -> Code:
        match e:
            case Number(text):
                return self._literal(*number(text))
            case Name(name):
                return self.name(name)
            case Element(array, subscripts, span):
                memory = self.memory(array)
                codes = [self.subscript(s) for s in subscripts]
                data, at = memory.data, element_index(memory, codes, self.machine.frame, span)
                return Code(memory.type, lambda: data[at()])
            case Prefix(op, operand):
                return self._prefix(op, self.expression(operand))
            case Infix(op, left, right):
                return self._infix(op, self.expression(left), self.expression(right))
            case Conditional():
                return self._conditional(e)
            case Conversion(ctype, operand):
                return self._cast(self.expression(operand), type_of(ctype))
            case Invocation(function, arguments):
                return self._invocation(function, [self.expression(a) for a in arguments])
            case _:
                assert_never(e)

    def memory(self, name: str) -> ArrayObject:
        found = self.scope.get(name)
        if not isinstance(found, ArrayObject):
            raise UnknownMeaning(name)
        return found

    def subscript(self, e: Expression) -> Code:
        code = self.expression(e)
        if code.type.real:
            raise UnknownMeaning("a subscript that is no integer")
        return code

    def index(self, memory: ArrayObject, e: Element) -> Callable[[], int]:
        """The flat index of an element. It raises Failed A130 outside the array."""
        return element_index(memory, [self.subscript(s) for s in e.subscripts], self.machine.frame, e.span)

    def truth(self, e: Expression) -> Run:
        """A closure whose result Python finds true if C finds the value other than 0."""
        return self._tested(self.expression(e))

    def _literal(self, t: Type, value: int | float) -> Code:
        held: Value = value
        if t.real:
            held = rounded(float(value), t)
            return Code(t, lambda: held)
        return Code(t, lambda: held, constant=int(value))

    def name(self, name: str) -> Code:
        found = self.scope.get(name)
        match found:
            case ScalarObject(slot, t):
                frame = self.machine.frame
                return Code(t, lambda: frame[slot], slot=slot)
            case None if name in CONSTANTS:
                return self._literal(*CONSTANTS[name])
            case _:
                raise UnknownMeaning(name)

    def _prefix(self, op: str, a: Code) -> Code:
        if op == "!":
            test = self._tested(a)
            return Code(INT, lambda: 0 if test() else 1)
        if a.type.real:
            run, negate = a.run, self.machine.arithmetic.negation()
            return Code(computed(a.type), run if op == "+" else lambda: negate(run()))
        t = promoted(a.type)
        run, wrap = self.converted(a, t), wrapping(t)
        match op:
            case "-":
                return _folded(t, lambda: wrap(-run()), a)
            case "~":
                return _folded(t, lambda: wrap(~run()), a)
            case _:
                return _folded(t, run, a)

    def _infix(self, op: str, a: Code, b: Code) -> Code:
        if op in ("&&", "||"):
            return self._logical(op, a, b)
        t, left, right = self.operands(op, a, b)
        if t.real:
            if op in COMPARE:
                compare = self.machine.arithmetic.comparison(op, self.place)
                return Code(INT, lambda: compare(left(), right()))
            join = self.joining(op, t)
            return Code(t, lambda: join(left(), right()))
        return self._integers(op, t, (a, left), (b, right))

    def operands(self, op: str, a: Code, b: Code) -> tuple[Type, Run, Run]:
        """The type of `a op b`, and both values in the types that the operator takes."""
        if op in ("<<", ">>"):
            t = promoted(a.type)
            return t, self.converted(a, t), self.converted(b, promoted(b.type))
        t = computed(common(a.type, b.type))
        return t, self.converted(a, t), self.converted(b, t)

    def joining(self, op: str, t: Type) -> Callable[[Value, Value], Value]:
        """`x op y` of two values as `operands` gives them."""
        if not t.real:
            return integer_operation(op, t, self.place)
        if op not in ("+", "-", "*", "/"):
            raise UnknownMeaning(f"{op} of floats")
        return self.machine.arithmetic.operation(op, t, self.statement)

    def _integers(self, op: str, t: Type, left: tuple[Code, Run], right: tuple[Code, Run]) -> Code:
        (a, x), (b, y) = left, right
        kind = INT if op in COMPARE else t
        frame = self.machine.frame
        if a.slot is not None and x is a.run and b.constant is not None and t.low <= b.constant <= t.high:
            # a loop variable and a number: the most frequent form
            slot, c = a.slot, b.constant
            fast = _with_constant(op, t, slot, c, frame)
            if fast is not None:
                return Code(kind, fast)
        if op == "+" and a.slot is not None and x is a.run and b.slot is not None and y is b.run:
            return Code(kind, _sum_of_two(t, a.slot, b.slot, frame))
        if op in ("+", "-", "*"):
            return _folded(kind, _arithmetic(op, t, x, y), a, b)
        join = integer_operation(op, t, self.place)
        if op in ("/", "%") and b.constant == 0:
            return Code(kind, lambda: join(x(), y()))
        return _folded(kind, lambda: join(x(), y()), a, b)

    def _logical(self, op: str, a: Code, b: Code) -> Code:
        x, y = self._tested(a), self._tested(b)
        if op == "&&":
            return _folded(INT, lambda: (1 if y() else 0) if x() else 0, a, b)
        return _folded(INT, lambda: 1 if x() or y() else 0, a, b)

    def _tested(self, a: Code) -> Run:
        test = self.machine.arithmetic.truth(self.place) if a.type.real else None
        if test is None:
            return a.run
        run = a.run
        return lambda: test(run())

    def _conditional(self, e: Conditional) -> Code:
        then, other = self.expression(e.then), self.expression(e.other)
        t = common(then.type, other.type)
        if then.type != t or other.type != t:
            # an integer beside a 16-bit float is not rounded to 16 bits
            t = computed(t)
        x, y = self.converted(then, t), self.converted(other, t)
        chosen = self._choice(e)
        if chosen is not None:
            pick, first, second = chosen
            left, right = self.converted(first, t), self.converted(second, t)
            return Code(t, lambda: pick(left(), right()))
        test = self.truth(e.cond)
        return Code(t, lambda: x() if test() else y())

    def _choice(self, e: Conditional) -> tuple[Callable[[Value, Value], Value], Code, Code] | None:
        """`x > y ? x : y` and similar forms, if the arithmetic has a shortcut for floats; else None."""
        match e.cond:
            case Infix("<" | "<=" | ">" | ">=" as op, left, right) if {e.then, e.other} == {left, right}:
                pass
            case _:
                return None
        a, b = self.expression(left), self.expression(right)
        if not (a.type.real and b.type.real):
            return None
        pick = self.machine.arithmetic.choice(op, first=e.then == left)
        return None if pick is None else (pick, a, b)

    def _cast(self, a: Code, t: Type) -> Code:
        code = Code(t, self.converted(a, t))
        return _folded(t, code.run, a) if not t.real and not a.type.real else code

    def _invocation(self, name: str, arguments: list[Code]) -> Code:
        if name in _ABSOLUTE:
            t = _ABSOLUTE[name]
            run, wrap = self.converted(arguments[0], t), wrapping(t)
            return Code(t, lambda: wrap(abs(run())))
        if name in _CONVERSIONS:
            given, made = _CONVERSIONS[name]
            return self._cast(Code(given, self.converted(arguments[0], given)), made)
        t = DOUBLE
        if name not in FUNCTIONS and name.endswith("f"):
            name, t = name[:-1], FLOAT
        if name not in FUNCTIONS or len(arguments) != FUNCTIONS[name].arguments:
            raise UnknownMeaning(name)
        apply = self.machine.arithmetic.function(name, t, self.place)
        runs = [self.converted(a, t) for a in arguments]
        if len(runs) == 1:
            only = runs[0]
            return Code(t, lambda: apply(only()))
        return Code(t, lambda: apply(*(run() for run in runs)))

    def converted(self, a: Code, t: Type, *, store: bool = False) -> Run:
        """The value converted to `t`; the same closure if that changes nothing."""
        run, arithmetic = a.run, self.machine.arithmetic
        convert: Callable[[Value], Value] | None
        match a.type.real, t.real:
            case False, False:
                convert = converting(a.type, t)
            case False, True:
                convert = arithmetic.from_integer(t)
            case True, False:
                convert = arithmetic.to_integer(t, self.place)
            case _:
                convert = (
                    arithmetic.storing(a.type, t, self.statement)
                    if store
                    else arithmetic.conversion(a.type, t)
                )
        if convert is None:
            return run
        if a.constant is not None:
            value = convert(a.constant)
            return lambda: value
        return lambda: convert(run())


def _folded(t: Type, run: Run, *parts: Code) -> Code:
    """Computes an integer that the text gives once. Undefined behaviour fails only where it runs."""
    if any(p.constant is None for p in parts):
        return Code(t, run)
    try:
        value = int(run())
    except Undecided:
        return Code(t, run)
    return Code(t, lambda: value, constant=value)


def _arithmetic(op: str, t: Type, x: Run, y: Run) -> Run:
    """+ - * with inline wrapping, because subscripts take most of the time."""
    low, high, wrap = t.low, t.high, wrapping(t)

    def add() -> int:
        value: int = x() + y()
        return value if low <= value <= high else wrap(value)

    def subtract() -> int:
        value: int = x() - y()
        return value if low <= value <= high else wrap(value)

    def multiply() -> int:
        value: int = x() * y()
        return value if low <= value <= high else wrap(value)

    return {"+": add, "-": subtract, "*": multiply}[op]


def _sum_of_two(t: Type, a: int, b: int, frame: list[Value]) -> Run:
    """Two scalars, as in the subscripts of windows."""
    low, high, wrap = t.low, t.high, wrapping(t)

    def add() -> int:
        value: int = frame[a] + frame[b]
        return value if low <= value <= high else wrap(value)

    return add


def _with_constant(op: str, t: Type, slot: int, c: int, frame: list[Value]) -> Run | None:
    """A scalar and a number."""
    low, high, wrap = t.low, t.high, wrapping(t)

    def add() -> int:
        value: int = frame[slot] + c
        return value if low <= value <= high else wrap(value)

    match op:
        case "+":
            return add
        case "-":
            return _with_constant("+", t, slot, -c, frame)
        case "<":
            return lambda: frame[slot] < c
        case "<=":
            return lambda: frame[slot] <= c
        case ">=":
            return lambda: frame[slot] >= c
        case ">":
            return lambda: frame[slot] > c
        case _:
            return None
