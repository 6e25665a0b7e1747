"""The listings of the Tensor Comprehensions paper: 14 are accepted as they stand; 5 hold a slip, which a
message explains, and are accepted without it."""

from dataclasses import dataclass, field

import numpy as np
import pytest

from mdh.diagnostics import Failed
from mdh.frontend.c.read import read_program
from mdh.frontend.read import bound_text, read_bound, read_syntax
from mdh.ir.program import Program
from mdh.ir.syntax_text import function_text
from mdh.reference.evaluate import evaluate
from mdh.source import Source
from tests.frontend.tc_texts import ACCEPTED, CORRECTED, REJECTED, Listing
from tests.frontend.tc_wanted import WANTED


@dataclass
class Read:
    """A listing's program with random arrays of small whole numbers."""

    program: Program
    arrays: dict[str, np.ndarray] = field(default_factory=dict)
    scalars: dict[str, float] = field(default_factory=dict)


def read(listing: Listing) -> Read:
    text = bound_text(Source("listing.tc", listing.text), listing.sizes)
    out = Read(read_bound(text, function=listing.function))
    rng = np.random.default_rng(7)
    for name in out.program.params:
        buffer = out.program.buffer_of.get(name)
        if buffer is None:
            scalar = out.program.scalar_of[name]
            out.scalars[name] = scalar.size if scalar.size is not None else 3.0
        elif buffer.dtype.is_float:
            out.arrays[name] = rng.integers(-4, 5, buffer.shape).astype(np.float32)
        else:
            out.arrays[name] = rng.integers(0, listing.below, buffer.shape).astype(np.int32)
    return out


@pytest.mark.parametrize("listing", [*ACCEPTED, *CORRECTED], ids=lambda one: one.name)
def test_listing_computes_what_the_paper_says(listing: Listing) -> None:
    given = read(listing)
    want = WANTED[listing.name](dict(given.arrays), given.scalars)
    got = evaluate(given.program, given.arrays, given.scalars)
    for name, value in want.items():
        assert (np.asarray(got[name]) == value).all(), name


@pytest.mark.parametrize("listing", [*ACCEPTED, *CORRECTED], ids=lambda one: one.name)
def test_listing_is_the_program_of_its_c(listing: Listing) -> None:
    text = bound_text(Source("listing.tc", listing.text), listing.sizes)
    program = read_bound(text, function=listing.function)
    function = read_syntax(text, function=listing.function)
    assert function is not None
    written = frozenset(n for s in program.stages for n in s.written)
    twin = read_program(Source("twin.c", function_text(function, written)), defines=program.sizes)
    assert (twin.params, twin.buffers, twin.stages) == (program.params, program.buffers, program.stages)


@pytest.mark.parametrize("listing", REJECTED, ids=lambda one: one.name)
def test_slip_is_explained(listing: Listing) -> None:
    text = bound_text(Source("listing.tc", listing.text), listing.sizes)
    with pytest.raises(Failed) as failed:
        read_bound(text, function=listing.function)
    first = failed.value.diagnostics[0]
    assert (first.code, first.labels[0].span.text) == listing.slip
