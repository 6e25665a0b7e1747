"""Spaces that were measured in full (`scripts/space-table`): what the model says of their points."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

from experiments.cost_spaces import ROOT
from experiments.space_table import SCHEMA, job_of
from mdh.cost.predict import predict
from mdh.cost.prediction import Prediction
from mdh.frontend.c.read import read_program
from mdh.ir.plan import Plan
from mdh.machine import Machine
from mdh.schedule.parser import parse_schedule
from mdh.source import Source
from mdh.tuner.space import make_space

FOLDER = ROOT / "artifacts" / "spaces"


def table_names(title: str) -> tuple[str, ...]:
    """Of those that were measured on the device."""
    return tuple(p.stem for p in sorted(FOLDER.glob("*.jsonl")) if _head(p).get("device") == title)


def pairs_of_table(name: str, machine: Machine, target: str) -> list[tuple[Prediction, float]]:
    """Of the points that have a time. Raises ValueError where the file is no table."""
    # one space is measured on several machines
    space_name = _head(FOLDER / f"{name}.jsonl")["name"]
    path = ROOT / "experiments" / "spaces" / f"{space_name}.mdh"
    text = path.read_text(encoding="utf-8")
    job = job_of(path, text, "")
    program = read_program(Source(job.path, job.source), defines=dict(job.defines))
    schedule = replace(parse_schedule(Source(str(path), text)), target=None)
    space = make_space(program, schedule, machine, target)
    out = []
    for point, seconds in _rows(FOLDER / f"{name}.jsonl"):
        plan = space.plan(point)
        if seconds and isinstance(plan, Plan):
            out.append((predict(plan), seconds))
    return out


def _head(path: Path) -> dict[str, Any]:
    head = json.loads(path.read_text(encoding="utf-8").partition("\n")[0])
    if head.get("schema") != SCHEMA:
        raise ValueError(f"{path} is no {SCHEMA}")
    return dict(head)


def _rows(path: Path) -> list[tuple[tuple[int | str, ...], float | None]]:
    rows = map(json.loads, path.read_text(encoding="utf-8").splitlines()[1:])
    return [(tuple(row["point"]), row["seconds"]) for row in rows]
