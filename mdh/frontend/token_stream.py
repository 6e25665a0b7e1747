"""Names, tokens and the walk over them, which the parsers of languages without a library share."""

from dataclasses import dataclass
from enum import StrEnum

from mdh.diagnostics import Failed, fail
from mdh.source import Source, Span


@dataclass(frozen=True, slots=True)
class Word:
    """A name with its place."""

    text: str
    span: Span


class TokenKind(StrEnum):
    NAME = "a name"
    NUMBER = "a number"
    MARK = "a mark"
    END = "the end of the text"


@dataclass(frozen=True, slots=True)
class TextToken:
    kind: TokenKind
    text: str
    span: Span


def meaningless(code: str, source: Source, at: int) -> Failed:
    """The error for a character that begins no token."""
    character = source.text[at]
    shown = character if character.isprintable() else f"U+{ord(character):04X}"
    return fail(code, f"`{shown}` has no meaning here", Span(source, at, at + 1))


class TokenStream:
    """Where a recursive descent over tokens stands. The last token is an END. code: of errors of syntax.
    depth: of the expression that is being read."""

    def __init__(self, tokens: list[TextToken], code: str) -> None:
        self.tokens, self.code = tokens, code
        self.at, self.depth = 0, 0

    @property
    def token(self) -> TextToken:
        return self.tokens[self.at]

    def next(self) -> TextToken:
        token = self.token
        self.at += token.kind is not TokenKind.END
        return token

    def takes(self, *marks: str) -> TextToken | None:
        """The next token if it is one of these marks."""
        return self.next() if self.token.kind is TokenKind.MARK and self.token.text in marks else None

    def expect(self, mark: str, where: str, help: str = "") -> TextToken:
        if self.token.text != mark or self.token.kind is TokenKind.NUMBER:
            raise self.wrong(f"`{mark}` is expected {where}", help)
        return self.next()

    def word(self, what: str, help: str = "") -> Word:
        if self.token.kind is not TokenKind.NAME:
            raise self.wrong(f"{what} is expected here", help)
        token = self.next()
        return Word(token.text, token.span)

    def wrong(self, headline: str, help: str = "") -> Failed:
        token = self.token
        found = "the text ends" if token.kind is TokenKind.END else f"this is `{token.text[:40]}`"
        return fail(self.code, headline, token.span, label=found, help=help)
