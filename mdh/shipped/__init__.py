"""The programs and schedules that come with mdh, by name.

`matmul` is the program `programs/matmul.c`, `polybench/gemm` is `programs/polybench/gemm.c`, and
`matmul/h200/base` is the schedule `schedules/matmul/h200/base.mdh`. A program of another language has the
plain name where no C program has it, else its ending too: `tmm`, `gather_sum.tc`.

In a checkout both folders are links to `inputs_c/` and `schedules/`; a wheel and an sdist hold their files.
"""

import re
from dataclasses import dataclass
from difflib import get_close_matches
from functools import cache, cached_property
from pathlib import Path

_FOLDER = Path(__file__).parent
_PROGRAMS = _FOLDER / "programs"
_SCHEDULES = _FOLDER / "schedules"
_STEPS = _FOLDER / "steps"
_ENDINGS = (".c", ".tc", ".diesel")
"""Of programs, that of the plain names first."""
_GROUPS = ("", "polybench/")
"""Folders of programs. Others hold programs that mdh is compared with."""
_COMMENT = re.compile(r"\s*(?://|#) ?(.*)\n")
_FOR = re.compile(r"^for (\w+) (.+?) on (.+)$", re.MULTILINE)
_LONG = 64
"""Characters of a word that no name is meant by: comparing long words takes time."""


@dataclass(frozen=True)
class _Text:
    """name: as commands take it."""

    name: str
    path: Path

    @cached_property
    def text(self) -> str:
        return self.path.read_text(encoding="utf-8")

    @property
    def about(self) -> str:
        """The first sentence of the first comment, without the full stop."""
        rows = []
        for row in self.text.splitlines(keepends=True):
            comment = _COMMENT.match(row)
            if comment is None or comment[1].startswith("Sizes"):
                break
            rows.append(comment[1])
        return re.split(r"(?<=[^.])\.(?:\s|$)", " ".join(rows), maxsplit=1)[0]


@dataclass(frozen=True)
class Example(_Text):
    """A shipped program."""

    @property
    def source_name(self) -> str:
        """The name of its text in messages, which says its language: `matmul.c`."""
        return self.path.relative_to(_PROGRAMS).as_posix()

    @property
    def schedules(self) -> tuple["ShippedSchedule", ...]:
        """The schedules that were made for it. Those for C name the arrays and stages of the C text."""
        if self.path.suffix != ".c" or self.path.parent != _PROGRAMS:
            return ()
        return tuple(s for s in schedules() if any(u.program == self.name for u in s.uses))

    @property
    def machines(self) -> tuple[str, ...]:
        """The machines that it has schedules for."""
        found = (m for s in self.schedules for u in s.uses if u.program == self.name for m in u.machines)
        return tuple(sorted(set(found)))

    @property
    def steps(self) -> tuple["ShippedSchedule", ...]:
        """The schedules of the tutorial, from plain to fast: `step1`, `step2` …"""
        found = (_STEPS / self.name).glob("step*.mdh")
        return tuple(ShippedSchedule(p.stem, p) for p in sorted(found))


@dataclass(frozen=True, slots=True)
class MadeFor:
    """A `for` line of a schedule. sizes: `M=1024 N=1024 K=1024`."""

    program: str
    sizes: str
    machines: tuple[str, ...]


@dataclass(frozen=True)
class ShippedSchedule(_Text):
    """A shipped schedule, by the name `PROGRAM/MACHINE/VARIANT`."""

    @cached_property
    def uses(self) -> tuple[MadeFor, ...]:
        rows = _FOR.findall(self.text)
        return tuple(MadeFor(program, sizes, tuple(on.split())) for program, sizes, on in rows)


@cache
def examples() -> tuple[Example, ...]:
    """Every shipped program, those of PolyBench last; empty if the files are not there."""
    out: list[Example] = []
    for group in _GROUPS:
        taken: dict[str, Path] = {}
        for ending in _ENDINGS:
            for path in sorted((_PROGRAMS / group).glob(f"*{ending}")):
                name = f"{group}{path.stem}"
                taken[f"{group}{path.name}" if name in taken else name] = path
        out.extend(Example(name, path) for name, path in sorted(taken.items(), key=_in_order))
    return tuple(out)


def _in_order(row: tuple[str, Path]) -> tuple[str, str]:
    return row[0].lower(), row[0]


@cache
def schedules() -> tuple[ShippedSchedule, ...]:
    """Every shipped schedule, by name."""
    found = sorted(_SCHEDULES.glob("*/*/*.mdh"))
    return tuple(ShippedSchedule(p.relative_to(_SCHEDULES).as_posix().removesuffix(".mdh"), p) for p in found)


def example_called(name: str) -> Example | None:
    return next((e for e in examples() if e.name == name), None)


def schedule_called(name: str) -> ShippedSchedule | None:
    """`matmul/h200/base`, with or without its ending."""
    name = name.removesuffix(".mdh")
    return next((s for s in schedules() if s.name == name), None)


def schedule_path(name: str) -> Path:
    """Of a schedule in the shipped folder, also of one that was published in a paper: `published/…`."""
    return _SCHEDULES / f"{name}.mdh"


def near_examples(word: str, most: int = 3) -> tuple[str, ...]:
    """The names of programs that a wrong word, with or without an ending, may have meant, nearest first."""
    ending = next((e for e in _ENDINGS if word.lower().endswith(e)), "")
    names = [e.name for e in examples()]
    return _near(word[: len(word) - len(ending)], names, most)


def near_schedules(word: str, most: int = 3) -> tuple[str, ...]:
    return _near(word.removesuffix(".mdh"), [s.name for s in schedules()], most)


def _near(word: str, names: list[str], most: int) -> tuple[str, ...]:
    if len(word) > _LONG:
        return ()
    low = {n.lower(): n for n in names}
    return tuple(low[n] for n in get_close_matches(word.lower(), low, most, 0.7))
