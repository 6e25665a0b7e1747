"""`mdh run`: builds on a device, runs on given or random arrays, judges the result, and times it."""

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field, replace
from functools import partial
from math import prod
from pathlib import Path
from typing import Annotated, Any

import typer

from mdh.checker.plan_at import plan_at
from mdh.cli import completion
from mdh.cli import options as opt
from mdh.cli.at import at_sizes, point_text, points, table_points
from mdh.cli.command_line import CommandLine, at_word
from mdh.cli.console import log, ok, show, show_json
from mdh.cli.files import keep_inputs, write_array, write_text
from mdh.cli.inputs import Inputs, parse_inputs
from mdh.cli.job import (
    defines_of,
    load_program,
    load_schedule,
    make_kernel,
    make_plan,
    say_default,
    schedule_words,
    with_default,
)
from mdh.cli.options import Request, Warned
from mdh.cli.tables import case_plan
from mdh.cli.trace import Trace
from mdh.cli.values import device_or_default
from mdh.cli.warned import warn
from mdh.cost.work import work_of
from mdh.device.api import open_device
from mdh.device.protocols import Device, Executable
from mdh.diagnostics import Diagnostic, Failed, render_json
from mdh.frontend.open_program import closed
from mdh.ir.numerics import numerics_of
from mdh.ir.plan import Plan
from mdh.ir.program import Program
from mdh.memory_left import demand_room
from mdh.pipeline import Checked
from mdh.reference.error import Bounded
from mdh.reference.judge import ATTEMPTS, POSITIVE, Arguments, Expected, draw_expected
from mdh.reference.numbers import Array
from mdh.report.measurement import Timing, demand_fit, measure, timing_text
from mdh.schedule.cases import Table, table_of
from mdh.schedule.model import Schedule
from mdh.verify.arguments import Guarded, Kind, guarded, make_arrays, make_scalars
from mdh.verify.index_data import check_indices
from mdh.verify.verdict import judge

app = typer.Typer(rich_markup_mode=None, add_completion=False)

InputOpt = Annotated[
    list[str] | None,
    typer.Option("--input", metavar="NAME=FILE.npy", help="An argument: an array file, or NAME=NUMBER."),
]
CheckOpt = Annotated[bool, typer.Option("--check", help="Compare with the reference; exit 4 if wrong.")]
RepeatOpt = Annotated[
    int, typer.Option("--repeat", metavar="N", min=0, help="Number of timed runs; 0: none.")
]
SeedOpt = Annotated[int, typer.Option("--seed", metavar="N", min=0, help="Seed of the random arrays.")]
AtOpt = Annotated[
    list[str] | None,
    typer.Option(
        "--at",
        metavar="M=100,…",
        help="Values of open sizes; default: some of the range.",
        autocompletion=completion.sizes,
    ),
]
OutOpt = Annotated[str | None, typer.Option("--out", "-o", metavar="DIR", help="Write outputs and schedule.")]

_ANEW = 7919
"""Added to the seed for each new draw."""


@dataclass(frozen=True)
class Ran:
    """arrays: as the last checked run left them. verdicts: the kinds of arrays with right results. judges:
    who judged each. sizes: the open ones. case: of a table, which served them."""

    arrays: dict[str, Guarded]
    verdicts: tuple[str, ...]
    judges: tuple[str, ...]
    timing: Timing | None
    sizes: dict[str, int] = field(default_factory=dict)
    case: str = ""


@app.command()
def run(
    ctx: typer.Context,
    file: opt.FileArg,
    schedule: opt.ScheduleOpt = None,
    device: opt.DeviceOpt = None,
    define: opt.DefineOpt = None,
    set_: opt.SetOpt = None,
    einsum: opt.EinsumOpt = None,
    const: opt.ConstOpt = None,
    function: opt.FunctionOpt = None,
    strict_fp: opt.StrictOpt = False,
    allow: opt.AllowOpt = None,
    libraries: opt.LibrariesOpt = False,
    deterministic: opt.DeterministicOpt = False,
    input_: InputOpt = None,
    at: AtOpt = None,
    check: CheckOpt = False,
    repeat: RepeatOpt = 10,
    seed: SeedOpt = 0,
    output: OutOpt = None,
    no_warnings: opt.NoWarningsOpt = False,
    warnings: opt.WarnOpt = None,
    json: opt.JsonOpt = False,
    format: opt.FormatOpt = None,
    dump: opt.DumpOpt = None,
    time: opt.TimeOpt = False,
) -> None:
    """Build and run on a device, on random or given arrays; verify the result and time it.

    Without --device: $MDH_DEVICE, else the first GPU, else the faster of opencl:0 and c.
    """
    line: CommandLine = ctx.obj
    request = Request(
        line, file, schedule, None, None, device, tuple(define or ()), tuple(set_ or ()), function, strict_fp,
        deterministic, opt.allowed(allow, libraries=libraries),
        Warned.asked(line, warnings, hidden=no_warnings),
    )  # fmt: skip
    trace = Trace.of(line, tuple(dump or ()), time)
    given = load_schedule(request, trace)
    table = table_of(given)
    program = load_program(request, trace, () if table is None else table.hull)
    some = _sizes(line, at, program, table, request, seed, given=bool(input_), written=output is not None)
    inputs = parse_inputs(line, tuple(input_ or ()), closed(program, some[0]))
    chosen = device_or_default(device)
    opened = at_word(line, chosen, lambda: open_device(chosen))
    _fits(line, file, program, some, opened, 3 if repeat else 2)
    given = with_default(request, trace, program, given, opened.machine, opened.target)
    plans = _plans(request, trace, program, given, some, opened)
    warned = tuple(d for one in plans for d in warn(request, one.checked.plan))
    say_default(plans[0].checked, output, schedule)
    if output is not None:
        _keep(request, output, tuple(input_ or ()), plans[0].checked.plan)
    ran = partial(_run_at, check=check, repeat=repeat, seed=seed)
    all_ran = [found for one in plans for found in ran(trace, one, opened, inputs)]
    if output is not None:
        _write(line, Path(output), *all_ran[0])
    if json:
        show_json(_as_json(plans[0].checked, opened, all_ran, output, warned))
    else:
        show(_text(plans[0].checked, opened, all_ran))


