"""The words and signs of schedule text, with their places."""

import re
from dataclasses import dataclass

from mdh.diagnostics import fail
from mdh.passwords import masked
from mdh.source import Source, Span
from mdh.textfile import SCHEDULE_LIMIT

NUMBER_LIMIT = 2**31 - 1

_TOKEN = re.compile(
    r"""(?P<space>[ \t\r\n\f\ufeff]+)
      | (?P<comment>//[^\n]*|/\*.*?\*/)
      | (?P<comp>\(de-\)comp\b|\(de/re\)-comp\b)
      | (?P<miscomp>\(\s*(?:de|re)[-/\sder]*\)[-\s]*comp\w*)
      | (?P<int>[0-9]+)
      | (?P<name>[A-Za-z_]\w*)
      | (?P<hole>\?(?:[A-Za-z_]\w*)?)
      | (?P<sign><=|>=|==|!=|[()\[\]{},;:^@=.+\-*%<>]|/(?!\*))""",
    re.VERBOSE | re.DOTALL | re.ASCII,
)


@dataclass(frozen=True, slots=True)
class Token:
    """kind: comp, int, name, hole, sign or end. text: of a sign, the sign itself; of the end, empty."""

    kind: str
    text: str
    start: int

    @property
    def end(self) -> int:
        return self.start + len(self.text)

    def __str__(self) -> str:
        return f"`{self.text}`" if self.text else "the end of the file"


@dataclass(frozen=True, slots=True)
class CommentToken:
    """One comment. lines: its lines without slashes and stars."""

    lines: tuple[str, ...]
    start: int


def tokenise(source: Source) -> tuple[list[Token], list[CommentToken]]:
    """All tokens (an `end` token last) and all comments of a text. Raises Failed S102, S103, S105, S106."""
    text = source.text
    _refuse_foreign(source)
    tokens: list[Token] = []
    comments: list[CommentToken] = []
    at = 0
    while at < len(text):
        found = _TOKEN.match(text, at)
        if found is None:
            raise _stray(source, at)
        kind, word = found.lastgroup or "", found.group()
        match kind:
            case "space":
                pass
            case "comment":
                comments.append(CommentToken(_comment_lines(word), at))
            case "miscomp":
                raise fail(
                    "S101",
                    f"`{word}` is not the word that begins a step",
                    Span(source, at, found.end()),
                    label="expected `(de-)comp` or `(de/re)-comp`",
                )
            case "int" if len(word) > 40 or int(word) > NUMBER_LIMIT:
                raise fail(
                    "S105",
                    f"the number {word if len(word) <= 40 else word[:20] + '…'} is too large",
                    Span(source, at, found.end()),
                    label=f"numbers go up to {NUMBER_LIMIT}",
                )
            case _:
                tokens.append(Token(kind, word, at))
        at = found.end()
    tokens.append(Token("end", "", len(text)))
    return tokens, comments


def known_tokens(source: Source) -> list[Token]:
    """The tokens of a text that may be half-written, an `end` token last. For editors: what has no meaning is
    left out, a comment that is never closed goes to the end, and nothing is raised. A text that is longer
    than schedules may be is read up to there."""
    text, at = source.text[:SCHEDULE_LIMIT], 0
    tokens: list[Token] = []
    while at < len(text):
        found = _TOKEN.match(text, at)
        if found is None:
            if text.startswith("/*", at):
                break
            at += 1
            continue
        kind, word = found.lastgroup or "", found.group()
        if kind not in ("space", "comment"):
            tokens.append(Token("comp" if kind == "miscomp" else kind, word, at))
        at = found.end()
    tokens.append(Token("end", "", len(text)))
    return tokens


def in_comment(source: Source, offset: int) -> bool:
    """Whether a character lies in a comment, or behind the last one of a line."""
    text, at = source.text[:SCHEDULE_LIMIT], 0
    while at <= offset and at < len(text):
        found = _TOKEN.match(text, at)
        if found is None:
            if text.startswith("/*", at):
                return True
            at += 1
            continue
        if found.lastgroup == "comment" and at < offset:
            line = found.group().startswith("//")
            if offset < found.end() or (line and offset == found.end()):
                return True
        at = found.end()
    return False


def _refuse_foreign(source: Source) -> None:
    text = source.text
    if len(text) > SCHEDULE_LIMIT:
        raise fail(
            "S103",
            f"the schedule {source.name} has {len(text):,} characters; the limit is {SCHEDULE_LIMIT:,}",
            Span(source, 0, 0),
            help="is this the right file? A program of a hundred stages needs a third of the limit",
        )
    nul = text.find("\0")
    if nul >= 0:
        raise fail(
            "S102",
            f"{source.name} is not a text file: it holds a zero byte",
            Span(source, nul, nul + 1),
            help="give the text of a schedule",
        )


def _stray(source: Source, at: int) -> Exception:
    text = source.text
    if text.startswith("/*", at):
        return fail("S106", "the comment `/*` is never closed", Span(source, at, at + 2), label="opened here")
    character = text[at]
    shown = f"`{character}`" if character.isprintable() else f"U+{ord(character):04X}"
    return fail(
        "S102",
        f"the character {shown} has no meaning in a schedule",
        Span(source, at, at + 1),
        help="a schedule holds steps `(de-)comp( … ) ( … ; … ) ( … )`, `where` and `//` comments",
    )


def _comment_lines(text: str) -> tuple[str, ...]:
    """The lines without passwords, because others may read the file that is printed."""
    if text.startswith("//"):
        return (masked(text[2:].strip()),)
    lines = [line.strip().removeprefix("*").strip() for line in text[2:-2].splitlines()]
    return tuple(masked(line) for line in lines if line)
