"""`scripts/bench gpu`: mdh's shipped schedules against libraries and compilers on an NVIDIA GPU.

scripts/bench gpu                          all fixed cases; keeps the page and the fastest kernels' texts
scripts/bench gpu --case 'matmul*' --quick some of them, fewer turns, nothing kept
scripts/bench gpu --random 100             random sizes, too: products, layers, convolutions, contractions
scripts/bench gpu --set einsum             twenty einsums by default, beside torch's
scripts/bench gpu --set tc --compile       the kernels of Tensor Comprehensions from its texts
scripts/bench gpu --set diesel             Diesel's products at a hundred sizes, from its texts
scripts/bench gpu --dry                    the cases and whether their schedules fit an H200; needs no GPU
"""

import argparse
import os
import sys
import tempfile
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from fnmatch import fnmatch
from pathlib import Path
from typing import Literal

from bench.cases import ROOT
from bench.gpu import contest, kernels, papers, table
from bench.gpu.cases import Case
from bench.gpu.language_cases import SETS
from bench.gpu.outcome import DEFAULT, PEERS, Order, Result, Settings
from bench.gpu.random_cases import RANDOM, random_cases
from bench.gpu.resumed import is_done, resumed
from bench.gpu.tuned import schedule_of
from mdh.machine import Machine, load_machine

FULL = Settings(rounds=25, budget=0.5, turn=1e-3, tuning=4.0)
QUICK = Settings(rounds=7, budget=0.2, turn=5e-4, tuning=1.5)
COMPILING = 240.0
"""Seconds more for a case of which torch tries many kernels."""
FOLDER = ROOT / "artifacts" / "h200"
PAGES = {"tc": papers.tc_page, "diesel": papers.diesel_page}
"""By the set of cases; others have the same."""


def main(argv: Sequence[str]) -> int:
    parser = _parser()
    given = parser.parse_args(argv)
    every = (*SETS[given.set](), *random_cases(given.random))
    chosen = [c for c in every if not given.case or any(fnmatch(c.name, p) for p in given.case)]
    if not chosen:
        parser.error("no case has such a name; there are: " + ", ".join(c.name for c in every))
    if given.tuned is not None:
        found = {c.name: schedule_of(given.tuned, c.name) for c in chosen}
        chosen = [replace(c, schedules=(str(found[c.name]),)) for c in chosen if found[c.name].exists()]
        if not chosen:
            parser.error(f"{given.tuned} holds no schedule of these cases")
    if given.dry:
        return _dry(chosen, given.keep)
    with tempfile.TemporaryDirectory() as folder:
        try:
            return _run(chosen, given, argv, Path(folder))
        except contest.NoGpuError as error:
            sys.stderr.write(f"scripts/bench gpu needs an NVIDIA GPU, torch and cupy: {error}\n")
            return 1


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="scripts/bench gpu", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--case", action="append", default=[], metavar="PATTERN", help="only these, as in a shell"
    )
    parser.add_argument("--set", choices=SETS, default="fixed", help="of cases")
    parser.add_argument("--peer", action="append", default=[], choices=[*PEERS, DEFAULT], help="only these")
    parser.add_argument(
        "--compile", action="store_true", help="torch.compile for products and convolutions, too"
    )
    parser.add_argument("--random", type=int, default=0, metavar="N", help=f"sizes of {RANDOM}, too")
    parser.add_argument("--quick", action="store_true", help="fewer and shorter turns")
    parser.add_argument("--rounds", type=int, help="pairs of turns in each process")
    parser.add_argument("--device", default="cuda:0")
    parser.add_argument("--jobs", type=int, default=min(16, os.cpu_count() or 1), help="that compile")
    parser.add_argument(
        "--minutes", type=float, default=1e3, help="after half of them a process begins no other case"
    )
    parser.add_argument(
        "--resume", action="store_true", help="measure only what the file of --json does not have, and add it"
    )
    parser.add_argument(
        "--tuned", type=Path, metavar="FOLDER", help="only cases with a schedule of `scripts/bench tuned`"
    )
    parser.add_argument("--dry", action="store_true", help="list the cases and their schedules, run nothing")
    parser.add_argument("--keep", type=Path, metavar="FOLDER", help="the kernels' texts")
    parser.add_argument("--json", type=Path, metavar="OUT", help="the raw figures")
    parser.add_argument(
        "-o", "--out", type=Path, help="default: in artifacts/h200 for a full run, else nowhere"
    )
    return parser


