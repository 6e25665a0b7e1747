"""Parallel coordinates: an axis for each hole, the last for the time, and a line for each trial.

Every axis has a strip that the page's script makes a brush of: a range of it selects trials.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape

from mdh.report.html_charts import cut, tip_of
from mdh.report.html_svg import WIDTH, AxisScale, drawing, line, path, text
from mdh.report.text import seconds_text
from mdh.results.trial import Trial, Value
from mdh.results.tuning import Tuned
from mdh.results.variable import Variable

_LINES = 250
"""The number of best trials that have a line; more would be a solid block."""
_HEIGHT, _TOP = 340.0, 40.0
_STRIP = 26.0
"""The width of what a finger can hold."""


@dataclass(frozen=True)
class Axes:
    """Where trials are on every axis. variables: with more than one value. places: heights of the values that
    trials have, by variable. shown: (seconds, trial) of each line, the fastest first."""

    variables: tuple[Variable, ...]
    places: tuple[Mapping[Value, float], ...]
    shown: tuple[tuple[float, Trial], ...]
    across: AxisScale
    times: AxisScale

    def heights(self, trial: Trial) -> list[float | None]:
        """On each axis; None for a hole that the trial has no value of, and for a trial without a time."""
        given, seconds = dict(trial.candidate.values), trial.outcome.seconds
        found = [
            None if (value := given.get(v.name)) is None else places.get(value)
            for v, places in zip(self.variables, self.places, strict=True)
        ]
        return [*found, None if seconds is None else self.times(seconds)]


def axes_of(tuned: Tuned) -> Axes | None:
    """None if there are no two trials to compare."""
    trials = [t for t in tuned.measured if t.candidate.values]
    timed = sorted(
        ((s, t) for t in trials if (s := t.outcome.seconds) is not None), key=lambda p: (p[0], p[1].number)
    )
    variables = tuple(v for v in tuned.variables if len(v.values) > 1)
    if len(timed) < 2 or not variables:
        return None
    # trials without a line are in the table, and a range of time selects them too
    times = AxisScale(timed[0][0], timed[-1][0], _TOP, _HEIGHT - _TOP, log=True)
    places = tuple(_places(v, [dict(t.candidate.values).get(v.name) for t in trials]) for v in variables)
    across = AxisScale(0, len(variables), 60, WIDTH - 60)
    return Axes(variables, places, tuple(timed[:_LINES]), across, times)


def _places(variable: Variable, seen: Sequence[Value | None]) -> dict[Value, float]:
    """Heights of the values that trials have, in the order of the variable."""
    there = set(seen)
    values = [v for v in variable.values if v in there]
    y = AxisScale(0, max(1, len(values) - 1), 300 - 14, 54)
    return {value: y(n) for n, value in enumerate(values)}


def parallel(axes: Axes | None) -> str:
    """A line for each trial through its values. The last axis is the time; the thick line is the best."""
    if axes is None:
        return ""
    parts: list[str] = []
    for rank in reversed(range(len(axes.shown))):
        parts.append(_ray(axes, rank))
    # values are drawn above the lines, so that they can be read
    for n, (variable, places) in enumerate(zip(axes.variables, axes.places, strict=True)):
        parts += _axis(axes.across(n), cut(variable.name, 16), 16 if n % 2 else 30)
        step = max(1, -(-len(places) // 12))
        for value, y in list(places.items())[::step]:
            parts.append(text(axes.across(n) + 5, y + 4, cut(str(value), 14), "tick over"))
        names = [str(value) for value in places]
        parts.append(_strip(axes.across(n), variable.name, names, list(places.values())))
    parts += _axis(axes.across.end, "time", 16)
    low, high = axes.times.low, axes.times.high
    for seconds, y in ((low, _TOP - 8), (high, _HEIGHT - 24)):
        parts.append(text(axes.across.end, y, seconds_text(seconds), "tick", "middle"))
    grid = [low * (high / low) ** (n / 12) for n in range(13)]
    names = [seconds_text(s) for s in grid]
    parts.append(_strip(axes.across.end, "time", names, [axes.times(s) for s in grid]))
    return drawing(parts, "parallel coordinates", _HEIGHT)


def _ray(axes: Axes, rank: int) -> str:
    seconds, trial = axes.shown[rank]
    heights = axes.heights(trial)
    points = [(axes.across(n), y) for n, y in enumerate(heights) if y is not None]
    heat = 1 - rank / max(1, len(axes.shown) - 1)
    style = f"stroke-opacity:{0.08 + 0.5 * heat**2:.2f}" if rank else ""
    return path(points, "ray" if rank else "chosen", tip_of(trial, seconds), style, trial.number)


def _axis(x: float, name: str, up: float) -> list[str]:
    return [line(x, _TOP, x, _HEIGHT - _TOP, "axis"), text(x, up, name, "label", "middle")]


def _strip(x: float, name: str, values: Sequence[str], places: Sequence[float]) -> str:
    """What a range is drawn on. places: heights of the values."""
    data = f'data-name="{escape(name)}" data-values="{escape(json.dumps(values))}"'
    data += f' data-places="{json.dumps([round(y, 1) for y in places])}"'
    size = (
        f'x="{x - _STRIP / 2:.1f}" y="{_TOP - 6:.1f}" width="{_STRIP}" height="{_HEIGHT - 2 * _TOP + 12:.1f}"'
    )
    return f'<rect class="strip" {size} {data}><title>{escape(name)}: drag to select</title></rect>'
