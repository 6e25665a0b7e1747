"""Parses preprocessed text to one function's AST. Only this module calls pycparser's parser."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from pycparser import c_ast, c_parser

from mdh.diagnostics import Diagnostic, Failed, fail
from mdh.frontend.c.collect import MOST_ERRORS
from mdh.frontend.c.defines import intended
from mdh.frontend.c.enums import write_out_enums
from mdh.frontend.c.initialisers import bind_constants, put_lists_back
from mdh.frontend.c.own_functions import only_serves, write_out_calls
from mdh.frontend.c.places import Places, nodes_in
from mdh.frontend.c.preprocess import PRELUDE, Preprocessed
from mdh.frontend.c.recovery import names_between, offset_of, without_statement
from mdh.frontend.c.redeclared import redeclared
from mdh.frontend.c.typedefs import resolve_typedefs
from mdh.source import Span
from mdh.wording import meant

MOST_PARSED = 3 << 17
"""Characters that are parsed again because statements are no C, all times together: about a second."""
_MESSAGE = re.compile(r"(?P<file>.*?):(?P<line>\d+):(?P<column>\d+): (?P<what>.*)", re.DOTALL)


@dataclass(frozen=True, slots=True)
class ParsedFunction:
    """The function to compile, and the file's constants. wrong: what the text has no right tree for; the
    statements that are no C are missing in this one, and `lost` are the names in them."""

    node: c_ast.FuncDef
    globals: tuple[c_ast.Decl, ...]
    places: Places
    wrong: tuple[Diagnostic, ...] = ()
    lost: frozenset[str] = frozenset()


class _Lexer(c_parser.CLexer):  # type: ignore[misc]
    """A lexer that knows the place of the last token, because some of the parser's errors have none."""

    at = (1, 1)

    def token(self) -> Any:
        found = super().token()
        if found is not None:
            self.at = (found.lineno, found.column)
        return found


def parse_function(pre: Preprocessed, function: str | None) -> ParsedFunction:
    """The AST of the only function, or of the named one. Raises Failed with all that is wrong."""
    found = parse_partly(pre, function)
    if found.wrong:
        raise Failed(*found.wrong)
    return found


def parse_partly(pre: Preprocessed, function: str | None) -> ParsedFunction:
    """The same, without the statements that are no C. Raises Failed where nothing is left to look at."""
    places = Places(pre.source, pre.included)
    parsed = _parsed(pre, places)
    try:
        return _function(pre, function, parsed, places)
    except Failed as failed:
        raise Failed(*parsed.wrong, *failed.diagnostics) from failed


def _function(pre: Preprocessed, function: str | None, parsed: "_Parsed", places: Places) -> ParsedFunction:
    tree = parsed.tree
    wrong = (*parsed.wrong, *_refusals(pre, tree, places))
    found = [n for n in tree.ext if isinstance(n, c_ast.FuncDef)]
    constants = tuple(n for n in tree.ext if isinstance(n, c_ast.Decl) and n.init is not None)
    chosen = _choose(found, function, places)
    if chosen.param_decls:
        raise old_style(places.of(chosen.decl, chosen.decl.name))
    write_out_calls(chosen, {f.decl.name: f for f in found}, places)
    constants += bind_constants(chosen, pre.arrays, pre.sizes, places, cropped=pre.cropped)
    _add_parameters(chosen, pre.parameters)
    return ParsedFunction(chosen, constants, places, wrong, parsed.lost)


def parsed_names(pre: Preprocessed) -> tuple[str, ...]:
    """The names of all functions that the text defines."""
    places = Places(pre.source, pre.included)
    parsed = _parsed(pre, places)
    wrong = (*parsed.wrong, *_refusals(pre, parsed.tree, places))
    if wrong:
        raise Failed(*wrong)
    tree = parsed.tree
    found = [n for n in tree.ext if isinstance(n, c_ast.FuncDef)]
    return tuple(n.decl.name for n in _programs(found))


@dataclass(frozen=True, slots=True)
class _Parsed:
    """The tree of a text without the statements that are no C, what is wrong with these, and their names."""

    tree: c_ast.FileAST
    wrong: tuple[Diagnostic, ...]
    lost: frozenset[str]


