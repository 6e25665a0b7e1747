"""Pages in the form "the paper's figure / here": Tensor Comprehensions' tables and Diesel's figures."""

from collections.abc import Callable, Mapping, Sequence
from math import exp, log
from typing import Any

from bench.gpu import aims
from bench.gpu.outcome import Result
from bench.gpu.table import TITLES, limits_line, noise_lines, peer_cell, us
from mdh.reproduce import tc
from mdh.reproduce.papers import P100

_METHOD = """\
Written by `{command}`. All contestants work on the same random arrays in one
process; results were compared with torch's on doubles before anything was timed. Calls are captured in CUDA
graphs, and ours and a peer take turns; a ratio is the median over {rounds} pairs of turns in each of two
processes, of which the second swaps the order. Ratios are the peer's time over ours: above 1 mdh is faster.
*warm*: the same arrays in every call; *cold*: calls go round sets of arrays that together exceed the L2 cache
two and a half times. Single precision means just that: no TF32. `~`: the two processes' ratios are more than
5% apart."""
_TC = """\
The kernels of figures 5 and 6 of Vasilache et al., "Tensor Comprehensions", 2018, that are one function, from
texts in its language (`inputs_c/*.tc`), at the paper's sizes. tmm, C3, 2LUT and MLP1 are the paper's
listings. tbmm, 1LUT and gconv have the names of their twins in C, and so the same kernels. The listing of
gconv adds a bias by an index that stands nowhere else; here, as in the twin, there is no bias.

*paper*: on a Tesla P100, medians of its microseconds: Caffe2 with the libraries, TC with its autotuner, and
their ratio. *torch*: cuBLAS, cuDNN and torch's own kernels; *other form*: the other layout of convolutions,
layers by two calls."""
_DIESEL = """\
Elango et al., "Diesel", 2018, measures products of 100 sizes from 32 to 16384, most of which are multiples of
128, and does not list them. Here are 100 others that were drawn and rounded likewise, from texts in its
language (`inputs_c/*.diesel`), all by the schedules that mdh derives: nothing is tuned. *cuBLAS*: torch.mm.
*apart*: a product, then the bias, then the ramp, each by a call, as the paper compares. *fused*: one call of
cuBLASLt with its epilogue."""
OWN = "mdh/reproduce/schedules/"
TC_PAPER: Mapping[str, tuple[float, float]] = {
    f"TC {case.name}": (1e6 * (f.peer or 0.0), 1e6 * (f.own or 0.0))
    for case in tc.TABLE.cases
    for f in case.figures
    if f.machine is P100
}
"""Microseconds of Caffe2 and of TC on a P100."""
_NONE = ("–", "–")
DIESEL_PAPER = (
    ("sgemm", "SGEMM against cuBLAS", "torch", ("52", "56"), ("0.8", "–"), ("1.73", "3.1")),
    ("dgemm", "DGEMM against cuBLAS", "torch", ("47", "38"), ("0.8", "4 below 0.75"), ("2.59", "3.5")),
    ("layer", "GEMM + bias + ReLU against calls apart", "other", ("over 90", "over 90"), _NONE, _NONE),
    ("layer", "GEMM + bias + ReLU against a fused call", "torch", _NONE, _NONE, _NONE),
)
"""Kind, title, peer; of 100 sizes those that are at least as fast, the least and the highest ratio, on Pascal
and on Volta."""
DIESEL_PEERS = {
    "sgemm": {"torch": "cuBLAS"}, "dgemm": {"torch": "cuBLAS"},
    "layer": {"other": "apart", "torch": "fused"},
}  # fmt: skip


def tc_page(
    results: Sequence[Result],
    versions: Mapping[str, str],
    command: str,
    settings: Any,
    peaks: Mapping[bool, float],
) -> str:
    """A row a kernel."""
    peers = ("torch", "other", "compiled", "cublaslt")
    lines = [
        "# Tensor Comprehensions on the GPU", "", *_TC.splitlines(), "",
        *_METHOD.format(command=command, rounds=settings.rounds).splitlines(), "",
        *(f"- {n}: {v}" for n, v in versions.items()), limits_line(peaks), *noise_lines(results), "",
        *_summary(results),
    ]  # fmt: skip
    for cold in (False, True):
        lines += [
            f"## {'Cold' if cold else 'Warm'}", "",
            "| kernel | paper: library µs | TC µs | library / TC | here: ours µs | best peer / ours | "
            + " | ".join(TITLES[p] for p in peers) + " | schedule |",
            "|---|" + "---:|" * (5 + len(peers)) + "---|",
            *(_tc_row(r, peers, cold) for r in results), "",
        ]  # fmt: skip
    return "\n".join([*lines, *_short(results)]) + "\n"


