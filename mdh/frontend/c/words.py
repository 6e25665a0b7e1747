"""The names of C constructs in messages; the parser's own names are not C terms."""

from pycparser import c_ast

_CALLED: dict[type, str] = {
    c_ast.ExprList: "the comma operator",
    c_ast.InitList: "a list of initial values",
    c_ast.CompoundLiteral: "a compound literal",
    c_ast.Compound: "a block inside an expression",
    c_ast.StructRef: "a member of a struct",
    c_ast.Label: "a label",
    c_ast.Case: "`case`",
    c_ast.Default: "`default`",
    c_ast.Typename: "a type in place of a value",
    c_ast.StaticAssert: "`_Static_assert`",
    c_ast.Return: "`return` here",
    c_ast.FuncDef: "a function inside a function",
}


def called(node: c_ast.Node) -> str:
    """The construct in words: `the comma operator`."""
    return _CALLED.get(type(node), "this construct")


def operator(op: str) -> str:
    """An operator in C's spelling; the parser marks postfix ones."""
    return op.removeprefix("p") if op in ("p++", "p--") else op
