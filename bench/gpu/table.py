"""The results as a page."""

import json
import re
from collections.abc import Mapping, Sequence
from math import exp, log
from statistics import median
from typing import Any

from bench.cases import program_of
from bench.gpu import aims
from bench.gpu.outcome import AGAIN, DEFAULT, OURS, PEERS, PLAIN, RIGHT, Pairs, Result
from bench.gpu.work import is_double

TITLES = {
    "torch": "torch", "other": "torch, other form", "cupy": "cupy", "cublaslt": "cuBLASLt tuned",
    "cub": "CUB", "cutensor": "cuTENSOR", "compiled": "torch.compile",
    "hand": "CUDA by a script",
}  # fmt: skip
KINDS = {"einsum": "Einsums", "TC": "Tensor Comprehensions"}
"""Cases that are summed up on their own, by the first word of their names."""
APART = 0.05
"""Processes whose ratios differ by more are marked."""
INTRODUCTION = """\
Every case by mdh's shipped schedule against libraries and compilers, written by
`{command}`. All contestants work on the same random
arrays in one process; results were compared with torch's on doubles before anything was timed. Each is
captured in a CUDA graph of as many calls as take {turn:.1g} ms or more, and a turn is one replay between two
events. Ours and a peer take turns; a ratio is the median over {rounds} pairs of turns (fewer of long ones) in
each of two processes, of which the second swaps the order. Ratios are the peer's time over ours: above 1 mdh
is faster. `~`: the two processes' ratios are more than {apart:.0%} apart. `¹`: only one of them came to the
case. `°`: the peer's calls cannot be captured, and launching them counts.

*warm*: the same arrays in every call; *cold*: calls go round sets of arrays that together exceed the L2 cache
two and a half times. *of copy*: our speed in parts of that of a plain copy of as many bytes (where the case
mostly reads: of a plain read), timed likewise, cold. *of peak*: the case's operations in parts of the
measured rate of multiply-adds, no tensor cores. Ours is the fastest of the schedules that ship for the case
and of the one that mdh derives when none is given, marked *(default)*; *default reaches*: the derived one's
speed in parts of ours.

cuDNN's algorithms are the fastest of several searches, cuBLASLt's of all that its heuristic names and of many
drawn at random; the second process chooses among the four that were fastest in the first.
*torch, other form*: convolutions channel by channel, stencils as convolutions,
products apart from what follows them, contractions without the copy into the order that the program asks for.
torch.compile (max-autotune) takes part where it writes kernels of its own, with `--compile` everywhere.
Programs that add to what their output holds are compared with library calls that only write it. Single
precision means just that: no TF32, no emulation."""


def page(
    results: Sequence[Result],
    versions: Mapping[str, str],
    command: str,
    settings: Any,
    peaks: Mapping[bool, float],
) -> str:
    intro = INTRODUCTION.format(
        command=command, turn=settings.turn * 1e3, rounds=settings.rounds, apart=APART
    )
    shown = [p for p in PEERS if any(r.pairs(p, False) for r in results)]
    lines = [
        "# mdh on the GPU", "", *intro.splitlines(), "", *(f"- {n}: {v}" for n, v in versions.items()),
        limits_line(peaks), *noise_lines(results), *_clocks(results), *_missing(results), "",
        *_summary(results), "",
        "## Ours and the best peer", "",
        "| case | warm µs | best peer | best / ours | cold µs | best peer | best / ours | of copy | of peak "
        "| default reaches | schedule |",
        "|---|---:|---|---:|---:|---|---:|---:|---:|---:|---|",
        *(_row(r, peaks) for r in results), "",
        *aims.lines({r.case.name: aims.short(r, _peak(r, peaks)) for r in results}),
    ]  # fmt: skip
    for cold in (False, True) if shown else ():
        lines += [
            f"## Each peer, {'cold' if cold else 'warm'}", "",
            "| case | " + " | ".join(TITLES[p] for p in shown) + " |", "|---|" + "---:|" * len(shown),
            *(
                f"| {r.case.name} | " + " | ".join(peer_cell(r, p, cold) for p in shown) + " |"
                for r in results
            ), "",
        ]  # fmt: skip
    return "\n".join([*lines, *_left(results)]) + "\n"


