"""The result of a tuning as text for a terminal."""

from collections import Counter

from mdh.printable import one_line
from mdh.report.text import duration_text, seconds_text
from mdh.report.tune_importance import Sensitivity, sensitivities
from mdh.results.goal import Ended
from mdh.results.trial import Failure, Trial
from mdh.results.tuning import RunProgress, Tuned
from mdh.wording import counted

_ENDINGS = {
    Ended.TRIALS: "as many as were asked for",
    Ended.BUDGET: "the budget is used up",
    Ended.SPEEDUP: "the speedup asked for is reached",
    Ended.EXHAUSTED: "the space is used up",
    Ended.STUCK: "no new legal point is found any more",
    Ended.INTERRUPTED: "interrupted",
    Ended.LOST: "nothing can be measured any more",
}
NOISY = 0.15
"""The spread of the best's runs above which the machine is called noisy. A quiet one has a few percent."""
_MESSAGE_LINES = 12
_ROWS = 20
_REASONS = {"duplicate": "the same program as another"}


def tuned_text(tuned: Tuned) -> str:
    """The best, the holes, the failures, the files."""
    # without a trial of the schedule's own, nothing is known of its holes
    own = any(t.candidate.values for t in (*tuned.earlier, *tuned.trials))
    blocks = [_head(tuned), _holes(tuned) if own else "", _failures(tuned), _files(tuned)]
    return "\n".join(block for block in blocks if block)


def _head(tuned: Tuned) -> str:
    where = ", ".join(tuned.devices) or "a record"
    quick = [t for t in tuned.trials if t.phase == "quick"]
    lines = [f"{tuned.program} on {where} ({tuned.title})"]
    lines.append(f"  best      {best_text(tuned)}")
    earlier = sum(1 for t in tuned.earlier if t.phase == "quick")
    before = f", {earlier} of the record before them" if earlier else ""
    ended = f"{counted(len(quick), 'trial')} in {duration_text(tuned.elapsed)}{before}"
    lines.append(f"  searched  {ended}; {_ENDINGS[tuned.ended]}")
    lines.append(f"  trials    {counts_text(tuned)}")
    if tuned.sizes is not None and tuned.variables:
        raw, structural, legal = tuned.sizes.raw, tuned.sizes.structural, tuned.sizes.legal
        holes = counted(len(tuned.variables), "hole")
        lines.append(f"  space     {holes}, {_many(raw)} choices, {_many(structural)} by structure")
        if legal is not None and legal[1] < structural:
            low, high = map(_many, map(round, legal))
            lines[-1] += f", {low} legal" if low == high else f", {low} to {high} legal"
    if tuned.learned:
        times = counted(tuned.learned, "time")
        lines.append(f"  model     began with constants fitted to {times} of earlier runs here")
    own = tuned.best_point
    if own is not None and own is not tuned.best and own.outcome.seconds is not None:
        by = "the default" if tuned.best_is_default else "another of the record"
        best = f"{seconds_text(own.outcome.seconds)}: the best point of the schedule; {by} is faster"
        lines.insert(2, f"  own best  {best}")
    if tuned.noise is not None and tuned.noise > NOISY:
        lines.insert(2, f"  noisy     {_noise_text(tuned.noise)}")
    if tuned.unconfirmed:
        lines.insert(2, f"            the finals could not confirm it: {tuned.unconfirmed}")
    elif tuned.best is not None and tuned.best.phase == "quick" and tuned.ended is Ended.BUDGET:
        lines.insert(2, "            no time was left for finals: it was not judged and timed once more")
    return "\n".join(lines) + "\n"


def best_text(tuned: Tuned) -> str:
    """`17.6 ms, 2.31 × the device's default schedule (40.7 ms against 17.6 ms in turns)`."""
    if tuned.best is None or tuned.best.outcome.seconds is None:
        return "none: no candidate was right" if tuned.measured else "none: nothing was measured"
    out = seconds_text(tuned.best.outcome.seconds)
    if tuned.speedup is not None and tuned.baseline is not None:
        out += f", {tuned.speedup:.2f} × the device's default schedule{_aside(tuned, tuned.baseline)}"
    elif tuned.baseline is None:
        out += "; the device's default schedule was not measured"
    if tuned.speedup_over_given is not None and tuned.given is not None:
        out += f", {tuned.speedup_over_given:.2f} × {given_text(tuned)}{_aside(tuned, tuned.given)}"
    return out


