"""`scripts/fuzz`: random pairs through the whole path, and damaged texts through both parsers.

    scripts/fuzz --pairs 2000 --seed 1 --device opencl:0      program N with schedule N, from the seed on
    scripts/fuzz --mutations 10000 --seed 1                    both parsers, that many texts each

Prints a table of outcomes and both texts of every pair that is neither equal nor rejected; exit status 1
where there is one.
"""

import argparse
import json
import sys
from collections import Counter
from collections.abc import Callable
from random import Random
from typing import Any

from mdh.device.api import open_device
from mdh.diagnostics import Failed, render_json, render_text
from mdh.frontend.c.read import read_program
from mdh.machine import load_machine
from mdh.schedule.parser import parse_schedule
from mdh.schedule.printer import print_schedule
from mdh.source import Source
from tests.support.corpus import WORKLOADS, schedules
from tests.support.mutations import mutate
from tests.support.pairs import Outcome, run_pair
from tests.support.workers import Done, run_tasks

SLOW = 1.0
"""Seconds that no parser may take."""


def pairs_on(setting: tuple[str, str | None]) -> Callable[[int], tuple[Outcome, str]]:
    """The task of a worker: one device for all pairs it gets."""
    spec, machine_name = setting
    device = open_device(spec)
    machine = load_machine(machine_name) if machine_name else device.machine
    return lambda seed: run_pair(seed, device, machine)


def outcome_of(done: Done[int]) -> tuple[Outcome, str]:
    if done.failure:
        kind = "hang" if "not done" in done.failure else "crash"
        return Outcome(kind, done.failure.strip()[-1500:]), f"seed {done.key}\n"
    outcome, texts = done.value
    return outcome, texts


def fuzz_pairs(
    pairs: int, seed: int, device: str, machine: str | None, jobs: int, limit: float
) -> tuple[Counter[str], Counter[str], list[str]]:
    """(outcomes, rejection codes, texts of the pairs that went wrong)."""
    kinds: Counter[str] = Counter()
    codes: Counter[str] = Counter()
    wrong: list[str] = []
    keys = range(seed, seed + pairs)
    for done in run_tasks(pairs_on, (device, machine), keys, jobs=jobs, limit=limit):
        outcome, texts = outcome_of(done)
        kinds[outcome.kind] += 1
        if outcome.kind == "rejected":
            codes.update(outcome.detail.split())
        elif outcome.kind != "equal":
            wrong.append(f"seed {done.key} on {device}: {outcome.kind}\n{texts}{outcome.detail}\n")
    return kinds, codes, wrong


def mutants_of(setting: str) -> Callable[[int], str]:
    """The task of a worker: damage a text of the language `setting`, read it, report what came of it."""
    if setting == "c":
        texts = [w.source.text for w in WORKLOADS.values()]
        read: Callable[[str], Any] = lambda text: read_program(Source("mutant.c", text))  # noqa: E731
    else:
        texts = [s.source.text for s in schedules()]
        read = _read_twice
    return lambda seed: _mutant(read, mutate(Random(f"{setting} {seed}"), texts[seed % len(texts)], texts))


def _read_twice(text: str) -> None:
    """Whatever parses also prints and parses again to the same value."""
    schedule = parse_schedule(Source("mutant.mdh", text))
    printed = print_schedule(schedule)
    again = parse_schedule(Source("printed.mdh", printed))
    if again != schedule:
        raise AssertionError(f"prints as another schedule:\n{text}\n---\n{printed}")


def _mutant(read: Callable[[str], Any], text: str) -> str:
    try:
        read(text)
    except Failed as failed:
        for diagnostic in failed.diagnostics:
            render_text(diagnostic)
            json.dumps(render_json(diagnostic))
        return failed.diagnostics[0].code
    return "read"


def fuzz_mutations(
    language: str, count: int, seed: int, jobs: int, limit: float
) -> tuple[Counter[str], list[str], float]:
    """(first codes, failures, the longest time of one text in seconds)."""
    codes: Counter[str] = Counter()
    wrong: list[str] = []
    longest = 0.0
    for done in run_tasks(mutants_of, language, range(seed, seed + count), jobs=jobs, limit=limit):
        longest = max(longest, done.seconds)
        if done.failure:
            wrong.append(f"{language} mutant {done.key}: {done.failure}")
        else:
            codes[done.value] += 1
    return codes, wrong, longest


def main(argv: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="scripts/fuzz", description=__doc__)
    parser.add_argument("--pairs", type=int, default=0)
    parser.add_argument("--mutations", type=int, default=0)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--device", default="opencl:0")
    parser.add_argument("--machine", help="a machine file's name, where it is not the device's own")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--limit", type=float, default=60.0, help="seconds for one pair")
    given = parser.parse_args(argv)
    out: list[str] = []
    failures: list[str] = []
    if given.pairs:
        kinds, codes, wrong = fuzz_pairs(
            given.pairs, given.seed, given.device, given.machine, given.jobs, given.limit
        )
        out += [f"{given.pairs} pairs from seed {given.seed} on {given.device}", _table(kinds), _table(codes)]
        failures += wrong
    for language in ("c", "mdh") if given.mutations else ():
        codes, wrong, longest = fuzz_mutations(language, given.mutations, given.seed, given.jobs, 10 * SLOW)
        out += [f"{given.mutations} mutants of .{language}, longest {longest:.2f} s", _table(codes)]
        failures += wrong + ([f"a .{language} mutant took {longest:.2f} s"] if longest > 2 * SLOW else [])
    sys.stdout.write("\n".join(out + failures) + "\n")
    return 1 if failures else 0


def _table(counts: Counter[str]) -> str:
    return "  " + "  ".join(f"{k} {v}" for k, v in counts.most_common())


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
