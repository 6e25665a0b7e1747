"""`mdh explain A.mdh B.mdh`: how two schedules differ, step by step."""

from dataclasses import asdict
from shlex import quote

from mdh.cli.command_line import CommandLine
from mdh.cli.console import ok, show, show_json
from mdh.cli.files import read_schedule
from mdh.report.difference_text import differences_text
from mdh.schedule.difference import differences
from mdh.schedule.parser import parse_schedule


def explain_difference(line: CommandLine, before: str, after: str | None, json: bool) -> None:
    """Shows the difference. Raises Failed F101 to F105 for the files, S1xx for their texts, F107 for a single
    schedule and for options without effect here."""
    if after is None:
        hint = "write `mdh explain A.mdh B.mdh`, or `mdh explain FILE.c --schedule A.mdh`"
        raise line.fail(
            "F107", f"`{before}` alone: what it amounts to depends on a program", before, help=hint
        )
    program = next((path for path in (before, after) if path.endswith(".c")), None)
    if program is not None:
        schedule = after if program == before else before
        hint = f"write `mdh explain {quote(program)} --schedule {quote(schedule)}`"
        raise line.fail("F107", f"`{program}` is no schedule", program, help=hint)
    option = next((w for w in line.words if w.startswith("-") and w != "--json"), None)
    if option is not None:
        headline = f"`{option.partition('=')[0]}` has nothing to do between two schedules"
        raise line.fail("F107", headline, option, help="leave it out")
    old, new = (parse_schedule(read_schedule(line, path)) for path in (before, after))
    found = differences(old, new)
    if json:
        sections = [{**asdict(s), "same": s.same} for s in found]
        targets = [old.target, new.target]
        show_json(ok("explain", before=before, after=after, targets=targets, sections=sections))
    else:
        text = differences_text(found, before, after)
        if old.target != new.target:
            text += f"  written for {old.target or 'any machine'} → {new.target or 'any machine'}\n"
        show(text)
