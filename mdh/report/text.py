"""Reports as text: fixed columns, sizes in powers of 1024, no colour."""

from textwrap import wrap

from mdh.ir.kernel import Module
from mdh.ir.plan import Plan
from mdh.report.entries import BufferRow, Entries
from mdh.report.explain import (
    Explanation,
    FrontRow,
    InlineRow,
    InnerRow,
    LoopAround,
    SharedLoop,
    StageReport,
    explain_plan,
)
from mdh.report.loops import LoopRow
from mdh.report.resources import Resources
from mdh.report.transfer import Transfer
from mdh.wording import counted, plural

WIDTH = 79
"""Columns of lists; schedules keep the lines that they are written in."""
_NAME = 16
"""The most columns of arrays' names. Names of parts are longer, and shift only their own rows."""


def entries_text(entries: Entries) -> str:
    """The stage's names and a step to start from."""
    lines = [f"stage {entries.stage}"]
    lines += _listed("dims", [f"{d.name}:{d.extent} {d.kind}" for d in entries.dims])
    lines += _listed("inputs", _buffers(entries.inputs) or ["-"])
    lines += _listed("outputs", _buffers(entries.outputs))
    lines += [f"  {'NaN' if n == 0 else '':<9}{sentence}" for n, sentence in enumerate(entries.nan)]
    lines.append("  step")
    lines.extend(f"    {row}" for row in entries.skeleton.splitlines())
    return "\n".join(lines) + "\n"


def plan_text(plan: Plan, module: Module) -> str:
    """All that is known of a plan, and its schedule."""
    schedule = "".join(f"  {row}\n" if row else "\n" for row in plan.text.splitlines())
    return f"{explanation_text(explain_plan(plan, module))}\nschedule\n{schedule}"


def explanation_text(value: Explanation) -> str:
    head = f"{value.program} on {value.machine}, {value.target}\n"
    around = "".join(_loop_text(x) for x in value.loops)
    around += "".join(f"\n{shared_text(x)}" for x in value.shared)
    around += "".join(f"\n{front_text(x)}" for x in value.fronts)
    around += "".join(f"\none launch: {launch_text(x)}\n" for x in value.launches)
    around += "".join(f"\n{line}\n" for note in value.notes for line in wrap(note, WIDTH))
    around += "".join(f"\nstage {x.name}: {inline_text(x)}\n" for x in value.inline)
    around += "".join(f"\nstage {x.name}: {inner_text(x)}\n{loops_text(x.loops)}" for x in value.inner)
    return head + around + "".join(f"\n{_stage_text(stage)}" for stage in value.stages)


def _loop_text(loop: LoopAround) -> str:
    """A loop around stages. What is said of a stage counts for one turn."""
    inside = "".join(f"    {line}\n" for line in wrap(", ".join(loop.stages), WIDTH - 4))
    how = f", launched by @launch({loop.launch})" if loop.launch else ""
    return f"\nloop {loop.name}( {loop.counter} ): {plural(loop.turns, 'turn')}{how} of\n{inside}"


def shared_text(loop: SharedLoop) -> str:
    """A loop whose iterations units share, or may share."""
    inside = "".join(f"    {line}\n" for line in wrap(", ".join(loop.stages), WIDTH - 4))
    return f"loop {loop.name}( {loop.counter} ): {shares(loop)} of\n{inside}"


def launch_text(stages: tuple[str, ...]) -> str:
    """The stages whose blocks are those of one launch."""
    first, *rest = stages
    return f"the blocks of {first}, then those of {' and '.join(rest)}"


def shares(loop: SharedLoop) -> str:
    """Who runs how many of the iterations."""
    count = plural(loop.iterations, "iteration")
    if not loop.units:
        return f"{count} that units may share, with all turns"
    return f"{count}, {loop.part} to each of {plural(loop.units, 'unit')}, which runs all turns"


def front_text(row: FrontRow) -> str:
    """Two loops that run as wavefronts, or may."""
    inside = "".join(f"    {line}\n" for line in wrap(", ".join(row.stages), WIDTH - 4))
    return f"loop {row.name}( {', '.join(row.counters)} ): {runs(row)} of\n{inside}"


