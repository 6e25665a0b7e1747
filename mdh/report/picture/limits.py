"""Tables of a page: bytes by layer, what is held against what there is, residency, banks."""

from html import escape
from math import prod

from mdh.machine import Machine
from mdh.report.explain import StageReport
from mdh.report.picture.banks import BANKS, BankAccess
from mdh.report.picture.stage import StageView
from mdh.report.resources import Resources
from mdh.report.text import bytes_text, count_text, seconds_text

_INNER = {"DM": ("SM", "RM", "OP"), "SM": ("RM", "OP"), "RM": ("OP",)}


def traffic_html(report: StageReport) -> str:
    """A bar a layer, cut by array; below it every move."""
    rows = []
    for layer in report.layers:
        if not layer.bytes:
            continue
        shares: dict[str, int] = {}
        for m in report.moves:
            if (m.source == layer.layer and m.sink in _INNER[layer.layer]) or (
                m.sink == layer.layer and m.source in _INNER[layer.layer]
            ):
                shares[m.buffer] = shares.get(m.buffer, 0) + m.total
        parts = "".join(
            f'<i style="width:{100 * n / layer.bytes:.2f}%" title="{escape(b)}: {bytes_text(n)}"></i>'
            for b, n in shares.items()
        )
        said = ", ".join(f"{escape(b)} {bytes_text(n)}" for b, n in shares.items())
        rows.append(
            f"<div><p>{layer.layer} <b>{bytes_text(layer.bytes)}</b> <small>{said}; "
            f"{layer.intensity:.2f} operations a byte</small></p><div class=share>{parts}</div></div>"
        )
    least = (
        f"At least {bytes_text(report.compulsory)} must cross DM: {seconds_text(report.memory_bound)}; "
        f"{count_text(report.operations)} operations: {seconds_text(report.arithmetic_bound)}."
    )
    return (
        f"<h3>Memory traffic</h3><div class=rows>{''.join(rows)}</div><p class=note>{least} What the code asks "
        f"of a layer, caches not counted.</p>{_moves(report)}"
    )


def _moves(report: StageReport) -> str:
    head = "<tr><th>array<th>from<th>to<th class=n>part<th class=n>bytes<th class=n>times<th class=n>in all"
    rows = "".join(
        f"<tr><td>{escape(m.buffer)}<td>{m.source}<td>{m.sink}<td class=n>{'×'.join(map(str, m.box)) or 'element'}"
        f"<td class=n>{bytes_text(m.bytes)}<td class=n>{count_text(m.count)}<td class=n>{bytes_text(m.total)}"
        for m in report.moves
    )
    return (
        f"<details><summary>Every move</summary><div class=scroll><table>{head}{rows}</table></div></details>"
    )


def held_html(view: StageView, report: StageReport, machine: Machine) -> str:
    """What is held in each region, and the share of the machine's limits that it takes."""
    rows = []
    for h in view.held:
        slots = f" × {h.slots}" if h.slots > 1 else ""
        shape = "×".join(map(str, h.shape)) or "1"
        rows.append(
            f"<tr><td>{escape(h.buffer)}<td>{h.region}<td class=n>step {view.steps[h.step].number}"
            f"<td class=n>{shape}{slots}<td class=n>{bytes_text(h.bytes)}"
        )
    table = ""
    if rows:
        head = "<tr><th>array<th>region<th class=n>opens at<th class=n>elements<th class=n>bytes"
        table = f"<div class=scroll><table>{head}{''.join(rows)}</table></div>"
    meters = []
    for r in report.resources:
        name = f"{escape(r.kernel)}: " if len(report.resources) > 1 else ""
        word = "packed buffers" if machine.kind == "cpu" else "shared memory of a block"
        meters.append(_meter(f"{name}{word}", r.shared_bytes, machine.shared_per_block, bytes_text))
        if machine.kind != "cpu":
            limit = machine.registers_per_thread or 255
            meters.append(_meter(f"{name}registers of a thread, about", r.registers, limit, str))
    return f"<h3>Footprints</h3><div class=rows>{''.join(meters)}</div>{table}"


def _meter(name: str, used: int, limit: int, text: object) -> str:
    write = text if callable(text) else str
    share = used / limit if limit else 0.0
    over = " over" if share > 1 else ""
    return (
        f"<div><p>{name} <b>{write(used)}</b> <small>of {write(limit)}, {share:.0%}</small></p>"
        f'<div class="share full{over}"><i style="width:{min(100.0, 100 * share):.1f}%"></i></div></div>'
    )


