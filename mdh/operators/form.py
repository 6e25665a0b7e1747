"""The parameters of a program in the roles that they have for an operator."""

from collections.abc import Sequence
from dataclasses import dataclass

from mdh.diagnostics import fail
from mdh.frontend.heading import Heading
from mdh.frontend.read import bound_text, is_c, read_syntax
from mdh.ir import syntax as c
from mdh.source import Source
from mdh.wording import plural

CODE = "A121"


@dataclass(frozen=True, slots=True)
class Form:
    """parameters: all, in the program's order. arguments: what a call gives, in the order of the text: arrays
    and numbers, and those sizes that no shape tells. inputs: arrays that are only read. mutated: arrays that
    are read and written in place. results: arrays that the operator allocates and returns. numbers: scalars
    that are no sizes. sizes: all that a call binds. given: those among the arguments.

    extents: of each array, sizes by name, None for other extents. syntax: the function, in C.
    """

    name: str
    parameters: tuple[str, ...]
    arguments: tuple[str, ...]
    inputs: tuple[str, ...]
    mutated: tuple[str, ...]
    results: tuple[str, ...]
    numbers: tuple[str, ...]
    sizes: tuple[str, ...]
    given: tuple[str, ...]
    extents: dict[str, tuple[str | None, ...]]
    syntax: c.Function | None = None

    @property
    def arrays(self) -> tuple[str, ...]:
        """Those among the arguments, in their order."""
        return tuple(n for n in self.arguments if n in self.inputs or n in self.mutated)


def form_of(
    source: Source,
    heading: Heading,
    sizes: Sequence[str],
    defines: dict[str, str | int],
    opens: Sequence[str],
    function: str | None,
    mutates: Sequence[str],
) -> Form:
    """The form of a program. sizes: those that each call binds. mutates: arrays that the user says are
    changed in place. Raises Failed A121 where that is wrong."""
    syntax = read_syntax(bound_text(source, defines, opens), function=function) if is_c(source) else None
    known = {*heading.results, *heading.begun}
    arrays = [n for n in heading.parameters if heading.shapes.get(n) or n in known]
    written = known if syntax is None else {n for n in _assigned(syntax) if n in arrays}
    wrong = next((n for n in mutates if n not in written), None)
    if wrong is not None:
        what = "writes no array" if not written else f"writes {', '.join(sorted(written))}"
        raise fail(CODE, f"`{heading.name}` {what}, and `mutates` names `{wrong}`", help="leave it out")
    mutated = tuple(n for n in arrays if n in mutates or n in heading.begun)
    results = tuple(n for n in arrays if n in written and n not in mutated)
    inputs = tuple(n for n in arrays if n not in written)
    if not results and not mutated:
        raise fail(CODE, f"`{heading.name}` writes no array", help="an operator needs a result")
    told = {n for a in (*inputs, *mutated) for n in heading.shapes.get(a, ()) if n}
    given = tuple(n for n in sizes if n not in told)
    hidden = {*results, *heading.fixed, *(n for n in sizes if n in told)}
    order = [*heading.order, *(n for n in heading.parameters if n not in heading.order)]
    arguments = tuple(n for n in order if n not in hidden)
    numbers = tuple(n for n in arguments if n not in arrays and n not in sizes)
    if not any(n in arrays for n in arguments):
        what = f"`{heading.name}` takes {plural(len(arguments), 'number')} and no array"
        raise fail(CODE, what, help="the arrays of a call say where its results lie")
    extents = {n: tuple(heading.shapes.get(n, ())) for n in heading.parameters}
    return Form(
        heading.name, heading.parameters, arguments, inputs, mutated, results, numbers, tuple(sizes), given,
        extents, syntax,
    )  # fmt: skip


def _assigned(f: c.Function) -> set[str]:
    targets = (s.target for s in c.walked(f.body) if isinstance(s, c.Assignment))
    return {t.array for t in targets if isinstance(t, c.Element)}
