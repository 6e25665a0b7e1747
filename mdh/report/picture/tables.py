"""Tables of a page: bytes by layer, held bytes against limits, and residency."""

from collections.abc import Callable
from html import escape

from mdh.machine import Machine
from mdh.report.explain import StageReport
from mdh.report.picture.stage import StageView
from mdh.report.resources import Resources
from mdh.report.text import bytes_text, count_text, seconds_text
from mdh.wording import plural

_COLOURS = 6


def traffic_html(report: StageReport) -> str:
    """A bar for each layer, divided by array and coloured; every move is listed below."""
    names = dict.fromkeys(m.buffer for m in report.moves)
    colours = {name: f"c{n % _COLOURS}" for n, name in enumerate(names)}
    rows = []
    for layer in report.layers:
        if not layer.bytes:
            continue
        shares: dict[str, int] = {}
        for m in report.moves:
            if m.crosses(layer.layer):
                shares[m.buffer] = shares.get(m.buffer, 0) + m.total
        parts = "".join(
            f'<i class="{colours[b]}" style="width:{100 * n / layer.bytes:.2f}%"></i>'
            for b, n in shares.items()
        )
        said = ", ".join(
            f'<i class="dot {colours[b]}"></i>{escape(b)} {bytes_text(n)}' for b, n in shares.items()
        )
        rows.append(
            f"<div><p>{layer.layer} <b>{bytes_text(layer.bytes)}</b> <small>{said}; "
            f"{layer.intensity:.2f} operations a byte</small></p><div class=share>{parts}</div></div>"
        )
    unknown = report.atoms and not report.arithmetic_bound
    bound = "" if unknown else seconds_text(report.arithmetic_bound)
    arithmetic = f"{bound} on tensor cores".strip() if report.atoms else bound
    least = (
        f"At least {bytes_text(report.compulsory)} must cross DM: {seconds_text(report.memory_bound)}; "
        f"{count_text(report.operations)} operations: "
        f"{arithmetic}."
    )
    note = f"<p class=note>{least} What the code asks of a layer, caches not counted.</p>"
    return f"<h3>Memory traffic</h3><div class=rows>{''.join(rows)}</div>{note}{_moves(report)}"


def _moves(report: StageReport) -> str:
    head = "<tr><th>array<th>from<th>to<th class=n>part<th class=n>bytes<th class=n>times<th class=n>in all"
    rows = []
    for m in report.moves:
        box = "×".join(map(str, m.box)) or "element"
        numbers = (box, bytes_text(m.bytes), count_text(m.count), bytes_text(m.total))
        cells = "".join(f"<td class=n>{n}" for n in numbers)
        rows.append(f"<tr><td>{escape(m.buffer)}<td>{m.source}<td>{m.sink}{cells}")
    table = f"<div class=scroll><table>{head}{''.join(rows)}</table></div>"
    return f"<details><summary>Every move</summary>{table}</details>"


def held_html(view: StageView, report: StageReport, machine: Machine) -> str:
    """What each region holds, and its share of the machine's limits."""
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
            found = [("registers of a thread, about", r.registers)]
            if r.shares:
                words = ("registers of a thread that computes", "registers of a thread that copies")
                found = list(zip(words, r.shares, strict=True))
            meters += [_meter(f"{name}{word}", n, limit, str) for word, n in found]
    return f"<h3>Footprints</h3><div class=rows>{''.join(meters)}</div>{table}"


def _meter(name: str, used: int, limit: int, write: Callable[[int], str]) -> str:
    share = used / limit if limit else 0.0
    over = " over" if share > 1 else ""
    return (
        f"<div><p>{name} <b>{write(used)}</b> <small>of {write(limit)}, {share:.0%}</small></p>"
        f'<div class="share full{over}"><i style="width:{min(100.0, 100 * share):.1f}%"></i></div></div>'
    )


def occupancy_html(report: StageReport) -> str:
    """Blocks that a multiprocessor holds at once, by each limit; on CPUs, the work-groups of a core."""
    out = []
    for r in report.resources:
        grid, block = "×".join(map(str, r.grid)), "×".join(map(str, r.block))
        if not r.limit:
            said = f"grid {grid}, {r.blocks:,} work-groups, <b>{r.waves:.2f}</b> a core."
            out.append(f"<p>{escape(r.kernel)}: {said}</p>")
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
    return f"{plural(r.resident, 'block')} at once, bound by {escape(r.limit)}"
