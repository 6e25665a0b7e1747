"""The page of `mdh explain --html` for a refused schedule: its messages in place, and pictures up to the bad
step."""

from pathlib import Path

from mdh.cli.console import log
from mdh.cli.files import write_text
from mdh.cli.job import choose_machine, choose_target, load_program, load_schedule
from mdh.cli.options import Request
from mdh.cli.trace import Trace
from mdh.diagnostics import Failed
from mdh.ir.plan import Plan
from mdh.report.picture.refused import refused_page
from mdh.report.picture.stopped import Stopped, bad_steps, stopped_before
from mdh.schedule.cases import only
from mdh.schedule.model import Schedule
from mdh.source import Source
from mdh.textfile import shipped_program


def write_refused(request: Request, trace: Trace, html: str, failed: Failed) -> None:
    """Writes a page of the texts that messages point into; none if all are about the command line."""
    shipped = shipped_program(request.file)
    program = request.file if shipped is None else shipped.source_name
    words = (request.schedule, program)
    files = tuple("<stdin>" if word == "-" else word for word in words if word is not None)
    sources: dict[str, Source] = {}
    for d in failed.diagnostics:
        for label in d.labels:
            if label.span.source.name in files:
                sources[label.span.source.name] = label.span.source
    if not sources:
        return
    shown = [sources[path] for path in files if path in sources]
    drawn = stopped(request, trace, failed)
    write_text(request.line, html, refused_page(Path(files[0]).name, shown, failed.diagnostics, drawn))
    log(f"wrote {html}")


def stopped(request: Request, trace: Trace, failed: Failed) -> Stopped | None:
    """What can be drawn of the schedule; None if it, or what else the check needs, cannot be read."""
    try:
        given, ranges = only(load_schedule(request, trace))
        if given is None or not bad_steps(given, failed.diagnostics):
            return None
        machine = choose_machine(request, given)
        program = load_program(request, trace, ranges)
        target = choose_target(request, machine)
    except Failed:
        return None

    def checked(part: Schedule) -> Plan:
        steady = request.deterministic
        return trace.pipeline.check(program, part, machine, target, deterministic=steady).plan

    return stopped_before(given, failed.diagnostics, checked)
