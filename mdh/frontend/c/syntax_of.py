"""pycparser's tree to `ir.syntax`, node for node.

This runs before the front end has looked at the tree, and refuses nothing. If there is no node for a
construct, the front end refuses it with its own message, and the syntax is not used.
"""

from pycparser import c_ast

from mdh.frontend.c.ctypes_of import dimensions
from mdh.frontend.c.initialisers import TakenOut
from mdh.frontend.c.places import Places, items_of
from mdh.frontend.c.pragmas import between, scop_marks
from mdh.ir.syntax import (
    Assignment,
    Block,
    Conditional,
    Conversion,
    CType,
    Declaration,
    Element,
    Expression,
    ForStatement,
    Function,
    IfStatement,
    Infix,
    Invocation,
    Name,
    Number,
    Prefix,
    Statement,
    Values,
)


class UnknownConstructError(Exception):
    """A construct that `ir.syntax` has no node for; the front end refuses it."""


def function_of(node: c_ast.FuncDef, constants: tuple[c_ast.Decl, ...], places: Places) -> Function:
    """The function as it is written. Raises UnknownConstructError."""
    reader = _Reader(places)
    args = node.decl.type.args
    named = [p for p in (args.params if args else []) if isinstance(p, c_ast.Decl) and p.name is not None]
    parameters = tuple(reader.declaration(p) for p in named)
    globals_ = tuple(reader.declaration(d) for d in constants)
    return Function(node.decl.name, parameters, globals_, reader.block(node.body.block_items))


class _Reader:
    def __init__(self, places: Places) -> None:
        self.places = places

    def declaration(self, node: c_ast.Decl) -> Declaration:
        pointer = isinstance(node.type, c_ast.PtrDecl)
        dims, inner = dimensions(node.type.type if pointer else node.type)
        # `float (*A)[K]` is A[][K]
        dims = [None, *dims] if pointer and dims else dims
        extents = tuple(None if d is None else self.expression(d) for d in dims)
        initial = None if node.init is None else self.initial(node.init)
        span = self.places.of(node, node.name)
        return Declaration(node.name, self.type(inner), extents, initial, pointer and not dims, span)

    def initial(self, node: c_ast.Node) -> Expression | Values:
        if isinstance(node, c_ast.InitList):
            cropped = isinstance(node, TakenOut) and node.cropped
            return Values(tuple(self.initial(e) for e in node.exprs), cropped)
        return self.expression(node)

    def type(self, node: c_ast.Node) -> CType:
        while isinstance(node, c_ast.TypeDecl | c_ast.Typename):
            node = node.type
        if not isinstance(node, c_ast.IdentifierType):
            raise UnknownConstructError
        return CType(tuple(node.names))

    def block(self, items: list[c_ast.Node] | None) -> Block:
        items = items or []
        marks = scop_marks(items)
        if [word for _, word in marks] == ["scop", "endscop"]:
            items = between(items, marks[0][0], marks[1][0])
        return Block(tuple(s for n in items for s in self.statements(n)))

    def statements(self, node: c_ast.Node) -> tuple[Statement, ...]:
        match node:
            case c_ast.DeclList():
                return tuple(self.declaration(d) for d in node.decls)
            case c_ast.ExprList():
                return tuple(s for e in node.exprs for s in self.statements(e))
            case c_ast.Cast(expr=c_ast.ID()):
                # the front end accepts only `(void)x;` here
                return ()
            case c_ast.Pragma() | c_ast.EmptyStatement() | c_ast.Typedef() | c_ast.Return(expr=None):
                return ()
            case _:
                return (self.statement(node),)

    def statement(self, node: c_ast.Node) -> Statement:
        match node:
            case c_ast.Decl():
                return self.declaration(node)
            case c_ast.Compound():
                return self.block(node.block_items)
            case c_ast.Assignment() | c_ast.UnaryOp(op="++" | "p++" | "--" | "p--"):
                return self.assignment(node)
            case c_ast.For():
                return self.loop(node)
            case c_ast.If():
                cond, then = self.expression(node.cond), self.body(node.iftrue)
                other = None if node.iffalse is None else self.body(node.iffalse)
                return IfStatement(cond, then, other, self.places.of(node))
            case _:
                raise UnknownConstructError

    def body(self, node: c_ast.Node | None) -> Statement:
        return self.block(items_of(node))

    def loop(self, node: c_ast.For) -> ForStatement:
        first: Declaration | Assignment | None = None
        match node.init:
            case c_ast.DeclList(decls=[decl]):
                first = self.declaration(decl)
            case None:
                pass
            case _:
                first = self.assignment(node.init)
        cond = None if node.cond is None else self.expression(node.cond)
        next_ = None if node.next is None else self.assignment(node.next)
        return ForStatement(first, cond, next_, self.body(node.stmt), self.places.of(node))

    def assignment(self, node: c_ast.Node) -> Assignment:
        match node:
            case c_ast.Assignment():
                return Assignment(
                    self.target(node.lvalue), node.op, self.expression(node.rvalue), self.places.of(node)
                )
            case c_ast.UnaryOp(op="++" | "p++" | "--" | "p--" as op):
                return Assignment(self.target(node.expr), op[-1] + "=", Number("1"), self.places.of(node))
            case _:
                raise UnknownConstructError

    def target(self, node: c_ast.Node) -> Name | Element:
        found = self.expression(node)
        if not isinstance(found, Name | Element):
            raise UnknownConstructError
        return found

    def expression(self, node: c_ast.Node) -> Expression:
        match node:
            case c_ast.Constant():
                return Number(node.value)
            case c_ast.ID():
                return Name(node.name, self.places.of(node, node.name))
            case c_ast.ArrayRef() | c_ast.UnaryOp(op="*"):
                return self.element(node)
            case c_ast.UnaryOp(op="-" | "+" | "~" | "!" as op):
                return Prefix(op, self.expression(node.expr))
            case c_ast.BinaryOp():
                return Infix(node.op, self.expression(node.left), self.expression(node.right))
            case c_ast.TernaryOp():
                parts = (node.cond, node.iftrue, node.iffalse)
                return Conditional(*(self.expression(p) for p in parts))
            case c_ast.Cast():
                return Conversion(self.type(node.to_type), self.expression(node.expr))
            case c_ast.FuncCall(name=c_ast.ID(name=function)):
                args = node.args.exprs if node.args else []
                return Invocation(function, tuple(self.expression(a) for a in args))
            case _:
                raise UnknownConstructError

    def element(self, node: c_ast.Node) -> Element:
        if isinstance(node, c_ast.UnaryOp):
            if not isinstance(node.expr, c_ast.ID):
                raise UnknownConstructError
            return Element(node.expr.name, (Number("0"),), self.places.of(node))
        subscripts: list[Expression] = []
        base = node
        while isinstance(base, c_ast.ArrayRef):
            subscripts.insert(0, self.expression(base.subscript))
            base = base.name
        if not isinstance(base, c_ast.ID):
            raise UnknownConstructError
        return Element(base.name, tuple(subscripts), self.places.of(node))