def given_text(tuned: Tuned) -> str:
    """What the best is compared with besides the default schedule."""
    return "the schedule's first point" if tuned.variables else "the given schedule"


def _aside(tuned: Tuned, trial: Trial) -> str:
    """The two times that a ratio is made of. In the end the best is timed alone, so they are others."""
    pair = tuned.pair(trial)
    if pair is None:
        return ""
    slow, fast = map(seconds_text, pair)
    return f" ({slow} against {fast} {'in turns' if tuned.in_finals(trial) else 'timed quickly'})"


def _noise_text(noise: float) -> str:
    return f"its runs vary by {noise:.0%} (the middle half of them): something else uses the machine"


def counts_text(tuned: Tuned) -> str:
    failed = failure_counts(tuned)
    right = sum(1 for t in tuned.measured if t.outcome.failure is None)
    out = ", ".join([f"{right} right", *(f"{n} {f}" for f, n in failed)])
    skipped = [f"{n:,} {_REASONS.get(reason, reason)}" for reason, n in tuned.skipped]
    return f"{out}; not measured: {', '.join(skipped)}" if skipped else out


def failure_counts(tuned: Tuned) -> tuple[tuple[Failure, int], ...]:
    """Failures of the quick trials, the most frequent first."""
    counted = Counter(t.outcome.failure for t in tuned.measured if t.outcome.failure is not None)
    return tuple(counted.most_common())


def first_of(tuned: Tuned, failure: Failure) -> Trial:
    return next(t for t in tuned.measured if t.outcome.failure is failure)


def _holes(tuned: Tuned) -> str:
    every = sensitivities(tuned)
    if not every:
        return ""
    # of very many holes, those that matter, in the schedule's order
    telling = sorted(every, key=lambda r: (-(r.share or 0.0), -(r.regret or 0.0)))[:_ROWS]
    rows = [r for r in every if r in telling]
    cells = [("hole", "value", "share", "next best value"), *(_row(r) for r in rows)]
    widths = [max(len(c[i]) for c in cells) for i in range(3)]
    lines = [f"  {a:<{widths[0]}}  {b:<{widths[1]}}  {c:>{widths[2]}}  {d}".rstrip() for a, b, c, d in cells]
    more = f"; {len(every) - len(rows)} holes more with less of it" if len(every) > len(rows) else ""
    lines.append(f"  share: of the variance of log time that the hole alone explains{more}")
    return "\n".join(lines) + "\n"


def _row(row: Sensitivity) -> tuple[str, str, str, str]:
    name = (
        f"{row.variable.name} {row.variable.dim}".rstrip()
        if row.variable.name[0] == "?"
        else row.variable.name
    )
    share = "-" if row.share is None else f"{row.share:.0%}"
    rival = "-" if row.rival is None else str(row.rival)
    if row.regret is not None:
        rival += f", {row.regret:.2f} × the time"
    return name, "-" if row.value is None else str(row.value), share, rival


def _failures(tuned: Tuned) -> str:
    lines = []
    for failure, count in failure_counts(tuned):
        first = first_of(tuned, failure).outcome
        text = (first.message or "no message").splitlines()
        code = f"[{one_line(first.code)}] " if first.code else ""
        lines.append(f"  {failure} × {count}, the first: {code}{text[0]}")
        lines.extend(f"      {row}" for row in text[1:_MESSAGE_LINES])
    return "\n".join(lines) + "\n" if lines else ""


def _files(tuned: Tuned) -> str:
    width = max((len(kind) for kind, _ in tuned.files), default=0)
    return "".join(f"  {kind:<{width}}  {path}\n" for kind, path in tuned.files)


def _many(n: int) -> str:
    return f"{n:,}" if n < 10**9 else f"{n:.2e}"


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
