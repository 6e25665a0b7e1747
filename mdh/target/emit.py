"""Kernel modules as text: the last arrow before a device."""

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace

from mdh.ir.expr import Cast, Load, walk
from mdh.ir.kernel import Buf, Kernel, Module, Workspace
from mdh.ir.program import Program
from mdh.ir.walk import expressions, statements, writes
from mdh.target import c_helpers, cuda_helpers, opencl_helpers
from mdh.target.c_kernel import c_kernel, c_prologue
from mdh.target.constants import constants_of
from mdh.target.cuda_kernel import cuda_kernel, cuda_prologue
from mdh.target.faults import ASSUMED, CompilerFaults, Fault
from mdh.target.host import function_name
from mdh.target.lane_calls import lane_calls
from mdh.target.lanes import without_vectors
from mdh.target.names import declared, rename
from mdh.target.negations import hidden_negations
from mdh.target.opencl_kernel import opencl_kernel, opencl_prologue
from mdh.target.reads_first import UNSUNK, reads_first
from mdh.target.text import BufferArg, EntryPoint, KernelText, ScalarArg, Scratch
from mdh.target.turns import turns_text, whole_of
from mdh.target.wrapping import wrapping

_COMMENT = re.compile(r"//.*")
_WORD = re.compile(r"[A-Za-z_]\w*")


@dataclass(frozen=True, slots=True)
class Printer:
    """How a language's files are made. prologue: of a text, told whether floats keep to the letter; helper:
    the definition of a name that a text may use; prepared: the kernel as the language can say it, and as
    compilers with these faults get it right."""

    kernel: Callable[[Kernel, str, Mapping[str, str]], tuple[str, tuple[int, int]]]
    prologue: Callable[[str, bool], str]
    helper: Callable[[str], str | None]
    prepared: Callable[[Kernel, CompilerFaults], Kernel]


def _cuda(kernel: Kernel, faults: CompilerFaults) -> Kernel:
    plain = without_vectors(kernel)
    return wrapping(hidden_negations(plain) if Fault.NEGATIONS in faults.kinds else plain)


def _opencl(kernel: Kernel, faults: CompilerFaults) -> Kernel:
    return wrapping(lane_calls(_c(kernel, faults), faults.lanes))


def _c(kernel: Kernel, faults: CompilerFaults) -> Kernel:
    return reads_first(kernel) if Fault.MASKED_READS in faults.kinds else kernel


PRINTERS = {
    "cuda": Printer(cuda_kernel, lambda text, _: cuda_prologue(text), cuda_helpers.helper, _cuda),
    "opencl": Printer(
        opencl_kernel,
        lambda text, strict: opencl_prologue(text, strict_fp=strict),
        opencl_helpers.helper,
        _opencl,
    ),
    "c": Printer(c_kernel, lambda text, _: c_prologue(text), c_helpers.helper, _c),
}


C_OPTIONS = (
    "-std=gnu11",
    "-O3",
    "-fopenmp",
    "-fno-math-errno",
    "-fno-trapping-math",
    "-fwrapv",
    "-Wno-psabi",
)
"""Integers wrap, as in the other languages: sums in another order may pass what C's own stay below."""
TRAPPING = """
#if defined __GNUC__ && !defined __clang__
#pragma GCC optimize("trapping-math")  // without it (float)(int)-0.5f is -0.0f
#endif
"""
"""Follows the includes where a text converts floats to integers and integers to floats: with
-fno-trapping-math GCC 12 replaces such a pair by trunc()."""
UNPACKED = """
#if defined __GNUC__ && !defined __clang__
#pragma GCC optimize("no-tree-slp-vectorize")  // with it GCC 12 takes (double)(float)x for x
#endif
"""
"""Follows the includes where a text rounds values into an array of its own, and reads them back in a wider
type. GCC makes vectors of such scalars, and then combines the conversions of the vectors."""
OPTIONS = {"cuda": ("--std=c++17",), "opencl": ("-cl-std=CL1.2",), "c": C_OPTIONS}
"""For all texts of a language."""


