"""A comparison as text for a terminal of 80 columns, without colour."""

from collections.abc import Sequence
from difflib import unified_diff
from textwrap import wrap

from mdh.diagnostics import Diagnostic
from mdh.report.difference_text import differences_text
from mdh.report.text import WIDTH, filled, seconds_text
from mdh.results.comparison import Comparison, Difference, Platform, Portability, Row, RowKind, Spread

_NAME = 18
"""Columns of the entries' names. Longer names are cut in the middle."""
_HEAD = ("", "time", "±", "cold", "of roof", "× best", "limited by")
_COLD = 3


def comparison_text(found: Comparison, *, code: bool = False) -> str:
    """Platform by platform, then portability and differences; with `code`, how the emitted texts differ."""
    blocks = ["\n".join(filled(f"{found.program}: {', '.join(found.arrays)}")) + "\n"]
    blocks += [platform_text(p, found.of_platform(p.name)) for p in found.platforms]
    blocks.append(portability_text(found))
    blocks += [differences_text(d.sections, *ends_of(d)) for d in found.differences]
    if code:
        blocks += code_texts(found)
    if found.interrupted:
        blocks.append("the comparison was interrupted: what was complete is above\n")
    return "\n".join(block for block in blocks if block)


def platform_text(platform: Platform, rows: tuple[Row, ...]) -> str:
    lines = filled(_title(platform, rows))
    if platform.trouble is not None:
        return "\n".join([*lines, *filled(reason(platform.trouble), "  "), ""])
    cells = [_HEAD, *(_cells(row) for row in rows if row.time is not None)]
    name = name_width([row.entry for row in rows])
    if len(cells) > 1:
        if not any(row.cold for row in rows):
            cells = [(*c[:_COLD], *c[_COLD + 1 :]) for c in cells]
        widths = [name, *(max(map(len, column)) for column in list(zip(*cells, strict=True))[1:-1])]
        lines += [line for c in cells for line in _lines(c, widths)]
    for row in (r for r in rows if r.time is None):
        lines += filled(_missing(row), "  ", f"  {short(row.entry, name):<{name}}  ")
    lines += [row for note in _notes(rows) for row in filled(note, "    ", "  ")]
    return "\n".join(lines) + "\n"


def _title(platform: Platform, rows: tuple[Row, ...]) -> str:
    title = f"{platform.name}: {platform.title}" if platform.title else platform.name
    if not platform.here:
        title += f", not here: {sources_text(rows)}"
    roof = next((r.roof for r in rows if r.roof is not None), None)
    return title if roof is None else f"{title}; roof {seconds_text(roof.seconds)} ({roof.bound})"


def sources_text(rows: tuple[Row, ...]) -> str:
    """The origin of the times of a machine that is not here."""
    kinds = {r.kind for r in rows}
    if RowKind.RECORDED not in kinds:
        return "~ estimates of the cost model, nothing was measured"
    return "times on record" + ("; ~ estimates of the cost model" if RowKind.ESTIMATED in kinds else "")


def _cells(row: Row) -> tuple[str, ...]:
    time = row.time
    assert time is not None
    guess = "~ " if row.kind is RowKind.ESTIMATED else ""
    cold = "-" if row.cold is None else seconds_text(row.cold.seconds)
    times = guess + seconds_text(time.seconds), error_text(time), cold
    return row.entry, *times, share_text(row), ratio_text(row), limit_text(row)


def share_text(row: Row) -> str:
    """The share of the roof that a row reaches."""
    guess = "~ " if row.kind is RowKind.ESTIMATED else ""
    return "-" if row.share is None else f"{guess}{percent(row.share)}"


def ratio_text(row: Row) -> str:
    """The time over that of the fastest."""
    mark = "≈ " if row.tie else "~ " if row.kind is RowKind.ESTIMATED else ""
    return "-" if row.ratio is None else f"{mark}{row.ratio:.2f}"


def error_text(time: Spread) -> str:
    """Half the interval divided by the median; `model` for an estimate, and empty for too few samples."""
    if time.clock == "model":
        return "model"
    if _unsure(time):
        return "?"
    return f"{max(time.high - time.seconds, time.seconds - time.low) / time.seconds:.1%}"


def _unsure(time: Spread) -> bool:
    return time.clock != "model" and (time.samples < 6 or time.seconds <= 0)


def limit_text(row: Row) -> str:
    """What limits a row; on a GPU also its occupancy."""
    words = [row.limit or "-"]
    if row.occupancy is not None and row.limit:
        words.append(f"occ. {row.occupancy:.0%}")
    return ", ".join(words)


