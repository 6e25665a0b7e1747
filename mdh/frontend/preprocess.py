"""C text to preprocessed C text, with no preprocessor of the system: the only importer of pcpp."""

import io
import re
from collections.abc import Iterator, Mapping
from copy import copy
from dataclasses import dataclass
from typing import Any

import pcpp

from mdh.diagnostics import Diagnostic, Failed, Label, fail
from mdh.frontend.defines import sort_defines
from mdh.frontend.header_constants import CONSTANTS, header_of
from mdh.frontend.limits import check_statements
from mdh.frontend.specifiers import check_attributes
from mdh.source import Source, Span

MOST_CHARACTERS = 1 << 20
MOST_NESTING = 200
"""Brackets inside brackets: far beyond what people write, and what a recursive parser can take."""

MOST_TOKENS = 20_000
"""That one expansion may add: macros that double each other would never end."""

_SPLICED = re.compile(r"//[^\n]*\\[ \t\r]*(?=\n)")
_WHOLE = re.compile(r"(-?(?:0[xX][0-9a-fA-F]{1,8}|0|[1-9][0-9]{0,9}))[uUlL]{0,3}")

PRELUDE = (
    "typedef signed char int8_t; typedef short int16_t; typedef int int32_t; typedef long int64_t; "
    "typedef unsigned char uint8_t; typedef unsigned short uint16_t; typedef unsigned uint32_t; "
    "typedef unsigned long uint64_t; typedef unsigned long size_t; typedef long ptrdiff_t; typedef int bool; "
    "typedef float _Float16; typedef float __bf16;"
)
HEADERS = frozenset(
    {
        "math.h",
        "stdint.h",
        "stddef.h",
        "stdbool.h",
        "float.h",
        "limits.h",
        "stdlib.h",
        "inttypes.h",
    }
)


JOINED = frozenset(("++", "--", "&&", "||", "<<", ">>", "->", "/*", "//", "==", "<=", ">=", "!=", "+=", "-="))
"""Operators of two characters that two adjacent tokens would form."""


@dataclass(frozen=True, slots=True)
class Preprocessed:
    """`text`: C with #line marks that lead back to `source`; `sizes`: parameters bound by defines, `macros`:
    the other defines; `constants`: macros of the file and of the defines that are whole numbers."""

    source: Source
    text: str
    sizes: dict[str, int]
    macros: dict[str, str]
    constants: dict[str, int]


class _Preprocessor(pcpp.Preprocessor):  # type: ignore[misc]
    """Reports problems as diagnostics; definitions from outside win over the file's own."""

    def __init__(self, source: Source, fixed: frozenset[str]) -> None:
        super().__init__()
        self.file = source
        self.fixed = fixed
        self.found: list[Diagnostic] = []
        self.line_directive = "#line"
        self.last = _first_directive(source)
        self.included: set[str] = set()

    def on_error(self, file: str, line: int, msg: str) -> None:
        self.found.append(
            Diagnostic("C103", f"the preprocessor stops here: {msg.strip()}", (_line(self.file, line),))
        )

    def on_include_not_found(self, is_malformed: bool, is_system: bool, curdir: str, include: str) -> None:
        if include not in HEADERS:
            line = self.source_line(include)
            help_ = f"supported headers: {', '.join(sorted(HEADERS))}"
            self.found.append(Diagnostic("C104", f"`{include}` cannot be included", (line,), help=help_))
        self.included.add(include)
        raise pcpp.OutputDirective(pcpp.Action.IgnoreAndRemove)

    def source_line(self, word: str) -> Label:
        at = self.file.text.find(word)
        return Label(Span(self.file, max(at, 0), max(at, 0) + len(word)))

    def on_unknown_macro_in_defined_expr(self, tok: Any) -> bool:
        return tok.value in CONSTANTS and not header_of(tok.value).isdisjoint(self.included)

    def on_unknown_macro_in_expr(self, ident: str) -> int:
        known = ident in CONSTANTS and not header_of(ident).isdisjoint(self.included)
        return int(CONSTANTS[ident][0]) if known and not CONSTANTS[ident][1].is_float else 0

    def expand_macros(self, tokens: Any, expanding_from: Any = ()) -> Any:
        if tokens and not expanding_from:
            used = next((t for t in tokens if t.value in self.macros), tokens[0])
            self.last = getattr(used, "lineno", self.last) or self.last
        before = len(tokens)
        out = super().expand_macros(tokens, list(expanding_from))
        if len(out) - before > MOST_TOKENS:
            what = f"macros expand to more than {MOST_TOKENS:,} tokens here"
            raise Failed(Diagnostic("C103", what, (_line(self.file, self.last),)))
        return out if expanding_from else list(_apart(out))

    def on_directive_handle(self, directive: Any, toks: Any, ifpassthru: bool, precedingtoks: Any) -> Any:
        self.last = getattr(directive, "lineno", self.last) or self.last
        if directive.value == "error":
            words = "".join(t.value for t in toks).strip()
            self.found.append(Diagnostic("C103", f"#error: {words}", (_line(self.file, self.last),)))
            raise pcpp.OutputDirective(pcpp.Action.IgnoreAndRemove)
        if directive.value == "define" and toks and toks[0].value in self.fixed:
            raise pcpp.OutputDirective(pcpp.Action.IgnoreAndRemove)
        if directive.value == "line" and "__LINE__" in self.file.text:
            what = "`#line` beside `__LINE__` is not supported"
            self.found.append(Diagnostic("C103", what, (_line(self.file, self.last),)))
        if directive.value in ("if", "elif"):
            self._check_arithmetic(toks)
        return super().on_directive_handle(directive, toks, ifpassthru, precedingtoks)

    def _check_arithmetic(self, toks: Any) -> None:
        """Notes C103 where pcpp's arithmetic may differ from C's: negative quotients, character constants."""
        tokens = self.expand_macros([copy(t) for t in toks])
        values = {t.value for t in tokens}
        if (values & {"/", "%"} and values & {"-", "~"}) or any(t.value.startswith("'\\") for t in tokens):
            what = "this `#if` divides beside a `-` or `~`, or holds an escaped character: not supported"
            help_ = "compute the number by hand"
            self.found.append(Diagnostic("C103", what, (_line(self.file, self.last),), help=help_))


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


