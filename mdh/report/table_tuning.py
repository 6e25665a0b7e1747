"""The result of `mdh tune --over` as text and as JSON."""

from math import exp, log
from typing import Any

from mdh.report.text import duration_text, seconds_text
from mdh.report.tune_json import tuned_json
from mdh.results.table_tuning import CellTuning, Measured, TableTuned


def table_text(tuned: TableTuned) -> str:
    title = f" ({tuned.title})" if tuned.title else ""
    lines = [f"{tuned.program} on {tuned.device}{title}, {duration_text(tuned.elapsed)}"]
    width = max((len(ranges) for ranges, _ in tuned.cases), default=0)
    lines += [f"  over {ranges:<{width}}  schedule made for {name}" for ranges, name in tuned.cases]
    if tuned.points:
        lines += ["", *_rows(tuned.points)]
        shares = [m.share for m in tuned.points if m.share]
        if shares:
            mean = exp(sum(map(log, shares)) / len(shares))
            lines.append(f"  geometric mean of best / table: {mean:.2f}, least {min(shares):.2f}")
    if tuned.files:
        width = max(len(kind) for kind, _ in tuned.files)
        lines += ["", *(f"  {kind:<{width}}  {path}" for kind, path in tuned.files)]
    return "\n".join(lines) + "\n"


def _rows(points: tuple[Measured, ...]) -> list[str]:
    """A row for each measured size: the table's time, and what the best schedule and one kernel take."""
    rows = [("sizes", "table", "best / table", "one kernel / table")]
    for point in points:
        mine, whole = point.seconds.get(point.chosen), point.one_kernel
        sizes = ", ".join(f"{n} = {v}" for n, v in point.sizes)
        one = f"{whole / mine:.2f}" if whole and mine else ""
        share = f"{point.share:.2f}" if point.share else ""
        rows.append((sizes, seconds_text(mine) if mine else "", share, one))
    widths = [max(len(row[k]) for row in rows) for k in range(4)]
    padded = ([text.ljust(w) for text, w in zip(row, widths, strict=True)] for row in rows)
    return [f"  {'  '.join(texts)}".rstrip() for texts in padded]


def _tuned(cell: CellTuning) -> dict[str, Any] | None:
    return None if cell.tuned is None else tuned_json(cell.tuned)


def table_json(tuned: TableTuned) -> dict[str, Any]:
    cells = [
        {
            "over": cell.name,
            "at": dict(cell.at),
            "tuned": _tuned(cell),
        }
        for cell in tuned.cells
    ]
    points = [
        {
            "sizes": dict(p.sizes),
            "chosen": p.chosen,
            "seconds": dict(p.seconds),
            "share": p.share,
            "one_kernel": p.one_kernel,
        }
        for p in tuned.points
    ]
    return {
        "program": tuned.program,
        "defines": dict(tuned.defines),
        "device": tuned.device,
        "title": tuned.title,
        "elapsed": tuned.elapsed,
        "cases": [{"over": ranges, "made_for": name} for ranges, name in tuned.cases],
        "points": points,
        "table": tuned.table,
        "files": dict(tuned.files),
        "cells": cells,
    }
