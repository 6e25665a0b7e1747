"""Preprocesses C text without the system's preprocessor. Only this module imports pcpp."""

import io
import os
import re
from collections.abc import Iterable, Iterator, Mapping
from copy import copy
from dataclasses import dataclass
from functools import partial
from typing import Any

import pcpp

from mdh.diagnostics import Diagnostic, Failed, Label
from mdh.frontend.bound import BoundText
from mdh.frontend.c.defines import first_place, sort_defines
from mdh.frontend.c.eighths import HIDDEN, TYPEDEFS
from mdh.frontend.c.header_constants import CONSTANTS, header_of
from mdh.frontend.c.includes import Includes
from mdh.frontend.c.initialisers import without_lists
from mdh.frontend.c.source_limits import MOST_TOKENS, check_expanded, checked_text
from mdh.frontend.c.specifiers import check_attributes
from mdh.frontend.constant_arrays import split_constants
from mdh.include import HEADER
from mdh.source import Source, Span

MOST_EXPANSIONS = 20_000
"""The most macros that one text may expand, nested ones included, because `#define B A A` doubles the work of
`A` even without a result. A text of 400 statements with ten macros each uses a fifth."""
MOST_EXPANDED = 3 * MOST_TOKENS
"""The most tokens of all expansions together, nested ones included."""
MOST_PASTED = 1 << 18
"""The most characters of all these tokens, because `x##x` doubles a name."""

_WHOLE = re.compile(r"(-?(?:0[xX][0-9a-fA-F]{1,8}|0|[1-9][0-9]{0,9}))[uUlL]{0,3}")

PRELUDE = (
    "typedef signed char int8_t; typedef short int16_t; typedef int int32_t; typedef long int64_t; "
    "typedef unsigned char uint8_t; typedef unsigned short uint16_t; typedef unsigned uint32_t; "
    "typedef unsigned long uint64_t; typedef unsigned long size_t; typedef long ptrdiff_t; typedef int bool; "
    "typedef float _Float16; typedef float __bf16;" + "".join(f" typedef float {name};" for name in HIDDEN)
)
HEADERS = frozenset(
    ("float.h", "inttypes.h", "limits.h", "math.h", "stdbool.h", "stddef.h", "stdint.h", "stdlib.h", HEADER)
)
MAIN = "the C text"
"""Its name in #line marks."""
_BUILT_IN = (
    ("__STDC__", "1"),
    ("__STDC_VERSION__", "201710L"),
    ("__restrict__", "restrict"),
    ("__restrict", "restrict"),
    ("__inline", "inline"),
    ("__inline__", "inline"),
    ("__const", "const"),
    ("__volatile__", "volatile"),
    ("__extension__", ""),
    ("__attribute__(x)", ""),
)
_TIGHTER = frozenset("*/%+-")

JOINED = frozenset(("++", "--", "&&", "||", "<<", ">>", "->", "/*", "//", "==", "<=", ">=", "!=", "+=", "-="))
"""Operators of two characters that two adjacent tokens would form."""


@dataclass(frozen=True, slots=True)
class Preprocessed(BoundText):
    """text: C with #line marks that lead back to `source`. macros: the defines that are no sizes. constants:
    integer macros of the file and of the defines. included: the name of a file in #line marks -> the line of
    `source` that includes it. parameters: macros that stay open, which become integer parameters in front of
    the function's own. lists: long lists of numbers that were taken out of the text."""

    macros: dict[str, str]
    constants: dict[str, int]
    included: dict[str, int]
    parameters: tuple[str, ...] = ()
    lists: tuple[str, ...] = ()


