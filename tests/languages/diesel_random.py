"""Random programs in Diesel, with inputs, and what they compute by numpy's matrices."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from random import Random
from typing import Any

import numpy as np

from tests.languages.kinds import F16, F32, F64, I32, Array, converted, rounding
from tests.languages.pools import MATRICES, PARAMS, STEMS
from tests.languages.running import Written

TYPES: dict[str, np.dtype[Any]] = {"INT": I32, "HALF": F16, "FLOAT": F32, "DOUBLE": F64}


@dataclass(frozen=True)
class Mat:
    name: str


@dataclass(frozen=True)
class Turned:
    """A transpose. mark: as it is written."""

    operand: "Tree"
    mark: str


@dataclass(frozen=True)
class Each:
    """RELU, SIGMOID or TANH."""

    function: str
    operand: "Tree"


@dataclass(frozen=True)
class Both:
    op: str
    left: "Tree"
    right: "Tree"


Tree = Mat | Turned | Each | Both
Side = tuple[int, int]


@dataclass(frozen=True)
class Numbers:
    """Elements in double precision, and how much those of a program may differ."""

    array: Array
    error: float = 0.0

    @property
    def most(self) -> float:
        return float(np.abs(self.array).max())


class TooLargeError(Exception):
    """A number is larger than its type holds, or than it holds exactly."""


@dataclass
class Case:
    """inputs: in order. results: their values."""

    written: Written
    inputs: list[Array]
    results: list[Numbers]
    kind: np.dtype[Any]


@dataclass
class Maker:
    """A program in the making. sizes: of parameters; inputs: their extents as they are written; shapes,
    values: of matrices."""

    rng: Random
    kind: str
    sizes: dict[str, int] = field(default_factory=dict)
    inputs: dict[str, tuple[str, str]] = field(default_factory=dict)
    shapes: dict[str, Side] = field(default_factory=dict)
    values: dict[str, Numbers] = field(default_factory=dict)
    statements: list[tuple[str, Tree]] = field(default_factory=list)

    @property
    def type(self) -> np.dtype[Any]:
        return TYPES[self.kind or "FLOAT"]

    def fresh(self, pool: Sequence[str]) -> str:
        return self.rng.choice([n for n in pool if n not in self.sizes and n not in self.shapes])

    def start(self) -> None:
        for _ in range(self.rng.randrange(0, 5)):
            self.sizes[self.fresh(PARAMS)] = self.rng.choice((1, 2, 3, 3, 4, 5))

    def side(self) -> int:
        return self.rng.choice([*self.sizes.values(), 1, 2, 3])

    def input(self, shape: Side) -> Mat:
        """A new input of this shape."""
        name = self.fresh(MATRICES)
        extents = [self.rng.choice([*(p for p, v in self.sizes.items() if v == n), str(n)]) for n in shape]
        self.inputs[name] = (extents[0], extents[1])
        drawn = np.random.default_rng(self.rng.randrange(2**32)).integers(-2, 3, shape)
        self.shapes[name], self.values[name] = shape, Numbers(drawn.astype(F64))
        return Mat(name)

    def leaf(self, shape: Side) -> Tree:
        """A matrix of this shape, or a transposed one."""
        known = [n for n, s in self.shapes.items() if s == shape]
        computed = [n for n in known if n not in self.inputs]
        if computed and self.rng.random() < 0.5:
            known = computed
        turned = [n for n, s in self.shapes.items() if s == shape[::-1]]
        if turned and self.rng.random() < 0.35:
            return Turned(Mat(self.rng.choice(turned)), self.mark())
        if (known and self.rng.random() < 0.8) or len(self.shapes) > 12:
            return Mat(self.rng.choice(known)) if known else self.input(shape)
        return self.input(shape)

    def mark(self) -> str:
        return self.rng.choice(("^T", "'", "^ T", " '"))

    def tree(self, shape: Side, depth: int) -> Tree:
        """An expression of this shape."""
        rng = self.rng
        way = rng.choices(("leaf", "sum", "product", "turned", "each"), (15, 30, 30, 12, 13))[0]
        if depth <= 0 or way == "leaf":
            return self.leaf(shape)
        if way == "sum":
            other = rng.choice([shape, shape, (1, shape[1]), (shape[0], 1), (1, 1)])
            sides = [(shape, other), (other, shape)][rng.randrange(2)]
            if rng.random() < 0.1:
                sides = ((1, shape[1]), (shape[0], 1))
            return Both(rng.choice("+-"), *(self.tree(s, depth - 1) for s in sides))
        if way == "product":
            inner = self.side()
            return Both("*", self.tree((shape[0], inner), depth - 1), self.tree((inner, shape[1]), depth - 1))
        if way == "turned":
            return Turned(self.tree(shape[::-1], depth - 1), self.mark())
        names = ("RELU",) if self.type == I32 else ("RELU", "SIGMOID", "TANH")
        return Each(rng.choice(names), self.tree(shape, depth - 1))

    def value(self, e: Tree) -> Numbers:
        match e:
            case Mat(name):
                return self.values[name]
            case Turned(operand, _):
                inner = self.value(operand)
                return Numbers(inner.array.T, inner.error)
            case Each(function, operand):
                return self.rounded(_each(function, self.value(operand)))
            case Both():
                return self.rounded(_both(e.op, self.value(e.left), self.value(e.right)))

    def rounded(self, x: Numbers) -> Numbers:
        """Numbers as the program's type holds them."""
        if self.type == I32:
            if x.most >= 2**31:
                raise TooLargeError
            return x
        if x.most > (3e4 if self.type == F16 else 1e15):
            raise TooLargeError
        with np.errstate(over="ignore"):
            exact = not x.error and (converted(x.array, self.type).astype(F64) == x.array).all()
        return x if exact else Numbers(x.array, x.error + rounding(self.type) * max(x.most, 1.0))

    def add(self) -> None:
        shape = (self.side(), self.side())
        if self.statements and self.rng.random() < 0.6:
            shape = self.shapes[self.rng.choice(self.statements)[0]]
        tree = self.tree(shape, self.rng.choice((1, 2, 2, 3)))
        value = self.value(tree)
        name = self.fresh(MATRICES)
        self.statements.append((name, tree))
        self.values[name] = value
        self.shapes[name] = (value.array.shape[0], value.array.shape[1])


