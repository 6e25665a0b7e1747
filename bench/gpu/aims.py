"""What each case is to reach, and why those that do not fall short: a line on the page for each."""

from collections.abc import Mapping
from dataclasses import dataclass
from fnmatch import fnmatch

from bench.gpu.outcome import DEFAULT, PLAIN, Result

DEFAULTS = 0.5
"""Of our speed, by the derived schedule."""


@dataclass(frozen=True, slots=True)
class Aim:
    """ratio: the best peer's time over ours. copy: our speed in parts of a plain copy's or read's. peak: of
    the multiply-adds in registers. why: what keeps cases from it."""

    ratio: float = 0.0
    copy: float = 0.0
    peak: float = 0.0
    why: str = ""


LARGE = (
    "the compiler's code issues in 87 % of the cycles, cuBLAS' own in 90 % and more: waits for register "
    "ports, which the order of multiply-adds decides (artifacts/h200/ports.md)"
)
ONE_WAVE = "128 blocks are one wave of 132 multiprocessors; " + LARGE
ROW = "cold, 8 MB of B take 1.7 us at the memory's speed, and a launch about as long"
ROWS = "cold, 8 MB of B come from memory first"
DOUBLE = (
    "the power that the GPU may draw limits both at 4096; alone and cool, ours takes 1.02 times cuBLAS' time"
)
HALF = "the power that the GPU may draw limits both; runs differ by a few hundredths"
WIDE = "both operands lie along K; copied as they lie and read along K it takes 447 us; else " + LARGE
HELD = "wgmma reads row-major factors of fp32 from registers alone, and each atom waits for them"
NEAR = "warm, B comes from the second-level cache, whose rate bounds both; cuBLAS' blocks ask for less of it"
FIRST = "rows of 3 channels: neither the copy engine nor atoms along k; computed without tensor cores"
POINTS = "a product of 12544x256x1024 at 64 images: 132 tiles of 192x128, one a multiprocessor"
SMALL = "likely latency: a multiprocessor has four warps, each a chain of 72 steps"
GROUPS = "runs differ by a few hundredths, most of all cold"
IMAGES = "likely latency: 5x5 results an image leave 12 warps a multiprocessor, of 168 registers a thread"
FOUR = "of the places of an atom, half along k and half along n are empty; a pixel has 8 bytes a group"
FEW = "likely latency: a block copies, multiplies and stores, and few blocks are on a multiprocessor"
LOOKUP = "a call takes about as long as launching it; cold, its rows come from memory, each on its own"
TWO = "one kernel after the other: stages share none that do not read each other's results"
READ = "both sides read at the memory's speed, and differ by a hundredth from run to run"
WRITTEN = "302 MB of results take 100 us at the H100's memory rate, more than 117 us over 1.3"
SCAN = "likely the wait of each block for the sums of those before it; CUB's scan reaches the same"
COLUMNS = (
    "likely latency, where columns are few: rows of A are read once, and turned on their way to shared "
    "memory, so that few reads are under way"
)
LAYERS = "few schedules ship for layers; most sizes have the derived one, whose parts a second kernel adds"
AIMS: tuple[tuple[str, Aim], ...] = (
    ("matmul 1x*", Aim(1.5, why=ROW)), ("matmul 16x*", Aim(2.0, why=ROWS)),
    ("matmul 1024x*", Aim(1.1, why=ONE_WAVE)), ("matmul fp64 *", Aim(0.98, peak=0.9, why=DOUBLE)),
    ("matmul bf16 *", Aim(0.98, why=HALF)), ("matmul int8 *", Aim(0.98, why=HALF)),
    ("matmul fp8 *", Aim(0.98, why=HALF)), ("matmul tf32 t *", Aim(0.98, why=HALF)),
    ("matmul tf32 *", Aim(0.98, why=HELD)), ("matmul f16 64x*", Aim(1.1, why=NEAR)),
    ("matmul f16 *", Aim(0.98, why=HALF)),
    ("matmul bias relu 1024x*", Aim(1.1, why=ONE_WAVE)), ("matmul bias relu *", Aim(1.1)),
    ("matmul *", Aim(1.0, why=LARGE)), ("gemm *", Aim(1.0)), ("tmm 128,4096,*", Aim(1.0, why=WIDE)),
    ("tmm *", Aim(1.0)), ("C3 *", Aim(1.0)), ("tbmm bf16 *", Aim(1.5, why=SMALL)),
    ("tbmm *", Aim(1.8, why=SMALL)),
    ("1LUT *", Aim(1.5, why=LOOKUP)),
    ("gconv f16 32,32,4,*", Aim(2.0, why=FOUR)), ("gconv f16 *", Aim(2.0, why=FEW)),
    ("gconv 32,32,32,32,*", Aim(4.0, why=IMAGES)), ("gconv *", Aim(4.0, why=GROUPS)),
    ("conv f16 112x112x3 *", Aim(1.2, why=FIRST)), ("conv f16 *1x1 *", Aim(1.2, why=POINTS)),
    ("conv f16 *", Aim(1.2)),
    ("conv *", Aim(1.5)), ("ccsdt 1 fp64", Aim(1.3, why=WRITTEN)), ("ccsdt *", Aim(1.3)),
    ("scan *", Aim(1.0, copy=0.9, why=SCAN)), ("histogram *", Aim(3.0, copy=0.9)), ("prl *", Aim(1.0)),
    ("einsum *", Aim(0.9)), ("Diesel layer *", Aim(1.0, why=LAYERS)), ("Diesel *", Aim(0.8)),
    ("TC tmm 128,4096,*", Aim(1.0, why=WIDE)), ("TC tbmm *", Aim(1.8, why=SMALL)),
    ("TC 1LUT *", Aim(2.9, why=LOOKUP)), ("TC 2LUT *", Aim(4.2, why=TWO)), ("TC MLP1 *", Aim(1.66)),
    ("TC gconv 32,32,16,*", Aim(4.18, why=GROUPS)), ("TC gconv 32,32,32,*", Aim(1.9)),
    ("TC gconv 32,32,4,*", Aim(8.54)), ("TC gconv *", Aim(5.36)), ("TC *", Aim(1.0)),
    ("random any *", Aim(0.8)), ("random conv *", Aim(0.9)), ("random contraction *", Aim(0.9)),
    ("random fp64 *", Aim(0.85)), ("random relu *", Aim(1.1, why=LAYERS)),
    ("random *", Aim(0.9, why=COLUMNS)),
    ("matvec *", Aim(1.0, copy=0.9, why=READ)), ("*", Aim(1.0, copy=0.9)),
)  # fmt: skip
"""The first that fits a case's name."""