class _Preprocessor(pcpp.Preprocessor):  # type: ignore[misc]
    """Reports problems as diagnostics. Definitions from outside override the file's own."""

    def __init__(self, source: Source, fixed: frozenset[str]) -> None:
        super().__init__()
        self.file = source
        self.fixed = fixed
        self.found: list[Diagnostic] = []
        self.line_directive = "#line"
        # pcpp names files by their paths, which may hold characters that no #line mark can
        self.rewrite_paths = [(rf"\A{re.escape(os.path.abspath(source.name))}\Z", MAIN)]
        self.last = self.directive = _first_directive(source)
        self.included: set[str] = set()
        self.includes = Includes(source.name)
        self.expansions = self.tokens = self.characters = 0

    def note_place(self, token: Any) -> None:
        """Places later problems at the line of `token`, or at the line that includes its file."""
        if getattr(token, "source", MAIN) in (MAIN, ""):
            self.last = getattr(token, "lineno", self.last) or self.last

    def problem(self, what: str, line: int = 0, help: str = "") -> None:
        """Notes C103 at a line; 0: the last one that was read."""
        self.found.append(Diagnostic("C103", what, (_line(self.file, line or self.last),), help=help))

    def on_error(self, file: str, line: int, msg: str) -> None:
        name = "" if file in (MAIN, "unknown", "") else "in an included file: "
        at = self.last if name or not line else line
        if msg.startswith("Could not evaluate"):
            msg = "the condition cannot be computed"
        self.problem(f"the preprocessor stops here: {name}{msg.strip()}", at)

    def on_file_open(self, is_system_include: bool, includepath: str) -> io.StringIO:
        """The file to include. Raises FileNotFoundError if it is no file beside the C file; it may then be a
        known header."""
        text = None
        if not is_system_include and os.path.basename(includepath) != HEADER:
            # the text before the directive has been expanded since it was met
            self.last = self.directive
            place = self.include_place(os.path.basename(includepath))
            text = self.includes.text_of(includepath, place, self.include_depth)
        if text is None:
            raise FileNotFoundError(includepath)
        self.includes.note(includepath, self.last)
        self.rewrite_paths.append((rf"\A{re.escape(includepath)}\Z", self.includes.names[includepath]))
        return io.StringIO(text)

    def on_include_not_found(self, is_malformed: bool, is_system: bool, curdir: str, include: str) -> None:
        if include not in HEADERS:
            place = self.include_place(include)
            help_ = f"supported headers: {', '.join(sorted(HEADERS))}"
            self.found.append(Diagnostic("C104", f"`{include}` cannot be included", (place,), help=help_))
        self.included.add(include)
        raise pcpp.OutputDirective(pcpp.Action.IgnoreAndRemove)

    def include_place(self, word: str) -> Label:
        """The place of `word` on the line that is read, else that line."""
        label = _line(self.file, self.directive)
        at = self.file.text.find(word, label.span.start, label.span.end) if word else -1
        return label if at < 0 else Label(Span(self.file, at, at + len(word)))

    def defined(self, name: str) -> bool:
        """Whether a header that is included defines the constant."""
        return name in CONSTANTS and not header_of(name).isdisjoint(self.included)

    def on_unknown_macro_in_defined_expr(self, tok: Any) -> bool:
        return self.defined(tok.value)

    def on_unknown_macro_in_expr(self, ident: str) -> int:
        return int(CONSTANTS[ident][0]) if self.defined(ident) and not CONSTANTS[ident][1].is_float else 0

    def expand_macros(self, tokens: Any, expanding_from: Any = ()) -> Any:
        if tokens and not expanding_from:
            self.note_place(next((t for t in tokens if t.value in self.macros), tokens[0]))
        before = len(tokens)
        out = super().expand_macros(tokens, list(expanding_from))
        if len(out) - before > MOST_TOKENS:
            raise self.exploded(f"macros expand to more than {MOST_TOKENS:,} tokens here")
        if not expanding_from:
            return list(_apart(out))
        self.expansions += 1
        self.tokens += len(out)
        self.characters += sum(len(t.value) for t in out)
        if self.expansions > MOST_EXPANSIONS:
            raise self.exploded(f"more than {MOST_EXPANSIONS:,} macros are expanded up to here")
        if self.tokens > MOST_EXPANDED:
            raise self.exploded(f"macros expand to more than {MOST_EXPANDED:,} tokens up to here")
        if self.characters > MOST_PASTED:
            raise self.exploded(f"macros expand to more than {MOST_PASTED:,} characters up to here")
        return out

    def exploded(self, what: str) -> Failed:
        return Failed(Diagnostic("C103", what, (_line(self.file, self.last),)))

    def on_directive_handle(self, directive: Any, toks: Any, ifpassthru: bool, precedingtoks: Any) -> Any:
        self.note_place(directive)
        if getattr(directive, "source", MAIN) == MAIN:
            self.directive = self.last
        if directive.value == "error":
            words = "".join(t.value for t in toks).strip()
            self.problem(f"#error: {words}")
            raise pcpp.OutputDirective(pcpp.Action.IgnoreAndRemove)
        if directive.value == "include" and not toks:
            self.problem("`#include` names no file")
        if directive.value == "define" and toks and toks[0].value in self.fixed:
            raise pcpp.OutputDirective(pcpp.Action.IgnoreAndRemove)
        if directive.value == "line" and "__LINE__" in self.file.text:
            self.problem("`#line` beside `__LINE__` is not supported")
        if directive.value in ("if", "elif"):
            self._check_arithmetic(toks)
        return super().on_directive_handle(directive, toks, ifpassthru, precedingtoks)

    def _check_arithmetic(self, toks: Any) -> None:
        """Notes C103 where pcpp's arithmetic may differ from C's: negative quotients, character constants,
        and shifts by an illegal count."""
        tokens = [t.value for t in self.expand_macros([copy(t) for t in toks]) if t.value.strip()]
        values = set(tokens)
        what = ""
        if (values & {"/", "%"} and values & {"-", "~"}) or any(t.startswith("'\\") for t in tokens):
            what = "this `#if` divides beside a `-` or `~`, or holds an escaped character: not supported"
        if any(t in ("<<", ">>") and not _small_count(tokens[n + 1 :]) for n, t in enumerate(tokens)):
            what = "this `#if` shifts by what is no number from 0 to 63: not supported"
        if what:
            self.problem(what, help="compute the number by hand")
            # the condition is not computed, because it may be a number of a thousand million digits
            toks[0].type, toks[0].value = self.t_INTEGER, "0"
            del toks[1:]


