"""Experiments of papers, and what came out of one here, as text for a terminal without colour."""

from collections.abc import Iterable, Sequence

from mdh.report.text import duration_text, filled, seconds_text
from mdh.results.experiment import Case, Experiment, Figure, LeftOut, PaperMachine
from mdh.results.reproduction import BEST, CaseTime, Reproduction, other_kind, totals
from mdh.wording import plural

BUSY = 0.5
"""Processes for each processor from which on a machine was busy."""
_KINDS = {"gpu": "GPU", "cpu": "CPU"}
AS_WRITTEN = "as written"
"""A schedule that a paper has printed."""
_NONE = "-"
Column = tuple[PaperMachine, str]
"""A machine of a paper, and what the paper compares with."""


def list_text(experiments: Sequence[Experiment], left_out: Sequence[LeftOut]) -> str:
    """All of them, paper by paper."""
    lines = ["tables, figures and listings of papers that mdh runs again"]
    for paper in dict.fromkeys(e.paper for e in experiments):
        lines += ["", *filled(f"{paper.name}: {paper.source}")]
        for one in (e for e in experiments if e.paper is paper):
            lines += filled(f"{one.place}: {one.about}", "      ", f"  {one.name}  ")
            lines += filled(needs_text(one), "      ")
    lines += ["", "not run, and why"]
    for left in left_out:
        lines += filled(f"{left.place}: {left.why}", "      ", f"  {left.name}  ")
    lines += ["", "mdh reproduce NAME runs one on the machine at hand; --minutes limits it"]
    return "\n".join(lines) + "\n"


def needs_text(one: Experiment) -> str:
    """`13 cases on a GPU, about 8 minutes; beside numpy, torch`."""
    where = " or ".join(f"a {_KINDS[kind]}" for kind in one.kinds)
    libraries = ", ".join(one.libraries)
    return (
        f"{plural(len(one.cases), 'case')}; the paper measured {where}; about {one.minutes:g} minutes; "
        f"beside {libraries}"
    )


def reproduction_text(experiment: Experiment, found: Reproduction) -> str:
    """The paper's figures, the peers' times and ours, a row a case."""
    lines = filled(f"{experiment.name}: {experiment.place} of {experiment.paper.source}")
    lines += filled(experiment.about, "  ")
    lines += filled(f"on {found.device}: {found.title}; {', '.join(found.versions)}", "  ")
    for remark in remarks_of(experiment, found):
        lines += filled(remark, "  ")
    if found.measured:
        lines += ["", *_table(experiment, found)]
    lines += _totals(experiment, found)
    for remark in absences(found):
        lines += filled(remark, "    ", "  ")
    for note in experiment.notes:
        lines += filled(note, "    ", "  ")
    return "\n".join(lines) + "\n"


def remarks_of(experiment: Experiment, found: Reproduction) -> list[str]:
    """What a reader must know before the figures."""
    out = []
    if other_kind(experiment, found.kind):
        theirs, ours = (_KINDS[k] for k in (experiment.kinds[0], found.kind))
        out.append(f"the paper measured on a {theirs}, and this is a {ours}: its ratios are no aim here")
    if found.measured and not any(c.peers for c in found.measured):
        out.append(f"no library of this experiment computes on {found.device}")
    if found.load is not None and found.load > BUSY:
        out.append(f"the machine was busy before: {found.load:.1f} processes for each processor")
    return out


def columns_of(experiment: Experiment, kind: str) -> list[Column]:
    """Of the machines of this kind; where the paper has none of the kind, all. Machine by machine."""
    machines = experiment.machines
    found = dict.fromkeys((f.machine, f.against) for c in experiment.cases for f in c.figures)
    columns = sorted(found, key=lambda column: machines.index(column[0]))
    return [c for c in columns if c[0].kind == kind] or columns


def figure_of(case: Case, column: Column) -> Figure | None:
    return next((f for f in case.figures if (f.machine, f.against) == column), None)


def _table(experiment: Experiment, found: Reproduction) -> list[str]:
    columns = columns_of(experiment, found.kind)
    peers = list(dict.fromkeys(p.name for t in found.measured for p in t.peers if p.seconds is not None))
    written = {name for c in experiment.cases for name in c.written}
    titles = [AS_WRITTEN if name in written else name for name in peers]
    rows = [
        ("", *(machine.name for machine, _ in columns), *("here" for _ in peers), "here", "best", ""),
        ("", *(against for _, against in columns), *titles, "mdh", "/ mdh", "schedule"),
    ]
    cases = {c.name: c for c in experiment.cases}
    for time in found.measured:
        figures = (figure_of(cases[time.name], column) for column in columns)
        cells = [_NONE if f is None else f"{f.ratio:.2f}" for f in figures]
        cells += [_time_of(time, name) for name in peers]
        best = time.best
        ratio = _NONE if best is None or best.ratio is None else f"{best.ratio:.2f}"
        rows.append((time.name, *cells, seconds_text(time.seconds or 0.0), ratio, time.schedule))
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return [_line(row, widths) for row in rows]


def _time_of(time: CaseTime, name: str) -> str:
    peer = time.peer(name)
    return _NONE if peer is None or peer.seconds is None else seconds_text(peer.seconds)


def _line(cells: Sequence[str], widths: Sequence[int]) -> str:
    first, *middle, last = zip(cells, widths, strict=True)
    inner = "  ".join(f"{cell:>{width}}" for cell, width in middle)
    return f"  {first[0]:<{first[1]}}  {inner}  {last[0]}".rstrip()


def _totals(experiment: Experiment, found: Reproduction) -> list[str]:
    """The paper's totals beside ours; nothing for a single case."""
    named = dict.fromkeys(p.name for t in found.measured for p in t.peers)
    names = list(named) if experiment.totals else [BEST]
    out = []
    for name in names if len(found.measured) > 1 else ():
        ours = totals(found, name)
        if not ours:
            continue
        theirs = [t for t in experiment.totals if t.peer == name]
        words = dict.fromkeys([*(t.what for t in theirs if t.what in ours), *ours])
        out.append(f"  {name} / mdh")
        for what in words:
            said = [f"{t.machine.name} {t.value}" for t in theirs if t.what == what]
            out.append(f"    {what}: {ours[what]}" + (f"; the paper: {', '.join(said)}" if said else ""))
    return ["", *out] if out else []


def absences(found: Reproduction) -> list[str]:
    """The peers that did not take part, the schedules that failed, and the cases that were not measured, each
    with its reason."""
    out = [f"{name}: {why}" for name, why in _reasons(found)]
    groups: dict[str, list[str]] = {}
    for case in found.cases:
        if case.seconds is None:
            groups.setdefault(case.why, []).append(case.name)
    out += [f"{', '.join(names)}: {why}" for why, names in groups.items()]
    return out


def _reasons(found: Reproduction) -> Iterable[tuple[str, str]]:
    """Without repeating what several cases say."""
    peers = ((p.name, p.why) for c in found.measured for p in c.peers if p.seconds is None and p.why)
    failed = ((c.name, f) for c in found.measured for f in c.failed)
    return dict.fromkeys([*peers, *failed])


def summary(found: Reproduction) -> str:
    """`12 of 13 cases in 6 min`."""
    return f"{len(found.measured)} of {plural(len(found.cases), 'case')} in {duration_text(found.seconds)}"
