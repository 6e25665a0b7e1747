"""Exit codes of the command line; they are a stable contract (docs/formats.md)."""

from collections.abc import Sequence

from mdh.cli.command_line import NAME
from mdh.diagnostics import Diagnostic, Severity

OK = 0
REJECTED = 1
USAGE = 2
NOTHING_VALID = 3
WRONG_RESULT = 4
INTERNAL = 70
INTERRUPTED = 130
BROKEN_PIPE = 141
TERMINATED = 143

USAGE_CODES = frozenset(
    {"F106", "F107", "F108", "F109", "F110", "F112", "F113", "F114", "F190", "F192", "F193",
     "F196", "F210", "F219", "D110"}
)  # fmt: skip
"""Codes of mistakes in the words of the command line; mistakes in the named files have other codes."""
NAMED = frozenset({"C105", "C123", "F150", "F180", "K100", "S120", "S121"})
"""Codes that are such a mistake if they point at a word of the command line."""

NOTHING_CODES = frozenset({"F195", "F198", "S160", "S161"})
"""Codes of a search that found nothing, or has nothing to search."""


def _names_word(d: Diagnostic) -> bool:
    return d.code in NAMED and any(label.span.source.name == NAME for label in d.labels)


def exit_code(diagnostics: Sequence[Diagnostic]) -> int:
    """The exit code of a failed stage; its gravest error decides."""
    codes = [d.code for d in diagnostics if d.severity in (Severity.ERROR, Severity.BUG)]
    if any(code.startswith("B") for code in codes):
        return INTERNAL
    if any(code.startswith("N") for code in codes):
        return WRONG_RESULT
    if codes and all(code in NOTHING_CODES for code in codes):
        return NOTHING_VALID
    if codes and all(d.code in USAGE_CODES or _names_word(d) for d in diagnostics):
        return USAGE
    return REJECTED
