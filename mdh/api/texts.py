"""The texts that the functions of the API are given, and the values of the names in them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from os import PathLike, fspath
from types import NoneType
from typing import Any

from mdh.api.options import allowed_of, defines_of, holes_of, of_type, shown, with_arrays, with_libraries
from mdh.diagnostics import fail
from mdh.frontend.constant_sizes import sizes_of_constants
from mdh.frontend.heading import Heading
from mdh.frontend.open_defines import Defines, parameters_of, split_defines, with_ranges
from mdh.ir.open_size import OpenSize
from mdh.ir.plan import Plan
from mdh.ir.program import Program
from mdh.machine import Machine
from mdh.pipeline import Hook, Pipeline, silent
from mdh.schedule.cases import Table, narrowed, only, table_of
from mdh.schedule.model import Schedule, SizeCase
from mdh.source import Source
from mdh.textfile import plain, read_program_text, read_schedule_text

Text = str | PathLike[str] | Source
"""A path, or the text itself as a Source."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadOptions:
    """How texts are read: options of `mdh.compile`, `mdh.check` and `mdh.tune`, as the user gives them."""

    defines: Mapping[str, str | int | OpenSize] = field(default_factory=dict)
    function: str | None = None
    strict_fp: bool = False
    deterministic: bool = False
    allow: Sequence[str] = ()
    libraries: bool = False
    holes: Mapping[str, int | str] = field(default_factory=dict)
    constants: Mapping[str, Any] = field(default_factory=dict)
    patterns: Mapping[str, Any] = field(default_factory=dict)
    hook: Hook = silent


@dataclass(frozen=True, slots=True)
class GivenTexts:
    """The given texts, read and parsed, the values that bind their names, and how they are to be read."""

    source: Source
    schedule: Schedule | None
    defines: Defines
    function: str | None
    strict_fp: bool
    deterministic: bool
    allow: tuple[str, ...] = ()
    ranges: tuple[OpenSize, ...] = ()
    """Of the sizes that a table's cases are for: those of one case, or those that hold all."""
    said: Mapping[str, int] = field(default_factory=dict)
    """The sizes among the defines that follow from the shapes of constants, and not from the caller."""

    @property
    def bound(self) -> dict[str, str | int]:
        """The defines with open sizes at their largest values. Raises Failed C125."""
        return split_defines(self.source, with_ranges(self.defines, self.ranges))[0]

    @property
    def opens(self) -> tuple[str, ...]:
        """The names of the sizes that stay open, and of those that cases are for. Raises Failed C125."""
        opened = split_defines(self.source, with_ranges(self.defines, self.ranges))[1]
        return tuple(parameters_of(opened, self.ranges))

    @property
    def table(self) -> Table | None:
        return table_of(self.schedule)

    @property
    def single(self) -> "GivenTexts":
        """The same with the only case of a table. Raises Failed S157 if it has several."""
        schedule, ranges = only(self.schedule)
        return replace(self, schedule=schedule, ranges=ranges)

    def of_case(self, table: Table, case: SizeCase) -> "GivenTexts":
        """The same with the schedule of one case, and its ranges."""
        return replace(self, schedule=table.alone(case), ranges=table.ranges(case))

    def with_default(self, run: Pipeline, machine: Machine, target: str) -> "GivenTexts":
        """The same with the default schedule, if that is a table: without a schedule, and with open sizes.
        Requires that all other sizes are bound."""
        if self.schedule is not None or not self.opens:
            return self
        program = self.read(run)
        found = run.default_of(program, machine, target, deterministic=self.deterministic)
        return self if found is None else replace(self, schedule=found, ranges=program.opens)

    def read(self, run: Pipeline) -> Program:
        return run.read(
            self.source, defines=self.defines, function=self.function, strict_fp=self.strict_fp,
            allow=self.allow, ranges=self.ranges,
        )  # fmt: skip

    def checked(self, run: Pipeline, machine: Machine, target: str) -> tuple[Program, Plan]:
        """The program and its plan. Raises Failed with every diagnostic found."""
        program = self.read(run)
        found = run.check(program, self.schedule, machine, target, deterministic=self.deterministic)
        return program, found.plan


@dataclass(frozen=True, slots=True)
class ReadTexts:
    """Texts, the heading of their function, and the sizes that no define binds, in order."""

    given: GivenTexts
    heading: Heading
    sizes: tuple[str, ...]


def read_given(file: Text, schedule: Text | None, options: ReadOptions) -> GivenTexts:
    """Raises Failed, and TypeError for an option of a wrong Python type."""
    of_type("function", options.function, (str, NoneType), "the name of a C function")
    if not callable(options.hook):
        raise TypeError(f"hook takes a function of stage, value and seconds, not {shown(options.hook)}")
    bound = defines_of(with_arrays(options.defines, options.constants, options.patterns))
    words, values = with_libraries(options.allow, libraries=options.libraries), holes_of(options.holes)
    if schedule is None and values:
        raise fail("F109", "holes need a schedule", help="give schedule=PATH")
    parsed = None
    if schedule is not None:
        parsed = narrowed(Pipeline(options.hook).schedule(_source("schedule", schedule), values), bound)
    source, table = _source("file", file), table_of(parsed)
    said = sizes_of_constants(source, bound, options.function)
    ranges = () if table is None else table.hull
    return GivenTexts(
        source, parsed, {**said, **bound}, options.function, options.strict_fp, options.deterministic,
        allowed_of(words), ranges, said,
    )  # fmt: skip


def _source(option: str, text: Text) -> Source:
    if isinstance(text, Source):
        of_type(f"the name of {option}", text.name, str, "a str")
        of_type(f"the text of {option}", text.text, str, "a str")
        if "\0" in text.name:
            raise fail("F103", f"no file can be called `{text.name}`", help="give the Source another name")
        return plain(text.name, text.text)
    of_type(option, text, (str, PathLike), "a path or a Source")
    path = str(fspath(text))
    if "\n" in path:
        headline = f"the option {option} names a file, and a text of {len(path):,} characters was given"
        name = "matmul.c" if option == "file" else "matmul.mdh"
        raise fail("F103", headline, help=f'a text needs a name: mdh.Source("{name}", text)')
    return read_program_text(path) if option == "file" else read_schedule_text(path)