def emit(module: Module, program: Program, faults: CompilerFaults | None = None) -> KernelText:
    """The module as text of its target, byte-identical for equal modules. faults: of the device at hand,
    None: it may run anywhere."""
    printer = PRINTERS[module.target]
    around = ASSUMED[module.target] if faults is None else faults
    entries = entry_names(module)
    constants = constants_of(module, entries)
    texts = []
    known: dict[str, EntryPoint] = {}
    changed = False
    for given, entry in zip(module.kernels, entries, strict=True):
        if given.twin:
            continue
        kernel = printer.prepared(given, around)
        changed = changed or kernel is not given
        text, shared = printer.kernel(
            kernel, entry, names_of(kernel, module.target, entries, constants.names)
        )
        texts.append(text)
        known[given.name] = _entry_point(kernel, entry, shared, program)
    kernels = (_twin(known[k.twin], k, program) if k.twin else known[k.name] for k in module.kernels)
    body = "\n".join(texts)
    said = _COMMENT.sub("", body)
    helpers = _definitions(said, printer.helper)
    prologue = printer.prologue(helpers + said, program.strict_fp)
    if changed and module.target == "c":
        prologue += UNSUNK
    if module.target == "c" and _converts_twice(module):
        prologue += TRAPPING
    if module.target == "c" and any(map(_rounds_in_passing, module.kernels)):
        prologue += UNPACKED
    head = "".join(f"// {line}".rstrip() + "\n" for note in module.notes for line in note.splitlines())
    source = "\n".join(part for part in (head, prologue, helpers, constants.text, body) if part)
    made = KernelText(
        name=module.name,
        language=module.target,
        machine=module.machine,
        source=source,
        kernels=tuple(kernels),
        workspaces=tuple(_scratch(w) for w in module.workspaces),
        params=module.params,
        options=_options(module.target, strict_fp=program.strict_fp),
        numerics=module.numerics,
        loops=module.loops,
        libraries=module.libraries,
    )
    whole = whole_of(made)
    return made if whole is None else replace(made, source=f"{source}\n{turns_text(made, whole)}")


def _converts_twice(module: Module) -> bool:
    """The kernels convert floats to integers, and integers to floats."""
    casts = {
        (x.arg.dtype.is_float, x.dtype.is_float)
        for k in module.kernels
        for s in statements(k.body)
        for e in expressions(s)
        for x in walk(e)
        if isinstance(x, Cast)
    }
    return {(True, False), (False, True)} <= casts


def _rounds_in_passing(kernel: Kernel) -> bool:
    """An array of the kernel's own takes rounded values, and is read in a wider type."""
    given = {b.name for b in kernel.buffers}
    rounded, widened = set[str](), set[str]()
    for s in statements(kernel.body):
        casts = [x for e in expressions(s) for x in walk(e) if isinstance(x, Cast)]
        floats = [x for x in casts if x.dtype.is_float and x.arg.dtype.is_float]
        if any(x.dtype.bits < x.arg.dtype.bits for x in floats):
            rounded |= writes(s) - given
        wider = (x for x in floats if x.dtype.bits > x.arg.dtype.bits)
        widened |= {n.buffer for x in wider for n in walk(x.arg) if isinstance(n, Load)} - given
    return bool(rounded & widened)


def entry_names(module: Module) -> tuple[str, ...]:
    """Symbols of the kernels; none is the C function's own name or the host launcher's. Twins have those of
    the kernels whose text they have."""
    own = [k.twin or k.name for k in module.kernels]
    wanted = [f"{module.name}_kernel" if name == module.name else name for name in own]
    names = rename(wanted, module.target, taken={module.name, function_name(module.name)})
    return tuple(names[name] for name in wanted)


def names_of(
    kernel: Kernel, language: str, taken: tuple[str, ...], constants: Mapping[str, str] = {}
) -> dict[str, str]:
    """Target names of everything a kernel declares, parameters first. constants: names of constant arrays."""
    return {**rename(declared(kernel), language, (*taken, *constants.values())), **constants}


def _entry_point(kernel: Kernel, entry: str, shared: tuple[int, int], program: Program) -> EntryPoint:
    buffers = tuple(_buffer_arg(b, program) for b in kernel.buffers)
    scalars = tuple(ScalarArg(name, dtype) for name, dtype in kernel.scalars)
    return EntryPoint(entry, kernel.stage, kernel.launch, buffers + scalars + kernel.maps, *shared)


def _twin(known: EntryPoint, kernel: Kernel, program: Program) -> EntryPoint:
    """The entry point of a kernel that has another one's text, with the arrays that it is given."""
    buffers = tuple(_buffer_arg(b, program) for b in kernel.buffers)
    return replace(known, stage=kernel.stage, args=(*buffers, *known.args[len(buffers) :]))


def _buffer_arg(buf: Buf, program: Program) -> BufferArg:
    known = program.buffer_of.get(buf.name)
    shape = known.shape if known is not None else buf.shape
    return BufferArg(buf.name, buf.dtype, shape, buf.bytes, buf.readonly)


def _scratch(w: Workspace) -> Scratch:
    return Scratch(w.buf.name, w.buf.dtype, w.buf.bytes, w.zero)


def _options(language: str, *, strict_fp: bool) -> tuple[str, ...]:
    match language:
        case "c":
            return (*OPTIONS[language], f"-ffp-contract={'off' if strict_fp else 'fast'}")
        case "cuda" if strict_fp:
            return (*OPTIONS[language], "-fmad=false")
        case _:
            return OPTIONS[language]


def _definitions(body: str, helper: Callable[[str], str | None]) -> str:
    """Helpers that the text names, and those that they name, each before its first use."""
    done: dict[str, str] = {}

    def need(text: str) -> Iterator[str]:
        for name in dict.fromkeys(_WORD.findall(text)):
            definition = None if name in done else helper(name)
            if definition is not None:
                done[name] = definition
                yield from need(definition)
                yield definition

    return "\n".join(need(body))
