"""K110 for `@cache`: a hint stands where an instruction takes it, and once for each output."""

from collections.abc import Iterator

from mdh.checker.rules.combine import choose_combines
from mdh.checker.subject import Subject, step_name
from mdh.diagnostics import Diagnostic
from mdh.hardware import CacheHint, Combine, Engine
from mdh.ir.plan import Holding, StagePlan, Staging

CODE = "K110"
LEAVE = "leave it out"


def check_hints(subject: Subject) -> Iterator[Diagnostic]:
    """A cache hint stands on a plain copy from device memory or on stores of an output. OpenCL C has no such
    hints, so they are dropped there."""
    plan = choose_combines(subject)
    staged: set[str] = set()
    for i in plan.code_order:
        step = plan.steps[i]
        for staging in step.stagings:
            if staging.cache != CacheHint.DEFAULT:
                yield from _refused(subject, i, staging, _copy(staging, staging.buffer in staged))
        staged |= {s.buffer for s in step.stagings}
        for holding in step.holdings:
            if holding.cache != CacheHint.DEFAULT:
                yield from _refused(subject, i, holding, _store(subject, plan, holding))
    yield from _once(subject)


def _refused(
    subject: Subject, i: int, entry: Staging | Holding, reason: tuple[str, str] | None
) -> Iterator[Diagnostic]:
    if reason is not None:
        here, said = reason
        headline = f"`@cache({entry.cache})` has no effect {here}"
        yield Diagnostic(CODE, headline, subject.at_entry_attr(i, entry.buffer, "cache"), help=said)


def _copy(staging: Staging, again: bool) -> tuple[str, str] | None:
    if again:
        return f"on a copy of `{staging.buffer}` that an outer step has staged", "put it on the outer copy"
    if staging.engine == Engine.ASYNC:
        return "on an async copy", "`@copy(plain)` takes it, or leave it out"
    return None


def _store(subject: Subject, plan: StagePlan, holding: Holding) -> tuple[str, str] | None:
    if holding.cache == CacheHint.KEEP:
        return "on stores", "`@cache(stream)`, or leave it out"
    if subject.stage.scattered:
        return "on an output whose elements are met at random", LEAVE
    for methods, result in zip(plan.combines, subject.stage.results, strict=True):
        if Combine.ATOMIC in methods and any(o.buffer == holding.buffer for o in result.outputs):
            return "on atomic updates", f"{LEAVE}, or `@combine(kernel)`"
    return None


def _once(subject: Subject) -> Iterator[Diagnostic]:
    """`@cache` and `@store` apply to all stores of an output, so a second one has no effect."""
    first: dict[tuple[str, str], int] = {}
    for i, step in enumerate(subject.plan.steps):
        for holding in step.holdings:
            said = (("cache", holding.cache != CacheHint.DEFAULT), ("store", holding.vec is not None))
            for name in (name for name, given in said if given):
                before = first.setdefault((holding.buffer, name), i)
                if before != i:
                    outer = step_name(subject.plan.steps[before], before + 1)
                    headline = f"`@{name}` has no effect: {outer} says it for `{holding.buffer}`"
                    labels = subject.at_entry_attr(i, holding.buffer, name)
                    yield Diagnostic(CODE, headline, labels, help="keep one of the two")
