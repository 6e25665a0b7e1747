"""What the header lines `for` and `small` name: sizes of the program, and machines."""

from collections.abc import Iterator
from dataclasses import replace

from mdh.check.subject import at, listed, nearest
from mdh.diagnostics import Diagnostic, Failed
from mdh.ir.program import Program
from mdh.machine import Machine, load_machine, machine_names
from mdh.schedule.model import Schedule


def wrong_headers(program: Program, schedule: Schedule, machine: Machine) -> Iterator[Diagnostic]:
    """S155 for a size that the program does not have, F150 for a machine that is not known."""
    sizes = [*program.sizes, *dict(program.constants)]
    for header in schedule.sizes:
        of_program = header.program in (None, program.name)
        for name in (name for name, _ in header.sizes if of_program and name not in sizes):
            headline = f"`{header.word}` gives the size `{name}`, which `{program.name}` does not have"
            hint = nearest(name, sizes) or (f"its sizes: {listed(sizes)}" if sizes else "leave it out")
            yield Diagnostic("S155", headline, at(header.places.get(name)), help=hint)
        for name in set(header.machines) - {machine.name, *machine_names()}:
            try:
                load_machine(name)
            except Failed as failed:
                yield from (replace(d, labels=at(header.places.get(name))) for d in failed.diagnostics)
