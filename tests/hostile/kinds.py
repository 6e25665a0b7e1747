"""The kinds of hostile input for data files and messages, by name: valid ones, what damages them, what judges
mdh."""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from random import Random

from tests.hostile import npy, records, toml, wire
from tests.hostile.verdict import Verdict


@dataclass(frozen=True)
class Kind:
    valid: Callable[[], Sequence[bytes]]
    mutate: Callable[[bytes, Random], bytes]
    judge: Callable[[bytes], Verdict]


KINDS = {
    "machine": Kind(toml.machine_files, toml.mutate_machine, toml.judge_machine),
    "project": Kind(toml.project_files, toml.mutate_project, toml.judge_project),
    "npy": Kind(npy.array_files, npy.mutate_npy, npy.judge_npy),
    "record": Kind(records.record_files, records.mutate_record, records.judge_record),
    "answer": Kind(wire.answers, wire.mutate, wire.judge_answer),
    "request": Kind(wire.requests, wire.mutate, wire.judge_request),
    "reply": Kind(wire.replies, wire.mutate, wire.judge_reply),
}


def tried(kind: Kind, count: int, seed: int) -> tuple[Counter[str], list[tuple[int, str]]]:
    """Outcomes of `count` inputs, and (number, what went wrong) of those that were not fine. Input `n` of a
    seed is the same whatever the count."""
    outcomes: Counter[str] = Counter()
    wrong: list[tuple[int, str]] = []
    for n in range(count):
        verdict = kind.judge(made(kind, n, seed))
        outcomes[verdict.outcome if verdict.fine else "wrong"] += 1
        if not verdict.fine:
            wrong.append((n, verdict.outcome))
    return outcomes, wrong


def made(kind: Kind, n: int, seed: int) -> bytes:
    """Input `n` of a seed."""
    chance = Random(f"{seed} {n}")
    return kind.mutate(chance.choice(kind.valid()), chance)
