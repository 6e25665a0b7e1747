"""The charts of a tuning run: history, importance, parallel coordinates, roofline."""

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
from mdh.results.trial import Trial, Value
from mdh.results.tuning import Tuned
from mdh.results.variable import Variable


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


_LINES = 250
"""The number of best trials that parallel coordinates show; more would be a solid block."""


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
            parts.append(dot(x(trial.elapsed), y.end + 2, "failed", tip, 2.2))
    parts.extend(dot(x(t.elapsed), y(s), "trial", _tip(t, s)) for t, s in timed)
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


def _tip(trial: Trial, seconds: float) -> str:
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
        parts.append(text(left - 8, y + 13, _cut(row.variable.name, 24), "label", "end"))
        parts.append(bar(left, y, x(share) - left, 16, "share", f"{row.variable.name} = {row.value}{regret}"))
        parts.append(text(x(share) + 6, y + 13, f"{share:.0%} {_cut(str(row.value), 14)}", "tick"))
    return drawing(parts, "importance of holes", 16 + len(known) * pitch)


def parallel(tuned: Tuned) -> str:
    """A line for each trial through its values. The last axis is the time; the thick line is the best."""
    timed = [(s, t) for t in tuned.measured if (s := t.outcome.seconds) is not None and t.candidate.values]
    shown = sorted(timed, key=lambda pair: (pair[0], pair[1].number))[:_LINES]
    variables = [v for v in tuned.variables if len(v.values) > 1]
    if len(shown) < 2 or not variables:
        return ""
    height = 340.0
    across = AxisScale(0, len(variables), 60, WIDTH - 60)
    times = AxisScale(shown[0][0], shown[-1][0], 40, height - 40, log=True)
    axes = [_places(v, [dict(t.candidate.values).get(v.name) for _, t in shown]) for v in variables]
    parts, values = [], []
    for n, (variable, places) in enumerate(zip(variables, axes, strict=True)):
        parts.append(line(across(n), 40, across(n), height - 40, "axis"))
        up = 16 if n % 2 else 30
        parts.append(text(across(n), up, _cut(variable.name, 16), "label", "middle"))
        step = max(1, -(-len(places) // 12))
        for value, y in list(places.items())[::step]:
            values.append(text(across(n) + 5, y + 4, _cut(str(value), 14), "tick over"))
    parts.append(line(across.end, 40, across.end, height - 40, "axis"))
    parts.append(text(across.end, 16, "time", "label", "middle"))
    ends = ((shown[0][0], 32.0), (shown[-1][0], height - 24))
    parts.extend(text(across.end, y, seconds_text(s), "tick", "middle") for s, y in ends)
    for rank in reversed(range(len(shown))):
        seconds, trial = shown[rank]
        given = dict(trial.candidate.values)
        points = [(across(n), p[given[v.name]]) for n, (v, p) in enumerate(zip(variables, axes, strict=True))
                  if given.get(v.name) in p]  # fmt: skip
        points.append((across.end, times(seconds)))
        heat = 1 - rank / max(1, len(shown) - 1)
        style = f"stroke-opacity:{0.08 + 0.5 * heat**2:.2f}"
        kind = "chosen" if rank == 0 else "ray"
        parts.append(path(points, kind, _tip(trial, seconds), "" if rank == 0 else style))
    # values are drawn above the lines, so that they can be read
    parts += values
    return drawing(parts, "parallel coordinates", height)


def _places(variable: Variable, seen: Sequence[Value | None]) -> dict[Value, float]:
    """Heights of the values that trials have, in the order of the variable."""
    values = [v for v in variable.values if v in set(seen)]
    y = AxisScale(0, max(1, len(values) - 1), 300 - 14, 54)
    return {value: y(n) for n, value in enumerate(values)}


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


def _cut(words: str, most: int) -> str:
    return words if len(words) <= most else words[: most - 1] + "…"