def aim_of(name: str) -> Aim:
    return next(aim for pattern, aim in AIMS if fnmatch(name, pattern))


def short(r: Result, peak: float | None) -> str:
    """Where the case falls short of its aim, and why; empty where it does not. peak: what it reaches of the
    multiply-adds."""
    aim = aim_of(r.case.name)
    missed = []
    for cold in (False, True):
        best = r.best(cold)
        if best is not None and round(best[1], 2) < aim.ratio:
            missed.append(f"{best[1]:.2f} of {aim.ratio:g} {'cold' if cold else 'warm'}")
    for reached, wanted, words in (
        (r.ratio(PLAIN, True), aim.copy, "of a plain copy"), (peak, aim.peak, "of the multiply-adds"),
        (_default(r), DEFAULTS, "of it by default"),
    ):  # fmt: skip
        if reached is not None and round(reached, 2) < wanted:
            missed.append(f"{reached:.0%} {words} of {wanted:.0%}")
    if not missed:
        return ""
    return f"{r.case.name}: {', '.join(missed)}{': ' if aim.why else ''}{aim.why}"


def _default(r: Result) -> float | None:
    slower = r.ratio(DEFAULT, False) if r.schedule else None
    return 1 / slower if slower else None


def lines(results: Mapping[str, str]) -> list[str]:
    """The section of the page. results: what `short` says, by case."""
    said = [f"- {words}" for words in results.values() if words]
    return ["## Short of what is aimed at", "", *said, ""] if said else []
