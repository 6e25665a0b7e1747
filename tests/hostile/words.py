"""Command lines as somebody might type, or generate, who wishes mdh ill; and single words of them.

The command line runs in this process, in a folder of its own. What would begin hours of work, or open a
device, ends instead: by then every word has been judged.
"""

import io
import os
import re
import sys
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, redirect_stderr, redirect_stdout
from functools import cache
from importlib import import_module
from pathlib import Path
from random import Random
from typing import Any
from unittest.mock import patch

import typer

from mdh.cli.command_line import CommandLine
from mdh.cli.inputs import parse_inputs
from mdh.cli.main import run
from mdh.cli.values import parse_defines, parse_sets
from mdh.device.api import demand_spec
from mdh.frontend.c.read import read_program
from mdh.ir.program import Program
from mdh.machine import load_machine
from mdh.schedule.binding import bind
from mdh.schedule.parser import parse_schedule
from mdh.source import Source
from mdh.tuner.duration import parse_duration
from tests.hostile.pieces import damaged
from tests.hostile.verdict import Verdict, judged

C = """#ifndef N
#define N 32
#endif
void f(const float A[N][N], float s, float C[N]) {
  for (int i = 0; i < N; i++)
    for (int j = 0; j < N; j++) C[i] += s * A[i][j];
}
"""
SCHEDULE = """target generic-cpu
1: (de-)comp( ?bm, ^ ) ( ^ ; ^ ) ( BLK.x, ^ )
2: (de-)comp( 1, ?bn{2,4} ) ( ^ ; C:?where[1] ) ( FOR.1, FOR.2 )
where ?bm <= 16
"""
CLOSED = "1: (de-)comp( 8, 4 ) ( ^ ; ^ ) ( BLK.x, FOR.1 )\n"
TABLES = (
    f"over N=9 {{ {CLOSED}}}\nover N=9..64 {{ {CLOSED}}}\n",
    f"// few\nover N=16..64:8 {{\n    stage C {{ {CLOSED}}}\n}}\n\nover N=9..64 {{ }}\n",
)
FILES = {
    "f.c": C,
    "open.mdh": SCHEDULE,
    "closed.mdh": CLOSED,
    "table.mdh": TABLES[0],
    "empty": "",
    "noise.bin": "\0\x01\x02",
}
LINES = (
    "check f.c -s open.mdh --set bm=8 --set where=RM --set bn=4 -D N=64",
    "check f.c --machine h200 --target cuda --json",
    "check f.c -s closed.mdh -m generic-cpu --strict-fp --deterministic -o out.mdh",
    "compile f.c -s closed.mdh -m a100 --target opencl -o out --function f",
    "compile f.c --machine generic-cpu --dump all --time",
    "run f.c -s closed.mdh --device opencl:0 --input A=a.npy --input s=2.5 --check --repeat 3 -o out",
    "tune f.c -s open.mdh --budget 5m --trials 10 --until-speedup 1.5 --device opencl:0 --jobs 1 --seed 3",
    "tune f.c -s open.mdh --sampler tpe --no-model --devices cuda:0,cuda:1 --record r.jsonl --no-resume",
    "tune f.c --storage sqlite:///s.db --cluster tcp://127.0.0.1:1 --budget 30s --html page.html",
    "tune f.c -s open.mdh --replay r.jsonl --machine v100",
    "compare f.c -s closed.mdh -s default --device opencl:0 --baseline numpy --budget 10s --records .",
    "compare f.c -s closed.mdh -m h200 --code --html page.html --json",
    "explain f.c -s closed.mdh --machine rtx4090 --json",
    "explain K104", "explain closed.mdh open.mdh", "explain f.c -s open.mdh --space",
    "explain f.c --html p.html",
    "check f.c -s table.mdh -m generic-cpu -D N=12 --json", "explain f.c -s table.mdh -m a100 -D N=9",
    "compile f.c -s table.mdh -m generic-cpu --target c -o out", "fmt table.mdh --stdout",
    "run f.c -s table.mdh --device c --at N=9 --repeat 1 --check",
    "tune f.c --over N=9..64:8 --device c --trials 1 -o out", "tune f.c -D N=1..64 --at N=9 --trials 1",
    "fmt closed.mdh open.mdh --check", "fmt - --stdout", "fmt closed.mdh --diff --json",
    "devices --json", "devices --export m.toml --device c", "doctor --json", "cache show --json",
    "cache clear",
    "db list .", "db show r.jsonl --json", "db merge r.jsonl r.jsonl -o m.jsonl",
    "db export r.jsonl --csv o.csv",
    "--version", "--help", "tune --help",
)  # fmt: skip
PATHS = frozenset({"sqlite:///s.db", "tcp://127.0.0.1:1", "/dev/null", "/dev/full", "/dev/zero"})
"""Words with a slash that are left as they are; no other damaged word may lead out of its folder."""
NOISE = (
    "", "-", "--", "---", "-s", "--json", "--device", "-D", "--set", "-o", "--help", "N=", "=", "N=1", "=1",
    "N=0", "N=-1", "N=99999999999999999999", "N=0x10", "N=float", "N=1;x", "N=(", "T=int x", "bm=", "?bm=8",
    "bm=1e9", "opencl:", "opencl:-1", "cuda:99999999999999999999", "c:0", "oclgrind", "cuda:٣",
    "cuda:0,cuda:0",
    "0", "-1", "1e999", "nan", "inf", "9" * 400, "99999999999h", "1h1h", "0s", "5m", "٣m", "1.5.5s", "\u202e",
    "\x1b[2J", "a\nb", "a\tb", "\udcff", "\u00e9", "\U0001f600", " ", "''", '"', "\\", "$(id)", "`id`", ";id",
    "|id", "*", "~", ".", "empty", "noise.bin", "f.c", "open.mdh", "missing.c", "x" * 300, "x" * 5000, "K104",
    "k999", "K104\0", "%s%n", "{}", "{0.__class__}", "[bold]x[/bold]", "[/]", "--no-such", "--seed=-1",
    "--trials=0", "--jobs=100000", "--repeat=1", "--budget=x", "/dev/null", "/dev/full", "/dev/zero", "db",
    "fmt", "run",
)  # fmt: skip
_CODE = re.compile(r"(?:error|warning)?\[?\b([A-Z]\d{3})\b")
_RANGE = re.compile(r"\w{1,9}=\d{0,19}\.\.\d{0,19}(:\d{0,19})?", re.ASCII)
_SEPARATOR = "\n\n"
"""Between the words of an input: they may hold any other text."""


