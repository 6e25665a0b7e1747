"""The page of a tuning that runs: `live.js` asks the server for what changes, and the charts are those of the
page of a tuning that has ended."""

from collections.abc import Sequence
from html import escape

from mdh.report.html import run_parts
from mdh.report.html_frame import FRAME, shared
from mdh.report.html_style import document
from mdh.report.picture.page import ICON
from mdh.report.trials.table import script, style
from mdh.results.goal import Ended
from mdh.results.trial import Trial, Value
from mdh.results.tuning import RunProgress, Tuned
from mdh.results.variable import Metric, Variable

_NO_SCRIPT = (
    "<noscript><p class=note>Without scripts the page shows what it knew when it was loaded.</p></noscript>"
)


def live_page(title: str, runs: Sequence[str]) -> str:
    """runs: what is known of each, as `run_html` makes it."""
    shown = "".join(f'<div id="run-{n}">{html}</div>' for n, html in enumerate(runs))
    body = [
        f'{shared()}<p class="note state" role=status>not live</p>{_NO_SCRIPT}',
        f"<div id=runs>{shown}</div>",
        script("trials.js", "live.js"),
    ]
    return document(f"tuning {title}", body, FRAME + style(), ICON)


def run_html(tuned: Tuned, phase: str, picture: str = "") -> str:
    """What is known of a run; phase: what it does at the moment."""
    return "\n".join([f"<p class=note>{escape(phase)}</p>" if phase else "", *run_parts(tuned, picture)])


def begun(
    name: str,
    defines: tuple[tuple[str, int | str], ...],
    devices: tuple[str, ...],
    sampler: str,
    trials: Sequence[Trial],
    now: RunProgress,
    best: Trial | None,
) -> Tuned:
    """A run that goes on, as the value that pages are made of. Its holes are those that its trials have."""
    known = (*now.earlier, *trials)
    title = next((t.outcome.title for t in reversed(known) if t.outcome.title), "starting")
    baseline = next((t for t in reversed(known) if t.origin == "default" and t.outcome.seconds), None)
    return Tuned(
        program=name, defines=defines, devices=devices, title=title, machine="", target="", sampler=sampler,
        seed=0, variables=variables_of(known), sizes=None, trials=tuple(trials), earlier=now.earlier,
        best=best, baseline=baseline, given=None, skipped=(), elapsed=now.elapsed, ended=Ended.INTERRUPTED,
        best_point=best if best is not None and best.candidate.values else None,
    )  # fmt: skip


def variables_of(trials: Sequence[Trial]) -> tuple[Variable, ...]:
    """The holes of the trials, each with the values that it had: numbers ascending, in front of words."""
    found: dict[str, dict[Value, None]] = {}
    for trial in trials:
        for name, value in trial.candidate.values:
            found.setdefault(name, {})[value] = None
    return tuple(
        Variable(name, Metric.WORD, tuple(sorted(values, key=lambda v: (isinstance(v, str), v))))
        for name, values in found.items()
    )
