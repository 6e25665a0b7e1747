"""Figures of the rows that another command of the project tests, read from the page that it writes."""

import re
from collections.abc import Callable

from tests.reliability.row import Found

Read = Callable[[str], Found]


def number(text: str, pattern: str) -> float:
    """The first number that `pattern` finds. Raises ValueError where the page does not have it."""
    found = re.search(pattern, text)
    if found is None:
        raise ValueError(f"the page has no `{pattern}`")
    return float(found[1].replace(",", ""))


def faults(text: str) -> Found:
    """R1, of scripts/fault-run."""
    good, of = number(text, r"measured: (\d+) of"), number(text, r"measured: \d+ of (\d+)")
    right, bad = number(text, r"classed right: (\d+) of"), number(text, r"classed right: \d+ of (\d+)")
    middle, late = number(text, r"median ([\d.]+) s"), number(text, r"99th percentile ([\d.]+) s")
    return Found(
        f"{good:.0f}/{of:.0f} good ones measured, {right:.0f}/{bad:.0f} classed right; recovery median"
        f" {middle:.1f} s, p99 {late:.1f} s",
        good == of and right == bad and middle <= 5 and late <= 20, int(of + bad), 1000,
    )  # fmt: skip


def timeouts(text: str) -> Found:
    """R2, of scripts/timeout-run: all of it where a GPU takes part, whose memory is looked at."""
    # device (title) | hung | kills | limit | gone after | worst | left | memory | next time | noise | seconds
    rows = [r.split(" | ") for r in re.findall(r"^\| ((?:c|\w+:\d+) \(.*) \|$", text, re.M)]
    classes = re.findall(r"^\| \S+ \| [^|]+: [^|]+ \| (\d+) \| ([^|]+) \| [\d.]+ \| [\d.]+ \|$", text, re.M)
    if not rows or not classes:
        raise ValueError("the page has no tables of devices that hang")
    told, good = [], all(said == f"{n} timeout" for n, said in classes)
    for name, hung, _, _, _, worst, left, memory, after, *_ in rows:
        part = number(after, r"([+-][\d.]+)%")
        good &= float(worst) <= 2 and left == "0 processes, 0 files" and abs(part) <= 2
        good &= not memory.strip() or float(memory) <= 64
        room = f", GPU memory {memory} MiB" if memory.strip() else ""
        told.append(
            f"{name.split()[0]}: {hung} hung, gone at most {worst} s after the limit, {left} left{room}, next"
            f" time {part:+.1f} %"
        )
    least = min(int(row[1]) for row in rows)
    missing = sorted({"c", "opencl:0", "cuda:0"} - {row[0].split()[0] for row in rows})
    notes = (f"not yet on {', '.join(missing)}",) if missing else ()
    return Found("; ".join(told), good, min(least, 99) if missing else least, 100, notes)


def kills(text: str) -> Found:
    """R3, of scripts/kill-resume."""
    went, of = number(text, r"last one ended \| (\d+) of"), number(text, r"last one ended \| \d+ of (\d+)")
    lost = number(text, r"not in the record \| (\d+)")
    left = number(text, r"alive [\d.]+ s after their tuner \| (\d+)")
    unread = number(text, r"could not be read \| (\d+)")
    each = number(text, r"lost a worker, at most \| (\d+)")
    return Found(
        f"{went:.0f}/{of:.0f} resumed; of trials that were shown {lost:.0f} lost, of those under way at most"
        f" {each:.0f} a worker; {unread:.0f} records unreadable, {left:.0f} workers left",
        went == of and not lost and not left and not unread and each <= 1, int(of), 200,
    )  # fmt: skip


def signals(text: str) -> Found:
    """R4, of scripts/signal-run."""
    right, of = number(text, r"as they must \| (\d+) of"), number(text, r"as they must \| \d+ of (\d+)")
    best = re.search(r"best schedule on disk \| (.*) \|", text)
    worst = number(text, r"to the end, worst \| ([\d.]+)")
    return Found(
        f"{right:.0f}/{of:.0f} end as they must, the slowest after {worst:.1f} s", right == of and worst <= 5,
        int(of), 50, () if best is None else (f"tunings with a best schedule on disk: {best[1]}",),
    )  # fmt: skip


