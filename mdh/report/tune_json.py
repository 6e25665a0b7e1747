"""The result of a tuning as plain data for `--json`; docs/formats.md lists the fields."""

from dataclasses import asdict
from typing import Any

from mdh.diagnostics import render_json
from mdh.report.tune_importance import sensitivities
from mdh.report.tune_text import failure_counts, first_of
from mdh.results.trial import Trial
from mdh.results.tuning import Tuned


def tuned_json(tuned: Tuned) -> dict[str, Any]:
    return {
        "program": tuned.program,
        "defines": dict(tuned.defines),
        "devices": list(tuned.devices),
        "title": tuned.title,
        "machine": tuned.machine,
        "target": tuned.target,
        "sampler": tuned.sampler,
        "seed": tuned.seed,
        "ended": str(tuned.ended),
        "elapsed": tuned.elapsed,
        "best": trial_json(tuned.best),
        "baseline": trial_json(tuned.baseline),
        "given": trial_json(tuned.given),
        "speedup": tuned.speedup,
        "noise": tuned.noise,
        "speedup_over_given": tuned.speedup_over_given,
        "space": None if tuned.sizes is None else asdict(tuned.sizes),
        "model": {"learned": tuned.learned},
        "trials": {
            "measured": len([t for t in tuned.trials if t.phase == "quick"]),
            "earlier": len([t for t in tuned.earlier if t.phase == "quick"]),
            "right": len([t for t in tuned.measured if t.outcome.failure is None]),
            "failed": {str(f): n for f, n in failure_counts(tuned)},
            "skipped": dict(tuned.skipped),
        },
        "failures": [_failure(first_of(tuned, f), n) for f, n in failure_counts(tuned)],
        "holes": [
            {
                "name": s.variable.name,
                "dim": s.variable.dim,
                "value": s.value,
                "values": list(s.variable.values),
                "share": s.share,
                "next_best": s.rival,
                "regret": s.regret,
            }
            for s in sensitivities(tuned)
        ],
        "files": dict(tuned.files),
        "schedule": tuned.schedule,
        "unconfirmed": tuned.unconfirmed,
        "trouble": [render_json(d) for d in tuned.trouble],
    }


def trial_json(trial: Trial | None) -> dict[str, Any] | None:
    """A trial in short; the record has everything."""
    if trial is None:
        return None
    return {
        "number": trial.number,
        "origin": trial.origin,
        "phase": trial.phase,
        "seconds": trial.outcome.seconds,
        "values": dict(trial.candidate.values),
        "failure": None if trial.outcome.failure is None else str(trial.outcome.failure),
        "key": trial.candidate.key,
    }


def _failure(first: Trial, count: int) -> dict[str, Any]:
    outcome = first.outcome
    return {
        "failure": str(outcome.failure),
        "count": count,
        "code": outcome.code,
        "message": outcome.message,
        "trial": first.number,
        "schedule": first.candidate.schedule,
    }
