"""`mdh compile`: prints the kernel source, or writes a folder that needs no mdh."""

from collections.abc import Mapping
from pathlib import Path

import typer

from mdh.cli import options as opt
from mdh.cli.command_line import CommandLine, Format
from mdh.cli.console import log, ok, show, show_json
from mdh.cli.files import keep_inputs, keep_others, write_text
from mdh.cli.formats import show_sarif
from mdh.cli.job import defines_of, load_program, load_schedule, make_kernel, plan_of, say_default
from mdh.cli.options import Request, Warned
from mdh.cli.tables import default_table, table_plans, table_text
from mdh.cli.trace import Trace
from mdh.cli.warned import remedies, warn
from mdh.diagnostics import render_json
from mdh.schedule.cases import Table, ranges_text, table_of
from mdh.target.dispatch import Version, as_version, dispatch_folder
from mdh.target.folder import folder

app = typer.Typer(rich_markup_mode=None, add_completion=False)


@app.command()
def compile(
    ctx: typer.Context,
    file: opt.FileArg,
    schedule: opt.ScheduleOpt = None,
    target: opt.TargetOpt = None,
    machine: opt.MachineOpt = None,
    device: opt.MachineAtHandOpt = None,
    define: opt.DefineOpt = None,
    set_: opt.SetOpt = None,
    einsum: opt.EinsumOpt = None,
    const: opt.ConstOpt = None,
    function: opt.FunctionOpt = None,
    strict_fp: opt.StrictOpt = False,
    allow: opt.AllowOpt = None,
    libraries: opt.LibrariesOpt = False,
    deterministic: opt.DeterministicOpt = False,
    output: opt.OutFolderOpt = None,
    no_warnings: opt.NoWarningsOpt = False,
    warnings: opt.WarnOpt = None,
    json: opt.JsonOpt = False,
    format: opt.FormatOpt = None,
    dump: opt.DumpOpt = None,
    time: opt.TimeOpt = False,
) -> None:
    """Write the kernel source, a host driver, a header, the schedule and a manifest into a folder.

    The folder can be built without mdh. Without -o the kernel source is printed.
    """
    line: CommandLine = ctx.obj
    request = Request(
        line, file, schedule, target, machine, device, tuple(define or ()), tuple(set_ or ()), function,
        strict_fp, deterministic, opt.allowed(allow, libraries=libraries),
        Warned.asked(line, warnings, hidden=no_warnings),
    )  # fmt: skip
    trace = Trace.of(line, tuple(dump or ()), time)
    given = default_table(request, trace, load_schedule(request, trace))
    table = table_of(given)
    if table is not None:
        _compile_table(request, trace, table, output, json=json)
        return
    chosen, checked = plan_of(request, trace, given)
    found = warn(request, checked.plan)
    _, text = make_kernel(trace, checked.plan)
    defines = defines_of(request)
    files = folder(text, checked.plan.program, checked.plan.text, defines=defines, arch=chosen.arch)
    say_default(checked, output, schedule)
    _write(request, output, files)
    if json:
        warnings_json = [render_json(d) for d in found]
        said = {"default": bool(checked.derived), "default_stages": list(checked.derived)}
        done = {"folder": output, "files": sorted(files), **said, "source": text.source}
        show_json(ok("compile", **done, warnings=warnings_json))
    elif line.format is Format.SARIF:
        show_sarif(found, remedies(request, checked.plan, found))
    elif output is None:
        show(text.source)
    else:
        _say_written(output, files)


def _compile_table(request: Request, trace: Trace, table: Table, output: str | None, *, json: bool) -> None:
    """Compiles each case of a table, and a launcher that chooses one of them by the sizes."""
    machine, plans = table_plans(request, trace, table)
    found = [d for one in plans for d in warn(request, one.checked.plan)]
    versions = []
    for number, one in enumerate(plans, 1):
        plan = as_version(one.checked.plan, number)
        versions.append(Version(table.ranges(one.case), plan, make_kernel(trace, plan)[1]))
    whole = load_program(request, trace, table.hull)
    defines = defines_of(request) | {r.name: r.most for r in table.hull}
    text = table_text(table, plans)
    say_default(plans[0].checked, output, request.schedule)
    files = dispatch_folder(versions, whole, text, defines=defines, arch=machine.arch)
    _write(request, output, files)
    if json:
        rows = [
            {"over": ranges_text(p.case), "source": v.text.source}
            for p, v in zip(plans, versions, strict=True)
        ]
        warnings = [render_json(d) for d in found]
        show_json(
            ok("compile", table=True, folder=output, files=sorted(files), cases=rows, warnings=warnings)
        )
    elif request.line.format is Format.SARIF:
        show_sarif(found)
    elif output is None:
        show("\n".join(f"// {p.name}\n{v.text.source}" for p, v in zip(plans, versions, strict=True)))
    else:
        _say_written(output, files)


def _write(request: Request, output: str | None, files: Mapping[str, str]) -> None:
    """Writes the files of a folder. Raises Failed F111, and for files that the command reads or does not
    own."""
    if output is None:
        return
    texts = {Path(output) / name: content for name, content in files.items()}
    keep_inputs(request.line, output, request.files, texts)
    keep_others(request.line, output, files)
    # the manifest comes first: it says which files are mdh's if writing is interrupted
    for path in sorted(texts, key=lambda p: p.name != "manifest.json"):
        write_text(request.line, path, texts[path])


def _say_written(output: str, files: Mapping[str, str]) -> None:
    log(f"wrote {output}")
    show("".join(f"{Path(output) / name}\n" for name in sorted(files)))
