"""What the tuner and its workers on other machines say to one another: JSON texts, nothing else."""

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from mdh.tune.measure.wire import Json
from mdh.tune.records.form import trial_fields, trial_from
from mdh.tune.values import Candidate, Limits, Outcome, Trial

PROTOCOL = 1


def candidate_json(candidate: Candidate) -> Json:
    """Its values stay with the tuner: the schedule says it all."""
    return {"key": candidate.key, "schedule": candidate.schedule}


def read_candidate(value: Mapping[str, Any]) -> Candidate:
    return Candidate(value["key"], value["schedule"])


def limits_json(limits: Limits) -> Json:
    return asdict(limits)


def read_limits(value: Mapping[str, Any]) -> Limits:
    return Limits(**value)


def outcome_json(candidate: Candidate, outcome: Outcome) -> Json:
    """As a record has it."""
    return trial_fields(Trial(0, candidate, "", "", outcome), "")


def read_outcome(value: Json) -> Outcome:
    """Raises BadLineError, a ValueError, where it is none."""
    return trial_from(value).outcome
