"""Counters: what tools print, and the sentence that says why there are none. The tools are made up."""

import shutil
import stat
import sys
from pathlib import Path

import pytest

from mdh.cli.main import run
from mdh.counters.counted import Counted, CounterValue
from mdh.counters.ncu import counted_by_ncu
from mdh.counters.ncu import read as read_ncu
from mdh.counters.perf import counted_by_perf
from mdh.counters.perf import read as read_perf
from mdh.report.hot_text import counted_text
from tests.support.source_tree import ROOT

PERF = """# started on Mon
640.50,msec,task-clock,640500000,100.00,0.477,CPUs utilized
<not supported>,,cycles:u,0,100.00,,
2000000,,instructions:u,640500000,100.00,,
<not counted>,,cache-misses:u,0,100.00,,
"""
NCU = """==PROF== Connected to process 7
"ID","Process ID","Kernel Name","Section Name","Metric Name","Metric Unit","Metric Value"
"0","7","f","Command line profiler metrics","gpu__time_duration.sum","usecond","10.00"
"0","7","f","Command line profiler metrics","dram__bytes.sum","Mbyte","1,500.0"
"0","7","f","Command line profiler metrics","sm__warps_active.avg.pct_of_peak_sustained_active","%","40.0"
"1","7","g","Command line profiler metrics","gpu__time_duration.sum","msecond","0.03"
"1","7","g","Command line profiler metrics","dram__bytes.sum","byte","500"
"1","7","g","Command line profiler metrics","sm__warps_active.avg.pct_of_peak_sustained_active","%","80.0"
"1","7","g","Command line profiler metrics","smsp__inst_executed.sum","inst","n/a"
"""


def tool(folder: Path, name: str, body: str) -> None:
    path = folder / name
    path.write_text(f"#!{sys.executable}\n{body}")
    path.chmod(path.stat().st_mode | stat.S_IXUSR)


def test_what_perf_prints() -> None:
    assert dict(read_perf(PERF)) == {"task-clock": 640.5, "instructions": 2e6}


def test_what_ncu_prints() -> None:
    """Times and bytes of the kernels are added; shares are weighted by the time."""
    found = {c.name: (c.value, c.unit) for c in read_ncu(NCU)}
    assert found == {
        "time": (pytest.approx(4e-5), "s"),
        "device memory": (1.5e9 + 500, "bytes"),
        "occupancy": (pytest.approx(70.0), "%"),
    }
    assert read_ncu("==ERROR== nothing") == ()


def test_without_a_tool(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    perf, ncu = counted_by_perf(lambda: None, "c"), counted_by_ncu((), ("f",), "cuda:0")
    assert counted_text(perf).startswith("no counters: perf is not installed")
    assert counted_text(ncu).startswith("no counters: Nsight Compute (ncu) is not on PATH")
    assert counted_text(perf).count("\n") == 1


@pytest.mark.parametrize("late", [False, True])
def test_a_perf_that_is_refused(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, late: bool) -> None:
    """It ends at once, or answers nothing: a sentence, no pipe left open, no process left."""
    wait = "import os; os.close(int(sys.argv[sys.argv.index('--control') + 1].split(',')[1])); time.sleep(9)"
    tool(
        tmp_path, "perf",
        f"import sys, time\nsys.stderr.write('Access denied\\n'); sys.stderr.flush()\n{wait if late else ''}",
    )  # fmt: skip
    monkeypatch.setenv("PATH", str(tmp_path))
    before = len(list(Path("/proc/self/fd").iterdir())) if Path("/proc/self/fd").exists() else 0
    found = counted_by_perf(lambda: None, "c")
    assert found.counts == () and found.missing.endswith(("Access denied", "and must be 2 or less"))
    if before:
        assert len(list(Path("/proc/self/fd").iterdir())) == before


def test_an_ncu_that_counts_and_one_that_may_not(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    tool(tmp_path, "ncu", f"import sys\nassert sys.argv[-1] == 'run', sys.argv\nprint({NCU!r})")
    monkeypatch.setenv("PATH", str(tmp_path))
    found = counted_by_ncu(("run",), ("f", "g"), "cuda:0")
    assert found.value("time") == pytest.approx(4e-5)
    assert "warp instructions" in found.missing
    tool(tmp_path, "ncu", "print('==ERROR== ERR_NVGPUCTRPERM - no permission')")
    assert "NVreg_RestrictProfilingToAdminUsers=0" in counted_by_ncu(("run",), ("f",), "cuda:0").missing


def test_ratios() -> None:
    counts = (
        CounterValue("task-clock", 20.0, "ms"), CounterValue("cycles", 6e7),
        CounterValue("instructions", 1.2e8), CounterValue("cache-misses", 1e6),
    )  # fmt: skip
    said = counted_text(Counted("perf", "a CPU", 3, 0.01, counts))
    for words in ("2.00 instructions a cycle", "2.00 cores busy", "3.00 GHz", "61.0 MiB fetched from memory"):
        assert words in said


def test_the_command_counts_or_says_why(capsys: pytest.CaptureFixture[str]) -> None:
    """The plan is described all the same."""
    sizes = ["-D", "M=64", "-D", "N=64", "-D", "K=64"]
    words = [str(ROOT / "inputs_c" / "matmul.c"), *sizes, "--machine", "generic-cpu", "--target", "c"]
    assert run(["explain", *words, "--counters"]) == 0
    said = capsys.readouterr().out
    assert "counted by perf on" in said or "no counters: " in said
    if shutil.which("perf") is None:
        assert "no counters: perf is not installed" in said


def test_both_are_about_a_schedule(capsys: pytest.CaptureFixture[str]) -> None:
    for option in ("--asm", "--counters"):
        assert run(["explain", "K104", option]) == 2
        assert "[F107]" in capsys.readouterr().err
