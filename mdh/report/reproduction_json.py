"""Experiments of papers, and what came out of one, as values for JSON."""

from dataclasses import asdict
from typing import Any

from mdh.results.experiment import Experiment, Figure, LeftOut
from mdh.results.reproduction import Reproduction


def experiment_json(one: Experiment) -> dict[str, Any]:
    return {
        "name": one.name, "paper": one.paper.source, "place": one.place, "about": one.about,
        "minutes": one.minutes, "devices": list(one.kinds), "libraries": list(one.libraries),
        "notes": list(one.notes),
        "cases": [
            {
                "name": c.name, "program": c.program, "sizes": dict(c.sizes),
                "paper": [_figure(f) for f in c.figures],
            }
            for c in one.cases
        ],
        "totals": [
            {"machine": t.machine.title, "peer": t.peer, "what": t.what, "value": t.value} for t in one.totals
        ],
    }  # fmt: skip


def _figure(one: Figure) -> dict[str, Any]:
    return {
        "machine": one.machine.title, "against": one.against, "ratio": one.ratio, "peer_seconds": one.peer,
        "own_seconds": one.own,
    }  # fmt: skip


def left_out_json(one: LeftOut) -> dict[str, Any]:
    return {"name": one.name, "paper": one.paper.source, "place": one.place, "why": one.why}


def reproduction_json(experiment: Experiment, found: Reproduction) -> dict[str, Any]:
    return {"experiment": experiment_json(experiment), "result": asdict(found)}
