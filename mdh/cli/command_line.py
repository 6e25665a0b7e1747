"""The words of the command line as a Source, so that errors point at a word like at any other text.

A password is in `words` only. In the Source, which messages, records and reports are made of, it is `***`.
"""

import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum, auto
from functools import cached_property
from typing import TypeVar

from mdh.diagnostics import Diagnostic, Failed, Label, fail
from mdh.passwords import masked, masked_word, places, secrets, without
from mdh.printable import shell_word
from mdh.source import Source, Span
from mdh.textfile import C_LIMIT, SCHEDULE_LIMIT

T = TypeVar("T")
NAME = "<command line>"
QUIET = ("-q", "--quiet")
SERVE = "--serve"


FORMAT = "--format"


class Format(StrEnum):
    """How diagnostics are printed."""

    TEXT = auto()
    JSON = auto()
    SARIF = auto()
    GITHUB = auto()


@dataclass(frozen=True)
class CommandLine:
    """What the user typed after `mdh`, one element for each word."""

    words: tuple[str, ...]

    @staticmethod
    def of(words: Sequence[str]) -> "CommandLine":
        return CommandLine(tuple(words))

    @cached_property
    def stdin(self) -> bytes:
        """What standard input holds, with one byte more than any text may have where it is longer. Raises
        OSError."""
        return sys.stdin.buffer.read(max(C_LIMIT, SCHEDULE_LIMIT) + 1)

    @cached_property
    def remarked(self) -> set[str]:
        """The words that a remark was made about; a command may read them several times."""
        return set()

    @cached_property
    def _masked(self) -> tuple[str, ...]:
        return tuple(masked_word(w, place=p) for w, p in zip(self.words, places(self.words), strict=True))

    @cached_property
    def _quoted(self) -> tuple[str, ...]:
        return ("mdh", *(shell_word(word) for word in self._masked))

    @cached_property
    def source(self) -> Source:
        return Source(NAME, " ".join(self._quoted))

    @property
    def json(self) -> bool:
        """Whether JSON is asked for; needed before any command has read its options."""
        return self.format is Format.JSON

    @property
    def format(self) -> Format:
        """What `--json` or the last `--format` says; TEXT for a name that is none."""
        words = _options(self.words)
        given = [value for _, value in formats(words)]
        named = given[-1] if given else ""
        return Format.JSON if "--json" in words else Format(named) if named in list(Format) else Format.TEXT

    @property
    def quiet(self) -> bool:
        """Whether `-q` or `--quiet` was given, at any place."""
        return any(word in QUIET for word in _options(self.words))

    def span_of(self, word: str, *, last: bool = False) -> Span | None:
        """The place of `word` (`--machine`, `a10`, `N=x`): the first, or the `last`. Also found in
        `--opt=word` and `-Dword`."""
        exact = [i for i, w in enumerate(self.words) if w == word]
        ending = [i for i, w in enumerate(self.words) if w.endswith(word) and w.startswith("-")]
        found = exact or ending
        for i in reversed(found) if last else found:
            start = sum(len(q) + 1 for q in self._quoted[: i + 1])
            quoted = self._quoted[i + 1]
            # the end of the word, as it is shown
            shown = self._masked[i] if word == self.words[i] else masked_word(word)
            inside = quoted.rfind(shown) if shown else -1
            if inside < 0:
                return Span(self.source, start, start + len(quoted))
            return Span(self.source, start + inside, start + inside + len(shown))
        return None

    @cached_property
    def _secrets(self) -> tuple[str, ...]:
        each = (secrets(w, place=p) for w, p in zip(self.words, places(self.words), strict=True))
        return tuple(sorted({s for found in each for s in found}, key=lambda s: (-len(s), s)))

    def without_passwords(self, text: str) -> str:
        """The text without passwords of the words, and without those of other URLs in it."""
        return masked(without(text, self._secrets))

    def told(self, d: Diagnostic) -> Diagnostic:
        """A message without passwords: libraries quote what they were given."""
        hide = self.without_passwords
        labels = tuple(replace(label, message=hide(label.message)) for label in d.labels)
        notes = tuple(hide(note) for note in d.notes)
        # help shows forms of URLs, with `password` in them
        help = without(d.help, self._secrets)
        return replace(d, headline=hide(d.headline), labels=labels, notes=notes, help=help)

    def fail(
        self, code: str, headline: str, word: str, *, label: str = "", help: str = "", last: bool = False
    ) -> Failed:
        """An error at `word` (its `last` place), or at the end of the line if it is not there."""
        end = len(self.source.text)
        span = self.span_of(word, last=last) or Span(self.source, end, end)
        return fail(code, headline, span, label=label, help=help)


def _options(words: Sequence[str]) -> Sequence[str]:
    """The words in front of `--`, after which all are names."""
    return words[: words.index("--")] if "--" in words else words


def formats(words: Sequence[str]) -> list[tuple[int, str]]:
    """The values of `--format`, each with the number of the word that holds it."""
    out = []
    for n, word in enumerate(words):
        option, equals, value = word.partition("=")
        if option == FORMAT and equals:
            out.append((n, value))
        elif option == FORMAT:
            out.append((n + 1, words[n + 1] if n + 1 < len(words) else ""))
    return out


def without_quiet(words: Sequence[str]) -> list[str]:
    """The words for the verbs, which know no -q."""
    count = len(_options(words))
    return [word for n, word in enumerate(words) if n >= count or word not in QUIET]


def with_port(words: list[str]) -> list[str]:
    """The words with `--serve=0`, which is any free port, where no number follows `--serve`."""
    out = list(words)
    for n, word in enumerate(_options(words)):
        follows = words[n + 1] if n + 1 < len(words) else ""
        if word == SERVE and not follows.isdecimal():
            out[n] = f"{SERVE}=0"
    return out


def at_word(line: CommandLine, word: str, arrow: Callable[[], T]) -> T:
    """Runs `arrow`. Errors without a place are placed at `word` of the command line."""
    return at_span(line.span_of(word), arrow)


def at_span(span: Span | None, arrow: Callable[[], T]) -> T:
    """Runs `arrow`. Errors without a place are placed at `span`, if there is one."""
    try:
        return arrow()
    except Failed as failed:
        if span is None:
            raise
        placed = (d if d.labels else replace(d, labels=(Label(span),)) for d in failed.diagnostics)
        raise Failed(*placed) from failed
