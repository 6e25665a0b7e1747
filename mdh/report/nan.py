"""What a minimum or maximum of floats does with NaNs, as a sentence: docs/floats.md has the table."""

from mdh.ir.program import Result, Stage


def nan_sentences(stage: Stage) -> tuple[str, ...]:
    """One sentence for each way in which the stage compares floats."""
    said = (_sentence(r) for r in stage.results)
    return tuple(dict.fromkeys(s for s in said if s))


def _sentence(result: Result) -> str:
    op = result.op
    if op is None or op.name.removeprefix("arg") not in ("min", "max") or not result.types[0].is_float:
        return ""
    if op.nan:
        return f"f{op.name}: a NaN only where all values are NaN, as in C"
    if op.ordered:
        return f"{op.name}: compared in C's order, which gives C's result"
    if op.takes:
        return f"{op.name}: C's result, or that of the numbers alone"
    return f"{op.name}: passed over, save one that it starts from, as in C"
