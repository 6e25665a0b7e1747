"""What `mdh explain` says beyond the plan: `--asm`, the hot loop of the machine code, and `--counters`, what
hardware counts while the kernels run."""

from math import prod

from mdh.assembly.hot import HotLoop, hot_loop
from mdh.assembly.of_c import listings_of_c
from mdh.assembly.of_cuda import listings_of_cuda
from mdh.cli.options import Request
from mdh.counters.counted import Counted, uncounted
from mdh.counters.ncu import counted_by_ncu
from mdh.counters.perf import counted_by_perf
from mdh.device.api import open_device
from mdh.device.protocols import Device
from mdh.diagnostics import Failed
from mdh.ir.plan import Plan
from mdh.memory_left import demand_room
from mdh.report.measurement import demand_fit
from mdh.target.text import KernelText
from mdh.verify.arguments import guarded, make_arrays, make_scalars
from mdh.verify.index_data import check_indices

_DEVICES = {"c": "c", "opencl": "opencl:0", "cuda": "cuda:0"}


def machine_code(request: Request, plan: Plan, text: KernelText) -> HotLoop:
    """The hot loop. Raises Failed F220 if no assembly can be had, D1xx if the text cannot be compiled."""
    parts = {level.var: level.parts for s in plan.stages if s.call is None for level in s.tiles.levels.all}
    if text.language == "opencl":
        raise request.line.fail(
            "F220", "assembly of OpenCL kernels is known to the device's driver alone", "--asm",
            help="--target c or --target cuda, where the machine has it",
        )  # fmt: skip
    in_c = text.language == "c"
    listings = listings_of_c(text) if in_c else listings_of_cuda(text, plan.machine.arch)
    found = hot_loop(listings, text.source, parts)
    if found is None:
        hint = "a kernel that calls a library has no code of its own"
        raise request.line.fail(
            "F220", "the machine code holds no instruction of this text", "--asm", help=hint
        )
    return found


def counters(request: Request, plan: Plan, text: KernelText) -> Counted:
    """What is counted on the device of --device, or the first of the target. Where nothing can be counted,
    the value says why."""
    spec = request.device or _DEVICES[text.language]
    tool = "ncu" if text.language == "cuda" else "perf"
    if plan.program.opens:
        return uncounted(tool, spec, "a size is open: bind it with -D")
    try:
        device = open_device(spec)
        if device.machine.kind == "gpu" and text.language == "opencl":
            return uncounted(tool, spec, "no tool counts in OpenCL kernels on GPUs")
        if device.machine.kind != plan.machine.kind:
            return uncounted(tool, spec, f"{device.title} is no {plan.machine.kind}")
        if text.language == "cuda":
            return _by_ncu(request, text, device)
        return _by_perf(plan, text, device)
    except Failed as failed:
        d = failed.diagnostics[0]
        return uncounted(tool, spec, f"{d.headline} ({d.code})")


def _by_perf(plan: Plan, text: KernelText, device: Device) -> Counted:
    """Runs on random arrays. Raises Failed."""
    program = plan.program
    demand_fit(program, device.machine, device.spec)
    demand_room(
        f"the arrays of `{program.name}`",
        sum(prod(b.shape) * b.dtype.bytes for b in program.buffers if not b.temp),
    )
    scalars = make_scalars(program, {}, 0)
    arrays = make_arrays(program, {}, 0, "random", positive=program.has_integer("/", "%", "<<", ">>"))
    check_indices(program, arrays, scalars)
    held = {name: guarded(array) for name, array in arrays.items()}
    call = device.build(text).call({name: g.array for name, g in held.items()}, scalars)
    return counted_by_perf(call.launch, device.title)


def _by_ncu(request: Request, text: KernelText, device: Device) -> Counted:
    """The kernels run in another process, which ncu starts."""
    if "-" in (request.file, request.schedule):
        return uncounted("ncu", device.spec, "standard input cannot be read twice: give files")
    words = ["-q", "run", request.file, "--device", device.spec, "--repeat", "1"]
    words += ["--schedule", request.schedule] if request.schedule is not None else []
    words += [w for d in request.defines for w in ("-D", d)]
    words += [w for s in request.sets for w in ("--set", s)]
    words += [w for a in request.allow for w in ("--allow", a)]
    words += ["--function", request.function] if request.function is not None else []
    words += ["--strict-fp"] if request.strict_fp else []
    words += ["--deterministic"] if request.deterministic else []
    return counted_by_ncu(words, [k.name for k in text.kernels], device.title)
