"""In which order the operands of an einsum are multiplied: pairs, by opt_einsum if it is installed, else by
numpy."""

from collections.abc import Mapping, Sequence
from importlib import import_module
from importlib.util import find_spec

Path = list[tuple[int, ...]]
"""Each step takes the operands at these places out of the list, and appends their product."""


def path_of(operands: Sequence[str], result: str, sizes: Mapping[str, int]) -> Path:
    """One or two operands are one step."""
    if len(operands) < 3:
        return [tuple(range(len(operands)))]
    text = f"{','.join(operands)}->{result}"
    shapes = [tuple(sizes[letter] for letter in one) for one in operands]
    if find_spec("opt_einsum") is not None:
        found, _ = import_module("opt_einsum").contract_path(text, *shapes, shapes=True, optimize="auto")
        return [tuple(sorted(step)) for step in found]
    numpy = import_module("numpy")
    try:
        arrays = [numpy.broadcast_to(numpy.float32(0), shape) for shape in shapes]
        _, *steps = numpy.einsum_path(text, *arrays, optimize="greedy")[0]
    except ValueError:
        # numpy has no array of this size; what reads the nests says so where it stands in the text
        steps = [(0, 1)] * (len(operands) - 1)
    return [tuple(sorted(step)) for step in steps]
