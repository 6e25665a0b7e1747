"""What a comparison looks like: text of 79 columns, a page that needs nothing, data that JSON can carry."""

import json
from dataclasses import replace
from html.parser import HTMLParser

from mdh.compare.figures import compared, portability, spread
from mdh.diagnostics import Diagnostic
from mdh.report.compare_json import comparison_json
from mdh.report.compare_page import comparison_page
from mdh.report.compare_text import comparison_text, name_width, percent, platform_text, short
from mdh.results.comparison import Comparison, Difference, Entry, Platform, Roof, Row, RowKind, Spread
from mdh.schedule.difference import Change, SectionChange, StepChange

NAMES = ("a", "a_schedule_of_a_very_long_name_indeed", "<b>")
TEXT = """\
f: A f32[8]

c: A CPU; roof 1 s (arithmetic)
                       time     ±  cold  of roof  × best  limited by
  a                   2.2 s  0.0%   3 s      45%  ≈ 1.10  L2 bandwidth
  a_schedul…e_indeed    2 s  0.0%     -      50%    1.00  arithmetic
  numpy                 4 s  0.0%     -      25%    2.00  -
  <b>                 K152: a block needs 1 byte (less of it)
  a: tuned, trial 3 of r.jsonl: ?t=64
  numpy: numpy 2
  by the caller's clock, call and all: numpy; by the device's own: the others
  ≈: turn by turn it cannot be told from the fastest

cuda:0
  D106: CUDA cannot be used here

a100: NVIDIA A100, not here: ~ estimates of the cost model, nothing was
  measured; roof 1 s (arithmetic)
                       time      ±  of roof  × best  limited by
  a                   ~ 2 s  model    ~ 50%  ~ 1.00  latency, occ. 25%
  a_schedul…e_indeed  ~ 4 s  model    ~ 25%  ~ 2.00  latency, occ. 25%
  <b>                 not measured
  numpy               not here

  performance portability over c, a100, estimates included
  (harmonic mean of the efficiencies on each; 0 where it does not run)
                      against the fastest  against the roof
  a                                   95%               48%
  a_schedul…e_indeed                  67%               33%
  <b>                                   0                 0

a → <b>
  step 1  i: tiles of 8 → not split
"""


def _comparison() -> Comparison:
    entries = (*(Entry(n, f"{n}.mdh") for n in NAMES), Entry("numpy", library=True))
    platforms = (
        Platform("c", "A CPU", "this-cpu", "c", "cpu"),
        Platform("cuda:0", trouble=Diagnostic("D106", "CUDA cannot be used here")),
        Platform("a100", "NVIDIA A100", "a100", "cuda", "gpu", here=False),
    )
    roof = Roof(1.0, "arithmetic")
    here = (
        Row("c", "a", RowKind.MEASURED, spread([2.2] * 9, "device"), roof, limit="L2 bandwidth",
            how="tuned, trial 3 of r.jsonl", values=(("?t", 64),), schedule="S", source="int x;\n",
            cold=spread([3.0] * 9, "device")),
        Row("c", NAMES[1], RowKind.MEASURED, spread([2.0] * 9, "device"), roof, limit="arithmetic",
            schedule="T", source="int y;\n"),
        Row("c", "<b>", RowKind.FAILED, why=Diagnostic("K152", "a block needs 1 byte", help="less of it")),
        Row("c", "numpy", RowKind.MEASURED, spread([4.0] * 9, "wall"), roof, note="numpy 2"),
    )  # fmt: skip
    turns = {"a": [2.0, 2.2, 1.9] * 3, NAMES[1]: [2.0] * 9}
    none = tuple(Row("cuda:0", e.name, RowKind.ABSENT, why=platforms[1].trouble) for e in entries)
    guess = [
        Row(
            "a100",
            n,
            RowKind.ESTIMATED,
            Spread(s, s, s, 0.0, 0, "model"),
            roof,
            limit="latency",
            occupancy=0.25,
        )
        for n, s in zip(NAMES, (2.0, 4.0), strict=False)
    ]
    away = (
        Row("a100", "<b>", RowKind.ABSENT, note="not measured"),
        Row("a100", "numpy", RowKind.ABSENT, note="not here"),
    )
    rows = (*compared(here, turns), *none, *compared(guess, {}), *away)
    step = StepChange(1, 1, (Change("tile", "i", "8", "^"),))
    differences = (Difference("a", "<b>", (SectionChange("", (step,)),)),)
    return Comparison(
        "f", (("N", 8),), ("A f32[8]",), entries, platforms, rows, portability(entries, platforms, rows)[3:],
        differences,
    )  # fmt: skip


