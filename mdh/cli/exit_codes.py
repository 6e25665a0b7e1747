"""Exit codes of the command line: a stable contract (docs/formats.md)."""

from collections.abc import Iterable

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

USAGE_CODES = frozenset({"F106", "F107", "F108", "F109", "F110", "F112", "F113", "F114"})
"""Mistakes in the words of the command line, as against mistakes in the files it names."""


def exit_code(diagnostics: Iterable[Diagnostic]) -> int:
    """The exit code of a failed stage: the gravest of its errors decides."""
    codes = [d.code for d in diagnostics if d.severity in (Severity.ERROR, Severity.BUG)]
    if any(code.startswith("B") for code in codes):
        return INTERNAL
    if any(code.startswith("N") for code in codes):
        return WRONG_RESULT
    if codes and all(code in USAGE_CODES for code in codes):
        return USAGE
    return REJECTED
