"""A reading position in schedule text. It looks ahead, takes tokens, and reports what was expected."""

from collections.abc import Callable
from typing import TypeVar

from mdh.diagnostics import Diagnostic, Failed, Label, fail
from mdh.schedule.names import KEYWORDS
from mdh.schedule.tokens import Token, tokenise
from mdh.source import Source, Span

T = TypeVar("T")
NESTING_LIMIT = 32
_CLOSING = {"(": ")", "[": "]", "{": "}"}


class Cursor:
    """The one mutable value of the parser. `problems` collects errors that need not stop the reading."""

    def __init__(self, source: Source) -> None:
        self.source = source
        self.problems: list[Diagnostic] = []
        self._tokens, self._comments = tokenise(source)
        self._at = 0
        self._comment = 0
        self._open: list[Token] = []

    @property
    def token(self) -> Token:
        """The next token. After the last one, this is always the `end` token."""
        return self._tokens[self._at]

    @property
    def previous(self) -> Token:
        """The token taken last."""
        return self._tokens[max(self._at - 1, 0)]

    def look(self, distance: int) -> Token:
        return self._tokens[min(self._at + distance, len(self._tokens) - 1)]

    def take(self) -> Token:
        token = self._tokens[self._at]
        if token.kind != "end":
            self._at += 1
        return token

    def at(self, *signs: str) -> bool:
        return self.token.kind == "sign" and self.token.text in signs

    def at_word(self, *words: str) -> bool:
        return self.token.kind == "name" and self.token.text in words

    def accept(self, sign: str) -> bool:
        if self.at(sign):
            self._at += 1
            return True
        return False

    def expect(self, sign: str, wanted: str) -> Token:
        """Takes `sign`, or raises Failed with `wanted`, which says in words what could stand here."""
        if not self.at(sign):
            raise self.unexpected(wanted)
        return self.take()

    def expect_kind(self, kind: str, wanted: str) -> Token:
        if self.token.kind != kind:
            raise self.unexpected(wanted)
        return self.take()

    def open(self, sign: str, wanted: str) -> Token:
        """Takes an opening sign; `close` must follow."""
        token = self.expect(sign, wanted)
        self._open.append(token)
        if len(self._open) > NESTING_LIMIT:
            raise fail(
                "S104",
                f"more than {NESTING_LIMIT} levels of nesting",
                self.span(token),
                label=f"level {NESTING_LIMIT + 1}",
            )
        return token

    def close(self, wanted: str) -> Token:
        """Takes the sign that closes the innermost open one."""
        closing = _CLOSING[self._open[-1].text]
        token = self.expect(closing, f"{wanted} or `{closing}`" if wanted else f"`{closing}`")
        self._open.pop()
        return token

    def separated(self, read: Callable[[], T]) -> list[T]:
        """What `read` reads once or more often, with commas between."""
        out = [read()]
        while self.accept(","):
            out.append(read())
        return out

    def skip_to(self, offset: int) -> None:
        """Skips all tokens that begin before `offset`."""
        while self.token.kind != "end" and self.token.start < offset:
            self._at += 1

    def span(self, first: Token, last: Token | None = None) -> Span:
        return Span(self.source, first.start, (last or first).end)

    def since(self, first: Token) -> Span:
        """The span from `first` to the token taken last."""
        return Span(self.source, first.start, max(self.previous.end, first.start))

    def unexpected(self, wanted: str, help: str = "") -> Failed:
        """The error for a next token that cannot stand here: S106 for a missing closing sign, else S101."""
        token = self.token
        if self._open and (token.kind in {"end", "comp"} or self.begins_step()):
            opener = self._open[-1]
            labels = [Label(self.span(opener), "opened here")]
            if token.kind != "end":
                labels.append(Label(self.span(token), f"expected {wanted}"))
            hint = f"close it with `{_CLOSING[opener.text]}`"
            return Failed(Diagnostic("S106", f"`{opener.text}` is never closed", tuple(labels), help=hint))
        return fail("S101", f"unexpected {token}", self.span(token), label=f"expected {wanted}", help=help)

    def begins_step(self) -> bool:
        """Whether the label of a step comes next."""
        return self.token.kind == "int" and self.look(1).text == ":" and self.look(2).kind == "comp"

    def begins_item(self) -> bool:
        """Whether the text ends here, or its next step, `where`, `stage` or header begins."""
        ends = self.token.kind in {"end", "comp"} or self.at("}") or self.at_word(*KEYWORDS)
        return ends or self.begins_step()

    def report(self, problem: Failed) -> None:
        self.problems.extend(problem.diagnostics)

    def comments_before(self, offset: int) -> tuple[str, ...]:
        """The lines of the comments that begin before `offset` and that no earlier call returned."""
        first = self._comment
        while self._comment < len(self._comments) and self._comments[self._comment].start < offset:
            self._comment += 1
        return tuple(line for c in self._comments[first : self._comment] for line in c.lines)

    def remark(self) -> str:
        """The comment after the token taken last, on the same line; empty if there is none."""
        if self._comment >= len(self._comments):
            return ""
        comment = self._comments[self._comment]
        line = self.source.position(max(self.previous.end - 1, 0))[0]
        alone = self.token.kind == "end" or self.source.position(self.token.start)[0] > line
        if self.source.position(comment.start)[0] != line or not alone or len(comment.lines) != 1:
            return ""
        self._comment += 1
        return comment.lines[0]
