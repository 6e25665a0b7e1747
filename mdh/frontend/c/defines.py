"""`-D NAME=VALUE`: finds which names are sizes, which are macros, and which do not occur."""

import re
from collections.abc import Mapping

from mdh.diagnostics import Diagnostic, Failed
from mdh.frontend.c.typedefs import integer_names
from mdh.frontend.sizes import short, size_value
from mdh.source import Source, Span
from mdh.wording import meant

_COMMENT = re.compile(r"/\*.*?(?:\*/|\Z)|//[^\n]*", re.S)
_NAME = re.compile(r"[A-Za-z_]\w*")
_DECLARED = re.compile(
    r"\b(?:char|double|float|int|long|short|unsigned|void|\w+_t)\b[\s*]*([A-Za-z_]\w*)(?!\s*[,)])"
)
_KEYWORDS = frozenset({
    "auto", "break", "case", "char", "const", "continue", "default", "do", "double", "else", "enum",
    "extern", "float", "for", "goto", "if", "inline", "int", "long", "register", "restrict",
    "return", "short", "signed", "sizeof", "static", "struct", "switch", "typedef", "union",
    "unsigned", "void", "volatile", "while", "define", "undef", "ifdef", "ifndef", "endif", "elif",
    "include", "pragma", "error", "defined",
})  # fmt: skip


def size_spans(source: Source) -> dict[str, Span]:
    """Names that the file declares as integer parameters somewhere, with their places."""
    types = "|".join(
        ["int", "long", "unsigned", "short", "size_t", r"u?int\d+_t", *integer_names(source.text)]
    )
    found = re.finditer(rf"\b(?:{types})\s+([A-Za-z_]\w*)\s*(?=[,)])", source.text)
    out: dict[str, Span] = {}
    for m in found:
        out.setdefault(m[1], Span(source, m.start(1), m.end(1)))
    return out


def sort_defines(source: Source, defines: Mapping[str, str | int]) -> tuple[dict[str, int], dict[str, str]]:
    """The sizes and the macros among `defines`. Raises Failed C105, C123."""
    parameters = size_spans(source)
    sizes: dict[str, int] = {}
    macros: dict[str, str] = {}
    unknown: list[Diagnostic] = []
    for name, value in defines.items():
        if name in parameters:
            sizes[name] = size_value(name, value, parameters[name])
            continue
        if isinstance(value, int) and abs(value) >= 2**64:
            headline = f"`{name}` is bound to {short(value)}, more than 64 bits hold"
            unknown.append(Diagnostic("C124", headline, witness=(("define", name),)))
            continue
        macros[name] = str(value)
        if not occurs(name, source.text):
            headline = f"`{name}` is defined, but occurs nowhere in `{source.name}`"
            help_ = intended(name, source.text)
            unknown.append(Diagnostic("C123", headline, help=help_, witness=(("define", name),)))
    if unknown:
        raise Failed(*unknown)
    return sizes, macros


def occurs(name: str, text: str) -> bool:
    """Whether `name` occurs outside of comments. If tokens are pasted together, it always may."""
    return "##" in text or name in _NAME.findall(_COMMENT.sub(" ", text))


def first_place(source: Source, name: str) -> int:
    """Where a name stands first."""
    found = re.search(rf"\b{name}\b", source.text)
    return len(source.text) if found is None else found.start()


def intended(name: str, text: str) -> str:
    """A hint at the name of the program that was probably meant."""
    plain = _COMMENT.sub(" ", text)
    macros = re.findall(r"^[ \t]*#[ \t]*(?:define|ifndef)[ \t]+(\w+)", text, re.MULTILINE)
    open_ = list(dict.fromkeys([*size_spans(Source("", text)), *macros]))
    # a define would replace the name in its own declaration
    declared = set(_DECLARED.findall(plain)) - set(open_)
    names = [n for n in dict.fromkeys(_NAME.findall(plain)) if n not in _KEYWORDS | declared]
    same = [n for n in names if n != name and n.lower() == name.lower()]
    hint = meant(name, same[:1] or (n for n in names if n != name), cutoff=0.0 if same else 0.7)
    if hint:
        return hint
    return f"names that can be defined here: {', '.join(open_[:8])}" if open_ else "leave it out"


_CONDITION = re.compile(r"^[ \t]*#[ \t]*(?:el)?if\b(.*)$", re.M)
_DEFINED = re.compile(r"\bdefined\b\s*(?:\(\s*\w+\s*\)|\w+)")
_MACRO = re.compile(r"^[ \t]*#[ \t]*define[ \t]+(\w+)(.*(?:\\\n.*)*)$", re.M)
_WORD = re.compile(r"[A-Za-z_]\w*")


def deciding(source: Source, name: str) -> Span | None:
    """The first condition of the preprocessor on the value of a macro, or of one that is made of it; None for
    parameters."""
    if name in size_spans(source):
        return None
    named, bodies = {name}, [(m[1], set(_WORD.findall(m[2]))) for m in _MACRO.finditer(source.text)]
    while more := {macro for macro, words in bodies if words & named} - named:
        named |= more
    for found in _CONDITION.finditer(source.text):
        if named & set(_WORD.findall(_DEFINED.sub(" ", found[1]))):
            return Span(source, found.start(), found.end())
    return None
