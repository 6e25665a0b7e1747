"""Values that notebooks show as pages.

Pages are made by reports, which know these values, and not the other way round. So reports leave here how a
value is shown, by its type.
"""

from collections.abc import Callable
from typing import Any

_pages: dict[type, Callable[[Any], str]] = {}


class Shown:
    """A value with a page. Without reports, notebooks show its `repr`."""

    def _repr_html_(self) -> str | None:
        page = _pages.get(type(self))
        return None if page is None else page(self)


def show_as(kind: type, page: Callable[[Any], str]) -> None:
    """Notebooks show values of this type as `page` says, in HTML."""
    _pages[kind] = page
