"""`#pragma mdh stage(NAME)`, `#pragma mdh( C[i][j] : ++, ++, + )`, `#pragma scop`."""

import re

from pycparser import c_ast

from mdh.diagnostics import fail
from mdh.frontend.scope import Scope


def read_pragma(node: c_ast.Pragma, scope: Scope) -> None:
    """Note what a pragma says about the next statement; foreign pragmas are passed over."""
    text = " ".join((node.string or "").split())
    if not re.match(r"mdh\b", text):
        return
    stage = re.fullmatch(r"mdh\s*stage\s*\(\s*([A-Za-z_]\w*)\s*\)", text)
    number = len(scope.statements)
    if stage is not None:
        scope.stage_names[number] = stage[1]
        return
    operators = re.fullmatch(r"mdh\s*\(\s*(.+?)\s*:\s*(.+?)\s*\)", text)
    if operators is None:
        raise fail("C119", f"this mdh pragma is not understood: `{text}`", scope.places.of(node),
                   help="write #pragma mdh stage(NAME) or #pragma mdh( C[i][j] : ++, ++, + )")  # fmt: skip
    scope.operators[number] = (operators[2], scope.places.of(node, "mdh"))
