"""`scripts/bench cpu`: mdh's shipped schedules against libraries and compilers on this CPU.

scripts/bench cpu                          all cases that need little memory
scripts/bench cpu --large                  those that need much, too
scripts/bench cpu --case 'matmul*' --quick some of them, fewer turns, nothing kept
scripts/bench cpu --set einsum             twenty einsums by default, beside numpy's and torch's
"""

import argparse
import os
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import replace
from fnmatch import fnmatch
from pathlib import Path

from bench.cases import ROOT
from bench.cpu import einsum_table, table
from bench.cpu.cases import ROW, Case, cases
from bench.cpu.roof import cores
from bench.cpu.turns import Contest, Result, Settings
from bench.einsums import einsums

DEVICES = ("opencl:0", "c")
FULL = Settings(rounds=15, cold=5, seconds=0.02, budget=4.0)
QUICK = Settings(rounds=5, cold=2, seconds=0.01, budget=1.5)


def main(argv: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(
        prog="scripts/bench cpu", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--set", choices=("fixed", "einsum"), default="fixed", help="of cases")
    parser.add_argument(
        "--case", action="append", default=[], metavar="PATTERN", help="only these, as in a shell"
    )
    parser.add_argument("--peer", action="append", default=[], choices=table.PEERS, help="only these")
    parser.add_argument("--no-default", action="store_true", help="leave out the derived schedules")
    parser.add_argument("--quick", action="store_true", help="fewer and shorter turns")
    parser.add_argument("--large", action="store_true", help="the sizes that need gigabytes, too")
    parser.add_argument(
        "--device", action="append", default=[], metavar="SPEC", help="of ours: opencl:0 and c, if absent"
    )
    parser.add_argument("--threads", type=int, default=cores())
    parser.add_argument("--one-core", action="store_true", help="one thread each, timed by processor time")
    parser.add_argument("-o", "--out", type=Path, help="default: in artifacts/ for a full run, else nowhere")
    given = parser.parse_args(argv)
    summing = given.set == "einsum"
    every = einsums(Case) if summing else cases(_rows())
    chosen = [c for c in every if _wanted(c, given.case, given.large)]
    if not chosen:
        parser.error("no case has such a name; there are: " + ", ".join(c.name for c in every))
    threads = 1 if given.one_core else given.threads
    _limit_threads(threads)
    settings = replace(QUICK if given.quick else FULL, alone=given.one_core)
    results: list[Result] = []
    with tempfile.TemporaryDirectory() as folder:
        contest = Contest(
            tuple(given.peer) or (einsum_table.PEERS if summing else table.PEERS),
            tuple(given.device) or DEVICES, Path(folder), threads, given.one_core,
            default=not given.no_default, calls=summing,
        )  # fmt: skip
        for device, why in contest.absent.items():
            sys.stderr.write(f"{device} takes no part: {why}\n")
        if not contest.ours:
            contest.stop()
            return 1
        try:
            for case in chosen:
                results.append(contest.run(case, settings))
                sys.stderr.write(f"{table.line(results[-1])}\n")
        finally:
            contest.stop()
        mine = {f"mdh on {d}": p.version for d, p in contest.ours.items()}
        versions = mine | {n: p.version for n, p in contest.peers.items()}
    command = " ".join(["scripts/bench cpu", *_said(argv)])
    text = (einsum_table if summing else table).page(results, versions, command, threads, settings)
    sys.stdout.write(text)
    name = f"{'einsum_' if summing else ''}{'cpu_one_core' if given.one_core else 'cpu'}.md"
    out = given.out or (None if given.case or given.peer or given.quick else ROOT / "artifacts" / name)
    if out is not None:
        out.write_text(text, encoding="utf-8")
    ours = [v for r in results for n, v in r.verdicts.items() if n not in table.PEERS]
    return 0 if all(v in ("right", "absent") for v in ours) else 1


def _said(argv: Sequence[str]) -> list[str]:
    """The command's words without the place of the page."""
    places = {i + k for i, word in enumerate(argv) if word in ("-o", "--out") for k in (0, 1)}
    return [word for i, word in enumerate(argv) if i not in places]


def _wanted(case: Case, patterns: Sequence[str], large: bool) -> bool:
    if patterns:
        return any(fnmatch(case.name, p) for p in patterns)
    return large or not case.large


def _rows() -> int:
    """Of the large gathered table: 10^7, or as many as all processes can hold in half of the free memory."""
    info = Path("/proc/meminfo")
    free = 1 << 33
    if info.exists():
        free = next(
            int(x.split()[1]) << 10 for x in info.read_text().splitlines() if x.startswith("MemAvailable")
        )
    fit = free // 2 // (2 + len(table.PEERS)) // ROW
    return min(10_000_000, fit // 1_000_000 * 1_000_000)


def _limit_threads(threads: int) -> None:
    """For processes that start from here on. Threads without work sleep after a millisecond (Intel's, by
    themselves 200), 2^22 cycles (OpenBLAS', by themselves 2^26) or 3000 yields (TVM's, by themselves
    300000), lest they spin through the next contestant's turn."""
    libraries = ("OMP", "OPENBLAS", "MKL", "HL", "TVM")
    for name in (*(f"{library}_NUM_THREADS" for library in libraries), "POCL_MAX_PTHREAD_COUNT"):
        os.environ[name] = str(threads)
    os.environ["KMP_BLOCKTIME"] = "1"
    os.environ["OPENBLAS_THREAD_TIMEOUT"] = "22"
    os.environ["TVM_THREAD_POOL_SPIN_COUNT"] = "3000"
    # memory that a library frees serves its next result, whose pages then need not be made anew
    os.environ["MALLOC_MMAP_MAX_"], os.environ["MALLOC_TRIM_THRESHOLD_"] = "0", str(1 << 40)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