def _tc_row(r: Result, peers: Sequence[str], cold: bool) -> str:
    (library, theirs), best = TC_PAPER[r.case.name], r.best(cold)
    cells = [r.case.name.removeprefix("TC "), f"{library:.0f}", f"{theirs:.0f}", f"{library / theirs:.2f}"]
    cells += [us(r.ours(cold)), f"**{best[1]:.2f}**" if best else "; ".join(r.failures())]
    cells += [peer_cell(r, p, cold) for p in peers]
    return f"| {' | '.join(cells)} | {r.schedule.removeprefix(OWN) or '(default)'} |"


def diesel_page(
    results: Sequence[Result],
    versions: Mapping[str, str],
    command: str,
    settings: Any,
    peaks: Mapping[bool, float],
) -> str:
    """The paper's figures first, then a row a size."""
    by_kind = {kind: [r for r in results if r.case.name.split()[1] == kind] for kind in DIESEL_PEERS}
    lines = [
        "# Diesel's products on the GPU", "", *_DIESEL.splitlines(), "",
        *_METHOD.format(command=command, rounds=settings.rounds).splitlines(), "",
        *(f"- {n}: {v}" for n, v in versions.items()), limits_line(peaks), *noise_lines(results), "",
        "## The paper's figures and here", "",
        "| | paper, Pascal | paper, Volta | here, warm | here, cold |", "|---|---:|---:|---:|---:|",
    ]  # fmt: skip
    for kind, title, peer, *figures in DIESEL_PAPER:
        lines += _figures(by_kind[kind], title, peer, figures)
    lines.append("")
    for kind, some in by_kind.items():
        peers = DIESEL_PEERS[kind]
        names = [f"{title}, {state}" for state in ("warm", "cold") for title in peers.values()]
        lines += [
            f"## {kind.upper() if kind != 'layer' else 'GEMM + bias + ReLU'}", "",
            "| M x N x K | ours µs warm | " + " | ".join(names) + " |", "|---|" + "---:|" * (1 + len(names)),
            *(_diesel_row(r, tuple(peers)) for r in some), "",
        ]  # fmt: skip
    return "\n".join([*lines, *_short(results)]) + "\n"


def _figures(results: Sequence[Result], title: str, peer: str, paper: Sequence[tuple[str, str]]) -> list[str]:
    found = [[x for r in results if (x := r.ratio(peer, cold)) is not None] for cold in (False, True)]
    rows: tuple[tuple[str, Callable[[Sequence[float]], str]], ...] = (
        ("at least as fast, of 100", lambda some: f"{sum(x >= 1 for x in some)} of {len(some)}"),
        ("least ratio", lambda some: f"{min(some):.2f}"),
        ("highest ratio", lambda some: f"{max(some):.2f}"),
        ("geometric mean", lambda some: f"{exp(sum(map(log, some)) / len(some)):.2f}"),
    )
    out = list[str]()
    for (name, value), (pascal, volta) in zip(rows, [*paper, _NONE], strict=True):
        here = [value(some) if some else "–" for some in found]
        out.append(f"| {title}: {name} | {pascal} | {volta} | {' | '.join(here)} |")
    return out


def _diesel_row(r: Result, peers: Sequence[str]) -> str:
    cells = [r.case.name.split()[-1], us(r.ours(False)) if r.ours(False) else "; ".join(r.failures())]
    cells += [peer_cell(r, p, cold) for cold in (False, True) for p in peers]
    return "| " + " | ".join(cells) + " |"


def _summary(results: Sequence[Result]) -> list[str]:
    out = list[str]()
    for state, cold in (("warm", False), ("cold", True)):
        found = [best[1] for r in results if (best := r.best(cold)) is not None]
        if found:
            mean, words = exp(sum(map(log, found)) / len(found)), f"over {len(found)} kernels"
            out += [
                f"Best peer over ours, {state}: geometric mean {mean:.2f} {words}, least {min(found):.2f}."
            ]
            out.append("")
    return out


def _short(results: Sequence[Result]) -> list[str]:
    return aims.lines({r.case.name: aims.short(r, None) for r in results})
