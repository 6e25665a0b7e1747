"""`scripts/fit-default fit-windows`: what the estimate for convolutions chooses among what was measured, by
its constants as they are, by those fitted to that, and for each convolution by those fitted to the others."""

import argparse
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import partial
from multiprocessing import get_context
from pathlib import Path

from experiments.fit_default.choice import geometric
from experiments.fit_default.window_choice import Choice, Table, choices, everywhere, table
from experiments.fit_default.window_fitting import BOUNDS, Found, Search, fitted, loss
from experiments.fit_default.window_rows import Convolution, read
from mdh.cost.gpu import WINDOWS, Costs
from mdh.machine import load_machine

WORST = 6
Fits = Mapping[Convolution | None, Found]
"""By the convolution that a fit did not see."""


@dataclass(frozen=True, slots=True)
class Column:
    """Choices of one kind."""

    title: str
    made: Mapping[Convolution, Choice]


def main(given: argparse.Namespace) -> int:
    """The report on stdout."""
    measured = read(given.files)
    known = table(measured, load_machine(measured.machine))
    _say(f"{measured.machine}: {sum(map(len, known.rows.values()))} plans of {len(known.rows)} convolutions")
    columns = [Column("as it is", _by_convolution(choices(known, WINDOWS)))]
    _say("", *_report("as it is", known, WINDOWS))
    if given.turns:
        search = Search(given.turns, given.seed, given.seconds)
        fits = _fits(known, search, given.jobs)
        costs = fits[None].costs
        columns.append(Column("fitted", _by_convolution(choices(known, costs))))
        unseen = [c for of in known.rows if of in fits for c in choices(known.part([of]), fits[of].costs)]
        columns.append(Column("unseen", _by_convolution(unseen)))
        _say("", *_report("fitted", known, costs))
        _say("", "each convolution by a fit to the others", f"  chosen over best: {_figures(unseen)}")
        _say("", *_searched(list(fits.values()), search))
        _say("", "constants: fitted (as they are)")
        _say(*(f"  {name} = {getattr(costs, name):g} ({getattr(WINDOWS, name):g})" for name in BOUNDS))
    _say("", *_convolutions(columns))
    _say("", *_farthest(columns[0]))
    return 0


def _fits(known: Table, search: Search, jobs: int) -> Fits:
    """To all, and to all but each."""
    without: list[Convolution | None] = [None, *(known.rows if len(known.rows) > 1 else ())]
    parts = [known.part([of for of in known.rows if of != away]) for away in without]
    fit = partial(fitted, start=WINDOWS, search=search)
    if jobs == 1:
        return dict(zip(without, map(fit, parts), strict=True))
    with ProcessPoolExecutor(jobs, mp_context=get_context("spawn")) as pool:
        return dict(zip(without, pool.map(fit, parts), strict=True))


def _report(title: str, known: Table, costs: Costs) -> Iterator[str]:
    made = choices(known, costs)
    yield title
    yield f"  chosen over best: {_figures(made)}; loss {loss(known, costs):.4f}"
    yield f"  measured is what it would choose of all for {everywhere(known, costs)} of {len(known.rows)}"


def _figures(made: Sequence[Choice]) -> str:
    ratios = [c.ratio for c in made]
    beside = [c.shipped / c.chosen.seconds for c in made if c.shipped is not None]
    text = f"geometric mean {geometric(ratios):.4f}, worst {max(ratios, default=float('nan')):.2f}"
    if not beside:
        return text
    return f"{text}; the time over it of what shipped then, of {len(beside)}: {geometric(beside):.3f}"


def _searched(made: Sequence[Found], search: Search) -> Iterator[str]:
    yield f"searches: {len(made)} of {search.turns} turns, seed {search.seed}"
    short = [f.turns for f in made if f.turns < search.turns]
    if short:
        yield f"  {len(short)} ended after {search.limit:g} s, the first after {min(short)} turns"


def _convolutions(columns: Sequence[Column]) -> Iterator[str]:
    yield f"chosen over best: {', '.join(c.title for c in columns)}"
    for of, choice in columns[0].made.items():
        ratios = " ".join(f"{c.made[of].ratio:.2f}" if of in c.made else " -- " for c in columns)
        shipped = "" if choice.shipped is None else f", shipped then {choice.shipped * 1e6:.1f} us"
        yield f"  {ratios}  {of}: best {choice.best.seconds * 1e6:.1f} us{shipped}"


def _farthest(column: Column) -> Iterator[str]:
    yield f"farthest from the best as it is, of {WORST}: chosen, best"
    for c in sorted(column.made.values(), key=lambda c: -c.ratio)[:WORST]:
        yield f"  {c.ratio:.2f} {c.of}"
        yield from (f"    {row.seconds * 1e6:.1f} us: {row.what}" for row in (c.chosen, c.best))


def _by_convolution(made: Sequence[Choice]) -> Mapping[Convolution, Choice]:
    return {c.of: c for c in made}


def _say(*lines: str) -> None:
    print("\n".join(lines))  # noqa: T201 - the command's result


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("files", type=Path, nargs="+", metavar="FILE.jsonl[.gz]", help="of one machine")
    parser.add_argument("--turns", type=int, default=500, help="of each search; 0: none, only the report")
    parser.add_argument("--seconds", type=float, default=10.0, help="after which a search ends early")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=2, help="processes that search")