def occupancy_html(report: StageReport) -> str:
    """Blocks that live on a multiprocessor at once, by each limit; of CPUs the work-groups a core."""
    out = []
    for r in report.resources:
        grid, block = "×".join(map(str, r.grid)), "×".join(map(str, r.block))
        if not r.limit:
            out.append(
                f"<p>{escape(r.kernel)}: grid {grid}, {r.blocks:,} work-groups, <b>{r.waves:.2f}</b> a core.</p>"
            )
            continue
        said = ", ".join(
            f"<b>{escape(name)} {n}</b>" if name == r.limit else f"{escape(name)} {n}" for name, n in r.limits
        )
        out.append(
            f"<div><p>{escape(r.kernel)}: grid {grid}, block {block}: <b>{r.occupancy:.0%}</b> of a "
            f"multiprocessor's threads, {_blocks(r)}, {r.waves:.2f} waves.</p>"
            f'<div class="share full"><i style="width:{100 * min(1.0, r.occupancy):.1f}%"></i></div>'
            f"<p><small>Blocks by each limit: {said}.</small></p></div>"
        )
    return f"<h3>Occupancy</h3><div class=rows>{''.join(out)}</div>"


def _blocks(r: Resources) -> str:
    return f"{r.resident} block{'' if r.resident == 1 else 's'} at once, bound by {escape(r.limit)}"


def banks_html(accesses: tuple[BankAccess, ...]) -> str:
    """For every buffer, kind and width the access that takes most turns: lanes over the 32 banks."""
    worst: dict[tuple[str, bool, int], BankAccess] = {}
    for a in accesses:
        key = (a.buffer, a.store, a.width)
        old = worst.get(key)
        if old is None or a.turns * old.best > old.turns * a.best:
            worst[key] = a
    if not worst:
        return ""
    parts = [_banks(a) for a in worst.values()]
    return (
        "<h3>Banks of shared memory</h3><p class=note>The first warp's accesses, lane by lane: a column is a "
        "bank, a row one turn; further rows of a group of lanes are conflicts.</p>" + "".join(parts)
    )


def _banks(a: BankAccess) -> str:
    verb = "write" if a.store else "read"
    most = "no conflict" if a.turns <= a.best else f"{a.turns} turns where {a.best} would do"
    wide, high, left = 20.5, 17.0, 44.0
    shapes, y = [], 16.0
    for bank in range(0, BANKS, 4):
        shapes.append(f'<text x="{left + bank * wide + 2:.1f}" y="11" class="tick">{bank}</text>')
    for group in a.groups:
        banks = a.words(group)
        turns = max((len(words) for words in banks.values()), default=0)
        if turns:
            name = f"{group[0]}–{group[-1]}"
            shapes.append(f'<text x="0" y="{y + 12:.1f}" class="tick">{name}</text>')
        for bank, words in banks.items():
            for turn, (word, lanes) in enumerate(sorted(words.items())):
                shapes.append(_square(left + bank * wide, y + turn * high, wide, high, lanes, word, turn))
        y += turns * high + (3 if turns else 0)
    box = f'viewBox="0 0 {left + BANKS * wide:.0f} {y:.0f}"'
    svg = f'<svg {box} role="img" aria-label="banks of {escape(a.buffer)}">{"".join(shapes)}</svg>'
    said = f"{escape(a.buffer)}, {verb}, {a.width} bytes a lane: {most}"
    return f"<details class=banks{' open' if a.turns > a.best else ''}><summary>{said}</summary><div class=scroll>{svg}</div></details>"


def _square(x: float, y: float, w: float, h: float, lanes: list[int], word: int, turn: int) -> str:
    late = " late" if turn else ""
    tip = f"word {word}: lane{'s' if len(lanes) > 1 else ''} {', '.join(map(str, lanes))}"
    said = str(lanes[0]) + ("+" if len(lanes) > 1 else "")
    return (
        f'<rect x="{x:.1f}" y="{y:.1f}" width="{w - 1:.1f}" height="{h - 1:.1f}" class="bank{late}"><title>{tip}'
        f'</title></rect><text x="{x + w / 2:.1f}" y="{y + 12:.1f}" text-anchor="middle" class="lane">{said}</text>'
    )


def points(view: StageView) -> int:
    return prod(d.extent for d in view.dims)
