"""`scripts/hostile-input`: damaged inputs of every kind, and what mdh made of them.

    scripts/hostile-input --count 500000 --jobs 2            all kinds; goes on where it was ended
    scripts/hostile-input --kind command --count 1000 --seed 7

Every input has a result or a coded message, in two seconds; exit status 1 where one has not. Those inputs are
shrunk and kept, and input N of a seed is always the same.
"""

import argparse
import json
import re
import sys
from collections import Counter
from collections.abc import Callable
from itertools import takewhile
from math import inf
from pathlib import Path
from time import monotonic
from typing import Any

from tests.hostile.kinds import KINDS, Kind, made
from tests.hostile.shrink import shrunk
from tests.hostile.verdict import SECONDS, Verdict
from tests.hostile.word_kinds import TEXTS, WORDS
from tests.reliability.row import Parts
from tests.support.source_tree import ROOT
from tests.support.workers import Done, run_tasks

ALL = {**TEXTS, **KINDS, **WORDS}
"""Texts first, so that a kind of that name with more to it stands in its place."""
BLOCK = 50
LIMIT = 600.0
"""Seconds of a block, after which its process is ended."""
SHOWN = 2
"""Inputs that are shrunk, of those that a block finds to go wrong in one way."""
WEIGHTS = {"command": 0.25, "project run": 0.25, "npy": 0.5, "input": 0.5, "c": 2.0, "schedule": 2.0}
"""Shares of the count; 1 where nothing is said. What works in files takes longer."""
_SLOW = re.compile(r"\d+\.\d s, ")
Blocks = dict[str, list[dict[str, Any]]]
"""Of each kind, as `block` gives them."""
_NUMBERS = re.compile(r"\d+|0x[0-9a-f]+|/\S+")


def blocks(setting: tuple[int, int]) -> Callable[[tuple[str, int]], dict[str, Any]]:
    """The task of a worker: a block of a kind, by its number. setting: the seed, and inputs a block."""
    seed, size = setting

    def task(key: tuple[str, int]) -> dict[str, Any]:
        name, number = key
        return block(ALL[name], seed, range(number * size, (number + 1) * size))

    return task


def block(kind: Kind, seed: int, numbers: range) -> dict[str, Any]:
    """outcomes: how often each; slow: inputs that took too long once only; wrong: the others."""
    outcomes: Counter[str] = Counter()
    wrong: list[dict[str, Any]] = []
    seen: Counter[str] = Counter()
    slow = 0
    for n in numbers:
        data = made(kind, n, seed)
        verdict = kind.judge(data)
        if _SLOW.match(verdict.outcome):
            # the machine may have been busy
            slow, verdict = slow + 1, kind.judge(data)
        outcomes[verdict.outcome if verdict.fine else "wrong"] += 1
        if verdict.fine:
            continue
        way = way_of(verdict)
        seen[way] += 1
        if seen[way] <= SHOWN:
            small = shrunk(data, lambda b: way_of(kind.judge(b)) == way)  # noqa: B023
            wrong.append({"number": n, "outcome": verdict.outcome, "input": small.hex()})
        else:
            wrong.append({"number": n, "outcome": verdict.outcome, "input": ""})
    return {"outcomes": dict(outcomes), "slow": slow, "wrong": wrong}


def way_of(verdict: Verdict) -> str:
    """How it went wrong, less what differs from input to input; empty where it did not."""
    if verdict.fine:
        return ""
    if _SLOW.match(verdict.outcome):
        return "too slow"
    return _NUMBERS.sub("#", verdict.outcome)[:60]


def campaign(
    names: list[str], count: int, seed: int, jobs: int, out: Path, minutes: float | None = None
) -> dict[str, list[dict[str, Any]]]:
    """The blocks of each kind, of earlier runs with this seed too; as many as there is time for."""
    parts = Parts(out / f"hostile_input.{seed}.jsonl")
    parts.done.update(Parts.read(parts.path))
    share = count / sum(WEIGHTS.get(n, 1.0) for n in names)
    wanted = {n: max(1, round(share * WEIGHTS.get(n, 1.0) / BLOCK)) for n in names}
    # the kinds in turn, so that a run that is ended has seen all of them
    order = sorted((i / wanted[n], n, i) for n in names for i in range(wanted[n]))
    todo = [(n, i) for _, n, i in order if f"{n} {i}" not in parts.done]
    end = inf if minutes is None else monotonic() + 60 * minutes
    timely = takewhile(lambda _: monotonic() < end, todo)
    for done in run_tasks(blocks, (seed, BLOCK), timely, jobs=jobs, limit=LIMIT):
        name, number = done.key
        found = done.value if done.value is not None else _one_by_one(name, number, seed, done)
        parts.put(f"{name} {number}", found)
    keys = {n: [f"{n} {i}" for i in range(wanted[n])] for n in names}
    return {n: [parts.done[key] for key in keys[n] if key in parts.done] for n in names}


