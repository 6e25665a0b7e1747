"""`mdh compile`: prints the kernel source, or writes a folder that needs no mdh."""

from pathlib import Path

import typer

from mdh.cli import options as opt
from mdh.cli.command_line import CommandLine
from mdh.cli.console import log, ok, show, show_json
from mdh.cli.files import keep_inputs, keep_others, write_text
from mdh.cli.job import make_kernel, plan_for_machine, say_default
from mdh.cli.options import Request, Warned
from mdh.cli.trace import Trace
from mdh.cli.values import parse_defines
from mdh.cli.warned import warn
from mdh.diagnostics import render_json
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
    function: opt.FunctionOpt = None,
    strict_fp: opt.StrictOpt = False,
    allow: opt.AllowOpt = None,
    deterministic: opt.DeterministicOpt = False,
    output: opt.OutFolderOpt = None,
    no_warnings: opt.NoWarningsOpt = False,
    warnings: opt.WarnOpt = None,
    json: opt.JsonOpt = False,
    dump: opt.DumpOpt = None,
    time: opt.TimeOpt = False,
) -> None:
    """Write the kernel source, a host driver, a header, the schedule and a manifest into a folder.

    The folder can be built without mdh. Without -o the kernel source is printed.
    """
    line: CommandLine = ctx.obj
    request = Request(
        line, file, schedule, target, machine, device, tuple(define or ()), tuple(set_ or ()), function,
        strict_fp, deterministic, tuple(allow or ()), Warned.asked(line, warnings, hidden=no_warnings),
    )  # fmt: skip
    trace = Trace.of(line, tuple(dump or ()), time)
    chosen, checked = plan_for_machine(request, trace)
    found = warn(request, checked.plan)
    _, text = make_kernel(trace, checked.plan)
    defines = parse_defines(line, request.defines)
    files = folder(text, checked.plan.program, checked.plan.text, defines=defines, arch=chosen.arch)
    say_default(checked, output, schedule)
    if output is not None:
        texts = {Path(output) / name: content for name, content in files.items()}
        keep_inputs(line, output, request.files, texts)
        keep_others(line, output, files)
        # the manifest comes first: it says which files are mdh's if writing is interrupted
        for path in sorted(texts, key=lambda p: p.name != "manifest.json"):
            write_text(line, path, texts[path])
    if json:
        show_json(
            ok(
                "compile",
                folder=output,
                files=sorted(files),
                default=bool(checked.derived),
                default_stages=list(checked.derived),
                source=text.source,
                warnings=[render_json(d) for d in found],
            )
        )
    elif output is None:
        show(text.source)
    else:
        log(f"wrote {output}")
        show("".join(f"{Path(output) / name}\n" for name in sorted(files)))
