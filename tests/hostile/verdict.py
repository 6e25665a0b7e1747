"""What came of one hostile input."""

import time
from collections.abc import Callable
from dataclasses import dataclass

from mdh.diagnostics import Failed

SECONDS = 2.0
"""In which every input has a result or a message."""


@dataclass(frozen=True)
class Verdict:
    """outcome: `returned`, the code of a message, or what went wrong."""

    fine: bool
    outcome: str


def judged(work: Callable[[], str | None], *, placed: bool = False, limit: float = SECONDS) -> Verdict:
    """work: returns what is wrong with what it got, None: nothing. placed: the input is text, so that a
    message must say where. Memory that runs out and the interpreter's end are not caught."""
    begun, used = time.perf_counter(), time.process_time()
    try:
        wrong = work()
        found = Verdict(wrong is None, wrong or "returned")
    except Failed as failed:
        found = _refused(failed, placed)
    except Exception as error:  # whatever arrives here is what is looked for
        found = Verdict(False, f"{type(error).__name__}: {str(error)[:200]}")
    # on a busy machine waiting for the processor is not mdh's; waiting for anything else is
    seconds = max(time.process_time() - used, 0.2 * (time.perf_counter() - begun))
    return found if seconds <= limit else Verdict(False, f"{seconds:.1f} s, {found.outcome}")


def _refused(failed: Failed, placed: bool) -> Verdict:
    codes = [d.code for d in failed.diagnostics]
    if not codes or any(c.startswith("B") for c in codes):
        return Verdict(False, f"internal error: {failed}")
    if placed and not any(d.labels for d in failed.diagnostics):
        return Verdict(False, f"no place: {failed}")
    return Verdict(True, codes[0])
