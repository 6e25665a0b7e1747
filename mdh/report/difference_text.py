"""The differences of two schedules in plain words, for a terminal of 80 columns."""

from textwrap import wrap

from mdh.hardware import Layer, Space
from mdh.report.text import WIDTH, filled
from mdh.schedule.difference import Change, SectionChange, StepChange

LAYER_WORDS: dict[str, str] = {
    Layer.NOD: "nodes",
    Layer.DEV: "devices",
    Layer.CLU: "clusters",
    Layer.BLK: "blocks",
    Layer.WGP: "warp groups",
    Layer.WRP: "warps",
    Layer.THR: "threads",
    Layer.VEC: "vector lanes",
    Layer.MMA: "tensor cores",
}
_LAYERS = LAYER_WORDS | {"FOR": "a loop"}
_REGIONS: dict[str, str] = {Space.DM: "in device memory", Space.SM: "staged", Space.RM: "in registers"}


def differences_text(found: tuple[SectionChange, ...], before: str, after: str) -> str:
    """One line for each change; ends in a newline. before, after: the names of the two schedules."""
    lines = filled(f"{before} → {after}")
    if all(s.same for s in found):
        lines.append("  the same: no step, condition or attribute differs")
    for section in found:
        if section.same:
            continue
        if section.stage or section.lone:
            lines.extend(filled(stage_words(section, before, after), "  "))
        if section.alien:
            lines.append(f"  {alien_words(section)}")
            continue
        lines.extend(f"  {row}" for row in section_rows(section))
        if section.equal:
            steps = "1 step is" if section.equal == 1 else f"{section.equal} steps are"
            lines.append(f"  {steps} the same")
    return "\n".join(lines) + "\n"


def alien_words(section: SectionChange) -> str:
    """The sentence for steps of two different programs."""
    old, new = section.dims
    if section.foreign:
        return "schedules of different programs: one names stages, the other is for a single one"
    return f"schedules of different programs: steps of {old} and of {new} dimensions"


def stage_words(section: SectionChange, before: str, after: str) -> str:
    """The stage's name, and which of the two schedules has no steps for it."""
    stage = f"stage {section.stage}" if section.stage else "its stage"
    if not section.lone:
        return stage
    return f"{stage}, which {before if section.dims[0] == 0 else after} leaves to mdh's default"


def section_rows(section: SectionChange) -> list[str]:
    """Rows with the steps' numbers on the left and the changes on the right."""
    rows = [(step_word(s), step_words(s)) for s in section.steps]
    rows += [(line_word(line), [f"{line} removed"]) for line in section.gone]
    rows += [(line_word(line), [f"{line} added"]) for line in section.come]
    left = max((len(name) for name, _ in rows), default=0)
    out: list[str] = []
    for name, changes in rows:
        head = name
        for change in changes:
            body = wrap(change, max(20, WIDTH - left - 4), break_long_words=False, break_on_hyphens=False)
            for n, row in enumerate(body):
                # continuation lines are indented, so that the next change is seen to begin
                out.append(f"{head:<{left}}  {'  ' * (n > 0)}{row}")
                head = ""
    return out


def line_word(line: str) -> str:
    """What a line is that is no step: `condition`, `dimensions` or `way`."""
    return {"where": "condition", "stage": "way"}.get(line.partition(" ")[0], "dimensions")


def step_word(step: StepChange) -> str:
    """`step 2`, `step 2 → 3`, `step 4 added`."""
    if step.before is None:
        return f"step {step.after} added"
    if step.after is None:
        return f"step {step.before} removed"
    return f"step {step.before}" if step.before == step.after else f"step {step.before} → {step.after}"


def step_words(step: StepChange) -> list[str]:
    """One text for each change; for a step that was added or removed, the step."""
    return [change_words(c) for c in step.changes] or [step.text]


def change_words(change: Change) -> str:
    before, after, subject = change.before, change.after, change.subject
    match change.what:
        case "place":
            return f"place in the code: {before or 'by the text'} → {after or 'by the text'}"
        case "tile":
            return f"{subject}: {_tile(before)} → {_tile(after)}"
        case "layer":
            return f"{subject}: {before} → {after}{_aside(before, after)}"
        case "region":
            return f"{subject}: {before} → {after}{_moved(before, after)}"
        case _:
            of = f" of {subject}" if subject else ""
            if not before:
                return f"{after}{of} added"
            if not after:
                return f"{before}{of} removed"
            return f"{before} → {after}{of}"


def _tile(text: str) -> str:
    return "not split" if text == "^" else f"tiles of {text}"


def _aside(before: str, after: str) -> str:
    old, new = (text.partition(".")[0] for text in (before, after))
    if {old, new} <= {"FOR", "^"}:
        return "  (loops nest in another order)"
    words = [_LAYERS[name] for name in (old, new) if name in _LAYERS]
    return f"  ({' → '.join(words)})" if len(words) == 2 and old != new else ""


def _moved(before: str, after: str) -> str:
    old, new = (_REGIONS.get(text.partition("[")[0], "") for text in (before, after))
    if old and new:
        return "  (another layout)" if old == new else ""
    if before == "^" and new:
        return f"  (now {new})"
    return f"  (no longer {old})" if after == "^" and old else ""
