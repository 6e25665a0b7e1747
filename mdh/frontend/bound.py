"""A user's text with the sizes that it is read with."""

from dataclasses import dataclass

from mdh.source import Source


@dataclass(frozen=True, slots=True)
class BoundText:
    """source: the text as the user wrote it. text: what is read of it; smaller numbers may stand in it than
    in `source`. sizes: parameters by name, of those that have a value."""

    source: Source
    text: str
    sizes: dict[str, int]
