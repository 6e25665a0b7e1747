"""Kernel modules as text: the last arrow before a device."""

import re
from collections.abc import Callable, Iterator

from mdh.ir.kernel import Buf, Kernel, Module, Workspace
from mdh.ir.program import Program
from mdh.target import cuda_helpers, opencl_helpers
from mdh.target.cuda_kernel import cuda_kernel, cuda_prologue
from mdh.target.declared import declared
from mdh.target.host import function_name
from mdh.target.lanes import without_vectors
from mdh.target.names import rename
from mdh.target.opencl_kernel import opencl_kernel, opencl_prologue
from mdh.target.text import BufferArg, EntryPoint, KernelText, ScalarArg, Scratch

_WORD = re.compile(r"[A-Za-z_]\w*")


def emit(module: Module, program: Program) -> KernelText:
    """The module as text of its target, byte-identical for equal modules."""
    is_cuda = module.target == "cuda"
    print_kernel = cuda_kernel if is_cuda else opencl_kernel
    entries = entry_names(module)
    texts = []
    kernels = []
    for given, entry in zip(module.kernels, entries, strict=True):
        kernel = without_vectors(given) if is_cuda else given
        text, shared = print_kernel(kernel, entry, names_of(kernel, module.target, entries))
        texts.append(text)
        kernels.append(_entry_point(kernel, entry, shared, program))
    body = "\n".join(texts)
    helpers = _definitions(body, cuda_helpers.helper if is_cuda else opencl_helpers.helper)
    text = helpers + body
    prologue = cuda_prologue(text) if is_cuda else opencl_prologue(text, strict_fp=program.strict_fp)
    head = "".join(f"// {line}".rstrip() + "\n" for note in module.notes for line in note.splitlines())
    source = "\n".join(part for part in (head, prologue, helpers, body) if part)
    return KernelText(
        name=module.name,
        language=module.target,
        machine=module.machine,
        source=source,
        kernels=tuple(kernels),
        workspaces=tuple(_scratch(w) for w in module.workspaces),
        params=module.params,
        options=_options(module.target, strict_fp=program.strict_fp),
    )


def entry_names(module: Module) -> tuple[str, ...]:
    """Symbols of the kernels; none is the C function's own name or the host launcher's."""
    wanted = [f"{module.name}_kernel" if k.name == module.name else k.name for k in module.kernels]
    names = rename(wanted, module.target, taken={module.name, function_name(module.name)})
    return tuple(names[name] for name in wanted)


def names_of(kernel: Kernel, language: str, taken: tuple[str, ...]) -> dict[str, str]:
    """Target names of everything a kernel declares, parameters first."""
    return dict(rename(declared(kernel), language, taken))


def _entry_point(kernel: Kernel, entry: str, shared: tuple[int, int], program: Program) -> EntryPoint:
    buffers = tuple(_buffer_arg(b, program) for b in kernel.buffers)
    scalars = tuple(ScalarArg(name, dtype) for name, dtype in kernel.scalars)
    return EntryPoint(entry, kernel.stage, kernel.launch, buffers + scalars, *shared)


def _buffer_arg(buf: Buf, program: Program) -> BufferArg:
    known = program.buffer_of.get(buf.name)
    shape = known.shape if known is not None else buf.shape
    return BufferArg(buf.name, buf.dtype, shape, buf.bytes, buf.readonly)


def _scratch(w: Workspace) -> Scratch:
    return Scratch(w.buf.name, w.buf.dtype, w.buf.bytes, w.zero)


def _options(language: str, *, strict_fp: bool) -> tuple[str, ...]:
    if language == "opencl":
        return ("-cl-std=CL1.2",)
    return ("--std=c++17", "-fmad=false") if strict_fp else ("--std=c++17",)


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
