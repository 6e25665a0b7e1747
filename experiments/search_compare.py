"""Runs the comparison of searches and writes it down; see scripts/search-compare."""

import argparse
import sys
from importlib.util import find_spec
from math import exp, log
from multiprocessing import get_context
from pathlib import Path
from statistics import mean

from mdh.tuner.search import SAMPLERS
from tests.tune.search.contest import ENTRANTS, Run, atf_space, contest, medians, medians_after
from tests.tune.search.tables import Table, made_up, read_table

ROOT = Path(__file__).resolve().parent.parent
OUT = ROOT / "artifacts" / "tuner_search.md"
TABLES: list[Table] = []
"""Filled before the workers are forked, so that they share it."""
GOAL = 1.05


def _one(job: tuple[str, int, int, int]) -> Run:
    entrant, table, seed, trials = job
    return contest(entrant, TABLES[table], seed, trials)


def _entrants(only: str) -> list[str]:
    missing = {s.name for s in SAMPLERS if any(find_spec(p) is None for p in s.packages)}
    if find_spec("pyatf") is None:
        missing |= {n for n in ENTRANTS if n.startswith("pyATF")}
    if missing:
        sys.stderr.write(f"left out, their packages are missing: {', '.join(sorted(missing))}\n")
    return [n for n in ENTRANTS if n not in missing and (not only or n in only.split(","))]


def _overall(runs: list[Run], at: int) -> float:
    """The geometric mean over the tables of their medians."""
    tables = dict.fromkeys(r.table for r in runs)
    return exp(mean(log(medians([r for r in runs if r.table == t], at)) for t in tables))


def _after(runs: list[Run], share: float, trials: int) -> float:
    """As `_overall`, after a share of the seconds that so many trials of the average point take."""
    each = [
        medians_after([r for r in runs if r.table == t.name], share * trials * t.cost)
        for t in TABLES
        if any(r.table == t.name for r in runs)
    ]
    return exp(mean(log(x) for x in each))


def _row(cells: list[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _report(runs: list[Run], trials: int, seeds: int, command: str) -> str:
    names = [n for n in ENTRANTS if any(r.entrant == n for r in runs)]
    of = {n: [r for r in runs if r.entrant == n] for n in names}
    names.sort(key=lambda n: _overall(of[n], trials))
    lines = [
        "# Which search finds good schedules in few trials",
        "",
        f"Best found / true best on spaces whose points all have a time, medians over {seeds} seeds.",
        "A trial is a point that the search had not tried before; points that fail count; a search that",
        "proposes nothing new for long keeps its last value. Tables with a hyphen in their names are of a",
        f"made-up card and processor. Written by `{command}`.",
        "",
        _row(["table", "points", "that fail", "median / best", f"within {GOAL} of the best"]),
        _row(["---"] * 5),
    ]
    for t in TABLES:
        good = sorted(s for s in t.seconds.values() if s is not None)
        near = sum(s <= GOAL * t.best for s in good)
        failed = 1 - len(good) / t.space.count
        lines.append(
            _row(
                [
                    t.name,
                    f"{t.space.count:,}",
                    f"{failed:.0%}",
                    f"{good[len(good) // 2] / t.best:.1f}",
                    f"{near}",
                ]
            )
        )
    lines += ["", f"After {trials} trials:", ""]
    lines.append(_row(["search", *(t.name for t in TABLES), "mean", f"≤ {GOAL}", "ms a trial"]))
    lines.append(_row(["---"] * (len(TABLES) + 4)))
    for n in names:
        each = [f"{medians([r for r in of[n] if r.table == t.name], trials):.3f}" for t in TABLES]
        share = mean(r.curve[trials - 1] <= GOAL for r in of[n])
        cost = 1e3 * mean(r.cpu for r in of[n]) / trials
        lines.append(_row([n, *each, f"{_overall(of[n], trials):.3f}", f"{share:.0%}", f"{cost:.1f}"]))
    steps = [s for s in (5, 10, 15, 20, 30, 40, 50, 60, 80, 100, 150, 200, 300) if s <= trials]
    lines += ["", "Over trials (geometric mean over the tables; ∞: not one that runs in most searches):", ""]
    lines += [_row(["search", *map(str, steps)]), _row(["---"] * (len(steps) + 1))]
    for n in names:
        lines.append(_row([n, *(_shown(_overall(of[n], s)) for s in steps)]))
    shares = (0.05, 0.1, 0.15, 0.2, 0.3, 0.4, 0.6, 0.8, 1.0, 1.2)
    lines += [
        "",
        "Over seconds (what a trial took when the table was measured, and the search's own time; a column is",
        f"a share of what {trials} trials of the average point take):",
        "",
        _row(["search", *(f"{s:.0%}" for s in shares)]),
        _row(["---"] * (len(shares) + 1)),
    ]
    for n in names:
        lines.append(_row([n, *(_shown(_after(of[n], s, trials)) for s in shares)]))
    return "\n".join(lines) + "\n"


def _shown(x: float) -> str:
    return "∞" if x == float("inf") else f"{x:.2f}"


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("tables", nargs="*", type=Path)
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--trials", type=int, default=100)
    parser.add_argument("--only", default="")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--out", type=Path, default=OUT)
    given = parser.parse_args()
    if given.tables:
        TABLES.extend(map(read_table, given.tables))
    else:
        TABLES.extend(made_up())
        TABLES.extend(read_table(p) for p in sorted((ROOT / "artifacts" / "spaces").glob("*.jsonl")))
    entrants = _entrants(given.only)
    if any(n.startswith("pyATF") for n in entrants):
        for table in TABLES:
            atf_space(table)  # before the workers are forked: it takes long
    jobs = [(n, t, s, given.trials) for t in range(len(TABLES)) for n in entrants for s in range(given.seeds)]
    with get_context("fork").Pool(given.jobs) as pool:
        runs = pool.map(_one, jobs, chunksize=max(1, given.seeds // 4))
    folders = sorted({f" {path.parent}/*.jsonl" for path in given.tables})
    command = f"scripts/search-compare{''.join(folders)} --seeds {given.seeds}"
    text = _report(runs, given.trials, given.seeds, command)
    given.out.write_text(text, encoding="utf-8")
    sys.stdout.write(text)


main()
