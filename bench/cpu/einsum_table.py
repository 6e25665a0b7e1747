"""The results of einsums as a page."""

from collections.abc import Mapping, Sequence
from math import exp, log
from statistics import median

from bench.cpu import aims
from bench.cpu.table import (
    ALONE,
    TITLES,
    WALL,
    cold_lines,
    limits_lines,
    machine_lines,
    ms,
    peer_cell,
    ratios,
)
from bench.cpu.turns import Result, Settings

PEERS = ("numpy", "torch")
"""Those that have an einsum."""
INTRODUCTION = """\
Twenty einsums from the tests of opt_einsum and numpy, chosen before any was measured, by the schedules that
mdh derives, against numpy.einsum(optimize=True) and torch.einsum; written by
`{command}`. Each contestant has a process of its own with the same
random data of float and {threads}; its results were compared with numpy's on doubles before anything was
timed. Ours and a peer take turns; a turn is the shortest of the calls of {seconds} ms, and a ratio is the
median over pairs of turns, so that both saw the same machine. Ratios are the peer's time over ours: above 1
mdh is faster. {clock}

*kernel*: a call of the kernel with its arrays bound before, as `kernel.bind` gives it. *call*: a call of
`mdh.einsum` with the text and the arrays, which finds the kernel and allocates the result. Peers are called
with the text and the arrays, too. numpy writes into an array that it is given or makes one, whichever is
faster. Sums over one array may be views of it, and are copied. Other results stay in the order that the peer
leaves them in; memory of a result that is no longer held serves the next one. numpy and torch choose the
order of products by themselves, torch with opt_einsum, which is installed.

*roof*: the least time that the machine's best measured arithmetic or memory rate allows, over our best turn;
data that stays in the caches from call to call can exceed memory's. *on*: which of our devices serves the
case best: OpenCL, or C with OpenMP; *other device*: the other's speed in parts of it."""
LEAST, MEAN = 0.9, 1.2
"""What each ratio is to be at least, and their geometric mean."""


def page(
    results: Sequence[Result], versions: Mapping[str, str], command: str, threads: int, settings: Settings
) -> str:
    many = "one thread" if threads == 1 else f"{threads} threads"
    clock, seconds = ALONE if settings.alone else WALL, round(settings.seconds * 1e3)
    intro = INTRODUCTION.format(command=command, threads=many, seconds=seconds, clock=clock)
    lines = [
        "# Einsums on the CPU", "", *intro.splitlines(), "", *machine_lines(threads),
        *(f"- {name}: {version}" for name, version in versions.items()), *limits_lines(results), "",
        *_summary(results), "## Warm caches", "",
        "| einsum | on | kernel ms | roof | bound | best peer | best / kernel | numpy | torch | call ms "
        "| best / call | other device |",
        "|---|---|---:|---:|---|---|" + "---:|" * 5 + "---|",
        *(_row(r) for r in results), "", *_short(results),
        *cold_lines(results, PEERS),
    ]  # fmt: skip
    return "\n".join(lines) + "\n"


def _of_kernel(r: Result) -> float | None:
    return min(ratios(r).values(), default=None)


def _of_call(r: Result) -> float | None:
    """The best peer's time over that of a call, both beside our kernel's."""
    best = _of_kernel(r)
    return None if best is None or r.call is None else best / r.call.whole


def _summary(results: Sequence[Result]) -> list[str]:
    out = list[str]()
    for title, ratio in (("kernel", _of_kernel), ("call", _of_call)):
        found = [x for r in results if (x := ratio(r)) is not None]
        if found:
            mean = exp(sum(map(log, found)) / len(found))
            behind = sum(round(x, 2) < LEAST for x in found)
            out += [
                f"Best peer over our {title}: geometric mean {mean:.2f} of {MEAN:g} over {len(found)} cases, "
                f"from {min(found):.2f} to {max(found):.2f}; below {LEAST:g} in {behind}.",
                "",
            ]
    return out


def _row(r: Result) -> str:
    best = min(ratios(r), key=lambda p: ratios(r)[p], default=None)
    if best is None:
        words = "; ".join(f"{n} {v}" for n, v in r.verdicts.items() if v not in ("right", "absent"))
        return f"| {_name(r)} | {words} |" + " |" * 10
    mine = [t.whole for pairs in r.warm.values() for t in pairs.ours]
    least, bound = r.roof()
    call = _of_call(r)
    cells = [
        _name(r), r.device, ms(median(mine)), f"{least / min(mine):.0%}", bound, TITLES[best],
        f"**{ratios(r)[best]:.2f}**", *(peer_cell(r, p) for p in PEERS),
        "" if r.call is None else ms(median(t.whole for t in r.call.peer)),
        "" if call is None else f"**{call:.2f}**",
        "; ".join(f"{d} {1 / p.whole:.0%}" for d, p in r.others.items()),
    ]  # fmt: skip
    return "| " + " | ".join(cells) + " |"


def _name(r: Result) -> str:
    return r.case.name.removeprefix("einsum ")


def _short(results: Sequence[Result]) -> list[str]:
    """Where a ratio is too small, and why."""
    said = list[str]()
    for r in results:
        found = {"kernel": _of_kernel(r), "call": _of_call(r)}
        missed = [f"{x:.2f} by {n}" for n, x in found.items() if x is not None and round(x, 2) < LEAST]
        if missed:
            said.append(f"- {_name(r)}: {', '.join(missed)}{aims.why(aims.EINSUMS, _name(r))}")
    return [f"## Below {LEAST:g}", "", *said, ""] if said else []
