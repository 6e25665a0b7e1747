"""What the user lets schedules do to numbers, in words."""

from collections.abc import Iterable

from mdh.diagnostics import fail
from mdh.ir.program import CONSENTS
from mdh.wording import meant


def consented(words: Iterable[str]) -> tuple[str, ...]:
    """The words, if each is one of CONSENTS. Raises Failed F119."""
    found = tuple(words)
    for word in found:
        if word not in CONSENTS:
            known = f"known: {', '.join(CONSENTS)}"
            hint = meant(word, CONSENTS, cutoff=0.6, otherwise=known)
            raise fail("F119", f"there is nothing called `{word}` that could be allowed", help=hint)
    return found
