"""Compares `#pragma mdh( C[i][j] : ++, ++, + )` with the dependences."""

import re

from mdh.diagnostics import fail
from mdh.frontend.pieces import Piece
from mdh.frontend.statements import OperatorPragma
from mdh.ir.program import DimKind
from mdh.wording import plural

_PREFIX = re.compile(r"(?:ps|\+\+prefix-sum)\s*\(\s*(\S+?)\s*\)")
_POINTWISE = re.compile(r"pw\s*\(\s*(\S+?)\s*\)")
OPERATORS = frozenset({"+", "*", "min", "max", "&", "|", "^", "&&", "||"})


def check_operators(pragma: OperatorPragma, number: int, pieces: list[Piece]) -> None:
    """Raises if the pragma before statement `number` differs from what the nest after it computes."""
    words = [w.strip() for w in pragma.operators.split(",")]
    name = re.split(r"\W", pragma.target, maxsplit=1)[0]
    fitting = [p for p in pieces if max(p.numbers) >= number and name in p.writes()]
    if not fitting:
        raise fail("C122", f"the pragma speaks of `{name}`, which no statement after it writes", pragma.span)
    piece = next((p for p in fitting if len(p.kinds) == len(words)), fitting[0])
    loops = ", ".join(f"`{v.cname}`" for v in piece.loops)
    if len(words) != len(piece.kinds):
        count = plural(len(words), "operator")
        raise fail("C122", f"the pragma gives {count} for the loops {loops}",
                   pragma.span, help=f"the dependences say: {_spelled(piece)}")  # fmt: skip
    for word, loop, found in zip(words, piece.loops, _operators(piece), strict=True):
        if _meant(word, pragma) != found:
            raise fail("C122", f"the pragma combines `{loop.cname}` by `{word}`, the statement by `{found}`",
                       pragma.span, help=f"the dependences say: {_spelled(piece)}")  # fmt: skip


def _meant(word: str, pragma: OperatorPragma) -> str:
    """The canonical spelling of one operator."""
    if word in ("++", "cc"):
        return "++"
    prefix, pointwise = _PREFIX.fullmatch(word), _POINTWISE.fullmatch(word)
    inner = prefix[1] if prefix else pointwise[1] if pointwise else word
    if inner not in OPERATORS:
        raise fail("C119", f"`{word}` is no combine operator", pragma.span,
                   help="++ keeps a dimension; + * min max & | ^ && || reduce it; ps(+) sums up")  # fmt: skip
    return f"ps({inner})" if prefix else inner


def _operators(p: Piece) -> list[str]:
    op = "" if p.op is None else p.op.name.removeprefix("arg")
    spelled = {DimKind.CC: "++", DimKind.PW: op, DimKind.PS: f"ps({op})"}
    return [spelled[k] for k in p.kinds]


def _spelled(p: Piece) -> str:
    return ", ".join(_operators(p)) or "no loops"
