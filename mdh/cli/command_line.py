"""The words of the command line as a Source, so that a wrong word gets a caret like any other text."""

import shlex
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TypeVar

from mdh.diagnostics import Failed, Label, fail
from mdh.source import Source, Span

T = TypeVar("T")
NAME = "<command line>"


@dataclass(frozen=True)
class CommandLine:
    """What the user typed after `mdh`, one word an element."""

    words: tuple[str, ...]

    @staticmethod
    def of(words: Sequence[str]) -> "CommandLine":
        return CommandLine(tuple(words))

    @cached_property
    def _quoted(self) -> tuple[str, ...]:
        return ("mdh", *(_quote(word) for word in self.words))

    @cached_property
    def source(self) -> Source:
        return Source(NAME, " ".join(self._quoted))

    @property
    def json(self) -> bool:
        """True when `--json` was asked for; needed before any verb has read its options."""
        return "--json" in self.words

    def span_of(self, word: str, *, last: bool = False) -> Span | None:
        """The place of `word` (`--machine`, `a10`, `N=x`), the first or the `last` of several; `--opt=word`
        and `-Dword` are found too."""
        exact = [i for i, w in enumerate(self.words) if w == word]
        ending = [i for i, w in enumerate(self.words) if w.endswith(word) and w.startswith("-")]
        found = exact or ending
        for i in reversed(found) if last else found:
            start = sum(len(q) + 1 for q in self._quoted[: i + 1])
            quoted = self._quoted[i + 1]
            inside = quoted.rfind(word) if word else -1
            if inside < 0:
                return Span(self.source, start, start + len(quoted))
            return Span(self.source, start + inside, start + inside + len(word))
        return None

    def fail(
        self, code: str, headline: str, word: str, *, label: str = "", help: str = "", last: bool = False
    ) -> Failed:
        """One error at `word` (its `last` place); at the end of the line where the word is not on it."""
        end = len(self.source.text)
        span = self.span_of(word, last=last) or Span(self.source, end, end)
        return fail(code, headline, span, label=label, help=help)


def _quote(word: str) -> str:
    """Shell quoting with control characters shown, so that a message stays on its line."""
    shown = "".join(c if c.isprintable() else c.encode("unicode_escape", "replace").decode() for c in word)
    return shlex.quote(shown)


def at_word(line: CommandLine, word: str, arrow: Callable[[], T]) -> T:
    """Runs `arrow`; what it refuses without a place is placed at `word` of the command line."""
    try:
        return arrow()
    except Failed as failed:
        span = line.span_of(word)
        if span is None:
            raise
        placed = (d if d.labels else replace(d, labels=(Label(span),)) for d in failed.diagnostics)
        raise Failed(*placed) from failed
