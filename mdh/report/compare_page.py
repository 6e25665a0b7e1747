"""The page of a comparison: one file without other resources. Scripts are only needed for the controls of the
schedules in it."""

from html import escape

from mdh.report.compare_text import (
    ends_of,
    error_text,
    how_text,
    limit_text,
    mark_notes,
    percent,
    ratio_text,
    reason,
    share_text,
    sources_text,
)
from mdh.report.difference_text import alien_words, line_word, stage_words, step_word, step_words
from mdh.report.html_frame import FRAME, embedded, shared
from mdh.report.html_style import document
from mdh.report.text import seconds_text
from mdh.results.comparison import Comparison, Platform, Portability, Row, RowKind
from mdh.schedule.difference import SectionChange

_STYLE = """
.rows td.n, .rows th { white-space:nowrap }
td.bar { width:34%; min-width:130px }
.track { position:relative; height:15px; margin-top:4px; background:var(--line); border-radius:3px }
.track i { position:absolute; left:0; top:0; bottom:0; background:var(--mark); opacity:.75;
           border-radius:3px }
.track b { position:absolute; top:4px; bottom:4px; background:var(--ink); min-width:2px }
.estimated .track i { background:repeating-linear-gradient(45deg,var(--mark) 0 4px,transparent 4px 8px) }
.library .track i { background:var(--soft) }
.bad { color:var(--warm) }
table + .lead { margin-top:26px }
td.step { white-space:nowrap; color:var(--soft) }
@media (max-width:640px) {
  .rows, .rows tbody, .rows tr, .rows td { display:block; width:auto }
  .rows tr { border-bottom:1px solid var(--line); padding:6px 0 }
  .rows th { display:none }
  .rows td { border:0; padding:1px 0 }
  .rows td.n, .rows td.limit { display:inline-block; margin-right:14px; text-align:left }
  .rows td[data-is]::before { content:attr(data-is) " "; color:var(--soft); font-size:12px }
}
"""
_MEASURED = (
    "Every schedule that was timed here was verified on several sets of arrays before, and again after. On "
    "one device all run in turns on the same arrays."
)
_METHOD = (
    "Bars are medians, the marks at their ends 95 % intervals; striped bars are estimates of the cost model, "
    "grey ones are libraries. Cold: the caches were evicted before each run. Of roof: the share of the speed "
    "that the machine's peak arithmetic and bandwidth allow. Limited by: the largest term of the cost model."
)
_PORTABLE = (
    "Pennycook's figure: the harmonic mean of the efficiencies on each platform, 0 where the schedule does "
    "not run on one of them. Against the fastest of this comparison, libraries included; and against the "
    "roof."
)


def comparison_page(found: Comparison) -> str:
    """The whole page as text."""
    sizes = ", ".join(found.arrays)
    names = ", ".join(p.name for p in found.platforms)
    lead = escape("; ".join(w for w in (sizes, names) if w))
    body = [
        f"<h1>{escape(found.program)}</h1><p class=lead>{lead}</p>",
        "<p class=bad>The comparison was interrupted.</p>" if found.interrupted else "",
        *(_platform(p, found.of_platform(p.name)) for p in found.platforms),
        f"<p class=note>{escape(_method(found))}</p>",
        _portability(found),
        _differences(found),
        _texts(found),
    ]
    return document(f"{found.program}: schedules compared", body, _STYLE + FRAME)


def _method(found: Comparison) -> str:
    measured = any(r.kind is RowKind.MEASURED for r in found.rows)
    return f"{_MEASURED} {_METHOD}" if measured else _METHOD


def _platform(platform: Platform, rows: tuple[Row, ...]) -> str:
    head = f"<h2>{escape(platform.name)}</h2>"
    facts = [platform.title] if platform.title else []
    if not platform.here:
        facts.append(f"not here: {sources_text(rows)}")
    roof = next((r.roof for r in rows if r.roof is not None), None)
    if roof is not None:
        facts.append(f"roof {seconds_text(roof.seconds)} by {roof.bound}")
    lead = f"<p class=lead>{escape('; '.join(facts))}</p>" if facts else ""
    if platform.trouble is not None:
        return f"{head}{lead}<p class=bad>{escape(reason(platform.trouble))}</p>"
    longest = max((r.time.high for r in rows if r.time is not None), default=1.0)
    cold = any(r.cold for r in rows)
    names = ("median", "±", *(("cold",) if cold else ()), "of roof", "× best")
    columns = f"<tr><th><th>time{''.join(f'<th class=n>{n}' for n in names)}<th>limited by"
    table = f"<table class=rows>{columns}{''.join(_row(r, longest, cold) for r in rows)}</table>"
    notes = "".join(f"<p class=note>{escape(note)}</p>" for note in mark_notes(rows))
    return f"{head}{lead}{table}{notes}"


