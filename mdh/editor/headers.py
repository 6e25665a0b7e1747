"""The header lines of a schedule, read so that errors elsewhere do not matter: `target`, `program`, `for` and
`small`. They say which program and machine a half-written schedule is for."""

import re
from dataclasses import dataclass

from mdh.schedule.names import KEYWORDS
from mdh.schedule.tokens import Token, known_tokens
from mdh.source import Source

_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.\-]*")
_WORDS = ("target", "program", "for", "small")


@dataclass(frozen=True, slots=True)
class SizeLine:
    """A `for` or `small` line."""

    word: str
    program: str | None
    sizes: tuple[tuple[str, int], ...]
    machines: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Headers:
    """What is said more than once counts where it is said first. sizes: of lines that have a size."""

    target: str | None = None
    program: str | None = None
    sizes: tuple[SizeLine, ...] = ()

    @property
    def programs(self) -> tuple[str, ...]:
        """The programs that the lines name, that of `program` first."""
        names = [self.program, *(x.program for x in self.sizes)]
        return tuple(dict.fromkeys(n for n in names if n))

    def line_for(self, program: str | None, machine: str | None = None) -> SizeLine | None:
        """The first line for a program: `for` before `small`, and those for the machine before others."""

        def order(line: SizeLine) -> tuple[str, bool]:
            return line.word, bool(line.machines) and machine not in (None, *line.machines)

        return min((x for x in self.sizes if x.program in (None, program)), key=order, default=None)


def headers_of(source: Source) -> Headers:
    tokens = known_tokens(source)
    texts: dict[str, str] = {}
    sizes: list[SizeLine] = []
    depth = 0
    for n, token in enumerate(tokens):
        depth += {"{": 1, "}": -1}.get(token.text, 0) if token.kind == "sign" else 0
        if token.kind != "name" or token.text not in _WORDS or not _begins(source, token):
            continue
        line = _line(source, tokens, n + 1)
        if token.text in ("target", "program"):
            found = _NAME.match(source.text, line[0].start) if line else None
            if found is not None:
                texts.setdefault(token.text, found.group())
        else:
            sizes.append(_sizes(source, token.text, line))
    return Headers(texts.get("target"), texts.get("program"), tuple(x for x in sizes if x.sizes))


def _begins(source: Source, token: Token) -> bool:
    """Whether a word is the first of its line."""
    line = source.text.rfind("\n", 0, token.start) + 1
    return not source.text[line : token.start].strip()


def _line(source: Source, tokens: list[Token], first: int) -> list[Token]:
    """The tokens of an item, which may go on in a line that begins with no keyword."""
    out: list[Token] = []
    for token in tokens[first:]:
        item = token.kind in ("end", "comp") or token.text in ("{", "}")
        if item or (token.text in KEYWORDS and _begins(source, token)):
            break
        out.append(token)
    return out


def _sizes(source: Source, word: str, line: list[Token]) -> SizeLine:
    texts = [t.text for t in line]
    named = len(line) > 1 and line[0].kind == "name" and texts[1] != "="
    on = texts.index("on") if "on" in texts else len(line)
    pairs = [
        (texts[n - 1], int(texts[n + 1]))
        for n in range(1, on)
        if texts[n] == "=" and n + 1 < len(line) and line[n + 1].kind == "int" and len(texts[n + 1]) < 11
    ]
    text = source.text[line[on].end : line[-1].end] if on < len(line) else ""
    machines = tuple(m for m in _NAME.findall(text) if m[:1].isalpha())
    return SizeLine(word, texts[0] if named else None, tuple(pairs), machines)
