"""Pieces of SVG charts: scales with round ticks, and shapes with classes. The style sheet has the colours."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from html import escape
from math import ceil, floor, log10

WIDTH, HEIGHT = 720, 300
LEFT, RIGHT, TOP, BOTTOM = 72, 16, 14, 40


@dataclass(frozen=True, slots=True)
class AxisScale:
    """Maps numbers from low to high to pixels from start to end, linearly or logarithmically. time: the
    numbers are seconds, and ticks are whole minutes and hours."""

    low: float
    high: float
    start: float
    end: float
    log: bool = False
    time: bool = False

    def __call__(self, value: float) -> float:
        low, high, v = self.low, self.high, value
        if self.log:
            low, high, v = log10(low), log10(high), log10(max(value, self.low * 1e-3))
        share = (v - low) / (high - low) if high > low else 0.5
        return self.start + share * (self.end - self.start)

    def ticks(self) -> list[float]:
        return _decades(self.low, self.high) if self.log else _steps(self.low, self.high, self.time)


_TIMES = (1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 14400, 28800, 86400)


def _steps(low: float, high: float, time: bool) -> list[float]:
    """About five round numbers."""
    if high <= low:
        return [low]
    rough = (high - low) / 5
    size = 10.0 ** floor(log10(rough))
    step = next(size * m for m in (1, 2, 5, 10) if size * m >= rough)
    if time:
        step = next((float(t) for t in _TIMES if t >= rough), step)
    first = ceil(low / step)
    return [step * n for n in range(first, floor(high / step) + 1)]


def _decades(low: float, high: float) -> list[float]:
    """Powers of ten; if there are few, also twice and five times them."""
    powers = range(floor(log10(low)), ceil(log10(high)) + 1)
    factors = (1, 2, 5) if len(powers) <= 3 else (1,)
    found = [m * 10.0**p for p in powers for m in factors]
    return [v for v in found if low <= v <= high] or [low, high]


def text(x: float, y: float, words: str, kind: str = "", anchor: str = "start") -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" class="{kind}" text-anchor="{anchor}">{escape(words)}</text>'


def line(x1: float, y1: float, x2: float, y2: float, kind: str) -> str:
    return f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" class="{kind}"/>'


def path(
    points: Iterable[tuple[float, float]], kind: str, tip: str = "", style: str = "", trial: int | None = None
) -> str:
    """trial: the number of the trial that it stands for."""
    d = " ".join(f"{'M' if n == 0 else 'L'}{x:.1f} {y:.1f}" for n, (x, y) in enumerate(points))
    more = f' style="{style}"' if style else ""
    return f'<path d="{d}" class="{kind}"{more}{_of(trial)}>{_tip(tip)}</path>'


def dot(x: float, y: float, kind: str, tip: str = "", radius: float = 3.2, trial: int | None = None) -> str:
    """trial: the number of the trial that it stands for."""
    place = f'cx="{x:.1f}" cy="{y:.1f}" r="{radius}" class="{kind}"'
    return f"<circle {place}{_of(trial)}>{_tip(tip)}</circle>"


def _of(trial: int | None) -> str:
    return "" if trial is None else f' data-t="{trial}"'


def bar(x: float, y: float, width: float, height: float, kind: str, tip: str = "") -> str:
    size = f'width="{max(width, 0):.1f}" height="{height:.1f}"'
    return f'<rect x="{x:.1f}" y="{y:.1f}" {size} rx="2" class="{kind}">{_tip(tip)}</rect>'


def _tip(words: str) -> str:
    return f"<title>{escape(words)}</title>" if words else ""


def drawing(parts: Iterable[str], label: str, height: float = HEIGHT) -> str:
    box = f'viewBox="0 0 {WIDTH} {height:.0f}"'
    return f'<svg {box} role="img" aria-label="{escape(label)}">{"".join(parts)}</svg>'


def frame(
    x: AxisScale,
    y: AxisScale,
    x_name: str,
    y_name: str,
    x_text: Callable[[float], str],
    y_text: Callable[[float], str],
) -> list[str]:
    """Grid lines with their numbers, and the names of both axes."""
    out = []
    for value in y.ticks():
        out.append(line(x.start, y(value), x.end, y(value), "grid"))
        out.append(text(x.start - 8, y(value) + 4, y_text(value), "tick", "end"))
    for value in x.ticks():
        out.append(text(x(value), y.start + 18, x_text(value), "tick", "middle"))
    out.append(line(x.start, y.start, x.end, y.start, "axis"))
    out.append(text(x.end, y.start + 34, x_name, "name", "end"))
    out.append(text(x.start, y.end - 3, y_name, "name"))
    return out
