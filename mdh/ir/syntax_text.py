"""Prints a function of `ir.syntax` as C."""

from collections.abc import Iterator
from typing import assert_never

from mdh.ir.syntax import (
    BINARY,
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
    operands,
    walked,
)

_LEVEL = {op: n + 1 for n, ops in enumerate(BINARY) for op in ops}
_UNARY = len(BINARY) + 1
_FIXED = ("int8_t", "int16_t", "int32_t", "int64_t", "uint8_t", "uint16_t", "uint32_t", "uint64_t")


def function_text(f: Function, written: frozenset[str]) -> str:
    """The C text of a function, with the headers that it needs. written: the array parameters that are not
    const."""
    parameters = ", ".join(_parameter(p, written) for p in f.parameters)
    lines = [*(f"#include <{name}>" for name in _headers(f))]
    lines += [""] if lines else []
    lines += [f"{declaration_text(d)};" for d in f.constants]
    lines += [f"void {f.name}({parameters}) {{"]
    for s in f.body.body:
        lines += _statement(s, 1)
    return "\n".join([*lines, "}"]) + "\n"


def _headers(f: Function) -> list[str]:
    types, names = set[str](), False
    for p in f.parameters:
        types |= set(p.type.words)
    for s in walked(f.body):
        if isinstance(s, Declaration):
            types |= set(s.type.words)
        for e in _expressions(s):
            names |= isinstance(e, Invocation) or (isinstance(e, Name) and e.name == "INFINITY")
            types |= set(e.type.words) if isinstance(e, Conversion) else set()
    return [*(["math.h"] if names else []), *(["stdint.h"] if types & set(_FIXED) else [])]


def _expressions(s: Statement) -> Iterator[Expression]:
    if isinstance(s, Assignment):
        left: list[Expression] = [s.value, s.target]
    elif isinstance(s, IfStatement):
        left = [s.cond]
    else:
        return
    while left:
        e = left.pop()
        yield e
        left += operands(e)


def _parameter(d: Declaration, written: frozenset[str]) -> str:
    const = "const " if d.extents and d.name not in written else ""
    return const + declaration_text(d)


def declaration_text(d: Declaration) -> str:
    """A declaration without the semicolon."""
    extents = "".join("[]" if e is None else f"[{expression_text(e)}]" for e in d.extents)
    start = "" if d.initial is None else f" = {_initial(d.initial)}"
    return f"{_type(d.type)} {'*' if d.pointer else ''}{d.name}{extents}{start}"


def _initial(e: Expression | Values) -> str:
    if isinstance(e, Values):
        return "{" + ", ".join(_initial(x) for x in e.items) + "}"
    return expression_text(e)


def _type(t: CType) -> str:
    return " ".join(t.words)


def _statement(s: Statement, depth: int) -> list[str]:
    indent = "  " * depth
    match s:
        case Declaration():
            return [f"{indent}{declaration_text(s)};"]
        case Assignment():
            return [f"{indent}{_assigned(s)};"]
        case Block(body):
            return [line for inner in body for line in _statement(inner, depth)]
        case ForStatement(first, cond, next_, body):
            start = (
                ""
                if first is None
                else declaration_text(first)
                if isinstance(first, Declaration)
                else _assigned(first)
            )
            until = "" if cond is None else expression_text(cond)
            head = f"{indent}for ({start}; {until}; {'' if next_ is None else _assigned(next_)})"
            return _under(head, body, depth)
        case IfStatement(cond, then, other):
            lines = _under(f"{indent}if ({expression_text(cond)})", then, depth)
            return lines + ([] if other is None else _under(f"{indent}else", other, depth))
        case _:
            assert_never(s)


def _under(head: str, body: Statement, depth: int) -> list[str]:
    lines = _statement(body, depth + 1)
    if isinstance(body, Block) and len(body.body) > 1:
        return [f"{head} {{", *lines, "  " * depth + "}"]
    return [head, *lines]


def _assigned(a: Assignment) -> str:
    if a.op == "+=" and a.value == Number("1") and isinstance(a.target, Name):
        return f"{a.target.name}++"
    return f"{expression_text(a.target)} {a.op} {expression_text(a.value)}"


def expression_text(e: Expression, level: int = 0) -> str:
    """level: of the operator around it; an expression that binds less tightly stands in parentheses."""
    match e:
        case Number(text):
            return text
        case Name(name, _):
            return name
        case Element(array, subscripts, _):
            return array + "".join(f"[{expression_text(x)}]" for x in subscripts)
        case Prefix(op, operand):
            inner = expression_text(operand, _UNARY)
            # `- -x`, lest it become `--x`
            return _closed(f"{op}{' ' if inner[:1] == op else ''}{inner}", _UNARY, level)
        case Infix(op, left, right):
            own = _LEVEL[op]
            return _closed(f"{expression_text(left, own)} {op} {expression_text(right, own + 1)}", own, level)
        case Conditional(cond, then, other):
            return _closed(
                f"{expression_text(cond, 1)} ? {expression_text(then)} : {expression_text(other)}", 0, level
            )
        case Conversion(kind, operand):
            return _closed(f"({_type(kind)}){expression_text(operand, _UNARY)}", _UNARY, level)
        case Invocation(function, arguments):
            return f"{function}({', '.join(expression_text(a) for a in arguments)})"
        case _:
            assert_never(e)


def _closed(text: str, own: int, level: int) -> str:
    return f"({text})" if own < level else text
