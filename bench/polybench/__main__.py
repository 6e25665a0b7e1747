"""`scripts/bench polybench`: PolyBench's computations by mdh, by gcc, and by gcc with directives of OpenMP.

scripts/bench polybench                    the kernels that have no row yet; writes artifacts/polybench_cpu.md
scripts/bench polybench --only gemm        this one anew
scripts/bench polybench --divide 10        a trial at a tenth of the sizes, nothing kept
"""

import argparse
import os
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from bench.cases import ROOT
from bench.cpu.by_gcc import version
from bench.cpu.roof import cores
from bench.cpu.table import machine_lines
from bench.polybench.contest import judged, measured
from bench.polybench.kernels import NAMES
from bench.polybench.page import brief, page
from bench.polybench.results import Row, load, save
from bench.polybench.worker import FLAGS, Order
from mdh.device.api import open_device

PAGE = ROOT / "artifacts" / "polybench_cpu.md"


def main(argv: Sequence[str]) -> int:
    given = _parsed(argv)
    os.environ["OMP_NUM_THREADS"] = str(given.threads)
    versions = {
        "machine": machine_lines(given.threads)[0],
        "gcc": version(),
        "mdh on c": ", ".join(f"{name} {text}" for name, text in open_device("c").versions),
    }
    kept = given.divide == 1
    record = given.out.with_suffix(".json")
    rows: dict[str, Row] = load(record, versions) if kept and not given.again else {}
    wanted = given.only or [name for name in NAMES if name not in rows]
    words = " ".join(["scripts/bench polybench", *_said(argv)])
    flags = " ".join(FLAGS)
    text = ""
    for name in wanted:
        order = Order(name, given.divide, given.rounds, given.seconds, given.budget)
        with tempfile.TemporaryDirectory() as folder:
            row = measured(order, Path(folder), given.limit)
        if given.judge and not row.code:
            row.judge = judged(name, given.divide, given.judge)
        rows[name] = row
        sys.stderr.write(f"{brief(row)}\n")
        text = page([rows[n] for n in sorted(rows)], versions, words, given.threads, flags, given.seconds)
        if kept:
            save(record, versions, rows)
            given.out.write_text(text, encoding="utf-8")
    sys.stdout.write(text)
    return 1 if any(v.startswith("wrong") for row in rows.values() for v in row.verdicts.values()) else 0


def _parsed(argv: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="scripts/bench polybench",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--only", action="append", default=[], choices=NAMES, metavar="NAME")
    parser.add_argument("--again", action="store_true", help="forget earlier rows")
    parser.add_argument("--divide", type=int, default=1, metavar="N", help="sizes by N, nothing is kept")
    parser.add_argument("--judge", type=float, default=0, metavar="SECONDS", help="that mdh's judge may take")
    parser.add_argument("--limit", type=float, default=120, metavar="SECONDS", help="of one measurement")
    parser.add_argument("--rounds", type=int, default=9, help="quiet ones that are wanted")
    parser.add_argument("--seconds", type=float, default=0.02, help="of a turn")
    parser.add_argument("--budget", type=float, default=15, help="seconds of a kernel's rounds")
    parser.add_argument("--threads", type=int, default=cores())
    parser.add_argument("-o", "--out", type=Path, default=PAGE, help="the page; the rows lie beside it")
    return parser.parse_args(argv)


def _said(argv: Sequence[str]) -> list[str]:
    """The command's words without the place of the page, and without the kernels."""
    places = {
        i + k for i, word in enumerate(argv) if word in ("-o", "--out", "--only") for k in (0, 1)
    }  # fmt: skip
    return [word for i, word in enumerate(argv) if i not in places]


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