def budgets(text: str) -> Found:
    """R19, of scripts/budget-run: as many budgets as the target has, one of them of hours."""
    cells = [r.split(" | ") for r in re.findall(r"^\| (\d+ \| .*) \|$", text, re.M)]
    if not cells:
        raise ValueError("the page has no table of budgets")
    right = sum(row[-1] == "ok" for row in cells)
    told = ", ".join(f"{float(row[0]):.0f} s took {row[2]} s" for row in cells)
    long = sum(float(row[0]) >= 3600 for row in cells)
    clocks = [f"{row[0]} s by a clock that went {row[-2]} as fast" for row in cells if row[-2] != "×1"]
    return Found(told, right == len(cells), len(cells) if long else min(len(cells), 2), 3, tuple(clocks))


def worker_kills(text: str) -> Found:
    """R20, of scripts/worker-kills: all of it where eight workers took part and kills came every 30 s."""
    cells = [r.split(" | ") for r in re.findall(r"^\| (undisturbed \| .*|one killed .*) \|$", text, re.M)]
    if len(cells) != 2:
        raise ValueError("the page has no table of both spells")
    (_, *calm), (_, *disturbed) = cells
    lost, kept = int(calm[4]) + int(disturbed[4]), float(disturbed[3]) / float(calm[3])
    workers, kills = int(number(text, r"--workers (\d+)")), int(disturbed[1])
    full = workers >= 8 and number(text, r"--every (\d+)") <= 30
    when = "both spells at the same time" if "--at-once" in text else "one spell after the other"
    return Found(
        f"{workers} workers, {kills} kills: {lost} results lost, {100 * kept:.0f} % of the undisturbed rate",
        not lost and kept >= 0.8, min(kills, 20 if full else 19), 20,
        (f"one worker a core, since two of one core would disturb each other's times; {when}",),
    )  # fmt: skip


def races(text: str) -> Found:
    """R5, of scripts/cache-race: all of it where both runtimes of the CPU took part."""
    cells = [r.split(" | ") for r in re.findall(r"^\| ((?:c|none|\w+:\d+) \| .*) \|$", text, re.M)]
    if not cells:
        raise ValueError("the page has no table of devices")
    good, told, ran = True, [], {}
    for device, processes, keys, exceptions, died, built, most, _ in cells:
        seen = f"{exceptions} exceptions, {built} builds, at most {most} of a key"
        good &= exceptions == died == "0" and int(most) <= 2 and int(built) >= int(keys)
        told.append(f"{device}: {processes} × {keys}, {seen}")
        ran[device] = int(processes) * int(keys)
    return Found(
        "; ".join(told), good, min(ran.get(device, 0) for device in ("c", "opencl:0")), 6400,
        ("none: cubins by NVRTC; a network file system was not at hand",),
    )  # fmt: skip


def records(text: str) -> Found:
    """R6, of scripts/record-damage: records and entries of the cache."""
    rows = re.findall(r"^\| ([^|]+) \| ([\d,]+) \| ([\d,]+) \| ([\d,]+) \|", text, re.M)
    if not rows:
        raise ValueError("the page has no table of damages")
    cases, raised, wrong = (sum(int(row[n].replace(",", "")) for row in rows) for n in (1, 2, 3))
    cached = re.findall(r"^\| [^|]+ \| ([\d,]+) \| ((?:[a-z]+ [\d,]+(?:, )?)+) \|$", text, re.M)
    cases += sum(int(n.replace(",", "")) for n, _ in cached)
    odd = [said for _, said in cached if set(re.findall("[a-z]+", said)) - {"miss", "whole"}]
    flips = max((int(row[1].replace(",", "")) for row in rows if "bit" in row[0]), default=0)
    entries = int(number(text, r"every byte of (\d+) entries")) if cached else 0
    # the target has a read-only folder, too
    full = flips >= 10_000 and "disk is full" in text and "read-only" in text
    return Found(
        f"{cases:,} damages of records and of {entries} entries of the cache: {raised} tracebacks,"
        f" {wrong + len(odd)} wrong loads",
        not raised and not wrong and not odd, entries if full else min(entries, 49), 50,
    )  # fmt: skip


