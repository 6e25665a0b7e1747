"""Records as text: tables of fixed columns, with the best trial marked and the first message of each class of
failures."""

from collections.abc import Sequence

from mdh.report.text import seconds_text
from mdh.results.trial import Trial
from mdh.tuner.records.best import best, ranked
from mdh.tuner.records.header import Header, moment_text
from mdh.tuner.records.listing import Listed
from mdh.tuner.records.read import RecordSection, failures_of

_WORDS = 100
"""The columns of a message in a table."""


def list_text(rows: Sequence[Listed]) -> str:
    cells = [("record", "program", "sizes", "device", "best", "trials", "failed", "created", "key")]
    for r in rows:
        h = r.header
        device = f"{h.machine}: {h.device}" if h.device else h.machine
        failed = " ".join(f"{name} {count}" for name, count in r.failures) or "-"
        time = "-" if r.seconds is None else seconds_text(r.seconds)
        cells.append(
            (r.path, h.program, _pairs(h.sizes) or "-", device, time, f"{r.trials}", failed,
             moment_text(h.created) or "-", h.mark)
        )  # fmt: skip
    return _table(cells)


def show_text(path: str, section: RecordSection, count: int) -> str:
    h = section.header
    facts = (
        ("record", f"{path} ({h.mark})"),
        ("program", " ".join(p for p in (h.program, _pairs(h.sizes)) if p)),
        ("device", f"{h.device} ({h.machine}, {h.target})"),
        ("versions", _versions(h.versions)),
        ("method", h.method),
        ("created", moment_text(h.created)),
        ("command", h.command),
    )
    head = "".join(f"{name:<10}{_line(text)}\n" for name, text in facts if text)
    ok = sum(t.outcome.failure is None for t in section.trials)
    head += f"{'trials':<10}{len(section.trials)}, {ok} ok\n"
    return "\n".join(part for part in (head, _best_table(section, count), _failures(section)) if part)


def trial_text(header: Header, trial: Trial) -> str:
    """Everything about one trial, with its schedule last."""
    o, c = trial.outcome, trial.candidate
    facts = (
        ("trial", f"{trial.number}, {trial.phase}, proposed by {trial.origin}"),
        ("key", c.key),
        ("holes", _pairs(c.values)),
        ("result", _result(trial)),
        ("message", o.message if o.failure is not None else ""),
        ("warm", _samples(o.warm, o.clock)),
        ("cold", _samples(o.cold, o.clock)),
        ("clocks", " ".join(f"{m:g} MHz" for m in o.clocks)),
        ("cost", f"build {o.build_seconds:.3g} s, check {o.check_seconds:.3g} s, "
                 f"measure {o.measure_seconds:.3g} s"),
        ("resources", _pairs(o.resources)),
        ("device", f"{o.title or header.device} {o.device}".strip()),
        ("versions", _versions(o.versions or header.versions)),
        ("started", moment_text(trial.started)),
    )  # fmt: skip
    head = "".join(f"{name:<10}{_line(text)}\n" for name, text in facts if text)
    return f"{head}\n{c.schedule.rstrip()}\n"


def _result(trial: Trial) -> str:
    o = trial.outcome
    if o.failure is not None:
        return f"{o.failure} {o.code}".strip()
    return "ok" if o.seconds is None else f"{seconds_text(o.seconds)}{', stopped early' if o.stopped else ''}"


def _samples(seconds: tuple[float, ...], clock: str) -> str:
    if not seconds:
        return ""
    shown = " ".join(seconds_text(s) for s in seconds[:8])
    more = f" … ({len(seconds)} in all)" if len(seconds) > 8 else ""
    return f"{shown}{more}, {clock} clock" if clock else shown + more


def _best_table(section: RecordSection, count: int) -> str:
    first = best(section.trials)
    rows = [row[-1] for row in ranked(section.trials)[:count]]
    if not rows or first is None:
        return ""
    # `best` decides: a finalist may beat a shorter, less certain time
    if first not in rows:
        rows.insert(0, first)
    cells = [("", "trial", "time", "phase", "origin", "holes")]
    for t in rows:
        seconds = t.outcome.seconds
        time = "-" if seconds is None else seconds_text(seconds)
        mark = "*" if t == first else ""
        cells.append((mark, f"{t.number}", time, t.phase, t.origin, _pairs(t.candidate.values) or "-"))
    return _table(cells)


def _failures(section: RecordSection) -> str:
    cells = [("failed", "trials", "first message")]
    for name, count in failures_of(section.trials).items():
        first = next(t for t in section.trials if str(t.outcome.failure) == name)
        said = _line(f"{first.outcome.code} {first.outcome.message}").strip()
        cells.append((name, f"{count}", f"trial {first.number}: {_short(said)}"))
    return _table(cells) if len(cells) > 1 else ""


def _table(cells: Sequence[tuple[str, ...]]) -> str:
    # a record may be forged, so a cell must not look like another row
    cells = [tuple(_line(cell) for cell in row) for row in cells]
    widths = [max(len(row[i]) for row in cells) for i in range(len(cells[0]))]
    rows = ("  ".join(c.ljust(w) for c, w in zip(row, widths, strict=True)).rstrip() for row in cells)
    return "".join(f"{row}\n" for row in rows)


def _pairs(
    pairs: Sequence[tuple[str, int | str]] | Sequence[tuple[str, str]] | Sequence[tuple[str, int]],
) -> str:
    return " ".join(f"{name}={value}" for name, value in pairs)


def _versions(versions: Sequence[tuple[str, str]]) -> str:
    """Names and versions, separated by commas, because drivers' versions are sentences."""
    return ", ".join(f"{name} {text}" for name, text in versions)


def _short(text: str) -> str:
    return text if len(text) <= _WORDS else f"{text[: _WORDS - 1]}…"


def _line(text: str) -> str:
    """The text on one line."""
    shown = (c if c.isprintable() else " " if c.isspace() else repr(c)[1:-1] for c in text)
    return "".join(shown).strip()
