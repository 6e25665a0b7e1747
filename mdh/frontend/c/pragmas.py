"""`#pragma mdh stage(NAME)`, `mdh( C[i][j] : ++, ++, + )` and `mdh allow(tf32)`, `#pragma scop`."""

import re

from pycparser import c_ast

from mdh.diagnostics import fail
from mdh.frontend.c.scope import NameScope
from mdh.frontend.statements import OperatorPragma
from mdh.ir.program import CONSENTS


def read_pragma(node: c_ast.Pragma, scope: NameScope) -> None:
    """Notes what a pragma says about the next statement, or about the function. Pragmas of other tools are
    ignored."""
    text = " ".join((node.string or "").split())
    if not re.match(r"mdh\b", text):
        return
    stage = re.fullmatch(r"mdh\s*stage\s*\(\s*([A-Za-z_]\w*)\s*\)", text)
    number = len(scope.statements)
    if stage is not None:
        scope.stage_names[number] = stage[1]
        return
    allowed = re.fullmatch(r"mdh\s*allow\s*\(\s*(\w+)\s*\)", text)
    if allowed is not None and allowed[1] in CONSENTS:
        scope.allowed.add(allowed[1])
        return
    operators = re.fullmatch(r"mdh\s*\(\s*(.+?)\s*:\s*(.+?)\s*\)", text)
    if operators is None:
        raise fail("C119", f"this mdh pragma is not understood: `{text}`", scope.places.of(node, "mdh"),
                   help="write #pragma mdh stage(NAME), #pragma mdh( C[i][j] : ++, ++, + ) or"
                        f" #pragma mdh allow({' | '.join(CONSENTS)})")  # fmt: skip
    scope.operators[number] = OperatorPragma(operators[1], operators[2], scope.places.of(node, "mdh"))


_IDLE = (c_ast.Decl, c_ast.DeclList, c_ast.EmptyStatement, c_ast.Pragma, c_ast.Typedef)
"""Nodes without computation. A declaration's value counts wherever it stands."""


def inside_scop(items: list[c_ast.Node], scope: NameScope) -> list[c_ast.Node]:
    """The statements between `#pragma scop` and `#pragma endscop`, and all declarations; all without them.

    Raises Failed C119 if one of the two is missing, or if something outside of them computes.
    """
    marks = scop_marks(items)
    if not marks:
        return items
    if [word for _, word in marks] != ["scop", "endscop"]:
        raise fail("C119", "`#pragma scop` and `#pragma endscop` do not come as one pair",
                   scope.places.of(items[marks[0][0]], marks[0][1]),
                   help="one pair, both in the same block")  # fmt: skip
    (first, _), (last, _) = marks
    for k, n in enumerate(items):
        if not first <= k <= last and not isinstance(n, _IDLE):
            raise fail("C119", "this statement stands outside of `#pragma scop`", scope.places.of(n),
                       help="move it inside, or remove the pragmas")  # fmt: skip
    return between(items, first, last)


def between(items: list[c_ast.Node], first: int, last: int) -> list[c_ast.Node]:
    """The statements between two, and all declarations."""
    return [n for k, n in enumerate(items) if first < k < last or isinstance(n, c_ast.Decl | c_ast.DeclList)]


def scop_marks(items: list[c_ast.Node]) -> list[tuple[int, str]]:
    """The numbers of `#pragma scop` and `#pragma endscop`, with these words."""
    return [(k, _scop_word(n)) for k, n in enumerate(items) if _scop_word(n)]


def _scop_word(node: c_ast.Node) -> str:
    word = (node.string or "").strip() if isinstance(node, c_ast.Pragma) else ""
    return word if word in ("scop", "endscop") else ""
