"""How many points of the spaces around default schedules of products are legal: the share that the checker
takes of points as they are drawn, and the rules that refuse the others."""

import argparse
import sys
import time
from collections.abc import Iterator
from itertools import product

from mdh.frontend.c.read import read_program
from mdh.ir.program import Program
from mdh.machine import Machine, load_machine
from mdh.schedule.default import default_schedule
from mdh.source import Source
from mdh.tuner.candidates.open_tiles import opened
from mdh.tuner.space import make_space
from mdh.tuner.space.account import Account, account

TYPES = {"bf16": ("__bf16", "float"), "f16": ("_Float16", "float"), "i8": ("int8_t", "int32_t"),
         "f64": ("double", "double")}  # fmt: skip
LAYOUTS = ("NN", "NT", "TN", "TT")
SIZES = ((1024, 1024, 1024), (4096, 4096, 4096), (64, 4096, 4096), (1000, 1032, 2040))
"""Sizes m, n, k: a small and a large square, a few rows, and odd multiples of 8."""


def product_of(kind: str, layout: str, m: int, n: int, k: int) -> Program:
    """C = A B; T: the factor is stored transposed."""
    factor, total = TYPES[kind]
    a = ("A[i][k]", (m, k)) if layout[0] == "N" else ("A[k][i]", (k, m))
    b = ("B[k][j]", (k, n)) if layout[1] == "N" else ("B[j][k]", (n, k))
    left, right = (f"const {factor} {x}[{s[0]}][{s[1]}]" for x, (_, s) in (("A", a), ("B", b)))
    text = f"""#include <stdint.h>
void product({left}, {right}, {total} C[{m}][{n}]) {{
  for (int i = 0; i < {m}; i++)
    for (int j = 0; j < {n}; j++) {{
      {total} sum = 0;
      for (int k = 0; k < {k}; k++)
        sum += ({total}){a[0]} * ({total}){b[0]};
      C[i][j] = sum;
    }}
}}
"""
    return read_program(Source("product.c", text))


def share(program: Program, machine: Machine, draws: int) -> tuple[Account, float]:
    """What the checker says of drawn points, and the seconds in which the space was made."""
    schedule = default_schedule(program, machine, "cuda")
    begun = time.perf_counter()
    space = make_space(program, opened(schedule, program, machine), machine, "cuda", default=schedule)
    seconds = time.perf_counter() - begun
    return account(space, draws), seconds


def rows(kinds: list[str], machine: Machine, draws: int) -> Iterator[str]:
    yield "| type | layout | m x n x k | points | legal | refused by | s |"
    yield "|---|---|---|---|---|---|---|"
    for kind, layout, (m, n, k) in product(kinds, LAYOUTS, SIZES):
        found, seconds = share(product_of(kind, layout, m, n, k), machine, draws)
        wrong = " ".join(f"{code} {count}" for code, count, _ in found.reasons)
        part = 100 * found.legal / found.draws
        where = f"| {kind} | {layout} | {m} x {n} x {k}"
        yield f"{where} | {found.structural:,} | {part:.0f} % | {wrong} | {seconds:.1f} |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("kinds", nargs="*", metavar="TYPE", help=f"{', '.join(TYPES)}; all without any")
    parser.add_argument("--machine", default="h100")
    parser.add_argument("--draws", type=int, default=200)
    options = parser.parse_args()
    if unknown := set(options.kinds) - TYPES.keys():
        parser.error(f"no such type: {', '.join(sorted(unknown))}")
    for row in rows(options.kinds or list(TYPES), load_machine(options.machine), options.draws):
        sys.stdout.write(row + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