def test_text() -> None:
    text = comparison_text(_comparison())
    assert text == TEXT
    assert max(map(len, text.splitlines())) <= 79


def test_code_is_shown_on_request() -> None:
    text = comparison_text(_comparison(), code=True)
    assert "-int x;\n+int y;\n" in text


def test_small_shares_are_not_none() -> None:
    assert [percent(f) for f in (None, 0.0, 0.001, 0.5)] == ["not known", "0", "<1%", "50%"]


def test_names_are_cut_in_the_middle() -> None:
    assert (short("abc", 3), short("abcdefgh", 5)) == ("abc", "ab…gh")


def test_names_that_would_be_cut_alike_are_wider() -> None:
    names = ["folder/of/one/matmul.cpu", "folder/of/two/matmul.cpu"]
    width = name_width(names)
    assert len({short(n, width) for n in names}) == 2 and 18 < width <= 24
    assert name_width(["a", "b" * 30]) == 18


def test_rows_that_are_too_wide_go_on_below() -> None:
    row = Row(
        "g", "n" * 18, RowKind.MEASURED, spread([0.123] * 9, "device"), Roof(0.1, "memory"), 0.5, 1.0,
        tie=True,
        limit="52% of the SMs idle", occupancy=0.25, cold=spread([0.456] * 9, "device"),
    )  # fmt: skip
    lines = platform_text(Platform("g"), (row,)).splitlines()
    assert max(map(len, lines)) <= 79
    assert (lines[2].split("  ")[-1], lines[3].strip()) == ("52% of the SMs", "idle, occ. 25%")


def test_data_is_json() -> None:
    data = json.loads(json.dumps(comparison_json(_comparison()), allow_nan=False))
    assert data["rows"][0]["time"]["samples"] == 9
    assert data["rows"][0]["values"] == {"?t": 64}
    assert data["rows"][2]["why"]["code"] == "K152"
    assert (data["rows"][0]["cold"]["seconds"], data["rows"][1]["cold"]) == (3.0, None)
    assert "source" not in data["rows"][0] and "picture" not in data["rows"][0]
    assert comparison_json(_comparison(), code=True)["rows"][0]["source"] == "int x;\n"


class _Page(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.links: list[str] = []
        self.frames: list[str] = []
        self.text = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.frames += [value or "" for name, value in attrs if name == "srcdoc"]
        self.links += [value or "" for name, value in attrs if name in ("src", "href")]

    def handle_data(self, data: str) -> None:
        self.text += data


def test_page_stands_alone() -> None:
    page = _Page()
    page.feed(comparison_page(_comparison()))
    assert (page.links, page.tags.count("script")) == ([], 0)
    assert "<b>" in page.text and "K152: a block needs 1 byte" in page.text
    assert page.tags.count("table") == 4
    assert "prefers-color-scheme: dark" in page.text and "max-width:640px" in page.text


def test_page_of_a_schedule_stands_in_the_page() -> None:
    found = _comparison()
    drawn = replace(found.rows[0], picture="""<p class="x">a &amp; b's</p>""")
    text = comparison_page(replace(found, rows=(drawn, *found.rows[1:])))
    page = _Page()
    page.feed(text)
    assert text.index("<script") < text.index("<iframe"), "there before the first page asks for it"
    assert page.frames == [drawn.picture]
    assert page.tags.count("script") == 1, "all pages of schedules take theirs from the page around"
    assert "int y;" in page.text and "int x;" not in page.text


def test_estimates_are_marked_on_the_page() -> None:
    text = comparison_page(_comparison())
    assert all(f">~ {figure}<" in text for figure in ("2 s", "50%", "1.00"))


def test_the_page_says_what_marks_and_clocks_mean() -> None:
    """As the text does; and of estimates alone nothing is called verified."""
    found = _comparison()
    text = comparison_page(found)
    assert "by the caller&#x27;s clock, call and all: numpy" in text
    assert "≈: turn by turn it cannot be told from the fastest" in text
    assert "not here: ~ estimates of the cost model, nothing was measured" in text
    assert "was verified" in text
    rows = tuple(r for r in found.rows if r.kind is not RowKind.MEASURED)
    assert "was verified" not in comparison_page(replace(found, rows=rows))


def test_a_missing_interval_is_explained() -> None:
    few = Row("c", "a", RowKind.MEASURED, spread([1.0, 1.1, 1.2], "device"), Roof(1.0, "arithmetic"))
    assert "?: too few runs for an interval" in platform_text(Platform("c"), (few,))
