"""Every kernel text of the shipped schedules, on their machines, and of the defaults, on all machines.

    scripts/emitted-texts DIR

A text is `DIR/<schedule>/<program and sizes>.<machine>.<target>`; a refusal is a file that holds its message.
"""

import sys
from pathlib import Path

from mdh.checker.run import check
from mdh.diagnostics import Failed
from mdh.frontend.c.read import read_program
from mdh.ir.program import Program
from mdh.lower.run import lower
from mdh.machine import load_machine, machine_names
from mdh.schedule.binding import bind
from mdh.schedule.default import default_schedule
from mdh.schedule.model import Schedule
from mdh.schedule.parser import parse_schedule
from mdh.target.emit import emit

sys.path.insert(0, str(Path(__file__).parent.parent))
from tests.support.corpus import WORKLOADS, Sizes, schedules


def main(out: Path) -> None:
    for shipped in schedules():
        for use in shipped.uses:
            program = _program(use.program, use.sizes)
            schedule = bind(parse_schedule(shipped.source), dict(use.sets))
            for machine in use.machines:
                _write(out / shipped.name, use.label, program, schedule, machine)
    for work in WORKLOADS.values():
        for sizes in (work.full, *work.small):
            label = " ".join([work.name, *(f"{k}={v}" for k, v in sizes)])
            for machine in machine_names():
                _write(out / "default", label, _program(work.name, sizes), None, machine)


def _program(name: str, sizes: Sizes) -> Program:
    return read_program(WORKLOADS[name].source, defines=dict(sizes))


def _write(folder: Path, label: str, program: Program, schedule: Schedule | None, name: str) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    machine = load_machine(name)
    for target in machine.targets:
        try:
            default = default_schedule(program, machine, target)
            plan = check(program, schedule or default, machine, target, default=default)
            text = emit(lower(plan), program).source
        except Failed as failed:
            text = "\n".join(f"{d.code} {d.headline}" for d in failed.diagnostics)
        (folder / f"{label.replace(' ', '_')}.{name}.{target}").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
