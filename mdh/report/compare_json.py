"""A comparison as plain data for `--json`."""

from dataclasses import asdict
from typing import Any

from mdh.diagnostics import render_json
from mdh.results.comparison import Comparison, Platform, Row


def comparison_json(found: Comparison, *, code: bool = False) -> dict[str, Any]:
    """The fields of docs/formats.md; emitted sources with `code`."""
    return {
        "program": found.program,
        "defines": dict(found.sizes),
        "arrays": list(found.arrays),
        "entries": [asdict(e) for e in found.entries],
        "platforms": [_platform(p) for p in found.platforms],
        "rows": [_row(r, code) for r in found.rows],
        "portability": [asdict(p) for p in found.portability],
        "differences": [{**asdict(d), "same": all(s.same for s in d.sections)} for d in found.differences],
        "remarks": list(found.remarks),
        "interrupted": found.interrupted,
    }


def _platform(platform: Platform) -> dict[str, Any]:
    trouble = None if platform.trouble is None else render_json(platform.trouble)
    return {**asdict(platform), "trouble": trouble}


def _row(row: Row, code: bool) -> dict[str, Any]:
    out = asdict(row)
    out["values"] = dict(row.values)
    out["why"] = None if row.why is None else render_json(row.why)
    del out["picture"]
    if not code:
        del out["source"]
    return out
