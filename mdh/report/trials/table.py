"""Every trial as a row of a table, which the page's script sorts and filters."""

from html import escape
from pathlib import Path

from mdh.report.text import seconds_text
from mdh.report.trials.axes import Axes, axes_of, parallel
from mdh.results.trial import Trial
from mdh.results.tuning import Tuned

FOLDER = Path(__file__).resolve().parent
_ROWS = 1000
"""The most trials that are listed: browsers sort them at once, and the page stays below a megabyte."""
_LINES = (
    "A line a trial, the thick one is the best; the last axis is the time. Drag along an axis to select a "
    "range of it: what is not in it fades here and in the history, and leaves the table. A click ends that."
)


def style() -> str:
    return (FOLDER / "trials.css").read_text(encoding="utf-8")


def script(*names: str) -> str:
    """A `<script>` element with the named files. Each file is a function, so that they share no names."""
    texts = (f"(() => {{\n{(FOLDER / name).read_text(encoding='utf-8')}}})();\n" for name in names)
    return f'<script>"use strict";\n{"".join(texts)}</script>'


def trials_html(tuned: Tuned) -> str:
    """The lines through the values of holes, the choice of a range, and the table."""
    trials = tuned.measured
    if not trials:
        return ""
    axes = axes_of(tuned)
    lines = ""
    if axes is not None:
        drawn = f"<div class=scroll>{parallel(axes)}</div>"
        lines = f"<figure class=chart>{drawn}<figcaption>{_LINES}</figcaption></figure>"
    bar = '<div class="ranges js" hidden></div><p class="note selected js" aria-live="polite" hidden></p>'
    return f"<section class=trials><h2>Trials</h2>{lines}{bar}{_table(tuned, axes)}</section>"


def _table(tuned: Tuned, axes: Axes | None) -> str:
    """The fastest first, then those that failed."""
    names = tuple(
        dict.fromkeys(v.name for v in tuned.variables)
        if tuned.variables
        else dict.fromkeys(name for t in tuned.measured for name, _ in t.candidate.values)
    )
    ordered = sorted(tuned.measured, key=lambda t: (t.outcome.seconds or float("inf"), t.number))
    best = None if tuned.best is None else tuned.best.candidate.key
    rows = "".join(_row(t, names, axes, best) for t in ordered[:_ROWS])
    heads = [
        ("trial", " class=n"),
        ("time", " class=n"),
        *((n, "") for n in names),
        ("by", ""),
        ("result", ""),
    ]
    head = "".join(f"<th scope=col{mark}>{escape(name)}" for name, mark in heads)
    left = len(ordered) - _ROWS
    more = f"<p class=note>{left:,} more trials are in the record.</p>" if left > 0 else ""
    table = f"<table class=sortable><thead><tr>{head}</thead><tbody>{rows}</tbody></table>"
    return f'<div class="scroll tall" tabindex=0>{table}</div>{more}'


def _row(trial: Trial, names: tuple[str, ...], axes: Axes | None, best: str | None) -> str:
    """data-y: its height on each axis; data-k: what a cell is sorted by, where that is not its text."""
    outcome, given = trial.outcome, dict(trial.candidate.values)
    seconds = outcome.seconds
    where = "" if axes is None else " ".join("-" if y is None else f"{y:.1f}" for y in axes.heights(trial))
    time = (
        "<td class=n>" if seconds is None else f'<td class=n data-k="{seconds:.9g}">{seconds_text(seconds)}'
    )
    values = "".join(f"<td>{escape(str(given.get(name, '')))}" for name in names)
    said = "right" if outcome.failure is None else f"{outcome.failure} {outcome.code}".strip()
    if outcome.failure is None and trial.candidate.key == best:
        said = "the best"
    tail = f"<td>{escape(trial.origin)}<td>{escape(said)}"
    s = "" if seconds is None else f' data-s="{seconds:.9g}"'
    return f'<tr data-t="{trial.number}" data-y="{where}"{s}><td class=n>{trial.number}{time}{values}{tail}'