def command_lines() -> tuple[bytes, ...]:
    return tuple(_SEPARATOR.join(line.split(" ")).encode() for line in LINES)


def mutate_command(data: bytes, chance: Random) -> bytes:
    """Words dropped, doubled, exchanged, damaged, or others among them."""
    words = data.decode("utf-8", "surrogateescape").split(_SEPARATOR)
    for _ in range(chance.choice((1, 1, 1, 2, 4))):
        at = chance.randrange(len(words) + 1)
        match chance.randrange(7):
            case 0:
                words[at : at + 1] = []
            case 1:
                words.insert(at, chance.choice(NOISE))
            case 2:
                words[at : at + 1] = [chance.choice(NOISE)]
            case 3:
                words[at:at] = words[at : at + 2] * chance.choice((1, 1, 40))
            case 4:
                chance.shuffle(words)
            case 5:
                name, equals, _ = (words[at : at + 1] or [""])[0].partition("=")
                words[at : at + 1] = [name + (equals or "=") + chance.choice(NOISE)]
            case _:
                words[at : at + 1] = [_damaged(word, chance) for word in words[at : at + 1]]
    return _SEPARATOR.join(words).encode("utf-8", "surrogateescape")


def mutate_word(data: bytes, chance: Random) -> bytes:
    if chance.random() < 0.3:
        return chance.choice(NOISE).encode("utf-8", "surrogateescape")
    return damaged(data, chance, tuple(n.encode("utf-8", "surrogateescape") for n in NOISE))


def _damaged(word: str, chance: Random) -> str:
    return mutate_word(word.encode("utf-8", "surrogateescape"), chance).decode("utf-8", "surrogateescape")


MOST_IN_WORD = 131_071
"""Bytes. Linux starts no process with a longer word (MAX_ARG_STRLEN)."""


def _word(data: bytes) -> str:
    """As the system hands a word over: without zeros, and no longer than it may be."""
    return data[:MOST_IN_WORD].decode("utf-8", "surrogateescape").replace("\0", "")


def _harmless(word: str) -> str:
    """The word, leading nowhere but into its own folder."""
    if word in PATHS or _RANGE.fullmatch(word):
        return word
    return word.replace("/", "_").replace("..", "__")


def judge_command(data: bytes) -> Verdict:
    words = [_harmless(_word(w.encode("utf-8", "surrogateescape"))) for w in _texts(data)]
    return judged_run(words, {})


def judged_run(words: list[str], files: dict[str, bytes]) -> Verdict:
    """outcome: the code that is shown where the words are refused."""
    codes: list[str] = []

    def work() -> str | None:
        wrong, code = ran(words, files)
        codes.append(code)
        return wrong

    found = judged(work)
    return Verdict(True, codes[0]) if found.outcome == "returned" and codes[0] else found


def _texts(data: bytes) -> list[str]:
    return data.decode("utf-8", "surrogateescape").split(_SEPARATOR)


def judge_project_run(data: bytes) -> Verdict:
    """A project file whose values become orders, as `mdh tune` without a file reads them."""
    return judged_run(["tune", "--budget", "1m"], {"mdh.toml": data})