def line(r: Result) -> str:
    """What is said while the run goes on."""
    found = [f"{p} {v:.2f}" for p in PEERS if (v := r.ratio(p, False)) is not None]
    failed = "; ".join(r.failures())
    return f"{r.case.name}: {us(r.ours(False))} µs; {', '.join(found)}{'; ' if failed else ''}{failed}"


def figures(results: Sequence[Result]) -> str:
    """Everything that was measured, as JSON with a line for each case."""
    return "[\n" + ",\n".join(json.dumps(raw(r)) for r in results) + "\n]\n"


def raw(r: Result) -> dict[str, Any]:
    return {
        "case": r.case.name, "program": r.case.program, "sizes": dict(r.case.sizes), "flops": r.case.flops,
        "schedule": r.schedule, "refused": r.refused, "resources": r.resources,
        "processes": [
            {
                "verdicts": o.verdicts, "notes": o.notes, "chosen": o.chosen, "sets": o.sets,
                "clock": o.clock, "candidates": o.candidates, "took": o.took, "warm": _short(o.warm),
                "cold": _short(o.cold), "missing": sorted(o.missing),
                "tuned": [(n, held.hex()) for n, held in o.tuned],
            }
            for o in r.outcomes
        ],
    }  # fmt: skip


def _short(found: Mapping[str, Pairs]) -> dict[str, Pairs]:
    return {n: [(float(f"{a:.5g}"), float(f"{b:.5g}")) for a, b in pairs] for n, pairs in found.items()}


def _row(r: Result, peaks: Mapping[bool, float]) -> str:
    label = r.case.name + ("" if r.schedule else " (default)") + ("¹" if r.once else "")
    if r.ours(False) is None:
        return f"| {label} | " + "; ".join(r.failures() or ["not measured"]) + " |" * 10
    cells = [label]
    for cold in (False, True):
        best = r.best(cold)
        cells += [us(r.ours(cold)), TITLES[best[0]] if best else "", f"**{best[1]:.2f}**" if best else ""]
    cells += [_share(r.ratio(PLAIN, True)), _share(_peak(r, peaks))]
    reached = r.ratio(DEFAULT, False) if r.schedule else 1.0
    cells += [f"{1 / reached:.0%}" if reached else "", r.schedule]
    return "| " + " | ".join(cells) + " |"


def peer_cell(r: Result, peer: str, cold: bool) -> str:
    """Ratio and time, or why there is none."""
    ratio = r.ratio(peer, cold)
    if ratio is None:
        verdicts = [v for o in r.outcomes if (v := o.verdicts.get(peer, "")).startswith(("wrong", "failed"))]
        return verdicts[0].partition(":")[0] if verdicts else "–"
    mark = "~" if r.apart(peer, cold) > APART else ""
    eager = "°" if r.case.program == "histogram" and peer in ("torch", "cupy") else ""
    return f"{mark}{ratio:.2f}{eager} ({us(r.seconds(peer, cold))} µs)"


def _peak(r: Result, peaks: Mapping[bool, float]) -> float | None:
    """In parts of the multiply-adds; None where arithmetic does not bound the case."""
    seconds, peak = r.ours(False), peaks.get(is_double(program_of(r.case)))
    if not seconds or not peak or not r.case.flops or r.case.like:
        return None
    return r.case.flops / seconds / peak


def _share(value: float | None) -> str:
    return "" if value is None else f"{value:.0%}"


def us(seconds: float | None) -> str:
    """A time in microseconds."""
    if seconds is None:
        return "–"
    return f"{seconds * 1e6:.3g}" if seconds < 1e-3 else f"{seconds * 1e6:.0f}"


def limits_line(peaks: Mapping[bool, float]) -> str:
    """What the GPU reaches."""
    single, double = (peaks.get(d, 0.0) / 1e12 for d in (False, True))
    return f"- multiply-adds in registers: {single:.1f} TFLOP/s fp32, {double:.1f} TFLOP/s fp64"


