"""`-D NAME=VALUE`: finds which names are sizes, which are macros, and which do not occur."""

import re
from collections.abc import Mapping

from mdh.diagnostics import Diagnostic, Failed, Label
from mdh.frontend.c.typedefs import integer_names
from mdh.ir.dtype import DType, integer_range
from mdh.source import Source, Span
from mdh.wording import meant

_COMMENT = re.compile(r"/\*.*?(?:\*/|\Z)|//[^\n]*", re.S)
_NAME = re.compile(r"[A-Za-z_]\w*")
_DIGITS = re.compile(r"[-+]?[0-9]+")
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
            sizes[name] = _size(name, value, parameters[name])
            continue
        if isinstance(value, int) and abs(value) >= 2**64:
            headline = f"`{name}` is bound to {_short(value)}, more than 64 bits hold"
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
    names = [n for n in dict.fromkeys(_NAME.findall(_COMMENT.sub(" ", text))) if n not in _KEYWORDS]
    same = [n for n in names if n != name and n.lower() == name.lower()]
    hint = meant(name, same[:1] or (n for n in names if n != name), cutoff=0.0 if same else 0.7)
    if hint:
        return hint
    sizes = list(size_spans(Source("", text)))
    macros = re.findall(r"^[ \t]*#[ \t]*(?:define|ifndef)[ \t]+(\w+)", text, re.MULTILINE)
    open_ = list(dict.fromkeys([*sizes, *macros]))
    return f"names that can be defined here: {', '.join(open_[:8])}" if open_ else "leave it out"


def _size(name: str, value: str | int, span: Span) -> int:
    help_ = f"write -D {name}=1024"
    size: int | None
    try:
        size = int(value, 0) if isinstance(value, str) else value
    except ValueError:
        # Python does not parse numbers of any length
        size = 2**128 if _DIGITS.fullmatch(str(value).strip()) else None
    bound = f"the size `{name}` is bound to"
    if size is None:
        raise _refused(name, f"{bound} `{_short(value)}`, which is no integer", span, help_)
    if abs(size) >= 2**128:
        raise _refused(name, f"{bound} {_short(value)}, more than 64 bits hold", span, help_)
    return size


def _short(value: str | int) -> str:
    """A value for a message. Python does not print numbers of any length."""
    text = hex(value) if isinstance(value, int) and abs(value) >= 2**64 else str(value)
    return text if len(text) <= 40 else f"{text[:20]}…"


def out_of_range(name: str, value: int, dtype: DType, span: Span) -> Failed:
    """The error for a size that its C type cannot hold."""
    least, most = integer_range(dtype)
    what = f"the size `{name}` is bound to {value:,}; its type holds {least:,} to {most:,}"
    return _refused(name, what, span, "give another value, or declare it with a wider type")


def _refused(name: str, what: str, span: Span, help_: str) -> Failed:
    return Failed(Diagnostic("C105", what, (Label(span, "a size"),), help=help_, witness=(("define", name),)))
