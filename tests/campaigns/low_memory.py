"""What comes of `mdh run` and of a short `mdh tune` where memory is short.

Each must end with a result or with a coded message, never with an internal error, a traceback or a signal.
Where one quick trial was right the best schedule must be on disk.
"""

import argparse
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from mdh.diagnostics import Failed
from mdh.tuner.records.read import read_record

ROOT = Path(__file__).resolve().parents[2]
MATMUL = ROOT / "inputs_c" / "matmul.c"
LIMITS = (600, 800, 1000, 1200, 1400, 1600, 1800, 2000)
"""Megabytes."""
VERBS = ("run", "tune")
PATIENCE = 240.0
"""Seconds after which a command hangs."""
_CACHE = "/sys/devices/system/cpu/cpu0/cache/index3/size"


@dataclass(frozen=True, slots=True)
class Came:
    """What came of a command. codes: of its messages; bad: what must not be, empty: it was as it must."""

    limit: int
    verb: str
    device: str
    status: int | None
    codes: tuple[str, ...]
    note: str
    bad: str

    def row(self) -> str:
        status = "hangs" if self.status is None else str(self.status)
        cells = (
            f"{self.limit} MB",
            self.verb,
            self.device,
            status,
            " ".join(self.codes),
            self.note,
            self.bad,
        )
        return f"| {' | '.join(cells)} |"


def one(verb: str, device: str, limit: int, folder: Path, *, kind: str = "v", size: int = 16) -> Came:
    """Runs a command under `ulimit -KIND`, in an empty folder. limit: in MB."""
    words = [sys.executable, "-m", "mdh", verb, str(MATMUL), "--device", device]
    words += [w for name in "MNK" for w in ("-D", f"{name}={size}")]
    words += ["--check", "--repeat", "3"] if verb == "run" else ["--trials", "3", "--jobs", "1", "-o", "."]
    line = ["bash", "-c", f'ulimit -{kind} {limit * 1000} && exec "$@"', "bash", *words]
    environment = {
        **os.environ,
        "PYTHONPATH": str(ROOT),
        "TMPDIR": str(folder),
        "XDG_CACHE_HOME": str(folder),
    }
    try:
        done = subprocess.run(
            line, cwd=folder, env=environment, capture_output=True, text=True, timeout=PATIENCE, check=False
        )
    except subprocess.TimeoutExpired:
        return Came(limit, verb, device, None, (), "", f"no end in {PATIENCE:.0f} s")
    said = done.stdout + done.stderr
    codes = tuple(dict.fromkeys(re.findall(r"error\[([A-Z]\d+)\]", said)))
    bad = ""
    if done.returncode < 0 or done.returncode >= 70:
        bad = f"it ended with {done.returncode}"
    elif "Traceback" in said:
        bad = "a traceback"
    elif done.returncode and not codes:
        bad = "no code"
    right, note = "", "no cold times" if "cold times are left out" in said else ""
    if verb == "tune":
        right, note = _kept(folder)
    return Came(limit, verb, device, done.returncode, codes, note, bad or right)


def _kept(folder: Path) -> tuple[str, str]:
    """What is wrong with the files of a tuning, and what its record holds."""
    record = next(iter(folder.glob("*.jsonl")), None)
    if record is None:
        return "", "no record"
    try:
        _, trials, _ = read_record(str(record))
    except Failed:
        return "the record cannot be read", ""
    right = [t for t in trials if t.phase == "quick" and t.outcome.seconds is not None]
    finals = [t for t in trials if t.phase != "quick"]
    through = sum(t.outcome.seconds is not None for t in finals)
    note = f"{len(right)} right, {through} of {len(finals)} in finals"
    return "the best is lost" if right and not list(folder.glob("matmul.*.mdh")) else "", note


def main(words: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(prog="scripts/low-memory", description=__doc__)
    parser.add_argument("--devices", default="c,opencl:0")
    parser.add_argument("--verbs", default=",".join(VERBS))
    parser.add_argument("--limits", default=",".join(map(str, LIMITS)), help="in MB")
    parser.add_argument("--kind", default="v", choices=("v", "d"), help="of ulimit: address space, data")
    parser.add_argument("--cache", help="size of the last cache that commands see, such as 480M")
    given = parser.parse_args(words)
    if given.cache is not None:
        return _with_cache(given.cache, [w for w in words if w not in ("--cache", given.cache)])
    sys.stdout.write(
        "| limit | command | device | status | codes | | wrong |\n|---|---|---|---|---|---|---|\n"
    )
    wrong = 0
    for verb in given.verbs.split(","):
        for device in given.devices.split(","):
            for limit in map(int, given.limits.split(",")):
                with tempfile.TemporaryDirectory(prefix="mdh-low-memory-") as folder:
                    came = one(verb, device, limit, Path(folder), kind=given.kind)
                sys.stdout.write(came.row() + "\n")
                sys.stdout.flush()
                wrong += bool(came.bad)
    return 1 if wrong else 0


def _with_cache(size: str, words: Sequence[str]) -> int:
    """This program again, where the system tells of a last cache of another size."""
    with tempfile.NamedTemporaryFile("w", prefix="mdh-cache-") as file:
        file.write(f"{int(size.removesuffix('M')) * 1024}K\n")
        file.flush()
        mounted = f'mount --bind "{file.name}" "{_CACHE}" && exec "$@"'
        line = ["unshare", "--mount", "sh", "-c", mounted, "sh", sys.executable, __file__, *words]
        return subprocess.run(line, check=False).returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