def _parsed(pre: Preprocessed, places: Places) -> _Parsed:
    """Raises Failed where the text around an error cannot be left out."""
    text, after, left = pre.text, 0, MOST_PARSED
    wrong: list[Diagnostic] = []
    while True:
        parser = c_parser.CParser(lexer=_Lexer)
        try:
            tree = parser.parse(text, pre.source.name)
            return _Parsed(tree, tuple(wrong), names_between(pre.text, text))
        except c_parser.ParseError as e:
            message = _with_place(str(e), parser)
            wrong += _syntax(message, places, pre.macros).diagnostics
        except (AssertionError, AttributeError, IndexError, TypeError, ValueError):
            # pycparser answers some malformed input with internal errors
            line, column = parser.clex.at
            message = f"{parser.clex.filename}:{line}:{column}: not C"
            at = places.at(line, column, file=parser.clex.filename)
            wrong += fail("C101", "this is not C that can be parsed", at).diagnostics
        left -= len(text)
        if left <= 0 or len(wrong) >= MOST_ERRORS:
            raise Failed(*wrong)
        found = _without(text, message, after, places)
        if found is None:
            # behind a statement that was left out, what is wrong outside of functions follows from that
            raise Failed(*wrong[: max(1, len(wrong) - 1)])
        text, after = found


def _with_place(message: str, parser: c_parser.CParser) -> str:
    """The message of the parser, with the place of the last token where it has none."""
    if _MESSAGE.match(message) or "At end of input" in message:
        return message
    line, column = parser.clex.at
    what = message.rpartition(": ")[2]
    return f"{parser.clex.filename}:{line}:{column}: {what}"


def _without(text: str, message: str, after: int, places: Places) -> tuple[str, int] | None:
    """The text without the statement that the message is about, and the end of that; None if there is none
    behind `after`, or if it is in an included file."""
    m = _MESSAGE.match(message)
    if m is None or m["file"] in places.included:
        return None
    at = offset_of(text, m["file"], int(m["line"]), int(m["column"]), after)
    return None if at is None else without_statement(text, at)


def _refusals(pre: Preprocessed, tree: c_ast.FileAST, places: Places) -> list[Diagnostic]:
    """Brings the tree into the form that the walk reads, and returns what it refuses. Raises Failed for a
    text without a function."""
    out: list[Diagnostic] = []
    read_pragma_operators(tree)
    resolve_typedefs(tree.ext[PRELUDE.count("typedef ") :])
    for n in tree.ext:
        if isinstance(n, c_ast.Pragma) and (n.string or "").split("(")[0].split()[:1] == ["mdh"]:
            out += fail("C119", "this mdh pragma stands outside of the function", places.of(n, "mdh"),
                        help="put it in the function, before the loops it speaks of").diagnostics  # fmt: skip
    write_out_enums(tree, places)
    out += redeclared(tree, places)
    put_lists_back(tree, pre.lists, cropped=pre.cropped)
    if not any(isinstance(n, c_ast.FuncDef) for n in tree.ext):
        raise fail("C106", f"`{pre.source.name}` defines no function", Span(pre.source, 0, 1),
                   help="write the computation as one C function: void f(...) { for ... }")  # fmt: skip
    return out


def _add_parameters(function: c_ast.FuncDef, names: tuple[str, ...]) -> None:
    """Puts integer parameters in front of the function's own."""
    if not names:
        return
    words = ", ".join(f"int {name}" for name in names)
    (declared,) = c_parser.CParser().parse(f"void f({words});").ext
    for node in nodes_in(declared):
        node.coord = function.decl.coord
    own = function.decl.type.args
    params = [] if own is None else [p for p in own.params if getattr(p, "name", None)]
    function.decl.type.args = c_ast.ParamList([*declared.type.args.params, *params], function.decl.coord)