def _row(row: Row, longest: float, cold: bool) -> str:
    name = escape(row.entry)
    if row.time is None:
        why = escape(reason(row.why) if row.why is not None else row.note)
        kind = " class=bad" if row.kind is RowKind.FAILED else " class=note"
        return f"<tr><td>{name}<td colspan={6 + cold}{kind}>{why}"
    library = " library" if not row.schedule else ""
    guess = "~ " if row.kind is RowKind.ESTIMATED else ""
    low, width = (100 * t / longest for t in (row.time.low, row.time.high - row.time.low))
    mark = f'<b style="left:{low:.2f}%;width:{width:.2f}%"></b>' if row.time.samples else ""
    bar = f'<div class=track><i style="width:{100 * row.time.seconds / longest:.2f}%"></i>{mark}</div>'
    remarks = "; ".join(w for w in (how_text(row) if row.how else "", row.note) if w)
    told = f"<br><span class=note>{escape(remarks)}</span>" if remarks else ""
    return (
        f'<tr class="{row.kind}{library}"><td>{name}{told}<td class=bar>{bar}'
        f"<td class=n>{guess}{escape(seconds_text(row.time.seconds))}"
        f"<td class=n data-is='±'>{error_text(row.time)}{_cold(row) if cold else ''}"
        f"<td class=n data-is='of roof'>{escape(share_text(row))}"
        f"<td class=n data-is='× best'>{ratio_text(row)}"
        f"<td class=limit data-is='limited by'>{escape(limit_text(row))}"
    )


def _cold(row: Row) -> str:
    text = "-" if row.cold is None else escape(seconds_text(row.cold.seconds))
    return f"<td class=n data-is='cold'>{text}"


def _portability(found: Comparison) -> str:
    out = ""
    for over in dict.fromkeys(p.over for p in found.portability if len(p.over) > 1):
        rows = [p for p in found.portability if p.over == over]
        guessed = ", estimates included" if any(p.estimated for p in rows) else ""
        head = "<tr><th><th class=n>against the fastest<th class=n>against the roof"
        out += f"<p class=lead>{escape(', '.join(over) + guessed)}</p>"
        out += f"<table>{head}{''.join(_portable(p) for p in rows)}</table>"
    return f"<h2>Performance portability</h2><p class=note>{escape(_PORTABLE)}</p>{out}" if out else ""


def _portable(row: Portability) -> str:
    figures = (percent(row.application), percent(row.architectural))
    return f"<tr><td>{escape(row.entry)}" + "".join(f"<td class=n>{escape(f)}" for f in figures)


def _differences(found: Comparison) -> str:
    if not found.differences:
        return ""
    blocks = "".join(
        f"<p class=lead>{escape(' → '.join(ends_of(d)))}</p>{_sections(d.sections, ends_of(d))}"
        for d in found.differences
    )
    return f"<h2>Differences</h2>{blocks}"


def _sections(sections: tuple[SectionChange, ...], ends: tuple[str, str]) -> str:
    if all(s.same for s in sections):
        return "<p class=note>The same: no step, condition or attribute differs.</p>"
    rows = []
    for section in sections:
        if not section.same and (section.stage or section.lone):
            rows.append(f"<tr><th colspan=2>{escape(stage_words(section, *ends))}")
        if section.alien:
            rows.append(f"<tr><td colspan=2>{escape(alien_words(section))}")
            continue
        for step in section.steps:
            words = "<br>".join(escape(w) for w in step_words(step))
            rows.append(f"<tr><td class=step>{escape(step_word(step))}<td>{words}")
        rows += [f"<tr><td class=step>{line_word(c)}<td>{escape(c)} removed" for c in section.gone]
        rows += [f"<tr><td class=step>{line_word(c)}<td>{escape(c)} added" for c in section.come]
    return f"<table>{''.join(rows)}</table>"


def _texts(found: Comparison) -> str:
    """The page of every schedule without holes, each once; if there are none, the texts."""
    seen: dict[tuple[str, str, str], list[str]] = {}
    for row in found.rows:
        if row.schedule:
            key = (row.schedule, row.source, row.picture)
            seen.setdefault(key, []).append(f"{row.entry} on {row.platform}")
    blocks = "".join(
        f"<details><summary>{escape(', '.join(names))}</summary>{_inside(names[0], *texts)}</details>"
        for texts, names in seen.items()
    )
    script = shared() if any(picture for _, _, picture in seen) else ""
    return f"<h2>Schedules and code</h2>{script}{blocks}" if blocks else ""


def _inside(name: str, schedule: str, source: str, picture: str) -> str:
    if picture:
        return embedded(picture, name)
    return f"<pre>{escape(schedule)}</pre><pre>{escape(source)}</pre>"
