"""The rows: what is tested, its target, and the command or page that shows it."""

import os
from collections.abc import Callable
from pathlib import Path

from tests.reliability import pages
from tests.reliability.campaign import feasible, large_space, leak
from tests.reliability.records import forms, key_changes
from tests.reliability.rejection import rejection
from tests.reliability.round_trip import round_trip
from tests.reliability.row import Row, Setting
from tests.reliability.times import repeats, same_twice, winners
from tests.support.source_tree import ROOT

Command = Callable[[Setting, Path], list[str]]


def script(name: str, *words: str, number: tuple[str, int] | None = None) -> Command:
    """`scripts/NAME WORDS --OPTION N`, N being the row's number at the scale."""

    def command(setting: Setting, _: Path) -> list[str]:
        counted = [] if number is None else [number[0], str(setting.number(number[1]))]
        return [str(ROOT / "scripts" / name), *words, *counted]

    return command


def _faults(setting: Setting, page: Path) -> list[str]:
    trials, planted = setting.number(1000, 20), setting.number(100, 9)
    counted = ["--trials", str(trials), "--planted", str(planted), "--device", setting.device]
    return [str(ROOT / "scripts" / "fault-run"), *counted, "--out", str(page)]


def _timeouts(setting: Setting, page: Path) -> list[str]:
    devices = ",".join(["c", "opencl:0", *(["cuda:0"] if setting.gpu else [])])
    counted = ["--devices", devices, "--hangs", str(setting.number(100, 4))]
    return [str(ROOT / "scripts" / "timeout-run"), *counted, "--out", str(page)]


def _races(setting: Setting, page: Path) -> list[str]:
    words = ["--devices", "c,opencl:0,none", "--rounds", str(setting.number(200, 2))]
    return [str(ROOT / "scripts" / "cache-race"), *words, "--out", str(page)]


def _sanitizers(setting: Setting, page: Path) -> list[str]:
    words = ["--devices", "c,cuda:0" if setting.gpu else "c", "--scale", str(min(1.0, setting.scale))]
    return [str(ROOT / "scripts" / "sanitizers"), *words, "--jobs", str(setting.jobs), "--out", str(page)]


def _judge(setting: Setting, page: Path) -> list[str]:
    # the page of another device has another name
    words = ["--valid", "0", "--device", "opencl:0", "--out", str(page.parent)]
    return [str(ROOT / "scripts" / "judge-audit"), *words]


def _hostile(setting: Setting, page: Path) -> list[str]:
    words = [
        "--count",
        str(setting.number(1_000_000)),
        "--jobs",
        str(setting.jobs),
        "--out",
        str(page.parent),
    ]
    return [str(ROOT / "scripts" / "hostile-input"), *words]


def _paged(name: str, option: str, full: int) -> Command:
    """As `script`; the page goes where it is wanted."""

    def command(setting: Setting, page: Path) -> list[str]:
        counted = [option, str(setting.number(full))]
        return [str(ROOT / "scripts" / name), *counted, "--out", str(page)]

    return command


def _budgets(setting: Setting, page: Path) -> list[str]:
    budgets = "30s,5m,3h" if setting.scale >= 1 else "30s"
    return [str(ROOT / "scripts" / "budget-run"), "--budgets", budgets, "--out", str(page)]


def _worker_kills(setting: Setting, page: Path) -> list[str]:
    seconds = str(setting.number(600, 60))
    # where there are two cores a worker, both spells take the time of one
    at_once = ["--at-once"] if len(os.sched_getaffinity(0)) >= 16 else []
    return [str(ROOT / "scripts" / "worker-kills"), "--seconds", seconds, *at_once, "--out", str(page)]


