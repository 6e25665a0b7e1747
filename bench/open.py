"""Kernels for a range of sizes beside kernels for one size: random products, the open one and the fixed ones.

The kernel with open sizes is built once; at each of the drawn sizes the default kernel for that size alone is
built and timed in turns with it. Writes artifacts/open.md, or artifacts/open_DEVICE.md on a GPU.
Arguments: --device c --open M,N,K --range 1..1024 --sizes 50 --fixed 512 --seed 0 --schedule FILE --out FILE
"""

import argparse
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from math import exp, log
from pathlib import Path
from random import Random
from typing import Any

import numpy as np

import mdh
from mdh.default_device import default_device
from mdh.device.api import open_device

ROOT = Path(__file__).resolve().parent.parent
PROGRAM = ROOT / "inputs_c" / "matmul.c"
ROUNDS, BATCH = 15, 5
GOAL = 0.9


@dataclass(frozen=True, slots=True)
class Row:
    """Seconds of both kernels at some sizes."""

    sizes: dict[str, int]
    opened: float
    fixed: float

    @property
    def ratio(self) -> float:
        return self.fixed / self.opened


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


def row(device: Any, opened: mdh.Kernel, names: str, sizes: dict[str, int], fixed: int) -> Row:
    whole = {name: sizes.get(name, fixed) for name in "MNK"}
    m, n, k = whole.values()
    rng = np.random.default_rng(m + n + k)
    a, b = rng.random((m, k), np.float32), rng.random((k, n), np.float32)
    own = mdh.compile(PROGRAM, device=device, defines=whole)
    calls = []
    for kernel, mine in ((opened, sizes), (own, {})):
        c = np.zeros((m, n), np.float32)
        call = call_of(kernel, mine, (a, b, c))
        call.launch()
        np.testing.assert_allclose(c, a @ b, rtol=1e-3)
        calls.append(call)
    return Row({name: whole[name] for name in names}, *timed(calls))


def page(title: str, words: str, kernel: mdh.Kernel, rows: list[Row]) -> str:
    ratios = [r.ratio for r in rows]
    mean = exp(sum(map(log, ratios)) / len(ratios))
    kept = sum(r >= GOAL for r in ratios)
    schedule = kernel.specialise(**{n: rows[0].sizes[n] for n in kernel.sizes}).schedule
    lines = [
        "# Open sizes",
        "",
        f"`scripts/bench open {words}`",
        f"on {title}:",
        "products in fp32 by one kernel for the range, and by the default kernel for each size alone, in",
        f"turns; the least of {ROUNDS * BATCH} runs.",
        "",
        f"fixed / open: geometric mean **{mean:.2f}**, least {min(ratios):.2f}, median",
        f"{sorted(ratios)[len(ratios) // 2]:.2f}; at least {GOAL} in {kept} of {len(rows)} sizes.",
        "",
        *(f"    {line}" for line in schedule.splitlines()),
        "",
        "| sizes | open, µs | fixed, µs | fixed / open |",
        "|---|---|---|---|",
    ]
    for r in rows:
        at = ", ".join(f"{name} = {value}" for name, value in r.sizes.items())
        lines.append(f"| {at} | {r.opened * 1e6:.1f} | {r.fixed * 1e6:.1f} | {r.ratio:.2f} |")
    return "\n".join(lines) + "\n"


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
    defines = {name: options.range if name in names else options.fixed for name in "MNK"}
    kernel = mdh.compile(PROGRAM, options.schedule, device, defines=defines)
    sizes = drawn(least, most, int(multiple or 1), options.sizes, names, options.seed)
    rows = [row(device, kernel, names, one, options.fixed) for one in sizes]
    words = f"--device {device.spec} --open {options.open} --range {options.range} --sizes {options.sizes}"
    text = page(f"{device.spec}, {device.title}", words, kernel, rows)
    kind = "" if device.memory == "host" else f"_{device.spec.partition(':')[0]}"
    (options.out or ROOT / "artifacts" / f"open{kind}.md").write_text(text, encoding="utf-8")
    sys.stdout.write(text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
