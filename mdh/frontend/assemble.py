"""A loop nest in the form of a C function (`ir.syntax`) to the statements of a Program.

Front ends of languages that are no C write their programs in this form. They use a part of it: loops up by 1
between constants and sizes, assignments, arrays of the function's own at its start. The same function is the
reference that results are judged by, and the C that emitted folders hold.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import assert_never

from mdh.diagnostics import fail
from mdh.frontend.constant_arrays import refused
from mdh.frontend.constant_parameters import flattened
from mdh.frontend.guards import negation
from mdh.frontend.limits import MOST_TRIPS, check_size
from mdh.frontend.program import Text
from mdh.frontend.statements import Array, Assign, Use, is_gather
from mdh.frontend.tables import held_as
from mdh.frontend.typing_rules import binary, call, convert, select, unary
from mdh.ir import syntax as c
from mdh.ir.affine import Affine, from_expr, to_expr
from mdh.ir.dtype import BF16, F16, F32, F64, I8, I16, I32, I64, U8, U16, U32, U64, DType, promote_integer
from mdh.ir.expr import Const, Expr, Load, Var
from mdh.ir.names import fresh
from mdh.ir.program import Scalar
from mdh.ir.statement import LoopVar
from mdh.source import Source, Span

_TYPES = {
    "int": I32, "float": F32, "double": F64, "_Float16": F16, "__bf16": BF16, "int8_t": I8, "int16_t": I16,
    "int32_t": I32, "int64_t": I64, "uint8_t": U8, "uint16_t": U16, "uint32_t": U32, "uint64_t": U64,
}  # fmt: skip
DIVISION, SUBSCRIPT = "C114", "C120"
_INFINITY = Const(float("inf"), F32)


def type_of(t: c.CType) -> DType:
    return _TYPES[" ".join(t.words)]


def assembled(
    function: c.Function, source: Source, span: Span, sizes: Mapping[str, int], written: frozenset[str]
) -> Text:
    """The statements of a function. span: the place of its name. sizes: values of parameters that stand in
    bounds, extents or subscripts. written: the arrays that it may write. Raises Failed with C1xx diagnostics.
    """
    walk = _Walk(source, sizes)
    scalars = list[Scalar]()
    for p in function.parameters:
        walk.taken.add(p.name)
        place = p.span or span
        if p.extents:
            walk.arrays[p.name] = walk.array(p, place, const=p.name not in written, temp=False)
            continue
        kind, size = type_of(p.type), sizes.get(p.name)
        scalars.append(Scalar(p.name, kind, size, place))
        walk.values[p.name] = Var(p.name, kind) if size is None else Const(size, kind)
    for d in function.constants:
        walk.taken.add(d.name)
        walk.arrays[d.name] = walk.constant_array(d, d.span or span)
    for s in function.body.body:
        walk.statement(s, span)
    return Text(
        function.name, tuple(p.name for p in function.parameters), span, walk.arrays, tuple(scalars),
        walk.statements, walk.uses, (), {}, {}, source, function, (),
    )  # fmt: skip


@dataclass
class _Walk:
    """The state of the walk over a function in the order of its text."""

    source: Source
    sizes: Mapping[str, int]
    arrays: dict[str, Array] = field(default_factory=dict)
    values: dict[str, Expr] = field(default_factory=dict)
    constant_types: dict[str, DType] = field(default_factory=dict)
    """The types of constant arrays in the text."""
    taken: set[str] = field(default_factory=set)
    loops: tuple[LoopVar, ...] = ()
    conds: tuple[Expr, ...] = ()
    position: int = 0
    here: list[Use] = field(default_factory=list)
    uses: list[Use] = field(default_factory=list)
    statements: list[Assign] = field(default_factory=list)

    def array(self, d: c.Declaration, span: Span, *, const: bool, temp: bool) -> Array:
        shape = tuple(self.constant(e) for e in d.extents if e is not None)
        return Array(d.name, type_of(d.type), shape, const, temp, span)

    def constant_array(self, d: c.Declaration, span: Span) -> Array:
        assert isinstance(d.initial, c.Values)
        kind = self.constant_types[d.name] = type_of(d.type)
        found = self.array(d, span, const=True, temp=False)
        assert found.shape is not None
        values = tuple(self._number(e, kind) for e in flattened(d.initial, found.shape))
        return replace(found, dtype=held_as(kind), values=values)

    def _number(self, e: c.Expression, kind: DType) -> int | float:
        found = convert(self.value(e, None), kind)
        assert isinstance(found, Const)
        return found.value

    def constant(self, e: c.Expression) -> int:
        value = self.value(e, None)
        assert isinstance(value, Const), "bounds and extents are constants"
        return int(value.value)

    def statement(self, s: c.Statement, span: Span) -> None:
        match s:
            case c.Block(body):
                for inner in body:
                    self.statement(inner, span)
            case c.Declaration():
                self.taken.add(s.name)
                self.arrays[s.name] = self.array(s, s.span or span, const=False, temp=True)
            case c.ForStatement():
                self._loop(s, s.span or span)
            case c.Assignment():
                self._assign(s, s.span or span)
            case c.IfStatement():
                raise AssertionError("no front end writes branches")
            case _:
                assert_never(s)

    def _loop(self, s: c.ForStatement, span: Span) -> None:
        assert isinstance(s.first, c.Declaration) and isinstance(s.cond, c.Infix)
        assert isinstance(s.first.initial, c.Number | c.Prefix)
        name, first, end = s.first.name, self.constant(s.first.initial), self.constant(s.cond.right)
        trips = end - first
        if trips > MOST_TRIPS:
            raise fail(
                "C132", f"the loop over `{name}` has {trips:,} iterations, more than {MOST_TRIPS:,}", span
            )
        loop = LoopVar(fresh(name, self.taken), name, first, 1, trips, span)
        outer, hidden = self.loops, self.values.get(name)
        self.loops = (*outer, loop)
        self.values[name] = to_expr(Affine.of({loop.name: 1}, first), I32)
        self.statement(s.body, span)
        self.loops = outer
        del self.values[name]
        if hidden is not None:
            self.values[name] = hidden

    def _assign(self, s: c.Assignment, span: Span) -> None:
        assert isinstance(s.target, c.Element)
        self.position += 1
        self.here = []
        target = self._load(s.target, span)
        if self.arrays[s.target.array].values is not None:
            what = f"`{s.target.array}` is a result, and no constant"
            raise refused(what, "constants are arrays that are read alone", s.target.array, span)
        value = self.value(s.value, span)
        if s.op != "=":
            self._use(target, span)
            value = self._binary(s.op.removesuffix("="), target, value, span)
        value = convert(value, target.dtype)
        check_size(value, span)
        self._use(target, span, write=True)
        self.statements.append(Assign(target, value, (), self.loops, span, tuple(self.here)))

    def _use(self, load: Load, span: Span, *, write: bool = False) -> None:
        use = Use(load, self.loops, span, () if write else self.conds, write, self.position)
        self.here.append(use)
        self.uses.append(use)

    def _load(self, e: c.Element, span: Span | None) -> Load:
        index = list[Expr]()
        for x in e.subscripts:
            value = self.value(x, span)
            affine = from_expr(value)
            if affine is None and not is_gather(value):
                place = e.span or span
                what = f"a subscript of `{e.array}` is not affine in the indices"
                raise fail(SUBSCRIPT, what, place, label="sums of constants times indices are supported",
                           help="an element of an array of integers may stand there, too")  # fmt: skip
            index.append(value if affine is None else to_expr(affine))
        return Load(e.array, tuple(index), self.arrays[e.array].dtype)

    def value(self, e: c.Expression, span: Span | None) -> Expr:
        """The typed value of an expression by C's rules. span: of the statement."""
        match e:
            case c.Number(text):
                return number(text)
            case c.Name(name, _):
                return _INFINITY if name == "INFINITY" else self.values[name]
            case c.Element(span=own):
                load = self._load(e, span)
                place = own or span
                assert place is not None
                self._use(load, place)
                kind = self.constant_types.get(e.array)
                return load if kind is None else convert(load, kind)
            case c.Prefix(op, operand):
                return unary(op, self.value(operand, span))
            case c.Infix(op, left, right):
                return self._infix(op, left, right, span)
            case c.Conditional(cond, then, other):
                chosen = self.value(cond, span)
                sides = self._under(chosen, then, span), self._under(negation(chosen), other, span)
                return select(chosen, *sides)
            case c.Conversion(kind, operand):
                return convert(self.value(operand, span), type_of(kind))
            case c.Invocation(function, arguments):
                found = call(function, tuple(self.value(a, span) for a in arguments))
                assert found is not None, function
                return found
            case _:
                assert_never(e)

    def _infix(self, op: str, left: c.Expression, right: c.Expression, span: Span | None) -> Expr:
        a = self.value(left, span)
        if op in ("&&", "||"):
            return binary(op, a, self._under(a if op == "&&" else negation(a), right, span))
        return self._binary(op, a, self.value(right, span), span)

    @staticmethod
    def _binary(op: str, a: Expr, b: Expr, span: Span | None) -> Expr:
        if isinstance(b, Const) and not b.dtype.is_float and not a.dtype.is_float:
            if op in ("/", "%") and not b.value:
                hint = "a quotient by zero has no meaning"
                raise fail(DIVISION, "integer division by zero", span, help=hint)
            bits = promote_integer(a.dtype).bits
            if op in ("<<", ">>") and not 0 <= b.value < bits:
                what = f"`{op}` shifts a {bits}-bit integer by {int(b.value):,}"
                raise fail(DIVISION, what, span, help=f"shift by 0 to {bits - 1}")
        return binary(op, a, b)

    def _under(self, cond: Expr, e: c.Expression, span: Span | None) -> Expr:
        """The value of an expression that is computed only where `cond` holds."""
        outer = self.conds
        self.conds = (*outer, cond)
        out = self.value(e, span)
        self.conds = outer
        return out


def number(text: str) -> Const:
    """The value of a literal with C's suffixes."""
    lower = text.lower()
    if lower.startswith("0x") and "p" in lower:
        single = lower.endswith("f")
        value = float.fromhex(lower.removesuffix("f") if single else lower)
        return _float(value, single)
    if not lower.startswith("0x") and any(x in lower for x in ".ef"):
        return _float(float(lower.removesuffix("f")), lower.endswith("f"))
    digits = lower.rstrip("ul")
    suffix = lower[len(digits) :]
    value = int(digits, 16) if digits.startswith("0x") else int(digits, 8 if digits[0] == "0" else 10)
    kinds = [U32, U64] if "u" in suffix else [I32, I64] if digits[0] != "0" else [I32, U32, I64, U64]
    kinds = [t for t in kinds if "l" not in suffix or t.bits == 64]
    return Const(value, next((t for t in kinds if value < 2 ** (t.bits - (t.kind == "int"))), U64))


def _float(value: float, single: bool) -> Const:
    if single:
        found = convert(Const(value, F64), F32)
        assert isinstance(found, Const)
        return found
    return Const(value, F64)
