"""`scripts/soundness`: random C programs, judged by C's own meaning.

    scripts/soundness --programs 100000                     the front end's proof, without a device
    scripts/soundness --programs 10000 --device c           executed by the default schedule
    scripts/soundness --programs 3000 --device c --schedules    executed by random schedules
    scripts/soundness --programs 600 --device c --sanitized     executed under ASan and UBSan
    scripts/soundness --expressions 20000                   expressions bit for bit against the C compiler
    scripts/soundness --faults                              planted faults in merging are found
    scripts/soundness --page                                artifacts/soundness.md from all parts in --out

What came of every seed is appended to a file in --out, and a later call goes on where an earlier one ended.
Exit status 1 where a program is wrong, crashes, or ends in a traceback.
"""

import argparse
import json
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from time import monotonic
from typing import Any

from tests.soundness.batch import Row, Setting, batches_on, shrinking_on
from tests.soundness.bits import expressions_on
from tests.soundness.expressions import PER
from tests.soundness.generator import random_statements
from tests.soundness.page import accepted
from tests.soundness.tree import text_of
from tests.support.workers import Done, run_tasks

BATCH = 25
LIMIT = 240.0
"""Seconds that a batch may take; then its seeds are tried one by one."""
ONE = 60.0
FUNCTIONS = 20
"""Of PER expressions each, in one batch."""


class Part:
    """The file of one setting: a JSON line a seed."""

    def __init__(self, folder: Path, setting: Setting) -> None:
        words = [setting.device.replace(":", ""), *(["schedules"] if setting.schedules else []),
                 *(["native"] if setting.native else []), *(["sanitized"] if setting.sanitized else []),
                 setting.machine]  # fmt: skip
        self.name = "-".join(w for w in words if w)
        folder.mkdir(parents=True, exist_ok=True)
        self.path = folder / f"{self.name}.jsonl"
        self.failures = folder / "failures"

    def rows(self) -> dict[int, Row]:
        """What is known already; a line that was cut off is not."""
        return {r["seed"]: Row(**r) for r in read_lines(self.path)}

    def append(self, rows: Iterable[Row]) -> None:
        with self.path.open("a", encoding="utf-8") as file:
            file.writelines(json.dumps(asdict(r)) + "\n" for r in rows)

    def keep(self, row: Row, smallest: str) -> Path:
        """The whole text and the smallest one that fails alike."""
        self.failures.mkdir(exist_ok=True)
        path = self.failures / f"{self.name}-{row.seed}.c"
        detail = row.detail.replace("*/", "* /")
        whole = text_of(random_statements(row.seed))
        path.write_text(f"/* {row.kind}: {detail} */\n{smallest}\n/* from */\n{whole}", encoding="utf-8")
        return path


def run_programs(
    setting: Setting, seeds: Sequence[int], *, jobs: int, minutes: float, part: Part
) -> dict[int, Row]:
    """All rows of `seeds` that there are now, those of earlier calls included."""
    known = part.rows()
    todo = [s for s in seeds if s not in known]
    end = monotonic() + minutes * 60
    batches = [tuple(todo[k : k + BATCH]) for k in range(0, len(todo), BATCH)]
    alone: list[int] = []
    for done in _tasks(setting, _until(batches, end), jobs, LIMIT):
        if done.failure:
            alone += done.key
            continue
        part.append(Row(**r) for r in done.value)
    for one in _tasks(setting, [(s,) for s in alone], jobs, ONE):
        rows = [Row(one.key[0], "crash", one.failure.strip()[-300:])] if one.failure else _rows(one.value)
        part.append(rows)
    known = part.rows()
    return {s: known[s] for s in seeds if s in known}


def _rows(values: list[dict[str, Any]]) -> list[Row]:
    return [Row(**r) for r in values]


def _until(batches: Iterable[tuple[int, ...]], end: float) -> Iterator[tuple[int, ...]]:
    for batch in batches:
        if monotonic() > end:
            return
        yield batch


def _tasks(
    setting: Setting, batches: Iterable[tuple[int, ...]], jobs: int, limit: float
) -> Iterator[Done[tuple[int, ...]]]:
    """jobs = 0: in this process, as a tool that watches one process needs it."""
    if jobs:
        yield from run_tasks(batches_on, asdict(setting), batches, jobs=jobs, limit=limit)
        return
    task = batches_on(asdict(setting))
    for batch in batches:
        yield Done(batch, task(batch))


