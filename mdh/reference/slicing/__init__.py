"""Backward slices of a C function as it is written: which statement instances some elements' values need.

The interpreter runs C one statement at a time, too slow for large sizes. A slice lets it compute a few
thousand elements of a large result with C's own order and rules. Everything here is read from `ir.syntax`:
no step is shared with the compiler.
"""

from mdh.reference.slicing.sampled import SampledSlice, sampled
from mdh.reference.slicing.selection import Selection

__all__ = ["SampledSlice", "Selection", "sampled"]
