"""Resolved definitions as loop nests: the program in the form of a C function."""

from collections.abc import Mapping
from dataclasses import dataclass
from math import inf

from mdh.diagnostics import fail
from mdh.frontend.nest import c_name, loop, number
from mdh.frontend.tc.ranges import Count, IndexRange
from mdh.frontend.tc.resolve import Resolution, Resolved
from mdh.frontend.tc.syntax import (
    Application,
    BinaryOperation,
    Expression,
    ExtentOf,
    Literal,
    NameUse,
    Negation,
    Ternary,
    operands,
)
from mdh.frontend.tc.tokens import LIMIT, float_value, integer
from mdh.frontend.tc.types import INTEGER, KIND, base_of, cast_of, float_form, is_float_literal, taken
from mdh.frontend.types import C_TYPES
from mdh.ir import syntax as c
from mdh.ir.affine import Affine
from mdh.ir.dtype import F32, F64, I32, DType, integer_range
from mdh.source import Span

MOST_CHOICES = 6
_ONLY = (c.Number("0"),)
"""The subscript of a tensor without indices, which is an array of one element."""
_IDENTITY: dict[str, float] = {"+": 0, "*": 1, "min": inf, "max": -inf}


@dataclass(frozen=True, slots=True)
class NamesInC:
    """What names of the text are called in C. tensors: by their names in the program."""

    function: str
    tensors: Mapping[str, str]
    sizes: Mapping[str, str]
    scalars: Mapping[str, str]
    taken: frozenset[str]


def body_of(resolution: Resolution, names: NamesInC) -> tuple[c.Statement, ...]:
    """The statements of the C function, a nest for each definition."""
    return tuple(_nest(d, resolution, names) for d in resolution.definitions)


def count_expression(n: Count, names: NamesInC) -> c.Expression:
    """A count as a sum of sizes, or as a number."""
    return number(n.value) if n.form is None else sum_of(n.form, names.sizes)


def sum_of(form: Affine, sizes: Mapping[str, str]) -> c.Expression:
    """A sum of sizes times constants in C."""
    out: c.Expression | None = None
    for name, factor in form.terms:
        term: c.Expression = c.Name(sizes.get(name, name))
        term = term if abs(factor) == 1 else c.Infix("*", number(abs(factor)), term)
        if out is None:
            out = term if factor > 0 else c.Prefix("-", term)
        else:
            out = c.Infix("+" if factor > 0 else "-", out, term)
    if out is None:
        return number(form.const)
    return out if not form.const else c.Infix("+" if form.const > 0 else "-", out, number(abs(form.const)))


def _nest(r: Resolved, resolution: Resolution, names: NamesInC) -> c.Statement:
    """The loops of the target's indices around the start and the loops of the sum."""
    d = r.definition
    local: dict[str, str] = {}
    taken = set(names.taken)
    for n in r.analysis.indices(d):
        local[n] = c_name(n, taken)
    lift = _Lift(r, resolution, names, local)
    index = tuple(c.Name(local[w.text]) for w in d.indices) or _ONLY
    target = c.Element(names.tensors[r.names[d.target.text]], index, d.span)
    kind = resolution.types[r.names[d.target.text]]
    value = lift.value(d.value, kind)
    body = list[c.Statement]()
    if d.reduction and d.fresh:
        body.append(c.Assignment(target, "=", _identity(d.reduction, kind), d.span))
    inner: c.Statement = _update(target, d.reduction, value, kind, d.span)
    for n in reversed(r.reduced):
        inner = _loop(local[n], r.ranges[n], inner, names)
    body.append(inner)
    out: c.Statement = body[0] if len(body) == 1 else c.Block(tuple(body))
    for w in reversed(d.indices):
        out = _loop(local[w.text], r.ranges[w.text], out, names)
    return out


def _loop(name: str, r: IndexRange, body: c.Statement, names: NamesInC) -> c.Statement:
    return loop(name, count_expression(r.end, names), body, r.span, r.first)


def _update(target: c.Element, reduction: str, value: c.Expression, kind: DType, span: Span) -> c.Assignment:
    if reduction in ("", "+", "*"):
        return c.Assignment(target, f"{reduction}=", value, span)
    if kind.is_float:
        name = f"f{reduction}" + ("" if kind == F64 else "f")
        return c.Assignment(target, "=", c.Invocation(name, (target, value)), span)
    better = c.Infix(">" if reduction == "max" else "<", value, target)
    return c.Assignment(target, "=", c.Conditional(better, value, target), span)


def _identity(reduction: str, kind: DType) -> c.Expression:
    value = _IDENTITY[reduction]
    if abs(value) != inf:
        return _float(value, kind) if kind.is_float else c.Number(str(int(value)))
    if kind.is_float:
        return c.Name("INFINITY") if value > 0 else c.Prefix("-", c.Name("INFINITY"))
    least, most = integer_range(kind)
    if value > 0:
        return c.Number(
            f"{most}{'u' if kind.kind == 'uint' and kind.bits > 31 else ''}{'l' if kind.bits > 32 else ''}"
        )
    if least == 0:
        return c.Number("0")
    # C has no negative literals, and the least number has no positive counterpart
    suffix = "l" if kind.bits > 32 else ""
    return c.Infix("-", c.Prefix("-", c.Number(f"{-(least + 1)}{suffix}")), c.Number("1"))