def runs(row: FrontRow) -> str:
    """How the loops run as wavefronts."""
    count, skew = plural(row.turns, "turn"), f"@skew({row.counters[0]}, {row.factor})"
    if not row.units:
        return f"{count} that may run as wavefronts with {skew}"
    bands = f"{plural(row.bands, 'band')} of {row.band}, each " if row.bands > 1 else ""
    bands += f"in {plural(row.strips, 'strip')}, each " if row.strips > 1 else ""
    fronts = f"in {plural(row.times, 'wavefront')} by {skew}"
    return f"{count}, {bands}{fronts}, {row.part} to each of {plural(row.units, 'unit')}"


def inline_text(row: InlineRow) -> str:
    """How often the points of a stage are computed that its readers compute."""
    most = "at most " if row.at_most else ""
    each = "" if row.computed == row.points else f", {most}{row.computed / row.points:.3g} of each"
    kept = "; it has a kernel too, which stores its results" if row.kept else ""
    count = f"{most}{counted(row.computed, 'computation')} of {counted(row.points, 'point')}"
    return f"inline in {', '.join(row.readers)}: {count}{each}{kept}"


def inner_text(row: InnerRow) -> str:
    """Where a stage is computed that the kernel of its reader computes, and how often its points are."""
    each = "" if row.computed == row.points else f", {row.computed / row.points:.3g} of each"
    count = f"{counted(row.computed, 'computation')} of {counted(row.points, 'point')}"
    together = f"; reduced in one pass with {row.host}" if row.host else ""
    return f"in {row.reader}, at step {row.step}: {count}{each}{together}"


def bytes_text(n: float) -> str:
    for unit in ("B", "KiB", "MiB", "GiB"):
        if n < 1024:
            return f"{n:.0f} {unit}" if unit == "B" or n >= 100 else f"{n:.1f} {unit}"
        n /= 1024
    return f"{n:.1f} TiB"


def seconds_text(s: float) -> str:
    s = float(f"{s:.3g}")  # 999.9 µs are a millisecond, not 1e+03 µs
    for scale, unit in ((1.0, "s"), (1e-3, "ms"), (1e-6, "µs")):
        if s >= scale:
            return f"{s / scale:.3g} {unit}"
    return f"{s * 1e9:.3g} ns"


def duration_text(seconds: float) -> str:
    """`1h30m`, `5m`, `12s`: whole seconds, at most two units."""
    whole = max(0, round(seconds))
    hours, minutes, rest = whole // 3600, whole % 3600 // 60, whole % 60
    if hours:
        return f"{hours}h{minutes:02d}m" if minutes else f"{hours}h"
    if minutes:
        return f"{minutes}m{rest:02d}s" if rest else f"{minutes}m"
    return f"{rest}s"


def count_text(n: float) -> str:
    n = n if n < 1000 else float(f"{n:.3g}")
    for unit in ("", " k", " M", " G", " T"):
        if n < 1000:
            return f"{n:.0f}{unit}" if not unit else f"{n:.3g}{unit}"
        n /= 1000
    return f"{n:.3g} P"


def filled(text: str, indent: str = "", first: str | None = None) -> list[str]:
    """Lines of at most WIDTH columns, of which those after the first are indented further. first: what the
    first begins with in place of `indent`. A long word, such as a path, stays in one piece."""
    return wrap(
        text, WIDTH, initial_indent=indent if first is None else first, subsequent_indent=f"{indent}  ",
        break_long_words=False, break_on_hyphens=False,
    )  # fmt: skip


def _buffers(rows: tuple[BufferRow, ...]) -> list[str]:
    return [f"{b.name} {b.dtype}[{'×'.join(map(str, b.shape))}] {bytes_text(b.bytes)}" for b in rows]


def _listed(name: str, items: list[str]) -> list[str]:
    """`  inputs   A …, B …`, on several lines if they are many; no item is cut in two."""
    rows: list[str] = []
    for n, item in enumerate(items):
        word = item if n + 1 == len(items) else f"{item},"
        if rows and len(rows[-1]) + 1 + len(word) <= WIDTH - 11:
            rows[-1] += f" {word}"
        else:
            rows.append(word)
    return [f"  {name if n == 0 else '':<9}{row}" for n, row in enumerate(rows)]


