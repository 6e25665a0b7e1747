"""Diesel statements as loop nests in C.

A sum or a function of elements is one nest over rows and columns. A product that it contains is accumulated
in the result itself, if there is one such product; other products, and what is a factor of a product without
being a matrix, have arrays of their own.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

from mdh.diagnostics import fail
from mdh.frontend.diesel.shapes import Both, Each, Extent, Leaf, Shape, Shaped, ShapedProduct
from mdh.frontend.nest import c_name, loop
from mdh.frontend.types import C_TYPES
from mdh.ir import syntax as c
from mdh.ir.dtype import F64, I32, DType
from mdh.source import Span

TYPE = "L105"
ROW, COLUMN, SUM = "i", "j", "k"


@dataclass
class Nests:
    """kind: of all elements. names: of matrices in C; sizes: of parameters. taken: names of C that are
    used."""

    kind: DType
    names: dict[str, str]
    sizes: Mapping[str, str]
    taken: set[str]
    counters: tuple[str, str, str]
    body: list[c.Statement] = field(default_factory=list)
    temporary: list[c.Declaration] = field(default_factory=list)

    def add(self, name: str, value: Shaped, span: Span) -> None:
        """`name = value;` as nests. name: in C."""
        products = _products(value)
        own = products[0] if len(products) == 1 and products[0].shape == value.shape else None
        known: dict[int, str] = {id(p): name if p is own else self.kept(p) for p in products}
        if own is not None:
            self.product(name, own, span)
            if own is value:
                return
        i, j, _ = self.counters
        target = c.Element(name, (c.Name(i), c.Name(j)), span)
        element = c.Assignment(target, "=", self.element(value, i, j, known), span)
        self.body.append(self.loops(value.shape, element, span))

    def kept(self, value: Shaped) -> str:
        """The name of an array that holds a value: the matrix itself, or a new one."""
        name = c_name(f"part{len(self.temporary) + 1}", self.taken)
        self.temporary.append(self.declared(name, value.shape, value.span))
        self.add(name, value, value.span)
        return name

    def declared(self, name: str, shape: Shape, span: Span) -> c.Declaration:
        return c.Declaration(name, C_TYPES[self.kind], tuple(self.extent(n) for n in shape), span=span)

    def extent(self, n: Extent) -> c.Expression:
        return c.Number(str(n.value)) if n.name is None else c.Name(self.sizes[n.name])

    def loops(self, shape: Shape, body: c.Statement, span: Span) -> c.Statement:
        i, j, _ = self.counters
        return loop(i, self.extent(shape[0]), loop(j, self.extent(shape[1]), body, span), span)

    def product(self, name: str, p: ShapedProduct, span: Span) -> None:
        """The nest of a product."""
        i, j, k = self.counters
        left, right = (self.factor(side) for side in (p.left, p.right))
        target = c.Element(name, (c.Name(i), c.Name(j)), span)
        value = c.Infix("*", self.element(left, i, k, {}), self.element(right, k, j, {}))
        start = c.Assignment(target, "=", self.literal("0.0"), span)
        added = loop(k, self.extent(p.left.shape[1]), c.Assignment(target, "+=", value, p.span), p.span)
        self.body.append(self.loops(p.shape, c.Block((start, added)), span))

    def factor(self, value: Shaped) -> Leaf:
        """The factor of a product as a matrix."""
        if isinstance(value, Leaf):
            return value
        name = self.kept(value)
        self.names[name] = name
        return Leaf(name, False, value.shape, value.span)

    def element(self, e: Shaped, row: str, column: str, known: Mapping[int, str]) -> c.Expression:
        """One element. row, column: its place; known: the arrays that hold products."""
        match e:
            case Leaf(name, transposed, shape, span):
                place = (_place(shape[0], row), _place(shape[1], column))
                return c.Element(self.names[name], place[::-1] if transposed else place, span)
            case ShapedProduct(span=span):
                place = (_place(e.shape[0], row), _place(e.shape[1], column))
                return c.Element(known[id(e)], place, span)
            case Both(op, left, right):
                sides = (self.element(side, row, column, known) for side in (left, right))
                return c.Infix(op, *sides)
            case Each(function, operand, _, span):
                return self.pointwise(function, self.element(operand, row, column, known), span)

    def pointwise(self, function: str, x: c.Expression, span: Span) -> c.Expression:
        suffix = "" if self.kind == F64 else "f"
        if self.kind == I32:
            if function != "RELU":
                raise fail(TYPE, f"{function} of integers is no integer", span, help="CodeGen(FLOAT, …)")
            return c.Conditional(c.Infix(">", x, c.Number("0")), x, c.Number("0"))
        if function == "RELU":
            return c.Invocation(f"fmax{suffix}", (x, self.literal("0.0")))
        if function == "TANH":
            return c.Invocation(f"tanh{suffix}", (x,))
        grown = c.Invocation(f"exp{suffix}", (c.Prefix("-", x),))
        return c.Infix("/", self.literal("1.0"), c.Infix("+", self.literal("1.0"), grown))

    def literal(self, text: str) -> c.Expression:
        if self.kind == I32:
            return c.Number(text.partition(".")[0])
        return c.Number(text if self.kind == F64 else f"{text}f")


def _place(n: Extent, counter: str) -> c.Expression:
    """The subscript along a side; a single row or column is repeated."""
    return c.Number("0") if n.value == 1 else c.Name(counter)


def _products(e: Shaped) -> list[ShapedProduct]:
    """The products whose elements the value combines."""
    match e:
        case Leaf():
            return []
        case ShapedProduct():
            return [e]
        case Each():
            return _products(e.operand)
        case Both():
            return [*_products(e.left), *_products(e.right)]
