"""Experiments of papers and what came out of them, as Markdown."""

from collections.abc import Sequence

from mdh.report.reproduction_text import (
    AS_WRITTEN,
    Column,
    absences,
    columns_of,
    figure_of,
    needs_text,
    remarks_of,
)
from mdh.report.text import seconds_text
from mdh.results.experiment import Case, Experiment, LeftOut
from mdh.results.reproduction import BEST, CaseTime, Reproduction, totals
from mdh.wording import plural

MOST = 20
"""Cases of which each has a row; of more there are totals alone."""
_NONE = "–"
_INTRODUCTION = """\
# Reproduction

The tables, figures and listings of papers that mdh runs again: `mdh reproduce` lists them, and
`mdh reproduce NAME` runs one on the machine at hand. This page has the last results.

A result is compared with a reference before anything is timed. Ours is the fastest of the schedules that come
with mdh for the case and of the one that mdh derives. All work on the same random arrays. A ratio is the
peer's time over ours: above 1 mdh is faster. *Paper* is the same ratio there: what the paper compares with
over the paper's compiler. The machines, libraries and their versions are others than the papers', so the
ratios are to be seen side by side, and are not the same measurement. Results of a CPU that others used at the
time are left out.
"""


def site_page(
    experiments: Sequence[Experiment], left_out: Sequence[LeftOut], results: Sequence[Reproduction]
) -> str:
    """The page of the site: a list, then a section each."""
    lines = [
        *_INTRODUCTION.splitlines(),
        "",
        "| experiment | paper | in it | last results on |",
        "|---|---|---|---|",
    ]
    for one in experiments:
        where = dict.fromkeys(r.title for r in results if r.experiment == one.name)
        there = ", ".join(where) or "not run yet"
        lines.append(f"| [`{one.name}`](#{one.name}) | {one.paper.name} | {one.place} | {there} |")
    lines.append("")
    for one in experiments:
        lines += [f"## {one.name}", "", *_section(one, [r for r in results if r.experiment == one.name]), ""]
    lines += ["## Not run", "", "| what | paper | why |", "|---|---|---|"]
    lines += [f"| {left.place} | {left.paper.name} | {left.why} |" for left in left_out]
    return "\n".join(lines) + "\n"


def reproduction_page(experiment: Experiment, results: Sequence[Reproduction]) -> str:
    """The page of one experiment."""
    return "\n".join([f"# {experiment.name}", "", *_section(experiment, results)]) + "\n"


def _section(one: Experiment, results: Sequence[Reproduction]) -> list[str]:
    lines = [
        f"{_capital(one.place)} of {one.paper.source}: {one.about}.",
        "",
        f"{_capital(needs_text(one))}.",
        "",
    ]
    lines += [f"- {note}" for note in one.notes]
    lines += [f"- {_measured(one, found)}" for found in results]
    lines += [] if results else ["- Not run yet."]
    if len(one.cases) <= MOST:
        lines += ["", *_rows(one, results)]
    if len(one.cases) > 1:
        lines += ["", *_totals(one, results)]
    for found in results:
        missing = absences(found)
        lines += ["", f"On {found.title}:", "", *(f"- {m}" for m in missing)] if missing else []
    while lines and not lines[-1]:
        lines.pop()
    return lines


def _short(found: Reproduction) -> str:
    """The device without what its driver says of itself."""
    return found.title.partition(" (")[0]


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]


def _measured(one: Experiment, found: Reproduction) -> str:
    """The machine, the date or the page of measurements, the command and the versions."""
    versions = [", ".join(found.versions)] if found.versions else []
    count = f"{len(found.measured)} of {plural(len(one.cases), 'case')} by `{found.command}`"
    when = ", ".join(f"[{page}](../../{page})" for page in found.page.split()) or found.date
    return f"{found.title}, {when}: {'; '.join([count, *versions, *remarks_of(one, found)])}."


def _rows(one: Experiment, results: Sequence[Reproduction]) -> list[str]:
    columns = columns_of(one, "")
    head = [f"paper, {machine.name}: {against}" for machine, against in columns]
    written = [c.written[0] for c in one.cases if c.written]
    for found in results:
        head += [f"{_short(found)}: mdh", "best peer", "peer / mdh"]
        head += [f"{AS_WRITTEN} / mdh"] if written else []
    lines = [f"| case | {' | '.join(head)} |", "|---|" + "---:|" * len(head)] if head else []
    for case in one.cases if head else ():
        cells = [_figure(case, column) for column in columns]
        for found in results:
            time = next((t for t in found.cases if t.name == case.name), None)
            cells += [*_cells(time), *(_ratio(time, name) for name in written)]
        lines.append(f"| {case.name} | {' | '.join(cells)} |")
    return lines


def _figure(case: Case, column: Column) -> str:
    figure = figure_of(case, column)
    if figure is None:
        return _NONE
    if figure.peer is None or figure.own is None:
        return f"{figure.ratio:.2f}"
    return f"{figure.ratio:.2f} ({seconds_text(figure.peer)} / {seconds_text(figure.own)})"


def _cells(time: CaseTime | None) -> list[str]:
    if time is None or time.seconds is None:
        return [_NONE] * 3
    best = time.best
    if best is None or best.seconds is None or best.ratio is None:
        return [seconds_text(time.seconds), _NONE, _NONE]
    ratio = f"**{best.ratio:.2f}**" + ("" if best.cold is None else f" (cold {best.cold:.2f})")
    return [seconds_text(time.seconds), f"{best.name} {seconds_text(best.seconds)}", ratio]


def _ratio(time: CaseTime | None, name: str) -> str:
    """To one peer."""
    peer = None if time is None else time.peer(name)
    return _NONE if peer is None or peer.ratio is None else f"{peer.ratio:.2f}"


def _totals(one: Experiment, results: Sequence[Reproduction]) -> list[str]:
    """What the ratios come to, beside the paper's; of peers that took part somewhere."""
    machines = [m for m in one.machines if any(t.machine is m for t in one.totals)]
    found = [(r, n) for r in results for n in dict.fromkeys(p.name for t in r.measured for p in t.peers)]
    named = dict.fromkeys(n for _, n in found) if one.totals else (BEST,)
    peers = [n for n in named if any(totals(r, n) for r in results)]
    if not peers:
        return []
    head = [*(f"paper, {m.name}" for m in machines), *map(_short, results)]
    lines = [f"| peer / mdh | {' | '.join(head)} |", "|---|" + "---:|" * len(head)]
    for peer in peers:
        ours = [(totals(r, peer), totals(r, peer, cold=True)) for r in results]
        theirs = [t for t in one.totals if t.peer == peer]
        for what in dict.fromkeys(w for warm, _ in ours for w in warm):
            said = [
                next((t.value for t in theirs if t.machine is m and t.what == what), _NONE) for m in machines
            ]
            cells = [_total(warm, cold, what) for warm, cold in ours]
            lines.append(f"| {peer}: {what} | {' | '.join([*said, *cells])} |")
    return lines


def _total(warm: dict[str, str], cold: dict[str, str], what: str) -> str:
    value = warm.get(what, _NONE)
    return f"{value} (cold {cold[what]})" if what in cold else value
