"""`mdh devices`: lists the devices here and the known machines, and writes a machine file for a device."""

from dataclasses import asdict
from importlib import import_module
from typing import Annotated

import typer
from rich.box import SIMPLE
from rich.console import Console
from rich.table import Table

from mdh.cli.command_line import CommandLine, at_word
from mdh.cli.console import log, ok, show, show_json
from mdh.cli.files import write_text
from mdh.cli.options import JsonOpt
from mdh.device.api import list_devices, open_device
from mdh.device.protocols import ListedDevice
from mdh.machine import Machine, load_machine, machine_names, print_machine

app = typer.Typer(rich_markup_mode=None, add_completion=False)

ExportOpt = Annotated[
    str | None, typer.Option("--export", metavar="FILE.toml", help="Write a machine file; - is stdout.")
]
DeviceOpt = Annotated[
    str | None, typer.Option("--device", metavar="SPEC", help="The device to export. Default: the first GPU.")
]
WIDTH = 110


@app.command()
def devices(
    ctx: typer.Context, export: ExportOpt = None, device: DeviceOpt = None, json: JsonOpt = False
) -> None:
    """List the devices here and the machines that mdh knows; export a machine file for a device."""
    line: CommandLine = ctx.obj
    if export is not None:
        _export(line, export, device)
        return
    if device is not None:
        raise line.fail("F107", "--device needs --export", "--device", help="see `mdh devices --help`")
    here, machines = list_devices(), tuple(load_machine(name) for name in machine_names())
    if json:
        show_json(ok("devices", devices=[asdict(d) for d in here], machines=[asdict(m) for m in machines]))
        return
    show(_device_table(here) + "\n" + _machine_table(machines))
    if not here:
        log("no device was found; `mdh doctor` says what is missing")


def _export(line: CommandLine, path: str, spec: str | None) -> None:
    # it imports the whole compiler, which the list of devices does not need
    chosen = spec or import_module("mdh.default_device").default_device()
    if spec is None:
        log(f"device {chosen}")
    text = print_machine(at_word(line, chosen, lambda: open_device(chosen)).machine)
    if path == "-":
        show(text)
    else:
        write_text(line, path, text)
        log(f"wrote {path}; use it with --machine {path}")


def _device_table(here: tuple[ListedDevice, ...]) -> str:
    table = _table("device", "kind", "name", "platform")
    for d in here:
        table.add_row(d.spec, d.kind, d.title, d.platform)
    return _text(table)


def _machine_table(machines: tuple[Machine, ...]) -> str:
    table = _table("machine", "kind", "name", "targets")
    for m in machines:
        table.add_row(m.name, m.kind, m.title, ", ".join(m.targets))
    return _text(table)


def _table(*names: str) -> Table:
    table = Table(box=SIMPLE, show_edge=False, pad_edge=False)
    for name in names:
        table.add_column(name, no_wrap=name in names[:2], overflow="fold")
    return table


def _text(table: Table) -> str:
    """Plain text of a fixed width, the same in a terminal, a pipe and a log."""
    console = Console(width=WIDTH, color_system=None, legacy_windows=False, markup=False, emoji=False)
    with console.capture() as capture:
        console.print(table)
    return "\n".join(row.rstrip() for row in capture.get().splitlines()) + "\n"