def _lines(cells: tuple[str, ...], widths: list[int]) -> list[str]:
    """A row. The limit continues on the next line if it would be too wide."""
    numbers = (f"{cell:>{w}}" for cell, w in zip(cells[1:-1], widths[1:], strict=True))
    head = f"  {short(cells[0], widths[0]):<{widths[0]}}  {'  '.join(numbers)}  "
    limit = wrap(cells[-1], max(16, WIDTH - len(head)), break_long_words=False) or [""]
    return [f"{head if n == 0 else ' ' * len(head)}{part}".rstrip() for n, part in enumerate(limit)]


def name_width(names: Sequence[str]) -> int:
    """The columns of the names: more than usual if they could not be told apart otherwise."""
    longest = max(map(len, names))
    widths = range(min(_NAME, longest), longest)
    return next((w for w in widths if len({short(n, w) for n in names}) == len(set(names))), longest)


def short(name: str, width: int) -> str:
    """The name, or its two ends if it is too long."""
    if len(name) <= width:
        return name
    tail = (width - 1) // 2
    return f"{name[: width - 1 - tail]}…{name[-tail:]}"


def _missing(row: Row) -> str:
    return reason(row.why) if row.why is not None else row.note or "no time"


def reason(why: Diagnostic) -> str:
    """The error and its help: `K152: a block needs …`."""
    return f"{why.code}: {why.headline}" + (f" ({why.help})" if why.help else "")


def _notes(rows: tuple[Row, ...]) -> list[str]:
    """How holes were filled, the versions of libraries, and the meaning of marks."""
    out = [f"{r.entry}: {how_text(r)}" for r in rows if r.how and r.time is not None]
    notes: dict[str, list[str]] = {}
    for row in (r for r in rows if r.note and r.time is not None):
        notes.setdefault(row.note, []).append(row.entry)
    out += [f"{', '.join(names)}: {note}" for note, names in notes.items()]
    return [*out, *mark_notes(rows)]


def mark_notes(rows: tuple[Row, ...]) -> list[str]:
    """The meaning of marks and clocks that occur in a platform's rows."""
    out = []
    clocks = {r.time.clock: r.entry for r in rows if r.time is not None and r.kind is RowKind.MEASURED}
    if len(clocks) > 1:
        wall = ", ".join(r.entry for r in rows if r.time is not None and r.time.clock == "wall")
        out.append(f"by the caller's clock, call and all: {wall}; by the device's own: the others")
    if any(r.tie for r in rows):
        out.append("≈: turn by turn it cannot be told from the fastest")
    if any(r.time is not None and _unsure(r.time) for r in rows):
        out.append("?: too few runs for an interval")
    if any(r.share is not None and r.share > 1.05 for r in rows):
        out.append("above 100% of the roof: the machine's peak speeds are more than its file says")
    return out


def how_text(row: Row) -> str:
    """`tuned, trial 12 of out/matmul.jsonl: bm=64 bn=128`."""
    values = " ".join(f"{name}={value}" for name, value in row.values)
    return f"{row.how}: {values}" if values else row.how


def portability_text(found: Comparison) -> str:
    """A table for each set of platforms; empty for a single platform."""
    blocks = []
    for over in dict.fromkeys(p.over for p in found.portability if len(p.over) > 1):
        rows = [p for p in found.portability if p.over == over]
        guessed = ", estimates included" if any(p.estimated for p in rows) else ""
        head = f"performance portability over {', '.join(over)}{guessed}"
        what = "harmonic mean of the efficiencies on each; 0 where it does not run"
        blocks.append("\n".join([*filled(head, "  "), f"  ({what})", *_portable(rows), ""]))
    return "\n".join(blocks)


def _portable(rows: list[Portability]) -> list[str]:
    name = name_width([p.entry for p in rows])
    head = f"  {'':<{name}}  against the fastest  against the roof"
    lines = [
        f"  {short(p.entry, name):<{name}}  {percent(p.application):>19}  {percent(p.architectural):>16}"
        for p in rows
    ]
    return [head, *lines]


def percent(figure: float | None) -> str:
    if figure is None:
        return "not known"
    return "0" if figure == 0 else "<1%" if figure < 0.005 else f"{figure:.0%}"


def ends_of(found: Difference) -> tuple[str, str]:
    """The names of the two schedules; mdh's default has the platform that it is for."""
    at = f" on {found.place}" if found.place else ""
    before, after = (f"{name}{at}" if name == "default" else name for name in (found.before, found.after))
    return before, after


def code_texts(found: Comparison) -> list[str]:
    """How each schedule's emitted code differs from the first one's, platform by platform."""
    out = []
    for platform in found.platforms:
        rows = [r for r in found.of_platform(platform.name) if r.source]
        for row in rows[1:]:
            old, new = (r.source.splitlines(keepends=True) for r in (rows[0], row))
            names = (f"{rows[0].entry} on {platform.name}", f"{row.entry} on {platform.name}")
            text = "".join(unified_diff(old, new, *names))
            out.append(text or f"{names[0]} and {names[1]}: the same code\n")
    return out
