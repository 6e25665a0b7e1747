"""Large results: the vectorised reference judges every element, and the C text itself some of them."""

from collections.abc import Mapping
from typing import Any

from mdh.ir.program import Program
from mdh.reference.at_elements import picked
from mdh.reference.error import Bounded
from mdh.reference.interpreter import EndlessLoop, UnknownMeaning, interpret_elements
from mdh.reference.numbers import Array
from mdh.reference.slicing import SampledSlice, sampled

COUNT = 1000
"""The number of elements that the C text is interpreted for, if their slices are small enough."""
EXECUTIONS = 4_200_000
"""The most statements for that: a thousand sums of four thousand terms, in a quarter of a minute."""
FEW = 1_600_000
"""The same for the tuner, which has less time: about five seconds."""


def interpreted_sample(
    program: Program,
    arrays: Mapping[str, Array],
    scalars: Mapping[str, Any],
    *,
    seed: int = 0,
    executions: int = EXECUTIONS,
) -> tuple[SampledSlice, dict[str, Bounded]] | None:
    """Sampled elements with the C text's results; None if no slice is small enough.

    scalars: every scalar parameter. Raises what `interpret_elements` does: Failed A130, A131, Undecided.
    """
    function = program.syntax
    if function is None:
        return None
    shapes = {b.name: b.shape for b in program.buffers if not b.temp}
    written = {name for stage in program.stages for name in stage.written}
    outputs = [name for name in shapes if name in written]
    given = {name: arrays[name].reshape(shape) for name, shape in shapes.items()}
    sample = sampled(function, scalars, shapes, outputs, given, count=COUNT, seed=seed, budget=executions)
    if sample is None:
        return None
    try:
        found = interpret_elements(
            function, given, scalars, only=sample.only, strict=program.strict_fp, limit=2 * executions
        )
    except (UnknownMeaning, EndlessLoop):
        return None
    return sample, picked(found, given, sample.elements)


def sampled_words(sample: SampledSlice) -> str:
    """A phrase for reports, after the judge of the other elements."""
    return f"C text interpreted at {sample.kept:,} sampled element{'' if sample.kept == 1 else 's'}"
