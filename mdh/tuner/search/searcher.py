"""The interface of the part that proposes points, as the tuning loop uses it."""

from typing import Protocol

from mdh.results.variable import Point


class Searcher(Protocol):
    """Proposes points of a space. One process owns it."""

    name: str

    def ask(self) -> Point | None:
        """A structurally legal point that was not proposed before; None if the space is used up."""

    def claim(self, point: Point) -> bool:
        """Claims a point from elsewhere that is about to be measured. False if another tuner of the study has
        measured it, or is measuring it."""

    def tell(self, point: Point, seconds: float | None) -> None:
        """Reports the time of a point, asked for or not; None if it failed."""
