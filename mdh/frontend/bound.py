"""A user's text with the sizes that it is read with."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from mdh.frontend.constant_arrays import ConstantArray
from mdh.source import Source


@dataclass(frozen=True, slots=True)
class BoundText:
    """source: the text as the user wrote it. text: what is read of it; smaller numbers may stand in it than
    in `source`. sizes: parameters by name, of those that have a value. arrays: array parameters that are
    constants. cropped: the extents are smaller than those of the arrays, whose first elements count."""

    source: Source
    text: str
    sizes: dict[str, int]
    arrays: Mapping[str, ConstantArray] = field(default_factory=dict, kw_only=True)
    cropped: bool = field(default=False, kw_only=True)
