"""In C, loops around kernels are a function of the kernels' own text: a launch from outside costs more than a
small kernel."""

from mdh.ir.turns import Turns
from mdh.target.header import scalar_type
from mdh.target.host import in_loops
from mdh.target.names import fresh, rename
from mdh.target.text import Arg, BufferArg, EntryPoint, KernelText, ScalarArg


def whole_of(text: KernelText) -> EntryPoint | None:
    """The function that runs all kernels in their loops, as an entry point; None if there are no loops, or if
    turns clear workspaces. Its arguments are those of all kernels."""
    if text.language != "c" or not text.loops or any(x.clear for x in text.launches):
        return None
    counters = {x.var for x in text.loops}
    args: dict[str, Arg] = {}
    for a in (a for k in text.kernels for a in k.args):
        known = args.get(a.name)
        if isinstance(a, ScalarArg) and a.name in counters:
            continue
        if isinstance(a, BufferArg) and isinstance(known, BufferArg):
            known = known if a.readonly else a
        args[a.name] = known or a
    name = fresh(f"{text.name}_turns", {k.name for k in text.kernels}, "c")
    return EntryPoint(name, "", text.kernels[0].launch, tuple(args.values()))


def turns_text(text: KernelText, whole: EntryPoint) -> str:
    """The definition of that function."""
    counters = [x.var for x in text.loops]
    taken = {whole.name, *(k.name for k in text.kernels)}
    names = rename([*(a.name for a in whole.args), *counters], "c", taken)
    parameters = ", ".join(declared_as(a, names[a.name]) for a in whole.args)
    regions = _regions(text)
    inside = {n for x in regions for n in range(x.first, x.last + 1)}
    calls = [
        [f"    {in_region(k.name) if n in inside else k.name}({', '.join(names[a.name] for a in k.args)});"]
        for n, k in enumerate(text.kernels)
    ]
    body = in_loops(
        text, names, calls.__getitem__, [], lambda x: ["#pragma omp parallel"] if x in regions else []
    )
    return "\n".join([f"void {whole.name}({parameters})", "{", *body, "}"]) + "\n"


def _regions(text: KernelText) -> list[Turns]:
    """The outermost loops around kernels whose groups stay with their threads: one parallel region, in which
    the threads meet after each launch, takes less than a region for each."""
    out: list[Turns] = []
    for x in text.loops:
        steady = all(k.launch.steady for k in text.kernels[x.first : x.last + 1])
        if steady and not any(y.first <= x.first and x.last <= y.last for y in out):
            out.append(x)
    return out


def in_region(entry: str) -> str:
    """The function of a kernel that the threads of a parallel region call together."""
    return f"{entry}_together"


def declared_as(a: Arg, name: str) -> str:
    """The parameter of that function. Its arrays are without types, since those of kernels are no host's."""
    if isinstance(a, BufferArg):
        return f"{'const ' if a.readonly else ''}void *{name}"
    assert isinstance(a, ScalarArg), "kernels in C have no tensor maps"
    return f"{scalar_type(a.dtype)} {name}"
