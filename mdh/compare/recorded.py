"""What earlier tunings recorded about the program: values of holes, and times on other machines."""

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from mdh.diagnostics import Failed, fail
from mdh.ir.program import Program
from mdh.machine import Machine, machine_names
from mdh.results.trial import Trial
from mdh.schedule.model import Schedule
from mdh.tuner.records.best import best, ranked
from mdh.tuner.records.header import Header
from mdh.tuner.records.key import Parts, Setting, key_parts, machine_part, program_parts
from mdh.tuner.records.listing import SUFFIX
from mdh.tuner.records.read import RecordSection, read_contents
from mdh.tuner.records.sound import sound

_FOREIGN = frozenset({"F170", "F101"})
"""Codes of files that are no records, or that are gone. A folder may hold any files."""
_DEVICE = ("machine", "device", "target")


@dataclass(frozen=True, slots=True)
class Found:
    """A trial with a time, and the file that has it."""

    path: str
    trial: Trial
    title: str


@dataclass(frozen=True)
class Shelf:
    """The records of one program with its sizes. others: how many records are of other programs."""

    sections: tuple[tuple[str, RecordSection], ...] = ()
    others: int = 0
    remarks: tuple[str, ...] = ()

    def knows(self, machine: Machine, target: str) -> bool:
        """Whether anything was recorded on a machine of this name with this target."""
        return any(_same_machine(s.header, machine) and s.header.target == target for _, s in self.sections)

    def tuned(self, template: Schedule, program: Program, setting: Setting, *, here: bool) -> Found | None:
        """The best of all tunings of this schedule: on this device if `here`, else on any device of the
        machine's name."""
        own = dict(key_parts(program, template, setting))
        found: list[Found] = []
        for path, section in self.sections:
            theirs = dict(section.header.parts)
            same = theirs.get("schedule") == own["schedule"] and _same_place(
                section.header, setting, own, here
            )
            # the device's default takes part in tunings, but it is no point of the schedule; nor is an
            # unreadable schedule
            points = [t for t in section.trials if t.candidate.values] if same else []
            first = best(sound(path, points)[0])
            if first is not None:
                found.append(Found(path, first, section.header.device))
        return min(found, key=lambda f: f.trial.outcome.seconds or 0.0, default=None)

    def timed(self, text: str, setting: Setting) -> Found | None:
        """The most trusted time of a schedule without holes on any device of the machine's name. text: of its
        plan."""
        plain = _plain(text)
        for path, section in self.sections:
            there = section.header.target == setting.target
            if there and _same_machine(section.header, setting.machine):
                rows = (row[-1] for row in ranked(section.trials))
                trial = next((t for t in rows if _plain(t.candidate.schedule) == plain), None)
                if trial is not None:
                    return Found(path, trial, section.header.device)
        return None


def _same_place(header: Header, setting: Setting, own: dict[str, str], here: bool) -> bool:
    if here:
        theirs = dict(header.parts)
        return all(theirs.get(name) == own[name] for name in _DEVICE)
    return header.target == setting.target and _same_machine(header, setting.machine)


def _same_machine(header: Header, machine: Machine) -> bool:
    """Whether the record is of this machine: by name if mdh knows the name. Other machines may share a name,
    so they must be equal."""
    if machine.name != header.machine:
        return False
    return machine.name in machine_names() or dict(header.parts).get("machine") == machine_part(machine)


def _plain(text: str) -> str:
    """The text without blank lines and without the lines that name machine and program."""
    rows = (row.strip() for row in text.splitlines())
    return "\n".join(r for r in rows if r and not r.startswith(("target ", "program ", "//")))


def shelf_of(places: Sequence[str], program: Program, *, deterministic: bool) -> Shelf:
    """The records in these folders and files. Raises Failed: F101 and other errors of a named file; F197 if a
    named file is about another program."""
    wanted = program_parts(program, deterministic=deterministic)
    sections: list[tuple[str, RecordSection]] = []
    remarks: list[str] = []
    others = 0
    for place in places:
        for path, named in _files(place):
            contents = _contents(path, named, remarks)
            mine = [s for s in contents if _about(s, wanted)]
            if named and not mine:
                raise _of_another(path, contents[0].header, program, wanted)
            others += len(contents) - len(mine)
            sections.extend((path, s) for s in mine)
    return Shelf(tuple(sections), others, tuple(remarks))


def _files(place: str) -> list[tuple[str, bool]]:
    """The records of a folder, or the named file. Raises Failed F101."""
    path = Path(place)
    if place and os.path.isdir(path):
        return [(str(p), False) for p in sorted(path.glob(f"*{SUFFIX}")) if os.path.isfile(p)]
    if not place or not os.path.exists(path):
        raise fail(
            "F101", f"no folder or record `{place}`", help="`mdh tune -o FOLDER` leaves its record there"
        )
    return [(place, True)]


def _contents(path: str, named: bool, remarks: list[str]) -> tuple[RecordSection, ...]:
    try:
        contents = read_contents(path)
    except Failed as failed:
        if named:
            raise
        remarks.extend(d.headline for d in failed.diagnostics if d.code not in _FOREIGN)
        return ()
    remarks.extend(contents.remarks)
    return contents.sections


def _about(section: RecordSection, wanted: Parts) -> bool:
    theirs = dict(section.header.parts)
    return all(theirs.get(name) == text for name, text in wanted)


def _of_another(path: str, there: Header, program: Program, wanted: Parts) -> Failed:
    theirs = dict(there.parts).get("arrays", "")
    what = f"`{there.program}`, arrays {theirs}" if there.program else "another program"
    return fail(
        "F197", f"`{path}` is a record of another program: {what}",
        help=f"this one is `{program.name}`, arrays {dict(wanted)['arrays']}; -D gives other sizes",
    )  # fmt: skip
