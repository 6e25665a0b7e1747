"""What the tuning loop asks of the part that proposes points."""

from typing import Protocol

from mdh.results.variable import Point


class Searcher(Protocol):
    """Proposes points of a space; owned by one process."""

    name: str

    def ask(self) -> Point | None:
        """A structurally legal point that was not proposed before; None: the space is used up."""

    def claim(self, point: Point) -> bool:
        """Announces a point from elsewhere that is about to be measured. False where another tuner of the
        same study measures it, or has."""

    def tell(self, point: Point, seconds: float | None) -> None:
        """The time of a point, asked for or not; None where it failed."""