def _small_count(tokens: list[str]) -> bool:
    """Whether the operand that begins here is one number from 0 to 63, perhaps in parentheses."""
    opened = next((n for n, t in enumerate(tokens) if t != "("), len(tokens))
    number, *behind = (*tokens[opened : 2 * opened + 2], "")
    found = _WHOLE.fullmatch(number)
    closed = behind[:opened] == [")"] * opened
    return found is not None and closed and behind[opened] not in _TIGHTER and int(found[1], 0) < 64


def _apart(tokens: list[Any]) -> Iterator[Any]:
    """Puts a blank between tokens that a macro brought together: `-NEG` with `#define NEG -1` is `- -1`."""
    before = None
    for token in tokens:
        if before is not None and before.value[-1:] + token.value[:1] in JOINED:
            blank = copy(token)
            blank.type, blank.value = "CPP_WS", " "
            yield blank
        yield token
        before = token


def preprocess(source: Source, defines: Mapping[str, str | int], opens: Iterable[str] = ()) -> Preprocessed:
    """The text with macros expanded. Defines that name integer parameters are sizes, and are kept from the
    preprocessor. opens: sizes that stay open, of which the defines have a value; macros among them keep their
    names in the text."""
    short, lists = without_lists(source.text)
    whole, source = source, Source(source.name, short) if lists else source
    text = checked_text(source)
    check_attributes(source)
    arrays, others = split_constants(defines)
    sizes, macros = sort_defines(source, others)
    added = tuple(sorted((name for name in opens if name in macros), key=partial(first_place, source)))
    sizes |= {name: int(macros.pop(name)) for name in added}
    p = _Preprocessor(source, frozenset((*macros, *added)))
    for name, body in (*macros.items(), *((name, name) for name in added), *_BUILT_IN):
        p.define(f"{name} {body}")
    out = io.StringIO()
    try:
        p.parse(text, source.name)
        p.write(out)
    except (ArithmeticError, AssertionError, AttributeError, LookupError, NameError, TypeError, ValueError):
        # pcpp answers some malformed directives and macros with internal errors
        p.problem("the preprocessor cannot read this")
    if p.found:
        raise Failed(*p.found)
    check_expanded(source, out.getvalue())
    declared = TYPEDEFS if HEADER in p.included else ""
    found = f"{PRELUDE}{declared}\n{out.getvalue()}"
    return Preprocessed(
        whole, found, sizes, macros, _constants(p), p.includes.lines, added, lists, arrays=arrays
    )


def _constants(p: _Preprocessor) -> dict[str, int]:
    """Macros without parameters that stand for one integer, which conditions of a schedule may name."""
    texts = {
        name: "".join(t.value for t in macro.value).strip("() \t")
        for name, macro in p.macros.items()
        if macro.arglist is None and not name.startswith("__")
    }
    out: dict[str, int] = {}
    for name, first in texts.items():
        text, seen = first, {name}
        while text in texts and text not in seen:
            seen.add(text)
            text = texts[text]
        found = _WHOLE.fullmatch(text)
        if found is not None:
            out[name] = int(found.group(1), 0)
    return out


def _first_directive(source: Source) -> int:
    """The line of the first `#`, where preprocessing begins."""
    at = source.text.find("#")
    return source.position(max(at, 0))[0]


def _line(source: Source, line: int) -> Label:
    line = min(max(line, 1), len(source.line_starts))
    start = source.line_starts[line - 1]
    return Label(Span(source, start, start + max(1, len(source.line(line)))))
