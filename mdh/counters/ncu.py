"""Counters of kernels on an NVIDIA GPU, by Nsight Compute, which starts `mdh run` itself.

ncu repeats each kernel until it has all counters, so times of such a run are not those of others: the
kernel's own time is one of the counters."""

import csv
import re
import shutil
import subprocess
import sys
from collections.abc import Sequence
from io import StringIO

from mdh.counters.counted import Counted, CounterValue, uncounted
from mdh.textfile import reason

METRICS = {
    "gpu__time_duration.sum": "time",
    "sm__throughput.avg.pct_of_peak_sustained_elapsed": "multiprocessors busy",
    "dram__throughput.avg.pct_of_peak_sustained_elapsed": "device memory busy",
    "lts__throughput.avg.pct_of_peak_sustained_elapsed": "L2 busy",
    "l1tex__throughput.avg.pct_of_peak_sustained_elapsed": "L1 busy",
    "sm__warps_active.avg.pct_of_peak_sustained_active": "occupancy",
    "dram__bytes.sum": "device memory",
    "smsp__inst_executed.sum": "warp instructions",
    "l1tex__data_bank_conflicts_pipe_lsu.sum": "bank conflicts",
}
"""ncu's name of a counter -> ours. Shares are means over the kernels, weighted by their time."""
_SECONDS = 300.0
_SCALES = {
    "nsecond": 1e-9, "ns": 1e-9, "usecond": 1e-6, "us": 1e-6, "msecond": 1e-3, "ms": 1e-3, "second": 1.0,
    "s": 1.0, "byte": 1.0, "Kbyte": 1e3, "Mbyte": 1e6, "Gbyte": 1e9, "inst": 1.0, "%": 1.0, "": 1.0,
}  # fmt: skip
_UNITS = {"time": "s", "device memory": "bytes"}


def counted_by_ncu(words: Sequence[str], kernels: Sequence[str], where: str) -> Counted:
    """words: of the `mdh run` that launches the kernels once or more; one launch of each is counted."""
    tool = shutil.which("ncu")
    if tool is None:
        return uncounted("ncu", where, "Nsight Compute (ncu) is not on PATH; it comes with the CUDA toolkit")
    named = "regex:^(" + "|".join(map(re.escape, kernels)) + ")$"
    command = (
        tool, "--csv", "--target-processes", "all", "--kernel-name", named, "--launch-count",
        str(len(kernels)), "--metrics", ",".join(METRICS), sys.executable, "-m", "mdh", *words,
    )  # fmt: skip
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, errors="replace", timeout=_SECONDS, check=False
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        why = reason(error) if isinstance(error, OSError) else f"it does not end in {_SECONDS:.0f} s"
        return uncounted("ncu", where, f"ncu fails: {why}")
    counts = read(done.stdout)
    if not counts:
        return uncounted("ncu", where, _why(done.stdout + done.stderr))
    lost = [name for name in METRICS.values() if name not in {c.name for c in counts}]
    missing = f"this GPU does not count {', '.join(lost)}" if lost else ""
    return Counted("ncu", where, 1, None, counts, missing)


def _why(said: str) -> str:
    if "ERR_NVGPUCTRPERM" in said:
        return (
            "the driver lets administrators alone read counters; its module option "
            "NVreg_RestrictProfilingToAdminUsers=0 changes that"
        )
    rows = [row.removeprefix("==ERROR==").strip() for row in said.splitlines() if row.startswith("==ERROR==")]
    return f"ncu counts nothing: {(rows or ['no kernel was profiled'])[0][:200]}"


def read(said: str) -> tuple[CounterValue, ...]:
    """The counters of ncu's table, for all kernels together."""
    lines = said.splitlines()
    start = next((n for n, row in enumerate(lines) if row.startswith('"ID"')), None)
    if start is None:
        return ()
    kernels: dict[str, dict[str, float]] = {}
    for row in csv.DictReader(StringIO("\n".join(lines[start:]))):
        name, scale = METRICS.get(row.get("Metric Name") or ""), _SCALES.get(row.get("Metric Unit") or "")
        value = (row.get("Metric Value") or "").replace(",", "")
        if name is not None and scale is not None and re.fullmatch(r"\d+(\.\d+)?", value):
            kernels.setdefault(row.get("ID") or "", {})[name] = float(value) * scale
    out = []
    for name in METRICS.values():
        having = [k for k in kernels.values() if name in k]
        if not having:
            continue
        share = name.endswith("busy") or name == "occupancy"
        weights = [k.get("time", 1.0) for k in having] if share else [1.0] * len(having)
        total = sum(w * k[name] for w, k in zip(weights, having, strict=True))
        value = total / (sum(weights) or 1.0) if share else total
        out.append(CounterValue(name, value, "%" if share else _UNITS.get(name, "")))
    return tuple(out)
