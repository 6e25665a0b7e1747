"""`scripts/fit-default fit`: the estimate's constants from what was measured, and what they choose."""

import argparse
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from experiments.fit_default.choice import Choice, Table, choices, everywhere, geometric, table
from experiments.fit_default.fitting import BOUNDS, fitted, loss
from experiments.fit_default.rows import Sizes, numbers, read
from mdh.cost.gpu import PRODUCTS, Costs
from mdh.machine import load_machine
from mdh.schedule.default.ladder import LADDER, BlockTile

FOLDS = 4
WORST = 8
SOME = 20
"""Sizes of which a tile was measured, for a word about whether it should be on the ladder."""


@dataclass(frozen=True, slots=True)
class Given:
    """What a fit is asked for."""

    table: Table
    ladder: Sequence[BlockTile]
    turns: int
    seed: int


def main(given: argparse.Namespace) -> int:
    """The report on stdout."""
    measured = read(given.files)
    known = table(measured, load_machine(measured.machine))
    asked = Given(known, LADDER, given.turns, given.seed)
    count = sum(map(len, known.rows.values()))
    _say(f"{measured.machine}: {count} schedules of {len(known.rows)} products")
    _say("", "as it is")
    _report(known, PRODUCTS)
    costs = PRODUCTS
    if given.turns:
        costs = fitted(known, LADDER, PRODUCTS, given.turns, given.seed)
        _say("", "fitted")
        _report(known, costs)
        unseen = list(_unseen(asked))
        _say(f"  of sizes that a fit to the others did not see: {_figures(unseen)}")
        _say("", "constants: fitted (as they are)")
        for name in BOUNDS:
            _say(f"  {name} = {getattr(costs, name):g} ({getattr(PRODUCTS, name):g})")
    _say("", f"farthest from the best, of {WORST}: chosen, best")
    for c in sorted(choices(known, costs, LADDER), key=lambda c: -c.ratio)[:WORST]:
        _say(f"  {_of_sizes(c)}")
    _say("", "tiles of the ladder: the mean without one")
    _without(known, costs)
    _say("", "others: the mean with one")
    _with(known, costs)
    return 0


def _report(known: Table, costs: Costs) -> None:
    made = choices(known, costs, LADDER)
    shown = everywhere(known, costs, LADDER)
    _say(f"  chosen over best: {_figures(made)}; loss {loss(known, costs, LADDER):.4f}")
    _say(f"  measured is what it would choose of all for {shown} of {len(made)}")


def _unseen(given: Given) -> Iterator[Choice]:
    """Every size's choice by a fit to the others, in FOLDS."""
    every = list(given.table.rows)
    random.Random(given.seed).shuffle(every)
    for fold in range(FOLDS):
        away = every[fold::FOLDS]
        seen = _part(given.table, [s for s in every if s not in away])
        if seen.rows and away:
            costs = fitted(seen, given.ladder, PRODUCTS, given.turns, given.seed)
            yield from choices(_part(given.table, away), costs, given.ladder)


def _part(whole: Table, sizes: Sequence[Sizes]) -> Table:
    return replace(whole, rows={s: whole.rows[s] for s in sizes})


def _figures(made: Sequence[Choice]) -> str:
    ratios = [c.ratio for c in made]
    beside = [c.library / c.chosen.seconds for c in made if c.library is not None]
    text = f"geometric mean {geometric(ratios):.4f}, worst {max(ratios, default=float('nan')):.2f}"
    return f"{text}; the library's time over it {geometric(beside):.3f}" if beside else text


def _of_sizes(c: Choice) -> str:
    def one(tile: BlockTile, parts: int, seconds: float) -> str:
        return f"{'x'.join(map(str, numbers(tile)))} in {parts}: {seconds * 1e6:.1f} us"

    chosen = one(c.chosen.tile, c.chosen.parts, c.chosen.seconds)
    best = one(c.best.tile, c.best.parts, c.best.seconds)
    library = "" if c.library is None else f"; library {c.library * 1e6:.1f} us"
    return f"{c.ratio:.2f} {'x'.join(map(str, c.sizes))}: {chosen}, {best}{library}"


def _without(known: Table, costs: Costs) -> None:
    for tile in LADDER:
        left = choices(known, costs, [t for t in LADDER if t != tile])
        _say(f"  {_named(tile)} {geometric([c.ratio for c in left]):.4f}, {len(left)} products")


def _with(known: Table, costs: Costs) -> None:
    count: dict[BlockTile, int] = {}
    for pairs in known.rows.values():
        for tile in {row.tile for row, _ in pairs}:
            count[tile] = count.get(tile, 0) + 1
    more = [t for t, n in count.items() if n >= SOME and t not in LADDER]
    means = {t: geometric([c.ratio for c in choices(known, costs, [*LADDER, t])]) for t in more}
    for tile in sorted(more, key=lambda t: means[t])[:WORST]:
        _say(f"  {_named(tile)} {means[tile]:.4f}, measured for {count[tile]} products")


def _named(tile: BlockTile) -> str:
    return "x".join(map(str, numbers(tile)))


def _say(*lines: str) -> None:
    print("\n".join(lines))  # noqa: T201 - the command's result


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("files", type=Path, nargs="+", metavar="FILE.jsonl[.gz]", help="of one machine")
    parser.add_argument("--turns", type=int, default=60, help="of the search; 0: none, only the report")
    parser.add_argument("--seed", type=int, default=1)
