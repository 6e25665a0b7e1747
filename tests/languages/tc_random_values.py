"""Random expressions of Tensor Comprehensions."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from random import Random

from tests.languages.kinds import is_float
from tests.languages.tc_kinds import Kinds
from tests.languages.tc_syntax import (
    Apply,
    At,
    Binary,
    Choose,
    Expr,
    Extent,
    Name,
    Num,
    Unary,
)

_INTEGERS = (("0", 0), ("1", 1), ("2", 2), ("3", 3), ("0x2", 2), ("03", 3), ("1u", 1), ("2L", 2), ("4", 4))
_FLOATS = (
    ("0.5", 0.5), ("1.0", 1.0), ("2.f", 2.0), (".25", 0.25), ("1.5f", 1.5), ("1e1", 10.0), ("0x1p1", 2.0),
    ("2.5F", 2.5), ("0x.8p2f", 2.0), ("0x1P-1F", 0.5),
)  # fmt: skip


def literal(text: str, value: float | None = None) -> Num:
    return Num(text, float(text) if value is None else value, value is None and "." in text)


def whole(n: int) -> Expr:
    return Num(str(n), n, False) if n >= 0 else Unary("-", Num(str(-n), -n, False))


@dataclass
class Scene:
    """What an expression may use. tensors: ranks, by name; gathers: arrays of integers, with the tensors and
    positions that each may point into."""

    rng: Random
    kinds: Kinds
    tensors: dict[str, int]
    indices: Sequence[str]
    scalars: Sequence[str] = ()
    sizes: Sequence[str] = ()
    gathers: dict[str, dict[str, int]] = field(default_factory=dict)
    plain: bool = False

    def value(self, depth: int) -> Expr:
        """A value, the deeper the longer."""
        rng = self.rng
        if depth <= 0 or rng.random() < 0.15:
            return self.leaf()
        kind = rng.choices(
            ("sum", "product", "choice", "call", "minus", "cast", "divide", "integer", "not"),
            (30, 30, 9, 12, 5, 5, 4, 4, 2),
        )[0]
        if kind in ("sum", "product"):
            op = rng.choice("+-") if kind == "sum" else "*"
            return Binary(op, self.value(depth - 1), self.value(depth - 1))
        if kind == "minus":
            return Unary(rng.choice("--+"), self.value(depth - 1))
        if kind == "choice":
            return Choose(self.condition(depth - 1), self.value(depth - 1), self.value(depth - 1))
        if kind == "cast":
            return Apply(
                rng.choice(("float", "double", "half", "int", "int64", "float32")), (self.value(depth - 1),)
            )
        if kind == "divide":
            below = rng.choice((literal("2"), literal("4"), literal("2.0"), literal("0.5")))
            return Binary("/", self.value(depth - 1), below)
        if kind == "integer":
            return self.integer(depth)
        if kind == "not":
            return Unary("!", self.condition(depth - 1))
        return self.call(depth)

    def integer(self, depth: int) -> Expr:
        """An operation that integers alone have."""
        e = self.value(depth - 1)
        if is_float(self.kinds.of(e)):
            e = Apply("int", (e,))
        op = self.rng.choice(("%", "&", "|", "^", "~", "<<", ">>"))
        if op == "~":
            return Unary("~", e)
        return Binary(op, e, whole(self.rng.randrange(1, 4)))

    def call(self, depth: int) -> Expr:
        rng = self.rng
        name = rng.choices(
            (
                "min",
                "max",
                "abs",
                "fmaxf",
                "fminf",
                "fmax",
                "fabs",
                "exp",
                "tanh",
                "sqrt",
                "erf",
                "floor",
                "erfc",
                "asinh",
                "rsqrt",
                "exp10",
                "fdim",
            ),
            (8, 8, 6, 5, 2, 3, 2, 4, 3, 1, 1, 1, 1, 1, 1, 1, 1),
        )[0]
        x = self.value(depth - 1)
        if name in ("exp", "exp10"):
            # exp of large numbers is infinite
            return Apply(rng.choice((name, f"{name}f")), (Apply("min", (x, literal("1.5"))),))
        if name == "rsqrt":
            least = Binary("+", Apply("abs", (x,)), literal("0.5"))
            return Apply(rng.choice(("rsqrt", "rsqrtf")), (least,))
        if name == "sqrt":
            return Apply(rng.choice(("sqrt", "sqrtf")), (Apply("abs", (x,)),))
        if name in ("abs", "fabs", "tanh", "erf", "floor", "erfc", "asinh"):
            return Apply(name, (x,))
        return Apply(name, (x, self.value(depth - 2)))

    def condition(self, depth: int) -> Expr:
        rng = self.rng
        if depth > 0 and rng.random() < 0.3:
            return Binary(rng.choice(("&&", "||")), self.condition(depth - 1), self.condition(depth - 1))
        op = rng.choice(("<", ">", "<=", ">=", "==", "!="))
        left = Name(rng.choice(self.indices)) if rng.random() < 0.2 else self.leaf()
        return Binary(op, left, self.number() if rng.random() < 0.6 else self.value(depth - 1))

    def number(self) -> Expr:
        text, value = self.rng.choice(_INTEGERS + _FLOATS)
        return Num(text, value, (text, value) in _FLOATS)

    def leaf(self) -> Expr:
        kind = self.rng.choices(
            ("element", "number", "scalar", "index", "size", "extent"), (70, 12, 10, 3, 2, 1)
        )[0]
        if kind == "number":
            return self.number()
        if kind == "scalar" and self.scalars:
            return Name(self.rng.choice(self.scalars))
        if kind == "index":
            return Name(self.rng.choice(self.indices))
        if kind == "size" and self.sizes:
            return Name(self.rng.choice(self.sizes))
        if kind == "extent":
            name = self.rng.choice(list(self.tensors))
            return (
                Extent(name, self.rng.randrange(self.tensors[name])) if self.tensors[name] else At(name, ())
            )
        return self.element()

    def element(self, name: str | None = None) -> At:
        """An access of a tensor."""
        name = self.rng.choice(list(self.tensors)) if name is None else name
        rank = self.tensors[name]
        chosen = list(self.indices)
        self.rng.shuffle(chosen)
        chosen = (chosen * rank)[:rank]
        return At(name, tuple(self.subscript(name, k, i) for k, i in enumerate(chosen)))

    def pointer(self, inner: str, name: str, position: int) -> Expr:
        """An element of an array of integers as a subscript of another."""
        rng = self.rng
        chosen = [rng.choice(self.indices) for _ in range(self.tensors[inner])]
        found: Expr = At(inner, tuple(
            self.subscript(inner, k, i) if rng.random() < 0.3 else Name(i) for k, i in enumerate(chosen)
        ))  # fmt: skip
        if rng.random() < 0.2:
            return Binary("-", Binary("-", Extent(name, position), whole(1)), found)
        return found

    def subscript(self, name: str, position: int, index: str) -> Expr:
        rng, i = self.rng, Name(index)
        pointing = [t for t, into in self.gathers.items() if into.get(name) == position]
        if pointing and rng.random() < 0.4:
            return self.pointer(rng.choice(pointing), name, position)
        if self.plain or rng.random() < 0.7:
            return i
        other = Name(rng.choice(self.indices))
        n = rng.randrange(1, 4)
        forms: list[Expr] = [
            Binary("+", Binary("*", whole(rng.randrange(1, 4)), i), other) if other != i else i,
            Binary("+", i, other) if other != i else i,
            Binary("+", i, whole(n)),
            Binary("+", Binary("*", i, whole(2)), whole(rng.randrange(2))),
            Binary("-", Binary("-", Extent(name, position), whole(1)), i),
            Unary("-", Binary("-", i, whole(n))),
            Binary("-", i, whole(1)),
            whole(rng.randrange(2)),
            Binary("*", Name(rng.choice(self.sizes)), i) if self.sizes else i,
            Binary("+", i, Name(rng.choice(self.sizes))) if self.sizes else i,
        ]
        return rng.choice(forms)
