"""What the checker says of a schedule in an editor: as `mdh check` says it, for the program that belongs to
it.

The sizes are those of the first `for` line for program and machine, else of the first `small` line; then the
steps are checked at the sizes of the other lines. Settings come first. No device is opened, and whether mdh
read a program right (`verify/translation.py`) is left to the commands.
"""

import re
from collections import OrderedDict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeVar

from mdh.checker.performance import findings_of
from mdh.checker.performance.weighed import Finding
from mdh.diagnostics import INTERNAL_ERRORS, Diagnostic, Failed, Severity, internal_error, labels_at
from mdh.editor.headers import Headers, SizeLine, headers_of
from mdh.editor.owner import Owner, owner_of
from mdh.editor.settings import Settings
from mdh.editor.texts import Texts
from mdh.frontend.open_defines import parameters_of, split_defines, with_ranges
from mdh.frontend.read import bound_text, read_bound
from mdh.ir.open_size import OpenSize
from mdh.ir.program import Program
from mdh.machine import Machine, load_machine, machine_names
from mdh.pipeline import Checked, Pipeline
from mdh.schedule.binding import bind
from mdh.schedule.cases import Table, table_of
from mdh.schedule.holes import holes
from mdh.schedule.model import Schedule
from mdh.schedule.parser import parse_schedule
from mdh.source import Source, Span
from mdh.verify.index_data import check_constant_indices

T = TypeVar("T")
Defines = dict[str, str | int | OpenSize]
KEPT_PROGRAMS = 32
"""Programs that are kept: those of the sizes of a header, while other files are looked at."""
UNBOUND = "S154"
"""The code of holes without a value."""


@dataclass(frozen=True)
class Analysis:
    """What is known of a schedule. schedule: as it is written, with its holes; None if it does not parse.
    checked: None if it is not legal, or a table. files: those that were read besides it."""

    source: Source
    headers: Headers
    owner: Owner | None = None
    program: Program | None = None
    machine: Machine | None = None
    target: str = ""
    schedule: Schedule | None = None
    checked: Checked | None = None
    findings: tuple[Finding, ...] = ()
    problems: tuple[Diagnostic, ...] = ()
    files: tuple[str, ...] = ()
    defines: tuple[tuple[str, str | int], ...] = ()