def preprocess(source: Source, defines: Mapping[str, str | int]) -> Preprocessed:
    """Expand macros; defines that name integer parameters are sizes, kept from the preprocessor."""
    check_text(source)
    check_attributes(source)
    sizes, macros = sort_defines(source, defines)
    p = _Preprocessor(source, frozenset(macros))
    for name, text in macros.items():
        p.define(f"{name} {text}")
    p.define("__STDC__ 1")
    p.define("__STDC_VERSION__ 201710L")
    p.define("__restrict__ restrict")
    p.define("__restrict restrict")
    p.define("__inline inline")
    p.define("__inline__ inline")
    p.define("__const const")
    p.define("__volatile__ volatile")
    p.define("__extension__ ")
    p.define("__attribute__(x) ")
    out = io.StringIO()
    try:
        p.parse(source.text, source.name)
        p.write(out)
    except (IndexError, AttributeError, TypeError, ValueError):
        # pcpp answers some malformed directives and macros with errors of its own internals
        p.found.append(Diagnostic("C103", "the preprocessor cannot read this", (_line(source, p.last),)))
    if p.found:
        raise Failed(*p.found)
    text = out.getvalue()
    if '"' in source.name or "\n" in source.name:
        # the name of a `#line` holds neither
        text = text.replace(f'"{source.name}"', '"input.c"')
    return Preprocessed(source, f"{PRELUDE}\n{text}", sizes, macros, _constants(p))


def _constants(p: _Preprocessor) -> dict[str, int]:
    """Macros without parameters that stand for one whole number: what a condition of a schedule may name."""
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


def check_text(source: Source) -> None:
    """Refuse at once what is no C source of a sane size."""
    if len(source.text) > MOST_CHARACTERS:
        size = f"{len(source.text):,} characters, more than {MOST_CHARACTERS:,}"
        raise fail("C102", f"`{source.name}` holds {size}", Span(source, 0, 1),
                   help="give mdh the one function to compile, not a generated library")  # fmt: skip
    if "\0" in source.text:
        raise fail(
            "C102", f"`{source.name}` is a binary file", Span(source, 0, 1), help="give mdh a C source file"
        )
    spliced = _SPLICED.search(source.text)
    if spliced is not None:
        raise fail("C103", "this comment goes on in the next line",
                   Span(source, *spliced.span()), help="remove the backslash at its end")  # fmt: skip
    depth = 0
    for at, c in enumerate(source.text):
        if c in "([{":
            depth += 1
            if depth > MOST_NESTING:
                blocks = source.text[: at + 1].count("{") > MOST_NESTING // 2
                help_ = "remove blocks inside blocks" if blocks else "split the expression"
                raise fail("C102", f"brackets nest deeper than {MOST_NESTING}", Span(source, at, at + 1),
                           help=help_)  # fmt: skip
        elif c in ")]}":
            depth = max(0, depth - 1)
    check_statements(source)


def _first_directive(source: Source) -> int:
    """The line of the first `#`, where the preprocessor begins to have work."""
    at = source.text.find("#")
    return source.position(max(at, 0))[0]


def _line(source: Source, line: int) -> Label:
    line = min(max(line, 1), len(source.line_starts))
    start = source.line_starts[line - 1]
    return Label(Span(source, start, start + max(1, len(source.line(line)))))