def _one_by_one(name: str, number: int, seed: int, ended: Done[tuple[str, int]]) -> dict[str, Any]:
    """A block whose process ended or hung: each input in a process that may do so."""
    outcomes: Counter[str] = Counter()
    wrong: list[dict[str, Any]] = []
    keys = [(name, number * BLOCK + i) for i in range(BLOCK)]
    for done in run_tasks(blocks, (seed, 1), keys, jobs=1, limit=20 * SECONDS):
        if done.value is None:
            outcomes["wrong"] += 1
            data = made(ALL[name], done.key[1], seed)
            words = done.failure.strip().splitlines()[-1]
            wrong.append({"number": done.key[1], "outcome": words, "input": data.hex()})
        else:
            outcomes.update(done.value["outcomes"])
            wrong += done.value["wrong"]
    # where each is fine by itself, the machine was busy, or they are not fine together
    together = not wrong and "not done" not in ended.failure
    if together:
        outcomes["wrong"] += 1
        words = f"its block ended: {ended.failure.strip().splitlines()[-1]}"
        wrong.append({"number": number * BLOCK, "outcome": words, "input": ""})
    return {"outcomes": dict(outcomes), "slow": int(not wrong), "wrong": wrong}


def report(found: Blocks, seed: int) -> str:
    total = sum(sum(one["outcomes"].values()) for done in found.values() for one in done)
    bad = sum(one["outcomes"].get("wrong", 0) for done in found.values() for one in done)
    lines = [
        "# Hostile input",
        "",
        f"`scripts/hostile-input --count {total} --seed {seed}`: {total:,} damaged inputs of"
        f" {len(found)} kinds; {bad} without a result or a coded message.",
        f"Damaged at random: tokens, words, bytes, bits, lines, headers. Too slow: over {SECONDS:.0f} s"
        " twice; an input that took so long",
        "once, on a busy machine, is counted apart.",
        "",
        "| kind | inputs | accepted | refused with a code | internal errors, others | over 2 s | slow once |",
        "|---|---:|---:|---:|---:|---:|---:|",
    ]
    for name, done in found.items():
        counts = sum((Counter(one["outcomes"]) for one in done), Counter[str]())
        slow = sum(bool(_SLOW.match(w["outcome"])) for one in done for w in one["wrong"])
        good = counts["returned"]
        wrong = counts["wrong"]
        lines.append(
            f"| {name} | {counts.total():,} | {good:,} | {counts.total() - good - wrong:,} | {wrong - slow} |"
            f" {slow} | {sum(one['slow'] for one in done)} |"
        )
    lines += ["", "| kind | codes |", "|---|---|"]
    for name, done in found.items():
        counts = sum((Counter(one["outcomes"]) for one in done), Counter[str]())
        codes = ", ".join(f"{c} {n:,}" for c, n in counts.most_common() if c not in ("returned", "wrong"))
        lines.append(f"| {name} | {codes} |")
    ways = [(name, w) for name, done in found.items() for one in done for w in one["wrong"] if w["input"]]
    if ways:
        lines += ["", "What went wrong, shrunk (first 20):", ""]
    for name, w in ways[:20]:
        text = bytes.fromhex(w["input"])[:160]
        lines.append(f"- {name} {w['number']}: {w['outcome'][:160]}: `{text!r}`".replace("\n", " "))
    return "\n".join(lines) + "\n"


def main(words: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="scripts/hostile-input", description=__doc__)
    parser.add_argument("--kind", action="append", choices=sorted(ALL), help="may be repeated; absent: all")
    parser.add_argument("--count", type=int, default=500_000)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--out", type=Path, help="absent: the page and what it is made of go to artifacts")
    parser.add_argument(
        "--minutes", type=float, help="begins nothing more after so many; goes on when called again"
    )
    given = parser.parse_args(words)
    folder = given.out or ROOT / "build" / "hostile_input"
    page = (given.out or ROOT / "artifacts") / "hostile_input.md"
    found = campaign(given.kind or list(ALL), given.count, given.seed, given.jobs, folder, given.minutes)
    text = report(found, given.seed)
    wrong = folder / f"wrong.{given.seed}"
    for name, done in found.items():
        for one in (w for part in done for w in part["wrong"] if w["input"]):
            wrong.mkdir(parents=True, exist_ok=True)
            path = wrong / f"{name.replace(' ', '_')}.{one['number']}"
            path.write_bytes(bytes.fromhex(one["input"]))
            path.with_name(path.name + ".json").write_text(json.dumps(one["outcome"]), encoding="utf-8")
    page.write_text(text, encoding="utf-8")
    sys.stdout.write(text + (f"\nfailing inputs: {wrong}\n" if wrong.exists() else ""))
    return 1 if wrong.exists() else 0