@dataclass
class Analyser:
    """Reads and checks. Programs are kept, because schedules are changed more often."""

    texts: Texts
    settings: Settings = field(default_factory=Settings)
    roots: tuple[str, ...] = ()
    programs: "OrderedDict[object, Program]" = field(default_factory=OrderedDict)

    def schedule(self, path: str) -> Analysis:
        """Everything about the schedule at `path`. Raises nothing: an error inside of mdh is B101."""
        source = self.texts.current(path)
        found = Analysis(source, headers_of(source))
        try:
            return self._schedule(path, found)
        except INTERNAL_ERRORS as error:
            return replace(found, problems=internal_error(error).diagnostics)

    def _schedule(self, path: str, found: Analysis) -> Analysis:
        problems: list[Diagnostic] = []
        owner = owner_of(path, found.headers, self.settings, self.texts, self.roots)
        schedule = _kept(problems, lambda: parse_schedule(found.source))
        machine = _kept(problems, lambda: self._machine(path, found.headers, found.source))
        files = () if owner is None else (owner.path,)
        found = replace(found, owner=owner, machine=machine, schedule=schedule, files=files)
        if owner is None:
            problems.append(_note(found.source, "no program is known for this schedule", NO_PROGRAM))
            return replace(found, problems=tuple(problems))
        if machine is None and not problems:
            problems.append(_note(found.source, "no machine is known for this schedule", NO_MACHINE))
        target = self._target(problems, found)
        found = replace(found, target=target)
        table = table_of(schedule)
        if table is not None and machine is not None:
            return self._table(table, replace(found, problems=tuple(problems)))
        defines = self._defines(found, found.headers.line_for(_called(owner, found.headers), _name(machine)))
        program = _kept(problems, lambda: self.program(owner.path, owner.function, defines))
        found = replace(
            found,
            program=program,
            problems=tuple(problems),
            defines=tuple(defines.items()),  # type: ignore[arg-type]
        )
        if program is None or machine is None or schedule is None or not target:
            return found
        return self._checked(found, schedule)

    def _checked(self, found: Analysis, schedule: Schedule) -> Analysis:
        """The analysis with the plan, or with what is wrong."""
        assert found.program is not None and found.machine is not None
        problems = list(found.problems)
        bound = _kept(problems, lambda: bind(schedule, self.sets(schedule)))
        if bound is None:
            return replace(found, problems=tuple(problems))
        program, machine = found.program, found.machine
        checked = _kept(problems, lambda: Pipeline().check(program, bound, machine, found.target))
        findings: tuple[Finding, ...] = ()
        if checked is not None:
            findings = findings_of(checked.plan)
            problems += [*program.remarks, *(f.diagnostic for f in findings)]
            if not self.sets(schedule):
                problems += self.other_sizes(found, bound)
        return replace(found, checked=checked, findings=findings, problems=tuple(map(_milder, problems)))

    def other_sizes(self, found: Analysis, bound: Schedule) -> list[Diagnostic]:
        """What is wrong at the sizes of the other header lines for this program and machine."""
        assert found.program is not None and found.machine is not None and found.owner is not None
        owner, machine, name = found.owner, found.machine, found.program.name
        problems: list[Diagnostic] = []
        for header in bound.sizes:
            machines = header.machines or (bound.target or machine.name,)
            if header.program not in (None, name) or machine.name not in machines:
                continue
            line = SizeLine(header.word, header.program, header.sizes, header.machines)
            defines = self._defines(found, line)
            if tuple(defines.items()) == found.defines:
                continue
            try:
                program = self.program(owner.path, owner.function, defines)
                Pipeline().check(program, bound, machine, found.target)
            except Failed as failed:
                here = labels_at(header.span, "at these sizes")
                problems += [replace(d, labels=(*d.labels, *here)) for d in failed.diagnostics]
        return problems

    def _table(self, table: Table, found: Analysis) -> Analysis:
        """Checks each case. The program is that of the first one."""
        assert found.owner is not None and found.machine is not None
        owner, machine, problems = found.owner, found.machine, list(found.problems)
        first: Program | None = None
        for case in table.cases:
            names = {r.name for r in case.ranges}
            line = found.headers.line_for(_called(owner, found.headers), machine.name)
            defines = {k: v for k, v in self._defines(found, line).items() if k not in names}
            try:
                program = self.program(owner.path, owner.function, defines, table.ranges(case))
                first = first or program
                if found.target:
                    alone = table.alone(case)
                    bound = bind(alone, self.sets(alone))
                    checked = Pipeline().check(program, bound, machine, found.target)
                    problems += [f.diagnostic for f in findings_of(checked.plan)]
            except Failed as failed:
                here = labels_at(case.span, "in this case")
                problems += [replace(d, labels=(*d.labels, *here)) for d in failed.diagnostics]
        return replace(found, program=first, problems=tuple(map(_milder, problems)))

    def program(
        self, path: str, function: str | None, defines: Defines, ranges: Sequence[OpenSize] = ()
    ) -> Program:
        """The program at these sizes. Raises Failed."""
        source = self.texts.read(path)
        allow = self.settings.allow
        defines = occurring(source, defines)
        key = (source, function, tuple(defines.items()), tuple(ranges), allow)
        if key not in self.programs:
            bound, opens = split_defines(source, with_ranges(defines, ranges))
            text = bound_text(source, bound, parameters_of(opens, ranges))
            found = read_bound(text, function=function, allow=allow, opens=opens)
            if found.looks_up:
                check_constant_indices(found)
            self.programs[key] = found
        self.programs.move_to_end(key)
        while len(self.programs) > KEPT_PROGRAMS:
            self.programs.popitem(last=False)
        return self.programs[key]

    def sets(self, schedule: Schedule) -> dict[str, int | str]:
        """The values that are set for named holes of a schedule. Settings are for all schedules."""
        named = {h.hole.name for h in holes(schedule)}
        return {name: value for name, value in self.settings.sets if name in named}

    def _defines(self, found: Analysis, line: SizeLine | None) -> Defines:
        return {**(dict(line.sizes) if line is not None else {}), **dict(self.settings.defines)}

    def _machine(self, path: str, headers: Headers, source: Source) -> Machine | None:
        """Raises Failed as `load_machine`, at the place of the name."""
        name = self.settings.machine or headers.target
        place = None
        if name is None:
            name = next((m for x in headers.sizes for m in x.machines), None)
        if name is None:
            folder = path.replace("\\", "/").split("/")[-2:-1]
            name = next((n for n in folder if n in machine_names()), None)
        if name is None:
            return None
        if self.settings.machine is None:
            at = source.text.find(name)
            place = Span(source, at, at + len(name)) if at >= 0 else None
        try:
            return load_machine(name)
        except Failed as failed:
            there = labels_at(place)
            raise Failed(*(replace(d, labels=there or d.labels) for d in failed.diagnostics)) from failed

    def _target(self, problems: list[Diagnostic], found: Analysis) -> str:
        """The target language; empty if there is none, or not the one that is set."""
        wanted, machine = self.settings.target, found.machine
        if machine is None:
            return ""
        if wanted is None or wanted in machine.targets:
            return wanted or machine.targets[0]
        problems.append(
            _note(
                found.source,
                f"`{machine.name}` has no target `{wanted}`",
                f"the setting `mdh.target`; its targets: {', '.join(machine.targets)}",
            )
        )
        return ""


def occurring(source: Source, defines: Defines) -> Defines:
    """The defines of names that a text has: settings are for all programs, and a header may name a size that
    there is not (S155). What an included file has is not known."""
    if "#include" in source.text:
        return defines
    words = set(re.findall(r"\w+", source.text))
    return {name: value for name, value in defines.items() if name in words}


NO_PROGRAM = (
    "only the grammar is checked: name the program by a line `for NAME M=1024`, or by the setting "
    "`mdh.program`"
)
NO_MACHINE = "write `target NAME`, or set `mdh.machine`: legality depends on it"


def _note(source: Source, headline: str, help: str) -> Diagnostic:
    """A remark on the whole text, without a code."""
    labels = labels_at(Span(source, 0, min(1, len(source.text))))
    return Diagnostic("", headline, labels, help=help, severity=Severity.NOTE)


def _kept(problems: list[Diagnostic], arrow: Callable[[], T]) -> T | None:
    """What `arrow` returns; None with what it found noted."""
    try:
        return arrow()
    except Failed as failed:
        problems.extend(failed.diagnostics)
        return None


def _milder(d: Diagnostic) -> Diagnostic:
    """Open holes are what a search fills, and no mistake."""
    return replace(d, severity=Severity.NOTE) if d.code == UNBOUND else d


def _called(owner: Owner, headers: Headers) -> str | None:
    """The name by which header lines call the program."""
    stem = owner.path.replace("\\", "/").rsplit("/", 1)[-1].rsplit(".", 1)[0]
    names: Iterable[str | None] = (owner.function, stem, *headers.programs)
    return next((n for n in names if n in headers.programs), None)


def _name(machine: Machine | None) -> str | None:
    return None if machine is None else machine.name