def _stage_text(stage: StageReport) -> str:
    if stage.call:
        return f"{entries_text(stage.entries)}  {stage.call}\n{_layers_text(stage)}"
    parts = [
        entries_text(stage.entries),
        loops_text(stage.loops),
        _moves_text(stage.moves),
        _layers_text(stage),
    ]
    parts.extend(_resources_text(r) for r in stage.resources)
    return "".join(parts)


def loops_text(rows: tuple[LoopRow, ...]) -> str:
    lines = ["  loops (in code order)"]
    named = [f"    {'  ' * row.depth}{row.name} {row.dim}" for row in rows if row.kind in ("unit", "for")]
    width = max(map(len, named), default=0)
    for row in rows:
        indent = "    " + "  " * row.depth
        match row.kind:
            case "unit" | "for":
                last = f", last {row.last}" if row.last else ""
                detail = f"  {row.detail}" if row.detail else ""
                left = f"{indent}{row.name} {row.dim}"
                lines.append(f"{left:<{width}}{row.parts:>9} × {row.tile:<8}step {row.step}{last}{detail}")
            case "body":
                lines.append(f"{indent}{row.name}")
            case _:
                detail = f"  {row.detail}" if row.detail else ""
                lines.append(f"{indent}{row.kind} {row.name}{detail}")
    return "\n".join(lines) + "\n"


def _moves_text(moves: tuple[Transfer, ...]) -> str:
    cells = [
        (
            m.buffer,
            "×".join(map(str, m.box)) or "element",
            bytes_text(m.bytes),
            count_text(m.count),
            bytes_text(m.total),
        )
        for m in moves
    ]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    lines = ["  bytes (what the code asks for)"]
    for m, row in zip(moves, cells, strict=True):
        shape, size, count, total = (f"{c:>{w}}" for c, w in zip(row[1:], widths[1:], strict=True))
        step = f"step {m.step}" if m.step else ""
        way = f"{m.buffer:<{min(_NAME, widths[0])}}  {m.source} -> {m.sink}"
        lines.append(f"    {way}  {shape}  {size} × {count} = {total}  {step}".rstrip())
    return "\n".join(lines) + "\n"


def _layers_text(stage: StageReport) -> str:
    lines = ["  layers"]
    for row in stage.layers:
        if row.bytes:
            lines.append(
                f"    {row.layer}  {bytes_text(row.bytes):>10}  {row.intensity:8.2f} operations a byte"
            )
    best = stage.operations / stage.compulsory if stage.compulsory else 0.0
    lines.append(
        f"    compulsory DM bytes {bytes_text(stage.compulsory)}: {best:.2f} operations a byte at best"
    )
    lines.append(f"    {count_text(stage.operations)} operations: {_bounds(stage)} of memory")
    return "\n".join(lines) + "\n"


def _bounds(stage: StageReport) -> str:
    memory = seconds_text(stage.memory_bound)
    if stage.atoms and not stage.arithmetic_bound:
        return f"on tensor cores, at least {memory}"
    what = "tensor cores" if stage.atoms else "arithmetic"
    return f"at least {seconds_text(stage.arithmetic_bound)} of {what}, {memory}"


def _resources_text(r: Resources) -> str:
    grid, block = "×".join(map(str, r.grid)), "×".join(map(str, r.block))
    if not r.limit:
        return (
            f"  kernel {r.kernel}\n    grid {grid}: {r.blocks:,} work-groups, {r.waves:.2f} a core\n"
            f"    packed buffers {bytes_text(r.shared_bytes)}, register tiles {bytes_text(r.private_bytes)}"
            " a work-group\n"
        )
    registers = f"about {r.registers} registers a thread"
    if r.shares:
        registers = f"{r.shares[0]} registers a thread that computes, {r.shares[1]} one that copies"
    return (
        f"  kernel {r.kernel}\n    grid {grid}, block {block}: "
        f"{counted(r.blocks, 'block')} of {plural(r.threads, 'thread')}\n"
        f"    shared {bytes_text(r.shared_bytes)} a block, {registers}\n"
        f"    {plural(r.resident, 'block')} a multiprocessor ({r.limit} bound), "
        f"occupancy {r.occupancy:.0%}, {r.waves:.2f} waves\n"
    )