def _dry(chosen: Sequence[Case], folder: Path | None) -> int:
    """Every schedule must fit one of its cases, and every case have one that fits."""
    machine = load_machine("h200")
    prepared = [kernels.lowered(case, machine) for case in chosen]
    for one in prepared:
        sizes = " ".join(f"{k}={v}" for k, v in one.case.sizes.items())
        sys.stdout.write(f"{one.case.name} ({one.case.program} {sizes})\n")
        for name in (*one.case.schedules, DEFAULT):
            sys.stdout.write(f"    {name}: {one.refused.get(name, 'fits')}\n")
    if folder is not None:
        kernels.keep(prepared, folder)
    without = [p.case.name for p in prepared if not set(p.texts) - {DEFAULT}]
    if without:
        sys.stdout.write(f"the derived schedule is ours: {', '.join(without)}\n")
    return 1 if any(not p.texts for p in prepared) else 0


def _run(chosen: Sequence[Case], given: argparse.Namespace, argv: Sequence[str], folder: Path) -> int:
    settings = QUICK if given.quick else FULL
    if given.rounds:
        settings = replace(settings, rounds=given.rounds)
    peers = tuple(given.peer or [DEFAULT, *PEERS])
    order = Order(peers, settings, swapped=False, patient=given.compile)
    library = folder / "cub.so"
    first = contest.Process(given.device, library)
    full = given.set == "fixed" and not (given.case or given.peer or given.quick)
    page, raw = given.out or (full and FOLDER / "bench.md"), given.json or (full and FOLDER / "bench.json")
    known: Sequence[Result] = resumed(raw if given.resume and raw else None, chosen)
    waiting = [result for result in known if not is_done(result)]
    cub = library if "cub" in order.peers else None
    prepared = _prepared([result.case for result in waiting], given, first.machine, cub)
    limits = contest.Limits(COMPILING if given.compile else 0.0, given.minutes * 30)
    versions = {"machine": first.machine.title, **first.versions}
    command = " ".join(["scripts/bench gpu", *_said(argv)])
    said = list[str]()

    def tell(place: int, results: Sequence[Result]) -> None:
        """What there is so far is on disk at every moment."""
        sys.stderr.write(f"{table.line(results[place])}\n")
        page_of = PAGES.get(given.set, table.page)
        said[:] = [page_of(known, versions, command, settings, first.peaks)]
        _write(page, said[0])
        _write(raw, table.figures(known))

    def start() -> contest.Process:
        return contest.Process(given.device, library)

    try:
        contest.run(prepared, waiting, start, first, order, limits, tell)
    finally:
        sys.stdout.write("".join(said))
    if full and len(waiting) == len(known):
        fixed = {r.case.name: r.schedule or DEFAULT for r in known if not r.case.name.startswith("random")}
        kernels.keep(prepared, FOLDER / "kernels", fixed)
    return 1 if table.wrong(known) else 0


def _prepared(
    chosen: Sequence[Case], given: argparse.Namespace, machine: Machine, library: Path | None
) -> list[kernels.Prepared]:
    start = time.perf_counter()
    with ThreadPoolExecutor(1) as beside:
        cub = beside.submit(kernels.cub_library, library, machine.arch) if library else None
        out = kernels.all_made(chosen, machine, given.jobs)
        if given.keep:
            kernels.keep(out, given.keep)
        if cub:
            cub.result()
    count, took = sum(len(p.kernels) for p in out), time.perf_counter() - start
    sys.stderr.write(f"compiled the kernels of {count} schedules for {machine.arch} in {took:.0f} s\n")
    return out


def _write(path: Path | Literal[False], text: str) -> None:
    if path:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")


def _said(argv: Sequence[str]) -> list[str]:
    """The command's words without the places of what it writes."""
    words = ("-o", "--out", "--json", "--keep", "--tuned")
    places = {i + k for i, word in enumerate(argv) if word in words for k in (0, 1)}
    return [word for i, word in enumerate(argv) if i not in places]


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