def _choose(found: list[c_ast.FuncDef], function: str | None, places: Places) -> c_ast.FuncDef:
    names = [f.decl.name for f in found]
    if function is not None:
        if function not in names:
            hint = meant(function, names, cutoff=0.6, otherwise=f"defined: {_listed(names)}")
            where = places.of(found[0].decl, names[0])
            raise fail("C107", f"no function `{function}` is defined here", where, help=hint)
        return found[names.index(function)]
    found = _programs(found)
    names = [f.decl.name for f in found]
    if len(found) > 1:
        raise fail("C107", f"{len(found)} functions are defined: {_listed(names)}",
                   places.of(found[1].decl, names[1]), help="choose one with --function NAME")  # fmt: skip
    return found[0]


def _programs(found: list[c_ast.FuncDef]) -> list[c_ast.FuncDef]:
    """The functions that can be meant: those that return nothing; else those that others may call."""
    visible = [f for f in found if "static" not in f.decl.storage]
    return [f for f in found if not only_serves(f)] or visible or found


def _listed(names: list[str]) -> str:
    return ", ".join(names[:12]) + (", …" if len(names) > 12 else "")


def old_style(span: Span) -> Failed:
    """The error for `f(X) float X[10]; { … }`, a definition in the style of C before 1989."""
    return fail("C109", "the parameters are declared outside of the parentheses", span,
                help="write their types inside: void f(float X[10])")  # fmt: skip


def _declared(name: str, line: str) -> bool:
    """Whether the line declares or assigns a variable of that name."""
    types = "int|long|short|unsigned|size_t|float|double|char"
    return re.search(rf"\b(?:{types})\b[\s*]+{name}\b|(?<![\w.]){name}\s*=(?!=)", line) is not None


def _on_line(span: Span, pattern: str) -> Span:
    """The first place of a pattern on the line of `span`, else `span`."""
    found = re.search(pattern, span.source.line(span.line))
    start = span.source.line_starts[span.line - 1]
    return span if found is None else Span(span.source, start + found.start(), start + found.end())


def _foreign(character: str, span: Span) -> Failed:
    """The error for a character that C does not use, shown with the name around it."""
    first = re.escape(character)
    at = _on_line(span, rf"\w*{first}\w*" if character.isalnum() else first)
    headline = f"C syntax error: illegal character '{character}'"
    help_ = "names are made of the letters a to z, digits and _"
    return fail("C101", headline, at, label="this cannot stand here", help=help_)


def _syntax(message: str, places: Places, macros: Mapping[str, str]) -> Failed:
    m = _MESSAGE.match(message)
    if m is None:
        end = len(places.source.text.rstrip())
        return fail("C101", "the file ends inside a function or expression",
                    Span(places.source, max(0, end - 1), max(1, end)),
                    help="a closing brace or semicolon is missing")  # fmt: skip
    if m["file"] in places.included:
        at = places.at(1, 1, file=m["file"])
        return fail("C101", "what is included here is not C that can be parsed", at,
                    help="put what the function needs of it into the C file")  # fmt: skip
    kind, before, token = m["what"].partition("before:")
    span = places.at(int(m["line"]), int(m["column"]), file=m["file"])
    name = next((n for n in macros if _declared(n, places.source.line(span.line))), None)
    if name is not None:
        return fail("C101", f"`{name}` is a name in this program, and `-D {name}={macros[name]}` replaces it",
                   _on_line(span, rf"\b{name}\b"), help=intended(name, places.source.text))  # fmt: skip
    illegal = re.match(r"Illegal character '(.)'", kind)
    if illegal is not None:
        return _foreign(illegal[1], span)
    if not before and kind.startswith("Invalid function definition"):
        return old_style(span)
    headline = f"C syntax error at `{token.strip()[:40] or span.text}`"
    return fail(
        "C101",
        headline if before else f"C syntax error: {kind.strip()[:1].lower()}{kind.strip()[1:60]}",
        span,
        label="this cannot stand here",
        help="check for a missing semicolon, bracket or brace just before",
    )


def read_pragma_operators(tree: c_ast.FileAST) -> None:
    """Gives every pragma its words as text; for the operator the parser leaves a string constant."""
    for node in nodes_in(tree):
        if isinstance(node, c_ast.Pragma) and isinstance(node.string, c_ast.Constant):
            literal = node.string.value
            body = literal[literal.find('"') + 1 : -1]
            node.string = body.replace('\\"', '"').replace("\\\\", "\\")
