"""K114: FOR numbers of one step are positive and different."""

from collections.abc import Iterator

from mdh.checker.subject import Draft, at, step_name
from mdh.diagnostics import Diagnostic
from mdh.schedule.model import ForEntry

CODE = "K114"


def check_for_order(draft: Draft) -> Iterator[Diagnostic]:
    """For entries FOR.a, FOR.b of one step: a >= 1, and a != b."""
    for n, step in enumerate(draft.steps, start=1):
        taken: dict[int, str] = {}
        for d, core in enumerate(step.cores):
            if not isinstance(core.value, ForEntry):
                continue
            number, name = core.value.number, draft.stage.dims[d].name
            free = next(i for i in range(1, len(step.cores) + 2) if i not in taken and i != number)
            if number < 1:
                headline = f"{step_name(step, n)} has FOR.{number} for `{name}`"
                yield Diagnostic(
                    CODE, headline, at(core.span or step.span), help="FOR.1 is the outermost loop"
                )
            elif number in taken:
                headline = f"{step_name(step, n)} has FOR.{number} for `{taken[number]}` and for `{name}`"
                yield Diagnostic(
                    CODE, headline, at(core.span or step.span, "again"), help=f"FOR.{free} is free"
                )
            else:
                taken[number] = name