def ran(words: list[str], files: dict[str, bytes]) -> tuple[str | None, str]:
    """(what is wrong, None where the words had a result or a coded message; the code of that message)."""
    out, err = _Stream(), _Stream()
    with _folder(files), _no_work(), redirect_stdout(out), redirect_stderr(err):
        before, sys.stdin = sys.stdin, io.TextIOWrapper(io.BytesIO(b""))
        try:
            exit_code = run(words)
        except SystemExit as ended:
            return f"SystemExit {ended.code}", ""
        finally:
            sys.stdin = before
    said = err.text + (out.text if "--json" in words else "")
    code = _CODE.search(said)
    if exit_code == 70 or "Traceback" in said or "B101" in said:
        return f"internal error: {said[:300]}", ""
    if exit_code not in (0, 1, 2, 3):
        return f"exit code {exit_code}", ""
    if exit_code and code is None and "not in the canonical form" not in said:
        return f"exit code {exit_code} without a coded message: {said[:200]!r}", ""
    # what the terminal would take as a command
    wrong = "a control character reaches the terminal" if "\x1b" in err.text else None
    return wrong, code[1] if code and exit_code else ""


class _Stream(io.TextIOWrapper):
    """What a process writes to: UTF-8, as mdh sets up its streams."""

    def __init__(self) -> None:
        super().__init__(io.BytesIO(), encoding="utf-8", errors="backslashreplace", write_through=True)

    @property
    def text(self) -> str:
        buffer = self.buffer
        assert isinstance(buffer, io.BytesIO)
        return buffer.getvalue().decode("utf-8")


@contextmanager
def _folder(files: dict[str, bytes]) -> Iterator[None]:
    """Work in a new folder with FILES; caches and crash reports go there, too."""
    before = os.getcwd()
    with tempfile.TemporaryDirectory(prefix="mdh-hostile-") as name:
        # a folder above it that is nobody else's
        place = Path(name) / "a" / "b"
        place.mkdir(parents=True)
        for file, text in FILES.items():
            (place / file).write_text(text, encoding="utf-8")
        for file, data in files.items():
            (place / file).write_bytes(data)
        own = {
            "XDG_CACHE_HOME": f"{name}/cache",
            "XDG_DATA_HOME": f"{name}/data",
            "HOME": name,
            "TMPDIR": name,
        }
        os.chdir(place)
        try:
            with patch.dict(os.environ, own), patch.object(tempfile, "tempdir", name):
                yield
        finally:
            os.chdir(before)


async def _no_start(*words: Any) -> None:
    """As where the user ended the tuning before anything was measured."""


async def _no_comparison(*words: Any) -> None:
    raise typer.Exit(0)


def _no_device(spec: str, *more: Any) -> None:
    """Refuses what is no device; of one that is there would be nothing left to judge."""
    demand_spec(spec)
    raise typer.Exit(0)


@contextmanager
def _no_work() -> Iterator[None]:
    """The doors to devices, to tunings and to comparing are closed."""
    doors: dict[str, dict[str, Any]] = {
        "tune": {"start": _no_start},
        "tune_over": {"tune_over": _no_comparison},
        "compare": {"compared": _no_comparison},
        "values": {"default_device": lambda: "opencl:0"},
        "run": {"open_device": _no_device},
        "job": {"open_device": _no_device},
        "devices": {"open_device": _no_device, "list_devices": lambda: ()},
        "doctor": {"open_device": _no_device, "list_devices": lambda: (), "FAMILIES": ()},
    }  # fmt: skip
    with ExitStack() as closed:
        for name, found in doors.items():
            for attribute, value in found.items():
                closed.enter_context(patch.object(import_module(f"mdh.cli.{name}"), attribute, value))
        yield


@cache
def _program() -> Program:
    return read_program(Source("f.c", C))


def judge_define(data: bytes) -> Verdict:
    word = _word(data)

    def work() -> str | None:
        bound = parse_defines(CommandLine.of(("check", "f.c", "-D", word)), [word])
        program = read_program(Source("f.c", C), defines=bound)
        sizes = [d.extent for stage in program.stages for d in stage.dims]
        return None if all(0 < n < 1 << 63 for n in sizes) else f"a loop of {sizes} iterations"

    return judged(work)


def judge_set(data: bytes) -> Verdict:
    word = _word(data)

    def work() -> None:
        values = parse_sets(CommandLine.of(("check", "f.c", "--set", word)), [word])
        bind(parse_schedule(Source("open.mdh", SCHEDULE)), values, {})

    return judged(work)


def judge_input(data: bytes) -> Verdict:
    word = _harmless(_word(data))

    def work() -> None:
        with _folder({}):
            parse_inputs(CommandLine.of(("run", "f.c", "--input", word)), [word], _program())

    return judged(work, placed=True)


def judge_device(data: bytes) -> Verdict:
    return judged(lambda: demand_spec(_word(data)))


def judge_duration(data: bytes) -> Verdict:
    def work() -> str | None:
        seconds = parse_duration(_word(data))
        return None if 0 < seconds <= 366 * 24 * 3600 else f"{seconds} s"

    return judged(work)


def judge_machine_name(data: bytes) -> Verdict:
    def work() -> None:
        with _folder({}):
            load_machine(_harmless(_word(data)))

    return judged(work)
