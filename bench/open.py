"""Kernels for a range of sizes beside kernels for one size: random products, the open one and the fixed ones.

The kernel with open sizes is built once; at each of the drawn sizes the default kernel for that size alone is
built and timed in turns with it. If the schedule is a table (`mdh tune --over`), the kernels of its other
cases are timed in the same turns, where they take the size. Writes artifacts/open.md, or
artifacts/open_DEVICE.md on a GPU; with a table artifacts/dispatch.md or artifacts/dispatch_DEVICE.md.
Arguments: --device c --open M,N,K --range 1..1024 --sizes 50 --fixed 512 --seed 0 --schedule FILE --out FILE
"""

import argparse
import sys
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from math import exp, log
from pathlib import Path
from random import Random
from typing import Any

import numpy as np

import mdh
from mdh.default_device import default_device
from mdh.device.api import open_device
from mdh.schedule.cases import Table, table_of
from mdh.schedule.parser import parse_schedule
from mdh.schedule.printer import print_schedule
from mdh.source import Source

ROOT = Path(__file__).resolve().parent.parent
PROGRAM = ROOT / "inputs_c" / "matmul.c"
ROUNDS, BATCH = 15, 5
GOAL, NEAR = 0.9, 0.95


@dataclass(frozen=True, slots=True)
class Row:
    """Seconds of both kernels at some sizes."""

    sizes: dict[str, int]
    opened: float
    fixed: float
    others: tuple[float, ...] = ()

    @property
    def ratio(self) -> float:
        return self.fixed / self.opened

    @property
    def share(self) -> float:
        """The best time of all cases of the table over that of the chosen one."""
        return min(self.opened, *self.others) / self.opened if self.others else 1.0


