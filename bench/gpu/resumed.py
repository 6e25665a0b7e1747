"""What earlier parts of a run have measured: the raw figures that `--json` wrote, as results again."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from bench.gpu.cases import Case
from bench.gpu.outcome import Outcome, Pairs, Result

PROCESSES = 2
"""That measure each case."""


def resumed(path: Path | None, chosen: Sequence[Case]) -> list[Result]:
    """A result for each case, empty where the file has none. A case that has changed counts as a new one."""
    known = {} if path is None or not path.exists() else _by_name(path)
    return [_result(case, known.get(case.name)) for case in chosen]


def is_done(result: Result) -> bool:
    return len(result.outcomes) >= PROCESSES


def _by_name(path: Path) -> dict[str, Any]:
    return {row["case"]: row for row in json.loads(path.read_text(encoding="utf-8"))}


def _result(case: Case, row: dict[str, Any] | None) -> Result:
    if row is None or (row["program"], row["sizes"]) != (case.program, dict(case.sizes)):
        return Result(case)
    return Result(case, row["refused"], row["resources"], [_outcome(o) for o in row["processes"]])


def _outcome(row: dict[str, Any]) -> Outcome:
    candidates = {n: (warm, cold) for n, (warm, cold) in row["candidates"].items()}
    tuned = tuple((n, bytes.fromhex(held)) for n, held in row["tuned"])
    plain = {n: row[n] for n in ("verdicts", "notes", "chosen", "sets", "clock", "took")}
    out = Outcome(**plain, missing=frozenset(row["missing"]), candidates=candidates, tuned=tuned)
    out.warm, out.cold = _pairs(row["warm"]), _pairs(row["cold"])
    return out


def _pairs(row: dict[str, Any]) -> dict[str, Pairs]:
    return {name: [(ours, peer) for ours, peer in found] for name, found in row.items()}
