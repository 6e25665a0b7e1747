"""The charts of a tuning run: history, importance, roofline. Those of its trials are in `trials`."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate

from mdh.cost.work import peak_of, work_of
from mdh.ir.plan import Plan
from mdh.report.html_svg import (
    BOTTOM,
    HEIGHT,
    LEFT,
    RIGHT,
    TOP,
    WIDTH,
    AxisScale,
    bar,
    dot,
    drawing,
    frame,
    line,
    path,
    text,
)
from mdh.report.text import count_text, duration_text, seconds_text
from mdh.report.tune_importance import Sensitivity
from mdh.results.trial import Trial
from mdh.results.tuning import Tuned


@dataclass(frozen=True, slots=True)
class Roofline:
    """intensity: operations a byte that memory must carry; points: (name, operations a second)."""

    intensity: float
    peak: float
    bandwidth: float
    points: tuple[tuple[str, float], ...]


def _same(one: Trial, other: Trial) -> bool:
    return one.candidate.key == other.candidate.key


def roof_of(tuned: Tuned, plan: Plan) -> Roofline | None:
    """None where the program has no arithmetic, or the machine no speeds."""
    ops, least = work_of(plan)
    atoms = any(s.atoms is not None for s in plan.stages)
    stages = (s.stage for s in plan.stages)
    peak = peak_of(plan.machine, *stages, tensor_cores=atoms, allowed=plan.program.allowed)
    timed: tuple[tuple[str, Trial | None], ...] = (("default", tuned.baseline), ("best", tuned.best))
    if tuned.best is not None and tuned.baseline is not None and _same(tuned.best, tuned.baseline):
        # two times of one kernel are no two points
        timed = (("best", tuned.best),)
    points = tuple(
        (name, ops / t.outcome.seconds) for name, t in timed if t is not None and t.outcome.seconds
    )
    if not ops or not least or not points or peak <= 0 or plan.machine.bandwidth <= 0:
        return None
    return Roofline(ops / least, peak, plan.machine.bandwidth, points)


def history(tuned: Tuned) -> str:
    """Time of every trial over the time of tuning; the line is the best so far, the dashes the default."""
    trials = tuned.measured
    timed = [(t, s) for t in trials if (s := t.outcome.seconds) is not None]
    if not timed:
        return ""
    seconds = [s for _, s in timed]
    x = AxisScale(0.0, max(t.elapsed for t in trials) or 1.0, LEFT, WIDTH - RIGHT, time=True)
    y = AxisScale(min(seconds) / 1.15, max(seconds) * 1.15, HEIGHT - BOTTOM, TOP + 14, log=True)
    parts = frame(x, y, "time of tuning", "time of a run", duration_text, seconds_text)
    for trial in trials:
        if trial.outcome.failure is not None:
            tip = f"trial {trial.number}: {trial.outcome.failure}"
            parts.append(dot(x(trial.elapsed), y.end + 2, "failed", tip, 2.2, trial.number))
    parts.extend(dot(x(t.elapsed), y(s), "trial", tip_of(t, s), trial=t.number) for t, s in timed)
    best = list(accumulate(seconds, min))
    steps = [(x(timed[0][0].elapsed), y(best[0]))]
    for (trial, _), old, new in zip(timed[1:], best, best[1:], strict=False):
        steps.extend([(x(trial.elapsed), y(old)), (x(trial.elapsed), y(new))])
    parts.append(path([*steps, (x.end, y(best[-1]))], "best"))
    default = tuned.quick_seconds(tuned.baseline)
    if default is not None:
        level = y(default)
        parts.append(line(x.start, level, x.end, level, "baseline"))
        parts.append(text(x.end, level - 5, "default schedule", "tick", "end"))
    return drawing(parts, "history of the search")


def tip_of(trial: Trial, seconds: float) -> str:
    """What a mark of a trial says when it is pointed at."""
    values = ", ".join(f"{name} {value}" for name, value in trial.candidate.values)
    return f"trial {trial.number}, {trial.origin}: {seconds_text(seconds)} {values}".rstrip()


def importance(rows: Sequence[Sensitivity]) -> str:
    """A bar for each hole: the share of the variance of log time that the hole alone explains."""
    known = sorted((r for r in rows if r.share is not None), key=lambda r: -(r.share or 0.0))
    if not known:
        return ""
    left, pitch = 190.0, 24.0
    x = AxisScale(0.0, 1.0, left, WIDTH - 120)
    parts = []
    for n, row in enumerate(known):
        y, share = 8 + n * pitch, row.share or 0.0
        regret = f", next best {row.rival}: {row.regret:.2f} × the time" if row.regret is not None else ""
        parts.append(text(left - 8, y + 13, cut(row.variable.name, 24), "label", "end"))
        parts.append(bar(left, y, x(share) - left, 16, "share", f"{row.variable.name} = {row.value}{regret}"))
        parts.append(text(x(share) + 6, y + 13, f"{share:.0%} {cut(str(row.value), 14)}", "tick"))
    return drawing(parts, "importance of holes", 16 + len(known) * pitch)


def roofline(roof: Roofline) -> str:
    """Operations a second over operations a byte, under the machine's bandwidth and arithmetic peak."""
    ridge = roof.peak / roof.bandwidth
    reached = [rate for _, rate in roof.points]
    x = AxisScale(
        min(ridge, roof.intensity) / 8, max(ridge, roof.intensity) * 8, LEFT, WIDTH - RIGHT, log=True
    )
    floor = min([*reached, roof.bandwidth * x.low]) / 2
    y = AxisScale(floor, max([*reached, roof.peak]) * 2, HEIGHT - BOTTOM, TOP + 14, log=True)
    parts = frame(
        x, y, "operations a byte of compulsory traffic", "operations/s", lambda v: f"{v:g}", count_text
    )
    corner = (x(ridge), y(roof.peak))
    parts.append(path([(x.start, y(roof.bandwidth * x.low)), corner, (x.end, y(roof.peak))], "roof"))
    parts.append(text(x.end, y(roof.peak) - 6, f"{count_text(roof.peak)}ops/s", "tick", "end"))
    parts.append(
        text(x.start + 28, y(roof.bandwidth * x.low) - 4, f"{count_text(roof.bandwidth)}B/s", "tick")
    )
    for n, (name, rate) in enumerate(roof.points):
        bound = min(roof.peak, roof.bandwidth * roof.intensity)
        kind = "trial big" if name == "best" else "failed big"
        tip = f"{name}: {count_text(rate)}operations/s, {rate / bound:.0%} of the bound"
        parts.append(dot(x(roof.intensity), y(rate), kind, tip, 5))
        # the default's label is left of its dot, so that two close labels can be read
        beside, anchor = (-9, "end") if n == 0 and len(roof.points) > 1 else (9, "start")
        words = f"{name}, {rate / bound:.0%}"
        parts.append(text(x(roof.intensity) + beside, y(rate) + 4, words, "label", anchor))
    return drawing(parts, "roofline")


def cut(words: str, most: int) -> str:
    return words if len(words) <= most else words[: most - 1] + "…"
