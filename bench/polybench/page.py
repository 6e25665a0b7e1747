"""The page: a row for each kernel, and what they come to together."""

from collections.abc import Mapping, Sequence
from math import exp, log

from bench.cpu.table import machine_lines, ms
from bench.polybench.results import DIRECTIVES, OURS, PLAIN, SHIPPED, Row

BELOW = 0.9
"""A ratio to the directives under which a row is named."""
INTRODUCTION = """\
The thirty computations of PolyBench 4.2.1 at its large sizes, written anew in C as they come naturally
(`inputs_c/polybench`). Written by `{command}`.

Contestants: *default*, mdh with the schedule that it derives; *shipped*, mdh with the schedule of
`schedules/polybench`, where there is one; *gcc*, the C as it is written, by one thread; *directives*, the
same C with the best directives of OpenMP that need no other loops (`inputs_c/polybench/directives`). Those
also promise by `restrict` that arrays are distinct, as mdh takes for granted. gcc compiles with
`{flags}`, and with `-ffast-math` where there are directives, since
mdh too may add in another order. mdh and directives have {threads}.

Each kernel has a process of its own, in which all contestants work on the same arrays. Data are random, and
such that factorisations need no pivots. What a call writes is put back before the next call, outside of its
time. Results were compared with gcc's before anything was timed. Contestants take turns; a turn is the
shortest of the calls of {turn} ms, or one call that takes longer. Times are medians of turns. Ratios are the
peer's time over ours, medians over rounds: above 1 mdh is faster. Rounds during which others used the
processors are dropped; `~` marks a row for which too few were left, so that all were kept. *judge*: what
mdh's own reference says of the results of the default schedule at these sizes."""


def page(
    rows: Sequence[Row], versions: Mapping[str, str], command: str, threads: int, flags: str, turn: float
) -> str:
    many = "one thread" if threads == 1 else f"{threads} threads"
    intro = INTRODUCTION.format(command=command, flags=flags, threads=many, turn=round(turn * 1e3))
    lines = [
        "# PolyBench on the CPU", "", *intro.splitlines(), "", *machine_lines(threads),
        *(f"- {name}: {version}" for name, version in versions.items() if name != "machine"), "",
        *_summary(rows), "",
        "| kernel | mdh | default ms | shipped ms | gcc ms | directives ms | gcc / ours | directives / ours "
        "| judge |",
        "|---|---|---:|---:|---:|---:|---:|---:|---|",
        *(_line(row) for row in rows), "", *_refusals(rows),
    ]  # fmt: skip
    return "\n".join(lines).rstrip() + "\n"


def brief(row: Row) -> str:
    """What is said of a row while the run goes on."""
    found = [f"{name} {_ms(row, name)} ms" for name in (OURS, SHIPPED, PLAIN, DIRECTIVES) if _ms(row, name)]
    return f"{row.name}: {_status(row)}; {', '.join(found)}; directives / ours {_ratio(row, DIRECTIVES)}"


def _summary(rows: Sequence[Row]) -> list[str]:
    accepted = [r for r in rows if not r.code]
    lines = [f"mdh accepts {len(accepted)} of {len(rows)} kernels."]
    for peer, words in ((PLAIN, "gcc"), (DIRECTIVES, "Directives")):
        found = [v for r in accepted if (v := r.ratio(peer)) is not None]
        if found:
            mean = exp(sum(map(log, found)) / len(found))
            lines.append(f"{words} over ours: geometric mean **{mean:.2f}** over {len(found)} kernels.")
    below = [f"{r.name} {v:.2f}" for r in accepted if (v := r.ratio(DIRECTIVES)) is not None and v < BELOW]
    lines += ["", f"Below {BELOW} of the directives: {', '.join(below) or 'none'}."]
    return lines


def _line(row: Row) -> str:
    cells = (
        row.name, _status(row), *(_ms(row, name) for name in (OURS, SHIPPED, PLAIN, DIRECTIVES)),
        _ratio(row, PLAIN), _ratio(row, DIRECTIVES), row.judge,
    )  # fmt: skip
    return "| " + " | ".join(cells) + " |"


def _status(row: Row) -> str:
    """The code of a refusal, or what went wrong, or `right`."""
    wrong = [f"{name} {v}" for name, v in row.verdicts.items() if v != "right"]
    # of a row with a code, `why` is the headline
    late = [row.why] if row.why and not row.code else []
    return "; ".join([*([row.code] if row.code else []), *wrong, *late]) or "right"


def _ms(row: Row, name: str) -> str:
    found = row.seconds(name)
    return "" if found is None else ms(found)


def _ratio(row: Row, peer: str) -> str:
    found = row.ratio(peer)
    return "" if found is None else f"{'' if row.quiet else '~'}{found:.2f}"


def _refusals(rows: Sequence[Row]) -> list[str]:
    found = [f"- {r.name}: {r.code}, {r.why}" for r in rows if r.code]
    return ["## Refused", "", *found] if found else []
