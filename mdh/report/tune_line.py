"""A running tuning as one line."""

from mdh.report.text import duration_text, seconds_text
from mdh.results.tuning import RunProgress


def progress_line(now: RunProgress, elapsed: float) -> str:
    """`best 17.6 ms (2.31 ×), 52 right, 3 compile, 48 a minute, 1m12s left`. elapsed: seconds so far."""
    parts = [_best(now), f"{now.ok} right", *(f"{n} {f}" for f, n in now.failures)]
    if now.phase == "finals":
        parts.append("finals")
    elif elapsed > 1 and now.measured:
        parts.append(f"{60 * now.measured / elapsed:.0f} a minute")
    left = time_left(now, elapsed)
    if left is not None:
        parts.append(f"{duration_text(left)} left")
    return ", ".join(parts)


def _best(now: RunProgress) -> str:
    if now.best is None:
        return "nothing right yet"
    gain = f" ({now.speedup:.2f} ×)" if now.speedup is not None else ""
    return f"best {seconds_text(now.best)}{gain}"


def share_done(now: RunProgress, elapsed: float) -> float | None:
    """Progress from 0 to 1 by the nearest limit; None if the run has none."""
    shares = []
    if now.total:
        shares.append(elapsed / now.total)
    if now.trials:
        shares.append(now.measured / now.trials)
    return min(1.0, max(shares)) if shares else None


def time_left(now: RunProgress, elapsed: float) -> float | None:
    """Seconds left of the budget, or for the trials at the rate so far, if less; None if unknown."""
    times = []
    if now.total is not None:
        times.append(now.total - elapsed)
    if now.trials is not None and now.measured:
        times.append((now.trials - now.measured) * elapsed / now.measured)
    return max(0.0, min(times)) if times else None
