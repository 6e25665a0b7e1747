"""K109: a layout is a permutation of the buffer's dimensions."""

from collections.abc import Iterator

from mdh.checker.subject import Draft, at
from mdh.diagnostics import Diagnostic
from mdh.schedule.model import BufferPlace

CODE = "K109"


def check_layouts(draft: Draft) -> Iterator[Diagnostic]:
    """For each entry `B:R[l]`: l is a permutation of 1..rank(B)."""
    for step in draft.steps:
        for mem in (*step.inputs, *step.outputs):
            if not isinstance(mem.value, BufferPlace) or not isinstance(mem.value.layout, tuple):
                continue
            buffer = draft.program.buffer_of.get(mem.value.buffer)
            if buffer is None:
                continue
            natural = tuple(range(1, len(buffer.shape) + 1))
            layout = mem.value.layout
            if sorted(n for n in layout if isinstance(n, int)) == list(natural):
                continue
            shape = "×".join(str(n) for n in buffer.shape)
            shown = ",".join(str(n) for n in layout)
            headline = (
                f"[{shown}] is not a layout of `{buffer.name}`, which has rank {len(natural)} ({shape})"
            )
            said = f"each of {', '.join(map(str, natural))} once, the slowest first"
            yield Diagnostic(CODE, headline, at(mem.span or step.span), help=said)
