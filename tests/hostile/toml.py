"""Machine files and project files as somebody might write them who wishes mdh ill."""

import tempfile
from functools import cache
from math import isfinite
from pathlib import Path
from random import Random

from mdh.machine import Machine, load_machine, machine_names, print_machine, read_machine
from mdh.textfile import decode
from mdh.tuner.project import ProjectEntry, listed_in
from tests.hostile.pieces import damaged
from tests.hostile.verdict import Verdict, judged
from tests.support.source_tree import ROOT

PROJECT = b"""# programs to tune
[project]
name = "kernels"

[[tool.mdh.tune]]
file = "kernels/matmul.c"
schedule = "kernels/matmul.mdh"
defines = { M = 1024, N = 1024, T = "float" }
set = { bm = 64, where = "SM" }
device = "cuda:0"

[[tool.mdh.tune]]
file = "kernels/dot.c"
function = "dot"
strict_fp = true
deterministic = false
"""
_VALUES = (
    b"nan", b"inf", b"-inf", b"1e999", b"-1", b"0", b"1", b"true", b"9223372036854775808", b"1_000",
    b"0x" + b"f" * 5000, b"9" * 5000, b"1979-05-27T07:32:00Z", b"25:61:61", b"07:32:00", b"[]", b"{}",
    b'""', b"[[]]", b"{ a = 1 }", b'"\\u0000"', b'"\\ud800"', b'"../../x"', b'"a\\nb"', b"'''", b'"""',
    b"[1, 1.5]", b"1e-320",
)  # fmt: skip
_NOISE = (
    *_VALUES, b"[", b"]", b"{", b"}", b"[[", b"]]", b"=", b".", b",", b"#", b"a.", b'"".', b"[a]\n",
    b"[[tune]]\n", b"\n", b"units = 1\n", b"name = 1\n", b"schema.x = 1\n", b"file = 1\n", b"tool = 1\n",
    b'"x y" = 1\n', b"defines.x = 1\n",
)  # fmt: skip


@cache
def machine_files() -> tuple[bytes, ...]:
    folder = ROOT / "mdh" / "machines"
    return tuple((folder / f"{name}.toml").read_bytes() for name in machine_names())


def mutate_machine(data: bytes, chance: Random) -> bytes:
    """A machine file with another value, or damaged."""
    return _revalued(data, chance) if chance.random() < 0.4 else damaged(data, chance, _NOISE)


def mutate_project(data: bytes, chance: Random) -> bytes:
    """A project file with another value, or damaged."""
    return _revalued(data, chance) if chance.random() < 0.4 else damaged(data, chance, _NOISE)


def _revalued(data: bytes, chance: Random) -> bytes:
    lines = data.split(b"\n")
    set_ = [n for n, line in enumerate(lines) if b"=" in line]
    for n in chance.sample(set_, min(len(set_), chance.choice((1, 1, 2, 5)))):
        name, _, value = lines[n].partition(b"=")
        lines[n] = name + b"= " + chance.choice((*_VALUES, value + value))
    return b"\n".join(lines)


def judge_machine(data: bytes) -> Verdict:
    """Of a machine that is read every number is one, and it survives being written."""

    def work() -> str | None:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "m.toml"
            path.write_bytes(data)
            machine = load_machine(path)
        if read_machine(decode("again.toml", print_machine(machine).encode("utf-8"))) != machine:
            return "printed and read again it is another machine"
        return _believed(machine)

    return judged(work)


def _believed(machine: Machine) -> str | None:
    speeds = (machine.clock, machine.bandwidth, machine.peak_f32, machine.peak_f64)
    counts = (machine.units, machine.warp, machine.memory, *machine.grid_limits, *machine.caches)
    wrong = not all(isfinite(s) and s > 0 for s in speeds)
    wrong |= not all(type(c) is int and 0 < c < 1 << 63 for c in counts)
    wrong |= "/" in machine.name or not machine.name.isprintable()
    return f"a machine that cannot be: {machine}"[:200] if wrong else None


def judge_project(data: bytes) -> Verdict:
    """Entries hold values of their types."""

    def work() -> str | None:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "pyproject.toml"
            path.write_bytes(data)
            return next((w for e in listed_in(path) or () if (w := _odd(e))), None)

    return judged(work)


def _odd(entry: ProjectEntry) -> str | None:
    pairs = (*entry.defines.items(), *entry.set.items())
    fine = all(n.isidentifier() and type(v) in (int, str) for n, v in pairs)
    fine &= type(entry.strict_fp) is bool and type(entry.file) is str
    return None if fine else f"an entry that cannot be: {entry}"[:200]


def project_files() -> tuple[bytes, ...]:
    return (PROJECT,)
