"""The entry point of all front ends: a text is read by the language that its name ends in; others are C."""

from collections.abc import Iterable, Mapping, Sequence
from importlib import import_module
from typing import Protocol, cast

from mdh.frontend.bound import BoundText
from mdh.frontend.heading import Heading
from mdh.ir.open_size import OpenSize
from mdh.ir.program import Program
from mdh.ir.syntax import Function
from mdh.source import Source, Span

LANGUAGES = {
    ".tc": "mdh.frontend.tc.read",
    ".diesel": "mdh.frontend.diesel.read",
    ".einsum": "mdh.frontend.einsum.read",
}
"""The module of each language but C, by the ending of its files."""
C = "mdh.frontend.c.read"


class FrontEnd(Protocol):
    """What the module of a language has. Raises Failed where a text is wrong."""

    def bound_text(
        self, source: Source, defines: Mapping[str, str | int] = {}, opens: Iterable[str] = ()
    ) -> BoundText:
        """The text with its sizes bound. opens: sizes that stay open, of which the defines have a value."""

    def read_bound(
        self,
        text: BoundText,
        *,
        function: str | None = None,
        strict_fp: bool = False,
        allow: Iterable[str] = (),
        opens: Sequence[OpenSize] = (),
    ) -> Program:
        """The Program. function: its name, if the text has several. opens: sizes that stay open; the text is
        bound to their largest values."""

    def read_syntax(self, text: BoundText, *, function: str | None = None) -> Function | None:
        """The function as it is written, in C; None if it holds something that no Program can."""

    def read_heading(
        self,
        source: Source,
        *,
        defines: Mapping[str, str | int] = {},
        function: str | None = None,
        opens: Iterable[str] = (),
    ) -> Heading:
        """The function's name and parameters."""

    def free_sizes(
        self,
        source: Source,
        *,
        defines: Mapping[str, str | int] = {},
        function: str | None = None,
        opens: Iterable[str] = (),
    ) -> tuple[str, ...]:
        """Sizes that no define binds, in the order of the parameters."""

    def size_spans(self, source: Source) -> dict[str, Span]:
        """Names that are sizes somewhere in the text, with their places."""

    def deciding(self, source: Source, name: str) -> Span | None:
        """A place where the value of a name decides what the text is, so that it cannot stay open."""

    def function_names(self, source: Source) -> tuple[str, ...]:
        """The functions that the text defines, in order."""


def is_c(source: Source) -> bool:
    """Whether a text is C."""
    return _ending(source.name) not in LANGUAGES


def language(source: Source) -> FrontEnd:
    """The language of a text. Its module is imported only here, where it is needed."""
    return cast(FrontEnd, import_module(LANGUAGES.get(_ending(source.name), C)))


def bound_text(source: Source, defines: Mapping[str, str | int] = {}, opens: Iterable[str] = ()) -> BoundText:
    """See `FrontEnd`."""
    return language(source).bound_text(source, defines, opens)


def read_bound(
    text: BoundText,
    *,
    function: str | None = None,
    strict_fp: bool = False,
    allow: Iterable[str] = (),
    opens: Sequence[OpenSize] = (),
) -> Program:
    """See `FrontEnd`."""
    return language(text.source).read_bound(
        text, function=function, strict_fp=strict_fp, allow=allow, opens=opens
    )


def read_syntax(text: BoundText, *, function: str | None = None) -> Function | None:
    """See `FrontEnd`."""
    return language(text.source).read_syntax(text, function=function)


def read_heading(
    source: Source,
    *,
    defines: Mapping[str, str | int] = {},
    function: str | None = None,
    opens: Iterable[str] = (),
) -> Heading:
    """See `FrontEnd`."""
    return language(source).read_heading(source, defines=defines, function=function, opens=opens)


def free_sizes(
    source: Source,
    *,
    defines: Mapping[str, str | int] = {},
    function: str | None = None,
    opens: Iterable[str] = (),
) -> tuple[str, ...]:
    """See `FrontEnd`."""
    return language(source).free_sizes(source, defines=defines, function=function, opens=opens)


def function_names(source: Source) -> tuple[str, ...]:
    """See `FrontEnd`."""
    return language(source).function_names(source)


def _ending(name: str) -> str:
    """An empty einsum is called `.einsum`, which Python takes for a name without an ending."""
    return next((e for e in LANGUAGES if name.endswith(e)), "")
