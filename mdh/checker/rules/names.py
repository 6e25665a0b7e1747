"""K102: a memory entry names the buffer that its position belongs to."""

from collections.abc import Iterator

from mdh.checker.subject import Draft, at, listed, nearest
from mdh.diagnostics import Diagnostic
from mdh.schedule.model import BufferPlace, Mem

CODE = "K102"


def check_names(draft: Draft) -> Iterator[Diagnostic]:
    """For each step, entry i of a group is `^` or names the i-th buffer of that group."""
    for step in draft.steps:
        for mems, names in ((step.inputs, draft.inputs), (step.outputs, draft.outputs)):
            for mem, name in zip(mems, names, strict=True):
                if isinstance(mem.value, BufferPlace) and mem.value.buffer != name:
                    yield _wrong(draft, mem, mem.value.buffer, name, names)


def _wrong(draft: Draft, mem: Mem, got: str, name: str, names: tuple[str, ...]) -> Diagnostic:
    known = (*draft.inputs, *draft.outputs)
    if got in names:
        headline = f"`{got}` stands where `{name}` belongs"
        said = f"the order here is {listed(names)}"
    elif got in known:
        role = "an input" if got in draft.inputs else "an output"
        headline = f"`{got}` is {role} of stage `{draft.stage.name}`, this is the place of `{name}`"
        said = f"inputs {listed(draft.inputs) or 'none'}; outputs {listed(draft.outputs)}"
    else:
        headline = f"stage `{draft.stage.name}` has no buffer `{got}`"
        said = f"{nearest(got, known)} this is the place of `{name}`".strip()
    return Diagnostic(CODE, headline, at(mem.span, f"`{name}`"), help=said)