def shrink_failures(setting: Setting, rows: Iterable[Row], part: Part, jobs: int, most: int) -> list[Path]:
    """The files of the first `most` failures, each with the smallest text found."""
    bad = [r for r in rows if r.verdict.bad][:most]
    out = []
    for done in run_tasks(shrinking_on, asdict(setting), bad, jobs=max(1, jobs), limit=300):
        out.append(part.keep(done.key, done.value or f"/* not made smaller: {done.failure[-300:]} */"))
    return out


def summary(rows: Iterable[Row]) -> tuple[Counter[str], Counter[str]]:
    """(outcomes, codes of refusals)."""
    kinds: Counter[str] = Counter()
    codes: Counter[str] = Counter()
    for r in rows:
        kinds[r.kind] += 1
        if r.kind == "refused":
            codes.update(r.detail.split())
    return kinds, codes


def main_programs(given: argparse.Namespace) -> int:
    setting = Setting(given.device, given.schedules, given.machine or "", sanitized=given.sanitized)
    seeds = range(given.seed, given.seed + given.programs)
    bad = 0
    runs = [(setting, seeds)]
    if given.gcc:
        runs.insert(0, (Setting(native=True), seeds[: given.gcc]))
    for each, chosen in runs:
        part = Part(Path(given.out), each)
        rows = run_programs(each, chosen, jobs=given.jobs, minutes=given.minutes, part=part)
        kinds, codes = summary(rows.values())
        say(f"{part.name}: {len(rows)} of {len(chosen)} programs from seed {given.seed}, "
            f"{accepted(list(rows.values())) / max(1, len(rows)):.1%} accepted")  # fmt: skip
        say(_table(kinds))
        say(_table(codes))
        failures = [r for r in rows.values() if r.verdict.bad]
        bad += len(failures)
        for r in failures[:20]:
            say(f"  seed {r.seed}: {r.kind}: {r.detail[-200:]}")
        if failures and given.shrink:
            for path in shrink_failures(each, failures, part, given.jobs, given.shrink):
                say(f"  {path}")
    return 1 if bad else 0


def _table(counts: Counter[str]) -> str:
    return "  " + "  ".join(f"{k} {v}" for k, v in counts.most_common())


def main_expressions(given: argparse.Namespace) -> int:
    """Expressions in batches of functions; a batch that is known already is not run again."""
    path = Path(given.out) / f"expressions-{given.device}.jsonl"
    path.parent.mkdir(parents=True, exist_ok=True)
    size = FUNCTIONS * PER
    firsts = range(given.seed, given.seed + -(-given.expressions // PER), FUNCTIONS)
    known = {b["first"]: b for b in read_lines(path)}
    end = monotonic() + given.minutes * 60
    todo = [tuple(range(f, f + FUNCTIONS)) for f in firsts if f not in known]
    for done in run_tasks(
        expressions_on, given.device, _until(todo, end), jobs=max(1, given.jobs), limit=LIMIT
    ):
        if done.failure:
            found: dict[str, Any] = {
                "equal": {},
                "refused": 0,
                "differences": [["", "crash", done.failure[-300:]]],
            }
        else:
            tally = done.value
            told = [[text_of(t), by, what] for t, by, what in tally.differences]
            found = {"equal": tally.equal, "refused": tally.refused, "differences": told}
        known[done.key[0]] = {"first": done.key[0], "expressions": size, **found}
        with path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(known[done.key[0]]) + "\n")
    batches = [known[f] for f in firsts if f in known]
    equal: Counter[str] = Counter()
    for b in batches:
        equal.update(b["equal"])
    wrong = [d for b in batches for d in b["differences"]]
    say(f"{sum(b['expressions'] for b in batches)} expressions from seed {given.seed}; equal bits:")
    say(_table(equal))
    for text, by, what in wrong[:10]:
        say(f"  {by}: {what}\n{text}")
    return 1 if wrong else 0


def read_lines(path: Path) -> list[dict[str, Any]]:
    """The whole lines of a part."""
    out = []
    for line in path.read_text(encoding="utf-8").splitlines() if path.exists() else ():
        try:
            out.append(json.loads(line))
        except ValueError:
            continue
    return out


def say(text: str) -> None:
    sys.stdout.write(text + "\n")
    sys.stdout.flush()