def _each(function: str, x: Numbers) -> Numbers:
    if function == "RELU":
        return Numbers(np.maximum(x.array, 0), x.error)
    with np.errstate(over="ignore"):
        out = np.tanh(x.array) if function == "TANH" else 1 / (1 + np.exp(-x.array))
    return Numbers(out, x.error + 8 * rounding(F32) * 1e-6)


def _both(op: str, a: Numbers, b: Numbers) -> Numbers:
    if op != "*":
        return Numbers(a.array + b.array if op == "+" else a.array - b.array, a.error + b.error)
    out, count = a.array @ b.array, a.array.shape[1]
    most = float((np.abs(a.array) @ np.abs(b.array)).max())
    return Numbers(
        out, count * (a.error * b.most + b.error * a.most) + (1e-6 * most if a.error + b.error else 0.0)
    )


def case(seed: str) -> Case:
    rng = Random(seed)
    while True:
        made = Maker(rng, rng.choice(("INT", "HALF", "FLOAT", "FLOAT", "DOUBLE", "")))
        made.start()
        try:
            for _ in range(rng.randrange(1, 6)):
                made.add()
        except (TooLargeError, IndexError):
            continue
        if made.inputs:
            return _case(made, rng)


def _case(made: Maker, rng: Random) -> Case:
    computed = [name for name, _ in made.statements]
    if made.kind:
        results = rng.sample(computed, rng.randrange(1, len(computed) + 1))
    else:
        used = {n for _, e in made.statements for n in used_in(e)}
        results = [n for n in computed if n not in used]
    stem = rng.choice(STEMS)
    written = Written(f"{stem}.diesel", text_of(made, results, rng), made.sizes)
    inputs = [made.values[n].array.astype(made.type) for n in made.inputs]
    return Case(written, inputs, [made.values[n] for n in results], made.type)


def used_in(e: Tree) -> list[str]:
    match e:
        case Mat():
            return [e.name]
        case Turned() | Each():
            return used_in(e.operand)
        case Both():
            return [*used_in(e.left), *used_in(e.right)]


def text_of(made: Maker, results: list[str], rng: Random) -> str:
    lines = [f"Matrix {name}({rows}, {columns});" for name, (rows, columns) in made.inputs.items()]
    if made.sizes and rng.random() < 0.5:
        lines = [f"Params {', '.join(made.sizes)};", *lines]
    else:
        lines = [*(f"Params {n};" for n in made.sizes), *lines]
    lines += [f"{name} = {shown(e, 0, rng)};" for name, e in made.statements]
    if made.kind:
        lines.append(f"CodeGen({made.kind}, {{{','.join(results)}}});")
    return "".join(line + rng.choice(("\n", "\n", " ", " // A = B;\n", "#\n", "\r\n")) for line in lines)


def shown(e: Tree, level: int, rng: Random) -> str:
    """level: of the operator around it; now and then there are more parentheses than are needed."""
    if rng.random() < 0.06:
        return f"({shown(e, 0, rng)})"
    match e:
        case Mat():
            return e.name
        case Turned():
            return shown(e.operand, 3, rng) + e.mark
        case Each():
            return f"{e.function}{rng.choice(('', ' '))}({shown(e.operand, 0, rng)})"
        case Both():
            own = 2 if e.op == "*" else 1
            blank = rng.choice(("", " "))
            text = f"{shown(e.left, own, rng)}{blank}{e.op}{blank}{shown(e.right, own + 1, rng)}"
            return f"({text})" if own < level else text


def any_shapes(seed: str) -> tuple[Written, bool]:
    """A statement about matrices of any shapes, and whether numpy takes them."""
    rng = Random(seed)
    made = Maker(rng, "FLOAT")
    for _ in range(3):
        made.input((rng.randrange(1, 4), rng.randrange(1, 4)))

    def tree(depth: int) -> Tree:
        way = rng.choice(("leaf", "turned", "each", "both", "both")) if depth else "leaf"
        if way == "leaf":
            return Mat(rng.choice(list(made.inputs)))
        if way == "turned":
            return Turned(tree(depth - 1), made.mark())
        if way == "each":
            return Each("RELU", tree(depth - 1))
        return Both(rng.choice("+-*"), tree(depth - 1), tree(depth - 1))

    made.statements.append(("result", tree(rng.choice((1, 2, 2, 3)))))
    written = Written("x.diesel", text_of(made, ["result"], rng), {})
    try:
        made.value(made.statements[0][1])
    except ValueError:
        return written, False
    return written, True
