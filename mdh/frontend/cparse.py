"""Preprocessed text to one function's AST: the only caller of pycparser's parser."""

import re
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any

from pycparser import c_ast, c_parser

from mdh.diagnostics import fail
from mdh.frontend.places import Places
from mdh.frontend.preprocess import Preprocessed
from mdh.source import Span


@dataclass(frozen=True, slots=True)
class ParsedFunction:
    """The function to compile, and the file's constant integer globals."""

    node: c_ast.FuncDef
    globals: tuple[c_ast.Decl, ...]
    places: Places


class _Lexer(c_parser.CLexer):  # type: ignore[misc]
    """Knows the place of the last token, where the parser's own errors give none."""

    at = (1, 1)

    def token(self) -> Any:
        found = super().token()
        if found is not None:
            self.at = (found.lineno, found.column)
        return found


def parse_function(pre: Preprocessed, function: str | None) -> ParsedFunction:
    """The AST of the only function, or of the one named."""
    places = Places(pre.source)
    parser = c_parser.CParser(lexer=_Lexer)
    try:
        tree = parser.parse(pre.text, pre.source.name)
    except c_parser.ParseError as e:
        raise _syntax(str(e), places) from None
    except (AssertionError, AttributeError, IndexError, TypeError, ValueError):
        # pycparser answers some malformed input with errors of its own internals
        raise fail("C101", "this is not C that can be parsed", places.at(*parser.clex.at)) from None
    for n in tree.ext:
        if isinstance(n, c_ast.Pragma) and (n.string or "").split("(")[0].split()[:1] == ["mdh"]:
            raise fail("C119", "this mdh pragma stands outside of the function", places.of(n, "mdh"),
                       help="put it in the function, before the loops it speaks of")  # fmt: skip
    found = [n for n in tree.ext if isinstance(n, c_ast.FuncDef)]
    constants = tuple(n for n in tree.ext if isinstance(n, c_ast.Decl) and n.init is not None)
    if not found:
        raise fail("C106", f"`{pre.source.name}` defines no function", Span(pre.source, 0, 1),
                   help="write the computation as one C function: void f(...) { for ... }")  # fmt: skip
    return ParsedFunction(_choose(found, function, places), constants, places)


def _choose(found: list[c_ast.FuncDef], function: str | None, places: Places) -> c_ast.FuncDef:
    names = [f.decl.name for f in found]
    if function is not None:
        if function not in names:
            near = get_close_matches(function, names, 1)
            raise fail(
                "C107",
                f"no function `{function}` is defined here",
                places.of(found[0].decl, names[0]),
                help=f"did you mean `{near[0]}`?" if near else f"defined: {', '.join(names)}",
            )
        return found[names.index(function)]
    if len(found) > 1:
        raise fail("C107", f"{len(found)} functions are defined: {', '.join(names)}",
                   places.of(found[1].decl, names[1]), help="choose one with --function NAME")  # fmt: skip
    return found[0]


def _syntax(message: str, places: Places) -> Exception:
    m = re.match(r"(?P<file>.*?):(?P<line>\d+):(?P<column>\d+): (?P<what>.*)", message, re.S)
    if m is None:
        end = len(places.source.text.rstrip())
        return fail("C101", "the file ends inside a function or expression",
                    Span(places.source, max(0, end - 1), max(1, end)),
                    help="a closing brace or semicolon is missing")  # fmt: skip
    what = m["what"].replace("before: ", "")
    span = places.at(int(m["line"]), int(m["column"]))
    return fail(
        "C101",
        f"C syntax error at `{what.strip()[:40] or span.text}`",
        span,
        label="this cannot stand here",
        help="check for a missing semicolon, bracket or brace just before",
    )