def _keep(request: Request, output: str, inputs: tuple[str, ...], plan: Plan) -> None:
    """Raises Failed if the files of --out are among those that the call reads."""
    read = (*request.files, *(word.partition("=")[2] for word in inputs))
    mdh_file, *arrays = _outputs(Path(output), plan.program)
    keep_inputs(request.line, output, read, {mdh_file: plan.text, **dict.fromkeys(arrays)})


@dataclass(frozen=True, slots=True)
class _Planned:
    """A checked schedule, and the sizes at which it is run. name: of its case in a table; else empty."""

    checked: Checked
    points: tuple[dict[str, int], ...]
    name: str = ""


def _plans(
    request: Request, trace: Trace, program: Program, given: Schedule | None, some: list[dict[str, int]],
    device: Device,
) -> list[_Planned]:  # fmt: skip
    """What is run: the schedule, or those cases of the table that the sizes choose."""
    table, machine, target = table_of(given), device.machine, device.target
    if table is None:
        return [_Planned(make_plan(request, trace, program, given, machine, target), tuple(some))]
    out: list[_Planned] = []
    for case in table.cases:
        here = tuple(sizes for sizes in some if table.at(sizes) is case)
        if here:
            one = case_plan(request, trace, table, case, machine, target)
            out.append(_Planned(one.checked, here, one.name))
    return out


def _run_at(
    trace: Trace, planned: _Planned, device: Device, inputs: Inputs, *, check: bool, repeat: int, seed: int
) -> Iterator[tuple[Plan, Ran]]:
    """Builds one schedule, and runs it at each of its sizes."""
    whole = planned.checked.plan
    built = trace.pipeline.build(device, make_kernel(trace, whole, device)[1])
    for sizes in planned.points:
        plan = plan_at(whole, sizes)
        with at_sizes(sizes):
            ran = _run(plan, built, device, inputs, check=check, repeat=repeat, seed=seed)
        yield plan, replace(ran, sizes=sizes, case=planned.name)


def _sizes(
    line: CommandLine, at: list[str] | None, program: Program, table: Table | None, request: Request,
    seed: int, *, given: bool, written: bool,
) -> list[dict[str, int]]:  # fmt: skip
    """The open sizes of each run. Raises Failed F107 for wrong ones, and for arrays that are given or written
    at several."""
    words = tuple(at or ())
    if table is None:
        some = points(line, words, program, seed)
    else:
        some = table_points(line, words, table, program, defines_of(request), seed)
    if len(some) > 1 and (given or written):
        option = "--input" if given else "-o"
        headline = f"{option} is for one size, and open sizes are run at {len(some)}"
        raise line.fail("F107", headline, option, help="choose it: --at " + ",".join(
            f"{name}={value}" for name, value in some[1].items()))  # fmt: skip
    return some


def _fits(
    line: CommandLine, file: str, program: Program, some: list[dict[str, int]], device: Device, copies: int
) -> None:
    """Checks memory before any array is made, at all sizes. copies: of the arrays that the host holds at
    once. Raises Failed F116 if the arrays exceed the device's memory, D104 if this process may not take as
    much."""
    for sizes in some:
        mine = closed(program, sizes)
        at_word(line, file, partial(demand_fit, mine, device.machine, device.spec))
        own = sum(prod(b.shape) * b.dtype.bytes for b in mine.buffers if not b.temp)
        demand_room(f"{copies} copies of the arrays of `{mine.name}`", copies * own)


