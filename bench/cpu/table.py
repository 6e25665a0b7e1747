"""The results as a page."""

import platform
from collections.abc import Mapping, Sequence
from math import exp, log
from pathlib import Path
from statistics import median

from bench.cpu import aims
from bench.cpu.turns import Pairs, Result, Settings

TITLES = {
    "numpy": "numpy", "torch": "torch", "mkl": "oneMKL", "gcc": "gcc", "halide": "Halide", "tvm": "TVM",
}  # fmt: skip
PEERS = tuple(TITLES)
INTRODUCTION = """\
Every case by mdh's shipped schedule against libraries and compilers, written by
`{command}`. Each contestant has a process of its own with the
same random data and {threads}; its results were compared with numpy's on doubles before anything was
timed. Ours and a peer take turns; a turn is the shortest of the calls of {seconds} ms, and a ratio is the
median over pairs of turns, so that both saw the same machine. Ratios are the peer's time over ours: above 1
mdh is faster. {clock}

*whole*: the call as a program sees it, arguments bound before; *kernel*: the device's own clock, the launch
left out. *roof*: the least time that the machine's best measured arithmetic or memory rate allows, over our
best turn; data that stays in the caches from call to call can exceed memory's. *default reaches*: the speed
of the schedule that mdh derives when none is given, in parts of the shipped one's. *on*: which of our devices
serves the case best, with the shipped schedule: OpenCL, or C with OpenMP; *other device*: the other's speed
in parts of it. *(default)* in the first column: ours is the derived schedule, since none ships, or it is
faster here than the shipped one.
gcc: the plain C of `inputs_c` at -O3 -march=native -ffast-math with an OpenMP directive
before the first loop.{compilers}"""
COMPILERS = {
    "halide": "Halide: the fastest of its autoschedulers' schedules.",
    "tvm": "TVM: the best of the few dozen candidates that MetaSchedule measured on two cores.",
}
WALL = """\
The machine is shared with other work and its absolute times are noisy: the ratio is what
counts. Pairs during which others used the processors are dropped; `~` marks a ratio for which too few were
left, so that all were kept."""
ALONE = """\
One thread each; times are processor times of each process, so that other work on the machine
disturbs them little."""


def page(
    results: Sequence[Result], versions: Mapping[str, str], command: str, threads: int, settings: Settings
) -> str:
    clock = ALONE if settings.alone else WALL
    seconds = round(settings.seconds * 1e3)
    many = "one thread" if threads == 1 else f"{threads} threads"
    peers = [p for p in PEERS if any(p in r.verdicts for r in results)]
    compilers = "".join(f"\n{text}" for p, text in COMPILERS.items() if p in peers)
    intro = INTRODUCTION.format(
        command=command, threads=many, seconds=seconds, clock=clock, compilers=compilers
    )
    lines = [
        "# mdh on the CPU", "", *intro.splitlines(), "", *machine_lines(threads),
        *(f"- {name}: {version}" for name, version in versions.items()), *limits_lines(results), "",
        "## Warm caches", "",
        "| case | on | whole ms | kernel ms | roof | bound | best peer | best / ours | by kernel | "
        + " | ".join(TITLES[p] for p in peers) + " | default reaches | other device |",
        "|---|---|" + "---:|" * 3 + "---|---|" + "---:|" * (3 + len(peers)) + "---|",
        *(_row(r, peers) for r in results), "", *_summary(results), "", *_short(results),
        *cold_lines(results, peers),
    ]  # fmt: skip
    return "\n".join(lines) + "\n"


def ratios(result: Result) -> dict[str, float]:
    """Peer to the ratio of whole calls."""
    return {p: result.warm[p].whole for p in PEERS if p in result.warm}


def line(result: Result) -> str:
    """What is said while the run goes on."""
    found = ", ".join(f"{p} {v:.2f}" for p, v in ratios(result).items())
    other = ", ".join(f"{n} {v}" for n, v in result.verdicts.items() if v != "right")
    return f"{result.case.name} on {result.device}: {found}{'; ' if other else ''}{other}"


def _summary(results: Sequence[Result]) -> list[str]:
    best = {r.case.name: min(ratios(r).values()) for r in results if ratios(r)}
    if not best:
        return []
    mean = exp(sum(log(v) for v in best.values()) / len(best))
    behind = [n for n, v in best.items() if v < 1]
    wrong = [
        f"{r.case.name}: {n} {v}" for r in results for n, v in r.verdicts.items() if v.startswith("wrong")
    ]
    out = [
        f"Best peer over ours: geometric mean {mean:.2f} over {len(best)} cases; at least 1 in "
        f"{len(best) - len(behind)} of them."
    ]
    if wrong:
        out += ["", "Left out for wrong results: " + "; ".join(wrong) + "."]
    return out


