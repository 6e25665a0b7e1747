"""A function's name and parameters, as calls from Python need them."""

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Heading:
    """parameters: their names in C's order, sizes included whether bound or not. shapes: of each array, the
    extents that are plain names, None for the others; none for a scalar. order: the parameters that the text
    names, in its order, and then the results. results: arrays that calls may leave out, because the function
    writes all of them before it reads them. fixed: values of sizes that are bound. begun: results that begin
    with what they hold, since they are reduced into."""

    name: str
    parameters: tuple[str, ...]
    shapes: Mapping[str, tuple[str | None, ...]]
    order: tuple[str, ...]
    results: tuple[str, ...] = ()
    fixed: Mapping[str, int] = field(default_factory=dict)
    begun: tuple[str, ...] = ()