def _run(
    plan: Plan,
    built: Executable,
    device: Device,
    inputs: Inputs,
    *,
    check: bool,
    repeat: int,
    seed: int,
) -> Ran:
    """Runs, judges and times. If no arrays are given, exact integers come first, because they show a wrong
    index best. Raises Failed N1xx."""
    program = plan.program
    kinds: tuple[Kind, ...] = ("exact", "random") if check and not inputs.arrays else ("random",)
    scalars = make_scalars(program, inputs.scalars, seed)
    held: dict[str, Guarded] = {}
    judges: list[str] = []
    for kind in kinds:
        want: dict[str, Bounded] = {}
        if check:
            before, right = _drawn(plan, inputs, scalars, seed, kind)
            want = right.want
            judges.append(right.judge)
        else:
            before = make_arrays(
                program, inputs.arrays, seed, kind, positive=program.has_integer("/", "%", "<<", ">>")
            )
        check_indices(program, before, scalars)
        held = {name: guarded(array) for name, array in before.items()}
        call = built.call({name: g.array for name, g in held.items()}, scalars)
        call.launch()
        found = judge(program, before, held, want) if check else []
        if found:
            raise Failed(*found)
    timing = None
    if repeat:
        copies = {name: guarded(g.array) for name, g in held.items()}
        timed = built.call({name: g.array for name, g in copies.items()}, scalars)

        def sample() -> tuple[float | None, float]:
            one = timed.sample()
            return one.device, one.wall

        timing = measure(sample, device.flush, repeat)
    return Ran(held, kinds if check else (), tuple(judges), timing)


def _drawn(
    plan: Plan, inputs: Inputs, scalars: Mapping[str, int | float], seed: int, kind: Kind
) -> tuple[Mapping[str, Array], Expected]:
    """Arrays and expected results; if possible, arrays whose results do not depend on rounding. Given arrays
    are kept."""

    program = plan.program
    # in C a shift by a negative number is undefined
    shifts = program.has_integer("<<", ">>")

    def draw(attempt: int) -> Arguments:
        own = seed + _ANEW * attempt
        return make_arrays(program, inputs.arrays, own, kind, positive=shifts or attempt >= POSITIVE), scalars

    attempts = 1 if inputs.arrays else ATTEMPTS
    drawn = draw_expected(program, draw, exact=kind == "exact", numerics=numerics_of(plan), attempts=attempts)
    return drawn.arrays, drawn.expected


def _write(line: CommandLine, folder: Path, plan: Plan, ran: Ran) -> None:
    mdh_file, *arrays = _outputs(folder, plan.program)
    write_text(line, mdh_file, plan.text)
    for file in arrays:
        write_array(line, file, ran.arrays[file.stem].array)
    log(f"wrote {folder}")


def _outputs(folder: Path, program: Program) -> tuple[Path, ...]:
    """The files that `-o` writes: the schedule, then the outputs in the C function's order."""
    written = {name for stage in program.stages for name in stage.written}
    names = (name for name in program.params if name in written)
    return (folder / f"{program.name}.mdh", *(folder / f"{name}.npy" for name in names))


def _text(checked: Checked, device: Device, all_ran: list[tuple[Plan, Ran]]) -> str:
    program = checked.plan.program
    lines = [f"{program.name} on {device.spec} ({device.title}), {schedule_words(checked)}\n"]
    for plan, ran in all_ran:
        if ran.sizes:
            lines.append(f"  {point_text(ran.sizes)}{f', {ran.case}' if ran.case else ''}\n")
        if ran.verdicts:
            kinds = {
                "exact": "small integers, bit for bit where sums are exact",
                "random": "random values, in bounds",
            }
            judges = ", ".join(dict.fromkeys(ran.judges))
            lines.append(f"  correct  {'; '.join(kinds[v] for v in ran.verdicts)}; judge: {judges}\n")
        if ran.timing is not None:
            lines.append(timing_text(ran.timing, *work_of(plan)))
    return "".join(lines)


def _as_json(
    checked: Checked, device: Device, all_ran: list[tuple[Plan, Ran]], output: str | None,
    found: tuple[Diagnostic, ...],
) -> dict[str, Any]:  # fmt: skip
    plan, ran = all_ran[0]
    ops, least = work_of(plan)
    each = [
        {
            "sizes": here.sizes,
            **({"case": here.case} if here.case else {}),
            "timing": None if here.timing is None else asdict(here.timing),
        }
        for _, here in all_ran
        if here.sizes
    ]
    return ok(
        "run",
        program=checked.plan.program.name,
        device=device.spec,
        title=device.title,
        default=bool(checked.derived),
        default_stages=list(checked.derived),
        checked=list(ran.verdicts),
        judges=list(ran.judges),
        timing=None if ran.timing is None else asdict(ran.timing),
        operations=ops,
        compulsory_bytes=least,
        folder=output,
        **({"at": each} if each else {}),
        schedule=checked.plan.text,
        warnings=[render_json(d) for d in found],
    )
