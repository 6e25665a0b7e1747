"""Lanes of a warp over the banks of shared memory: a column for each bank, a row for each pass."""

from html import escape

from mdh.cost.warp import BANKS
from mdh.report.html_svg import bar, text
from mdh.report.picture.banks import BankAccess

_NOTE = (
    "The first warp's accesses, lane by lane: a column is a bank, a row one turn; further rows of a group of "
    "lanes are conflicts. Where a warp takes several forms of one access, the worst is shown."
)
_WIDE, _HIGH, _LEFT, _TOP = 20.5, 17.0, 44.0, 16.0


def banks_html(accesses: tuple[BankAccess, ...]) -> str:
    """For every buffer, kind and width, the access with the most passes; open if it has conflicts."""
    worst: dict[tuple[str, bool, int], BankAccess] = {}
    for a in accesses:
        old = worst.setdefault((a.buffer, a.store, a.width), a)
        if a.turns * old.best > old.turns * a.best:
            worst[a.buffer, a.store, a.width] = a
    if not worst:
        return ""
    bad = "".join(_access(a) for a in worst.values() if a.turns > a.best)
    good = "".join(_access(a) for a in worst.values() if a.turns <= a.best)
    rest = f"<details><summary>Without conflicts</summary>{good}</details>" if good and bad else good
    return f"<h3>Banks of shared memory</h3><p class=note>{_NOTE}</p>{bad}{rest}"


def _access(a: BankAccess) -> str:
    verb = "write" if a.store else "read"
    most = "no conflict" if a.turns <= a.best else f"{a.turns} turns where {a.best} would do"
    said = f"<summary>{escape(a.buffer)}, {verb}, {a.width} bytes a lane: {most}</summary>"
    opened = " open" if a.turns > a.best else ""
    return f"<details class=banks{opened}>{said}<div class=scroll>{_drawing(a)}</div></details>"


def _drawing(a: BankAccess) -> str:
    shapes = [text(_LEFT + bank * _WIDE + 2, 11, str(bank), "tick") for bank in range(0, BANKS, 4)]
    y = _TOP
    for group in a.groups:
        banks = a.words(group)
        turns = max((len(words) for words in banks.values()), default=0)
        if not turns:
            continue
        shapes.append(text(0, y + 12, f"{group[0]}–{group[-1]}", "tick"))
        for bank, words in banks.items():
            for turn, (word, lanes) in enumerate(sorted(words.items())):
                x, top = _LEFT + bank * _WIDE, y + turn * _HIGH
                tip = f"word {word}: lane{'s' if len(lanes) > 1 else ''} {', '.join(map(str, lanes))}"
                shapes.append(bar(x, top, _WIDE - 1, _HIGH - 1, "bank late" if turn else "bank", tip))
                lane = str(lanes[0]) + ("+" if len(lanes) > 1 else "")
                shapes.append(text(x + _WIDE / 2, top + 12, lane, "lane", "middle"))
        y += turns * _HIGH + 3
    box = f'viewBox="0 0 {_LEFT + BANKS * _WIDE:.0f} {y:.0f}"'
    return f'<svg {box} role="img" aria-label="banks of {escape(a.buffer)}">{"".join(shapes)}</svg>'