def drawn(
    least: int, most: int, multiple: int, count: int, names: str, seed: int
) -> Iterator[dict[str, int]]:
    """Sizes, each as likely in every octave: the ends of the range first."""
    rng = Random(seed)
    first = -(-least // multiple) * multiple
    yield dict.fromkeys(names, first)
    yield dict.fromkeys(names, most // multiple * multiple)
    for _ in range(count - 2):
        sizes = {}
        for name in names:
            value = int(exp(rng.uniform(log(first), log(most))))
            sizes[name] = min(most, max(first, round(value / multiple) * multiple))
        yield sizes


def timed(calls: list[Any]) -> list[float]:
    """Seconds of one run of each, the least of some rounds in turns; by the device's clock if it has one."""
    best = [float("inf")] * len(calls)
    for _ in range(ROUNDS):
        for n, call in enumerate(calls):
            call.launch()
            for _ in range(BATCH):
                one = call.sample()
                best[n] = min(best[n], one.device or one.wall)
    return best


def call_of(kernel: mdh.Kernel, sizes: dict[str, int], arrays: tuple[Any, ...]) -> Any:
    variant = kernel.specialise(**{name: sizes[name] for name in kernel.sizes})
    args = [sizes[p] if p in sizes else arrays["ABC".index(p)] for p in variant.program.params]
    bound = variant.binder.bind(args)
    return variant.built.call(bound.arrays, bound.scalars)


def table_at(path: Path | None) -> Table | None:
    """The table in a file; None for an ordinary schedule."""
    if path is None:
        return None
    return table_of(parse_schedule(Source(path.name, path.read_text(encoding="utf-8"))))


def others_of(table: Table, device: Any, defines: dict[str, Any]) -> list[mdh.Kernel]:
    """A kernel for each case of a table: for all sizes of the table where that is legal, else for its own."""
    out = []
    for case in table.cases:
        text = Source("<case>", print_schedule(table.alone(case)))
        for ranges in (table.hull, case.ranges):
            opened = {r.name: r if r.value is None else r.value for r in ranges}
            with suppress(mdh.Failed):
                kernel = mdh.compile(PROGRAM, text, device, defines={**defines, **opened})
                kernel.build()
                out.append(kernel)
                break
    return out


def row(
    device: Any, opened: mdh.Kernel, others: list[mdh.Kernel], names: str, sizes: dict[str, int], fixed: int
) -> Row:
    whole = {name: sizes.get(name, fixed) for name in "MNK"}
    m, n, k = whole.values()
    rng = np.random.default_rng(m + n + k)
    a, b = rng.random((m, k), np.float32), rng.random((k, n), np.float32)
    own = mdh.compile(PROGRAM, device=device, defines=whole)
    calls = []
    rivals = [kernel for kernel in others if takes(kernel, sizes)]
    for kernel in (opened, own, *rivals):
        c = np.zeros((m, n), np.float32)
        call = call_of(kernel, {name: sizes[name] for name in kernel.sizes}, (a, b, c))
        call.launch()
        np.testing.assert_allclose(c, a @ b, rtol=1e-3)
        calls.append(call)
    first, second, *rest = timed(calls)
    return Row({name: whole[name] for name in names}, first, second, tuple(rest))


def takes(kernel: mdh.Kernel, sizes: dict[str, int]) -> bool:
    """Whether the kernel is for these sizes."""
    if not kernel.sizes:
        return False
    try:
        kernel.specialise(**{name: sizes[name] for name in kernel.sizes})
    except mdh.Failed:
        return False
    return True


def page(title: str, words: str, schedule: str, rows: list[Row], *, table: bool) -> str:
    ratios, shares = [r.ratio for r in rows], [r.share for r in rows]
    kept = sum(r >= GOAL for r in ratios)
    many = table or "over " in schedule
    what = "the table's kernel for the sizes" if many else "one kernel for the range"
    lines = [
        "# Tables of schedules" if table else "# Open sizes",
        "",
        f"`scripts/bench open {words}`",
        f"on {title}:",
        f"products in fp32 by {what}, and by the default kernel for each size alone, in",
        f"turns; the least of {ROUNDS * BATCH} runs.",
        "",
        f"fixed / open: geometric mean **{mean_of(ratios):.2f}**, least {min(ratios):.2f}, median",
        f"{sorted(ratios)[len(ratios) // 2]:.2f}; at least {GOAL} in {kept} of {len(rows)} sizes.",
        "",
    ]
    if table:
        least = sum(s >= NEAR for s in shares)
        lines += [
            "best case of the table at the size / the case that the table takes: geometric mean",
            f"**{mean_of(shares):.2f}**, least {min(shares):.2f}; at least {NEAR} in {least} of",
            f"{len(rows)} sizes.",
            "",
        ]
    lines += [*(f"    {line}".rstrip() for line in schedule.splitlines()), ""]
    lines += ["| sizes | open, µs | fixed, µs | fixed / open |" + (" best / table |" if table else "")]
    lines += ["|---|---|---|---|" + ("---|" if table else "")]
    for r in rows:
        at = ", ".join(f"{name} = {value}" for name, value in r.sizes.items())
        share = f" {r.share:.2f} |" if table else ""
        lines.append(f"| {at} | {r.opened * 1e6:.1f} | {r.fixed * 1e6:.1f} | {r.ratio:.2f} |{share}")
    return "\n".join(lines) + "\n"


def mean_of(ratios: list[float]) -> float:
    """The geometric mean."""
    return exp(sum(map(log, ratios)) / len(ratios))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--device", default=None)
    parser.add_argument("--open", default="M", help="which sizes stay open: M, M,N, M,N,K")
    parser.add_argument("--range", default="1..1024")
    parser.add_argument("--fixed", type=int, default=512, help="the other sizes")
    parser.add_argument("--sizes", type=int, default=50)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--schedule", type=Path, default=None)
    parser.add_argument("--out", type=Path, default=None)
    options = parser.parse_args()
    names, device = options.open.replace(",", ""), open_device(options.device or default_device())
    bounds, _, multiple = options.range.partition(":")
    least, most = map(int, bounds.split(".."))
    bound = {name: options.fixed for name in "MNK" if name not in names}
    table = table_at(options.schedule)
    defines = bound if table else {**bound, **dict.fromkeys(names, options.range)}
    kernel = mdh.compile(PROGRAM, options.schedule, device, defines=defines)
    others = [] if table is None else others_of(table, device, bound)
    sizes = list(drawn(least, most, int(multiple or 1), options.sizes, names, options.seed))
    rows = [row(device, kernel, others, names, one, options.fixed) for one in sizes]
    words = f"--device {device.spec} --open {options.open} --range {options.range} --sizes {options.sizes}"
    if table is None:
        schedule = kernel.table or kernel.specialise(**{n: sizes[0][n] for n in kernel.sizes}).schedule
    else:
        schedule, words = print_schedule(table.schedule), f"{words} --schedule {options.schedule.name}"
    text = page(f"{device.spec}, {device.title}", words, schedule, rows, table=table is not None)
    kind = "" if device.memory == "host" else f"_{device.spec.partition(':')[0]}"
    name = "open" if table is None else "dispatch"
    (options.out or ROOT / "artifacts" / f"{name}{kind}.md").write_text(text, encoding="utf-8")
    sys.stdout.write(text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