def _float(value: float, kind: DType) -> c.Expression:
    return c.Number(repr(float(value)) + ("" if kind == F64 else "f"))


@dataclass(frozen=True, slots=True)
class _Lift:
    """Writes values of a definition in C. local: indices by their names in the text."""

    resolved: Resolved
    resolution: Resolution
    names: NamesInC
    local: Mapping[str, str]

    def value(self, e: Expression, wanted: DType | None) -> c.Expression:
        """wanted: the type that literals take where nothing else has one."""
        own = taken(self.resolved.analysis.typing.of(e), wanted)
        match e:
            case Literal():
                return self._literal(e, own)
            case NameUse(name, span):
                return self._name(name, span)
            case ExtentOf(tensor, position, _):
                found = self.resolution.extents[self.resolved.names[tensor]][position]
                return self._count(found)
            case Application():
                return self._application(e, own)
            case Negation(op, operand, _):
                return c.Prefix(op, self.value(operand, None if op == "~" else own))
            case BinaryOperation(op, left, right, _):
                both = self.resolved.analysis.typing.joined(
                    self.resolved.analysis.typing.of(left), self.resolved.analysis.typing.of(right)
                )
                kind = taken(both, None if op in INTEGER else wanted)
                return c.Infix(op, self.value(left, kind), self.value(right, kind))
            case Ternary(cond, then, other):
                return c.Conditional(self.value(cond, None), self.value(then, own), self.value(other, own))

    def _literal(self, e: Literal, kind: DType | None) -> c.Expression:
        if not is_float_literal(e):
            if kind is not None and kind.is_float:
                return _float(integer(e.text), kind)
            value = integer(e.text)
            return c.Number(f"{value}l" if value >= 2**31 else str(value))
        text = e.text.rstrip("fF") if "p" not in e.text.lower() else e.text.lower().removesuffix("f")
        if kind != F64 and abs(float_value(text)) >= 2.0**128:
            raise fail(KIND, f"`{e.text[:40]}` is larger than a float holds", e.span, help="use double")
        return c.Number(text + ("" if kind == F64 else "f"))

    def _name(self, name: str, span: Span) -> c.Expression:
        if name in self.local:
            return c.Name(self.local[name], span)
        if name in self.names.scalars and name not in self.resolved.sizes:
            return c.Name(self.names.scalars[name], span)
        count = self.resolved.sizes[name]
        if name in self.resolved.analysis.scalars:
            return count_expression(count, self.names)
        return self._count(count)

    def _count(self, n: Count) -> c.Expression:
        """A count as an int, whatever the types of the sizes that it is made of."""
        out = count_expression(n, self.names)
        if n.form is None or not any(name in self.names.scalars for name, _ in n.form.terms):
            return out
        return c.Conversion(C_TYPES[I32], out)

    def _application(self, e: Application, own: DType | None) -> c.Expression:
        tensor = self.resolved.names.get(e.name)
        if tensor is not None and e.name in self.resolved.analysis.tensors:
            index = tuple(self.value(a, I32) for a in e.arguments) or _ONLY
            return c.Element(self.names.tensors[tensor], index, e.whole)
        cast = cast_of(e.name)
        if cast is not None:
            return c.Conversion(C_TYPES[cast], self.value(e.arguments[0], cast))
        choice, kinds = float_form(e.name), self.resolved.analysis.typing.arguments(e)
        if choice is not None and (kinds is None or not kinds.is_float):
            return self._integer_choice(e, kinds or I32)
        name = choice or base_of(e.name) or e.name
        single = (choice is None and base_of(e.name) != e.name) or own != F64
        kind = F32 if single else F64
        arguments = tuple(self.value(a, kind) for a in e.arguments)
        suffix = "f" if single else ""
        if name == "rsqrt":
            return c.Infix("/", _float(1, kind), c.Invocation(f"sqrt{suffix}", arguments))
        if name == "exp10":
            return c.Invocation(f"pow{suffix}", (_float(10, kind), *arguments))
        return c.Invocation(name + suffix, arguments)

    def _integer_choice(self, e: Application, kind: DType) -> c.Expression:
        """min, max or abs of integers. C has no function for them but abs, so arguments stand twice."""
        if e.name == "abs" and kind.kind == "uint":
            return self.value(e.arguments[0], kind)
        values = [self.value(a, I32) for a in e.arguments]
        if e.name == "abs":
            return c.Invocation("labs" if kind.bits > 32 else "abs", tuple(values))
        if _nested(e) > MOST_CHOICES:
            hint = "compute a part of it in a statement of its own"
            what = f"min and max of integers nest deeper than {MOST_CHOICES}"
            raise fail(LIMIT, what, e.span, help=hint)
        better = c.Infix("<" if e.name == "min" else ">", values[0], values[1])
        return c.Conditional(better, values[0], values[1])


def _nested(e: Expression) -> int:
    """How deep functions nest in `e`."""
    inner = max((_nested(x) for x in operands(e)), default=0)
    return inner + isinstance(e, Application)
