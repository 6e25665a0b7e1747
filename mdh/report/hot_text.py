"""The hot loop and the counters of a kernel as text and as JSON."""

from typing import Any

from mdh.assembly.hot import HotLoop
from mdh.counters.counted import Counted, CounterValue
from mdh.report.text import bytes_text, count_text, seconds_text
from mdh.wording import counted

_LINE = 64
"""Bytes of a cache line, which a miss of the last cache brings."""


def hot_head(loop: HotLoop) -> str:
    """`hot loop of matmul_kernel (SASS of sm_90a, …): 618 instructions, 512 FFMA, 32 LDS.128, …`."""
    names = ", ".join(f"{n} {name}" for name, n in loop.counts)
    what = "hot loop" if loop.around else "no loop does most of the work: all"
    instructions = counted(len(loop.instructions), "instruction")
    return f"{what} of {loop.function} ({loop.kind}): {instructions}, {names}"


def hot_text(loop: HotLoop) -> str:
    """Each instruction behind the line of the text that it comes from."""
    width = len(str(max(loop.lines, default=0)))
    rows, before = [], None
    for one in loop.instructions:
        line = "" if one.line is None or one.line == before else str(one.line)
        before = one.line
        rows.append(f"  {line:>{width}}  {one.text}")
    return "\n".join([f"{hot_head(loop)}; in front is the line of the text", *rows]) + "\n"


def hot_json(loop: HotLoop) -> dict[str, Any]:
    rows = [{"text": i.text, "line": i.line} for i in loop.instructions]
    return {
        "function": loop.function, "kind": loop.kind, "loop": loop.around, "executed": loop.executed,
        "instructions": rows,
    }  # fmt: skip


def count_value(c: CounterValue) -> str:
    if c.unit == "s":
        return seconds_text(c.value)
    if c.unit == "ms":
        return seconds_text(c.value / 1e3)
    if c.unit == "bytes":
        return bytes_text(c.value)
    return f"{c.value:.0f} %" if c.unit == "%" else count_text(c.value)


def derived(found: Counted) -> list[tuple[str, str]]:
    """What counters amount to, with words for it."""
    out = []
    cycles, instructions = found.value("cycles"), found.value("instructions")
    clock, misses = found.value("task-clock"), found.value("cache-misses")
    if cycles and instructions:
        out.append((f"{instructions / cycles:.2f}", "instructions a cycle"))
    if clock and found.seconds:
        out.append((f"{clock / 1e3 / found.seconds:.2f}", "cores busy"))
    if cycles and clock:
        out.append((f"{cycles / clock / 1e6:.2f} GHz", "clock while busy"))
    if misses is not None:
        out.append((bytes_text(misses * _LINE), "fetched from memory, by misses of the last cache"))
    return out


def counted_text(found: Counted) -> str:
    """The counters of a run, or why there are none."""
    rows = []
    if found.counts:
        took = f", {seconds_text(found.seconds)} each" if found.seconds is not None else ""
        rows.append(f"counted by {found.by} on {found.where}, {counted(found.runs, 'run')}{took}")
        width = max(len(c.name) for c in found.counts)
        rows += [f"  {c.name:<{width}}  {count_value(c)}" for c in found.counts]
        rows += [f"  {value} {words}" for value, words in derived(found)]
    if found.missing:
        rows.append(f"{'not all' if found.counts else 'no'} counters: {found.missing}")
    return "\n".join(rows) + "\n"


def counted_json(found: Counted) -> dict[str, Any]:
    counts = {c.name: {"value": c.value, "unit": c.unit} for c in found.counts}
    return {
        "by": found.by, "where": found.where, "runs": found.runs, "seconds": found.seconds,
        "counts": counts, "missing": found.missing,
    }  # fmt: skip