ROWS: tuple[Row, ...] = (
    Row(
        "R1", "hostile mix: 1,000 trials, 100 of them planted faults",
        "900/900 good ones measured; 100/100 classed right; parent lives; recovery median ≤ 5 s, p99 ≤ 20 s",
        "scripts/fault-run", page="tuner_faults.md", read=pages.faults, command=_faults,
    ),
    Row(
        "R2", "timeouts: 100 candidates a device that hang in their build or their launch",
        "killed ≤ limit + 2 s; no orphan; GPU memory back within 64 MiB; next timing within 2 %",
        "scripts/timeout-run", page="tuner_timeouts.md", read=pages.timeouts, command=_timeouts,
    ),
    Row(
        "R3", "`kill -9` of the tuner at 200 random points",
        "200/200 resume; ≤ 1 trial lost a worker; no unreadable record",
        "scripts/kill-resume", page="tuner_kills.md", read=pages.kills,
        command=_paged("kill-resume", "--kills", 200),
    ),
    Row(
        "R4", "SIGINT and SIGTERM at 50 points", "best schedule on disk, exit ≤ 5 s, exit code 130 / 143",
        "scripts/signal-run", page="tuner_signals.md", read=pages.signals,
        command=_paged("signal-run", "--points", 50),
    ),
    Row(
        "R5", "32 processes × 200 identical compiles, cold shared cache",
        "no exception; each key built ≤ 2 times",
        "scripts/cache-race", page="cache_race.md", read=pages.races, command=_races,
    ),
    Row(
        "R6", "damage: cut at every byte, 10,000 bit flips, full disk, read-only folder",
        "100 % miss or clear error; no traceback; no wrong load",
        "scripts/record-damage", page="tuner_records.md", read=pages.records,
        command=script("record-damage", number=("--flips", 10_000)),
    ),
    Row(
        "R7", "random program × schedule against an interpreter of the C text; 50,000 a release",
        "no mismatch; failures shrunk; seed printed",
        "scripts/soundness", page="soundness.md", read=pages.soundness,
    ),
    Row(
        "R8",
        "memcheck on 200 kernels, initcheck on 100, racecheck, synccheck on 50; ASan and UBSan on 400 in C",
        "no report", "scripts/sanitizers", page="sanitizers.md", read=pages.sanitizers, command=_sanitizers,
    ),
    Row(
        "R9", "60 planted faults of code generation", "≥ 59/60 caught in tuning; none wins",
        "scripts/judge-audit", page="tuner_judge.md", read=pages.judge, command=_judge,
    ),
    Row(
        "R10", "2,000 valid schedules: split reductions, 16-bit and 8-bit types, K up to 65,536",
        "≤ 0.1 % rejected", "scripts/reliability --rows R10", run=rejection,
    ),
    Row(
        "R11", "same kernel timed in separate processes, 100 pairs, 5 µs to 50 ms",
        "p95 difference ≤ 1 % (≥ 100 µs), ≤ 3 % (< 100 µs)",
        "scripts/reliability --rows R11", run=same_twice,
    ),
    Row(
        "R12", "winners measured again in a fresh process, 200 runs", "within 2 % in ≥ 95 %",
        "scripts/reliability --rows R12", run=winners,
    ),
    Row(
        "R13", "20 tunings of the same budget; replays",
        "p95 regret ≤ 5 %; identical order of trials when replayed",
        "scripts/reliability --rows R13", run=repeats,
    ),
    Row(
        "R14", "proposals of 5,000 trials", "100 % legal; ≤ 0.5 % fail to launch",
        "scripts/reliability --rows R14", run=feasible,
    ),
    Row(
        "R15", "space of ≥ 1e12 points, 5,000 trials", "first sample ≤ 1 s; search ≤ 5 % of the wall time",
        "scripts/reliability --rows R15", run=large_space,
    ),
    Row(
        "R16", "leaks: 5,000 trials", "memory grows ≤ 100 MiB; open files and GPU memory constant",
        "scripts/reliability --rows R16", run=leak,
    ),
    Row(
        "R17", "1,000,000 damaged inputs to all parsers",
        "100 % a result or a code; no traceback; none > 2 s",
        "scripts/hostile-input", page="hostile_input.md", read=pages.hostile, command=_hostile,
    ),
    Row(
        "R18", "parse(print(s)) = s and the same kernel text, 10,000 schedules",
        "100 %; byte-identical over Python versions and hash seeds",
        "scripts/reliability --rows R18", run=round_trip,
    ),
    Row(
        "R19", "budgets: 30 s, 5 min, 3 h", "ends ≤ budget + max(30 s, 1 %); best file valid throughout",
        "scripts/budget-run", page="tuner_budgets.md", read=pages.budgets, command=_budgets,
    ),
    Row(
        "R20", "8 workers, one killed every 30 s for 10 min",
        "no result lost; ≥ 80 % of the undisturbed rate",
        "scripts/worker-kills", page="tuner_worker_kills.md", read=pages.worker_kills, command=_worker_kills,
    ),
    Row(
        "R21", "records of every released form",
        "all load for ever; newer ones refused clearly; merges drop none",
        "scripts/reliability --rows R21", run=forms,
    ),
    Row(
        "R22", "40 single changes of what a key is made of",
        "40/40 change the key; comments and spaces never do",
        "scripts/reliability --rows R22", run=key_changes,
    ),
)  # fmt: skip