def soundness(text: str) -> Found:
    """R7, of scripts/soundness: programs that were built and judged, and pairs with schedules."""
    begins = re.compile(r"\| \S+ \| [\d,]+ \| [\d,]+–")
    rows = [line.split("|")[1:-1] for line in text.splitlines() if begins.match(line)]
    if not rows:
        raise ValueError("the page has no table of programs")
    cells = [[c.strip().replace(",", "") for c in row] for row in rows]
    total = sum(int(row[1]) for row in cells)
    # the part `none` judges the front end alone
    ran = sum(int(row[1]) for row in cells if row[0] != "none")
    wrong = sum(int(c) for row in cells for c in row[7:])
    return Found(
        f"{wrong} mismatches in {total:,} programs and pairs, {ran:,} of them run on a device",
        bool(rows) and not wrong, ran, 50_000,
        (", ".join(f"{row[0]} {int(row[1]):,}" for row in cells),),
    )  # fmt: skip


TOOLS = {
    "ASan, UBSan (default schedules)": 200, "ASan, UBSan (random schedules)": 200,
    "compute-sanitizer memcheck": 200, "compute-sanitizer initcheck": 100,
    "compute-sanitizer racecheck": 50, "compute-sanitizer synccheck": 50,
}  # fmt: skip
"""Programs that each must have run."""


def sanitizers(text: str) -> Found:
    """R8, of scripts/sanitizers: how many of the tools ran at their number."""
    cells = [r.split(" | ") for r in re.findall(r"^\| ((?:c|cuda:\d+) \| .*) \|$", text, re.M)]
    if not cells:
        raise ValueError("the page has no line of a tool")
    ran = {row[1]: int(row[2]) for row in cells}
    wrong = sum(int(row[4]) + int(row[5]) for row in cells)
    done = sum(ran.get(tool, 0) >= wanted for tool, wanted in TOOLS.items())
    missing = ", ".join(tool for tool in TOOLS if tool not in ran)
    return Found(
        "; ".join(f"{row[1]}: {row[2]} programs, {row[4]} reports" for row in cells),
        not wrong, done, len(TOOLS), (f"not run yet: {missing}",) if missing else (),
    )  # fmt: skip


def judge(text: str) -> Found:
    """R9, of scripts/judge-audit. An edit that a compiler refuses is no fault that a judge has seen."""
    broken = int(number(text, r"do not compile: (\d+)")) if "do not compile: " in text else 0
    planted, caught = (int(number(text, rf"{word}: (\d+)")) - broken for word in ("planted", "caught"))
    won, items = number(text, r"could win: (\d+)"), text.count(", by oclgrind |")
    notes = (
        f"{items} of them have several work-items a group: Oclgrind runs these, and sees races by itself",
    )
    return Found(
        f"{caught} of {planted} caught, {won:.0f} could win",
        caught >= planted * 59 / 60 and not won, planted, 60, notes if items else (),
    )  # fmt: skip


def hostile(text: str) -> Found:
    """R17, of scripts/hostile-input and the mutants of scripts/fuzz that it holds."""
    total = number(text, r"([\d,]+) damaged inputs")
    wrong = number(text, r"kinds; ([\d,]+) without")
    return Found(
        f"{wrong:,.0f} of {total:,.0f} without a result or a coded message in 2 s", not wrong, int(total),
        1_000_000,
    )  # fmt: skip


def readable(read: Read, text: str) -> Found | None:
    """None for a page that is not of the form that its command writes."""
    try:
        return read(text)
    except (ValueError, IndexError):
        return None
