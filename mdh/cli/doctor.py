"""`mdh doctor`: which runtimes work, what is missing and how to install it."""

from dataclasses import asdict
from typing import Annotated

import typer

from mdh.cli.console import log, ok, show, show_json
from mdh.cli.exit_codes import OK, REJECTED
from mdh.cli.options import JsonOpt
from mdh.device.api import FAMILIES, list_devices, open_device, probe
from mdh.device.faults import remember, remembered
from mdh.device.self_test import Passed
from mdh.device.self_test_child import examined
from mdh.diagnostics import Failed
from mdh.include import FOLDER
from mdh.report.ability import ability
from mdh.report.health import HealthLine, findings, verdict
from mdh.target.faults import Fault

app = typer.Typer(rich_markup_mode=None, add_completion=False)
SpeedOpt = Annotated[
    bool, typer.Option("--speed", help="Measure the CPU's runtimes: launches and arithmetic; takes seconds.")
]
TestOpt = Annotated[bool, typer.Option("--test", help="Repeat the self-tests of all devices.")]
IncludeOpt = Annotated[
    bool, typer.Option("--include", help="Print only the folder of mdh.h, for the -I of a C compiler.")
]
_MARKS = {"ok": "ok     ", "absent": "absent ", "broken": "BROKEN "}


@app.command()
def doctor(
    ctx: typer.Context,
    json: JsonOpt = False,
    speed: SpeedOpt = False,
    test: TestOpt = False,
    include: IncludeOpt = False,
) -> None:
    """Say which runtimes work, what is missing and how to install it.

    A compiler or runtime that is new here is tested, which takes seconds. The exit code is 1 if something
    that mdh needs is missing or broken.
    """
    if include:
        show(f"{FOLDER}\n")
        raise typer.Exit(OK)
    families = tuple(_family(name) for name in FAMILIES)
    found = (*findings(), *families, *_tests(test), *(_speeds() if speed else ()))
    if json:
        show_json(ok("doctor", findings=[asdict(f) for f in found]))
    else:
        show("".join(_line(f) for f in found))
    raise typer.Exit(REJECTED if any(f.needed and f.state != "ok" for f in found) else OK)


def _family(name: str) -> HealthLine:
    """The devices of one family that open, or why there are none."""
    listed, why = probe(name)
    if listed:
        return HealthLine(f"devices {name}", "ok", "; ".join(f"{d.spec} {d.title}" for d in listed))
    if why is None:
        return HealthLine(f"devices {name}", "absent", "none")
    return HealthLine(f"devices {name}", "absent", why.headline, fix=why.help)


def _tests(again: bool) -> tuple[HealthLine, ...]:
    """What each compiler and runtime gets wrong. CUDA has no tests here, and Oclgrind is itself a test."""
    specs = (d.spec for d in list_devices() if d.kind != "checker")
    return tuple(_test(spec, again) for spec in specs if spec.partition(":")[0] in ("opencl", "c"))


def _test(spec: str, again: bool) -> HealthLine:
    """The remembered result, or a new one if there is none or `again` asks for it."""
    name = f"self-test {spec}"
    try:
        device = open_device(spec)
        known = None if again else remembered(device)
        if known is not None:
            return verdict(name, Passed(known))
        log(f"testing {spec}")
        passed = examined(spec)
    except Failed as failed:
        why = failed.diagnostics[0]
        return HealthLine(name, "broken", why.headline, fix=why.help or "")
    if Fault.CRASH not in passed.faults.kinds:
        # a busy machine may have ended it
        remember(device, passed.faults)
    return verdict(name, passed)


def _speeds() -> tuple[HealthLine, ...]:
    """The measured speed of each CPU device."""
    return tuple(_speed(d.spec) for d in list_devices() if d.kind == "cpu")


def _speed(spec: str) -> HealthLine:
    try:
        return HealthLine(f"speed {spec}", "ok", str(ability(open_device(spec))))
    except Failed as failed:
        why = failed.diagnostics[0]
        return HealthLine(f"speed {spec}", "broken", why.headline, fix=why.help or "")


def _line(f: HealthLine) -> str:
    fix = f"\n         {'':<30} {f.fix}" if f.state != "ok" and f.fix else ""
    return f"{_MARKS[f.state]}  {f.name:<30} {f.detail}{fix}\n"
