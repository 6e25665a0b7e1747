"""Rows from what is known of an entry on a platform: its plan, its runs, a record, the model."""

from collections.abc import Sequence
from dataclasses import replace

from mdh.compare.closing import Closed
from mdh.compare.figures import spread
from mdh.compare.limits import limit_of, occupancy_of
from mdh.compare.timing import Runs
from mdh.cost.predict import predict
from mdh.cost.prediction import Constants
from mdh.pipeline import Pipeline
from mdh.report.picture.page import schedule_page
from mdh.results.comparison import Row, RowKind, Spread
from mdh.tuner.records.header import moment_text

ENDED = "not measured: the comparison was ended before"


def planned(
    platform: str, entry: str, found: Closed, constants: Constants | None, *, drawn: bool = False
) -> Row:
    """All that the plan says, drawn: with its page; no time yet. Raises Failed where the plan cannot be
    lowered."""
    pipeline = Pipeline()
    module = pipeline.lower(found.plan)
    text = pipeline.emit(module, found.plan.program)
    guess = predict(found.plan, constants)
    return Row(
        platform, entry, RowKind.ABSENT, limit=limit_of(guess), model=guess.seconds,
        occupancy=occupancy_of(found.plan, module), how=found.how, values=found.values, note=ENDED,
        schedule=found.plan.text, source=text.source,
        picture=schedule_page(found.plan, module, text, inside=True) if drawn else "",
    )  # fmt: skip


def measured(row: Row, runs: Runs | None) -> Row:
    """The row with what its runs came to, None: it had none."""
    if runs is None or row.why is not None:
        return row
    if runs.why is not None:
        return replace(row, kind=RowKind.FAILED, why=runs.why, note="")
    if runs.absent or not runs.seconds:
        return replace(row, note=runs.absent or ENDED)
    time = spread(runs.seconds, runs.clock)
    return replace(row, kind=RowKind.MEASURED, time=time, cold=_cold(runs.cold, runs.clock), note=runs.note)


def recorded(row: Row, found: Closed) -> Row:
    """The row with the time that a record has, measured on another machine; else the model's estimate."""
    trial = found.found
    if trial is None or not trial.trial.outcome.warm:
        assert row.model is not None
        guess = Spread(row.model, row.model, row.model, 0.0, 0, "model")
        return replace(row, kind=RowKind.ESTIMATED, time=guess, note="")
    outcome = trial.trial.outcome
    when = moment_text(trial.trial.started).partition("T")[0]
    note = f"measured on {outcome.title or trial.title}{', ' + when if when else ''}: {trial.path}"
    time = spread(outcome.warm, outcome.clock)
    return replace(row, kind=RowKind.RECORDED, time=time, cold=_cold(outcome.cold, outcome.clock), note=note)


def _cold(samples: Sequence[float], clock: str) -> Spread | None:
    return spread(samples, clock) if samples else None