def noise_lines(results: Sequence[Result]) -> list[str]:
    """How far ours is from itself."""
    off = [abs(v - 1) for r in results for cold in (False, True) if (v := r.ratio(AGAIN, cold)) is not None]
    if not off:
        return []
    return [f"- ours against itself: off by {median(off):.1%} (median), {max(off):.1%} at most"]


def _clocks(results: Sequence[Result]) -> list[str]:
    found = [o.clock for r in results for o in r.outcomes if o.clock]
    if not found:
        return []
    return [f"- SM clock, power, temperature: {found[0]} at first, {found[-1]} at last"]


def _missing(results: Sequence[Result]) -> list[str]:
    names = {n for r in results for o in r.outcomes for n in o.missing}
    return [f"- not installed: {', '.join(TITLES[p] for p in PEERS if p in names)}"] if names else []


def _summary(results: Sequence[Result]) -> list[str]:
    out = list[str]()
    for title, some in _groups(results).items():
        for cold in (False, True):
            best = [b[1] for r in some if (b := r.best(cold)) is not None]
            if best:
                mean = exp(sum(map(log, best)) / len(best))
                count = sum(b >= 1 for b in best)
                kind = "cold" if cold else "warm"
                out.append(
                    f"{title}, {kind}: best peer over ours has the geometric mean {mean:.2f} over "
                    f"{len(best)} cases, from {min(best):.2f} to {max(best):.2f}; at least 1 in {count}."
                )
                out.append("")
    return out[:-1]


def _groups(results: Sequence[Result]) -> dict[str, list[Result]]:
    """Random sizes and einsums apart from the others, random ones by their kind."""
    out: dict[str, list[Result]] = {}
    for r in results:
        first, second, *_ = r.case.name.split()
        titles = {"random": f"Random sizes, {second}", "Diesel": f"Diesel, {second}", **KINDS}
        title = titles.get(first, "Fixed cases")
        out.setdefault(title, []).append(r)
    return out


def _left(results: Sequence[Result]) -> list[str]:
    failed = [f"- {r.case.name}: {f}" for r in results for f in r.failures() if not f.endswith(RIGHT)]
    refused = [line for r in results for line in _refused(r.case.name, r.refused)]
    spilled = [
        f"- {r.case.name}: {n}: {words}"
        for r in results
        for n, words in r.resources.items()
        if n == (r.schedule or DEFAULT) and ("spilled" in words or "warning" in words)
    ]
    slower = [
        f"- {r.case.name}: {', '.join(f'{n} {us(warm)}, {us(cold)}' for n, (warm, cold) in known)}"
        for r in results
        if (known := sorted(r.candidates.items(), key=lambda c: sum(c[1])))[1:]
    ]
    out = list[str]()
    for title, some in (
        ("Schedules that could be ours, µs warm and cold, roughly", slower),
        ("Wrong or failed", failed), ("Schedules that do not fit", refused),
        ("Kernels of ours that spill or that the compiler warns of", spilled),
    ):  # fmt: skip
        if some:
            out += [f"## {title}", "", *some, ""]
    return out


def _refused(case: str, refused: Mapping[str, str]) -> list[str]:
    """A line a reason; where one rule refuses several schedules, its code and their names."""
    by_rule: dict[str, list[str]] = {}
    for name, why in refused.items():
        code = re.match(r"[A-Z]\d{3}(?= )", why)
        by_rule.setdefault(code[0] if code else why, []).append(name)
    return [
        f"- {case}: {rule}: {', '.join(names)}" if names[1:] else f"- {case}: {names[0]}: {refused[names[0]]}"
        for rule, names in by_rule.items()
    ]


def wrong(results: Sequence[Result]) -> bool:
    """A kernel of mdh's computes something else."""
    names = {OURS, DEFAULT}
    return any(
        v.startswith("wrong") and (n in names or n in r.case.schedules)
        for r in results for o in r.outcomes for n, v in o.verdicts.items()
    )  # fmt: skip
