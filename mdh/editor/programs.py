"""What is said of a program in an editor: of C only where mdh is meant to read it.

Its sizes are those of the settings, then those of the first schedule that belongs to it, then one for all
that is still free."""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path

from mdh.diagnostics import INTERNAL_ERRORS, Diagnostic, Failed, internal_error
from mdh.editor.analysis import Analyser, Defines, occurring
from mdh.editor.headers import headers_of
from mdh.editor.owner import ENDINGS, schedules_of
from mdh.frontend.read import free_sizes, function_names
from mdh.ir.program import Program
from mdh.source import Source

PRAGMA = "#pragma mdh"
FREE = 64
"""The value of sizes that nothing says."""


@dataclass(frozen=True)
class ProgramView:
    """programs: one for each function of the text that can be read. schedules: paths of those that may belong
    to it."""

    source: Source
    programs: tuple[Program, ...] = ()
    problems: tuple[Diagnostic, ...] = ()
    schedules: tuple[str, ...] = ()


def program_view(path: str, analyser: Analyser, owned: Sequence[str]) -> ProgramView | None:
    """What is known of the program at `path`; None for C that is none of mdh's. owned: open schedules that
    belong to it. Raises nothing."""
    source = analyser.texts.current(path)
    found = schedules_of(path, analyser.texts, analyser.roots)
    schedules = tuple(dict.fromkeys((*owned, *found)))
    mine = not path.endswith(ENDINGS[0]) or bool(schedules) or PRAGMA in source.text
    if not path.endswith(ENDINGS) or not mine:
        return None
    view = ProgramView(source, schedules=schedules)
    try:
        return _read(path, analyser, view)
    except INTERNAL_ERRORS as error:
        return replace(view, problems=internal_error(error).diagnostics)


def _read(path: str, analyser: Analyser, view: ProgramView) -> ProgramView:
    programs: list[Program] = []
    problems: list[Diagnostic] = []
    try:
        names = function_names(view.source)
    except Failed as failed:
        return replace(view, problems=failed.diagnostics)
    for name in names or (None,):
        taken: tuple[str, ...] = ()
        try:
            defines, taken = _sizes(path, name, analyser, view)
            programs.append(analyser.program(path, name, defines))
        except Failed as failed:
            problems += [_with_sizes(d, taken) for d in failed.diagnostics]
    return replace(view, programs=tuple(programs), problems=tuple(problems))


def _sizes(
    path: str, function: str | None, analyser: Analyser, view: ProgramView
) -> tuple[Defines, tuple[str, ...]]:
    """The defines of a function, and the sizes among them that nothing says. Raises Failed."""
    defines: Defines = {}
    for schedule in view.schedules:
        with suppress(Failed):
            headers = headers_of(analyser.texts.read(schedule))
            line = headers.line_for(function or Path(path).stem)
            if line is not None:
                defines = dict(line.sizes)
                break
    defines = occurring(view.source, {**defines, **dict(analyser.settings.defines)})
    bound = {k: v for k, v in defines.items() if isinstance(v, int | str)}
    free = free_sizes(view.source, defines=bound, function=function)
    return {**defines, **dict.fromkeys(free, FREE)}, free


def _with_sizes(d: Diagnostic, free: tuple[str, ...]) -> Diagnostic:
    if not free:
        return d
    said = f"nothing says {', '.join(free)}: each is taken as {FREE}; the setting `mdh.define` gives sizes"
    return replace(d, notes=(*d.notes, said))