def _short(results: Sequence[Result]) -> list[str]:
    said = []
    for r in results:
        if found := ratios(r):
            least, bound = r.roof()
            reached = least / min(t.whole for pairs in r.warm.values() for t in pairs.ours)
            said.append(aims.short(r.case.name, min(found.values()), reached, bound))
    behind = [f"- {words}" for words in said if words]
    return ["## Short of what is aimed at", "", *behind, ""] if behind else []


def _row(r: Result, peers: Sequence[str]) -> str:
    label = r.case.name + (" (default)" if r.derived else "")
    found = ratios(r)
    if not r.warm:
        return f"| {label} | " + " | ".join([r.verdicts.get("ours", "")] + [""] * (9 + len(peers))) + " |"
    best = min(found, key=lambda p: found[p], default="")
    mine = [t for pairs in r.warm.values() for t in pairs.ours]
    least, bound = r.roof()
    cells = [
        r.device, ms(median(t.whole for t in mine)), ms(median(t.kernel for t in mine)),
        f"{least / min(t.whole for t in mine):.0%}", bound,
        TITLES.get(best, ""), f"**{found[best]:.2f}**" if best else "",
        f"{r.warm[best].kernel:.2f}" if best else "",
        *(peer_cell(r, p) for p in peers),
        f"{1 / r.default.whole:.0%}" if r.default is not None else "",
        "; ".join(f"{d} {1 / p.whole:.0%}" for d, p in r.others.items()),
    ]  # fmt: skip
    return f"| {label} | " + " | ".join(cells) + " |"


def peer_cell(r: Result, peer: str) -> str:
    """Ratio and time, or why there is none."""
    if peer in r.warm:
        pairs = r.warm[peer]
        mark, time = "" if pairs.quiet else "~", median(t.whole for t in pairs.peer)
        return f"{mark}{pairs.whole:.2f} ({ms(time)} ms)"
    return {"absent": "–"}.get(r.verdicts.get(peer, "absent"), r.verdicts.get(peer, ""))


def cold_lines(results: Sequence[Result], peers: Sequence[str]) -> list[str]:
    """The section of single calls."""
    return [
        "## Cold caches", "", "Single calls, the caches overwritten before each by their own process.", "",
        "| case | ours ms | " + " | ".join(TITLES[p] for p in peers) + " |",
        "|---|" + "---:|" * (1 + len(peers)), *(_cold(r, peers) for r in results),
    ]  # fmt: skip


def _cold(r: Result, peers: Sequence[str]) -> str:
    if not r.cold:
        return f"| {r.case.name} |" + " |" * (1 + len(peers))
    mine = median(t.whole for pairs in r.cold.values() for t in pairs.ours)
    cells = [f"{_whole(r.cold, p)}" for p in peers]
    return f"| {r.case.name} | {ms(mine)} | " + " | ".join(cells) + " |"


def _whole(pairs: Mapping[str, Pairs], peer: str) -> str:
    return f"{pairs[peer].whole:.2f}" if peer in pairs else "–"


def ms(seconds: float) -> str:
    """A time in milliseconds."""
    return f"{seconds * 1e3:.3g}" if seconds < 1 else f"{seconds * 1e3:.0f}"


def machine_lines(threads: int) -> list[str]:
    """The processors."""
    model, count = platform.machine(), "?"
    info = Path("/proc/cpuinfo")
    if info.exists():
        lines = info.read_text(encoding="utf-8").splitlines()
        names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
        model, count = names[0] if names else model, str(len(names))
    return [f"- machine: {model}, {count} CPUs of which {threads} used, {platform.system()}"]


def limits_lines(results: Sequence[Result]) -> list[str]:
    """What the machine can do, by all measurements of a run."""
    rates = [r for result in results for r in result.rates]
    if not rates:
        return ["- nothing was measured"]
    f32, f64, read, copy = (
        median(getattr(r, n) for r in rates) / 1e9 for n in ("f32", "f64", "read", "copy")
    )
    peak = f"{f32:.0f} GFLOP/s fp32, {f64:.0f} GFLOP/s fp64"
    return [f"- limits (best of the run): {peak}, reads {read:.1f} GB/s, copies {copy:.1f} GB/s"]
