"""Records of a small matrix product, for the tests and the damage script."""

from functools import cache
from pathlib import Path

from mdh.frontend.c.read import read_program
from mdh.ir.program import Program
from mdh.machine import load_machine
from mdh.results.trial import Candidate, Failure, Outcome, Trial
from mdh.schedule.model import Schedule
from mdh.schedule.parser import parse_schedule
from mdh.source import Source
from mdh.tuner.records.file import Record
from mdh.tuner.records.header import Header, header_of
from mdh.tuner.records.key import Setting

C_TEXT = """
#ifndef N
#define N 64
#endif
void matmul(const float A[N][N], const float B[N][N], float C[N][N]) {
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++)
            for (int k = 0; k < N; k++)
                C[i][j] += A[i][k] * B[k][j];
}
"""
TEMPLATE = """
1: (de-)comp( ?bm{8,16}, ?bn{8,16}, ^ ) ( ^,^ ; ^ ) ( BLK.y, BLK.x, ^ )
2: (de-)comp( ^,^,1 ) ( ^,^ ; C:RM[1,2] ) ( ^,^,FOR.1 )
where ?bm * ?bn <= N * 4
"""
SETTING = Setting(
    load_machine("h200"),
    "cuda",
    "NVIDIA H200",
    versions=(("mdh", "0.1.0"), ("nvrtc", "13.0"), ("driver", "580.1")),
    check="2 inputs",
)


def program(text: str = C_TEXT, *, strict_fp: bool = False, **defines: int | str) -> Program:
    return read_program(Source("matmul.c", text), defines=defines, strict_fp=strict_fp)


def schedule(text: str = TEMPLATE) -> Schedule:
    return parse_schedule(Source("template.mdh", text))


@cache
def header(**defines: int | str) -> Header:
    return header_of(
        program(**defines),
        schedule(),
        SETTING,
        sizes=tuple(defines.items()),
        method="median of warm runs",
        command="mdh tune matmul.c --schedule template.mdh --device cuda:0",
        seed=7,
        created=1.75e9,
    )


def trial(number: int, seconds: float | None = None, *, phase: str = "quick", key: str = "") -> Trial:
    """Failed where `seconds` is None."""
    bm, bn = 8 << number % 2, 8 << number // 2 % 2
    text = f"1: (de-)comp( {bm}, {bn}, ^ ) ( ^,^ ; ^ ) ( BLK.y, BLK.x, ^ )\n"
    candidate = Candidate(key or f"{number:064x}", text, (("?bm", bm), ("?bn", bn)))
    if seconds is None:
        outcome = Outcome(Failure.COMPILE, "D104", 'ptxas: "µ" is\nno register', build_seconds=1.5)
    else:
        outcome = Outcome(
            None, warm=(seconds, seconds * 1.25, seconds / 2), cold=(seconds * 2,), clock="device",
            build_seconds=0.5, resources=(("registers", 64),), clocks=(1980.0, 1965.0), device="cuda:0",
            title="NVIDIA H200", versions=SETTING.versions,
        )  # fmt: skip
    return Trial(number, candidate, "random", phase, outcome, 1.75e9 + number, float(number))


def write(path: Path, count: int, **defines: int | str) -> tuple[Trial, ...]:
    """A record of `count` trials, every fourth failed."""
    trials = tuple(trial(n, None if n % 4 == 3 else 1e-3 / (n + 1)) for n in range(count))
    with Record.open(str(path), header(**defines)) as record:
        for one in trials:
            record.append(one)
    return trials
