"""The trials of a tuning in a headless browser: sorted, brushed, and shown while the tuning runs."""

import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from mdh.cli.tune_board import Board, BoardRun, BoardServer
from mdh.report.html import page
from tests.cli.test_tune_serve import NOW
from tests.report.test_tune import many, tuned
from tests.support.browser import browser, errors, missing, resize, show

pytestmark = pytest.mark.skipif(bool(missing()), reason=missing() or "a browser is there")
CHOOSE = """const [name, value] = arguments, node = document.querySelector(`[data-choose="${name}"]`);
node.value = value; node.dispatchEvent(new Event("change"));"""
ROWS = """return [...document.querySelectorAll('.sortable tbody tr:not(.out)')]
    .map(r => [...r.cells].map(c => c.textContent))"""


@pytest.fixture(scope="module")
def driver() -> Iterator[Any]:
    with browser() as opened:
        yield opened


@pytest.fixture
def opened(driver: Any, tmp_path: Path) -> Any:
    (tmp_path / "page.html").write_text(page(tuned(many())), encoding="utf-8")
    resize(driver, 1280, 900)
    show(driver, tmp_path / "page.html")
    return driver


def _rows(driver: Any) -> list[list[str]]:
    found: list[list[str]] = driver.execute_script(ROWS)
    return found


def test_sorted_by_any_column_both_ways(opened: Any) -> None:
    heads = opened.find_elements("css selector", ".sortable th button")
    for column, key in ((0, int), (2, int), (3, str)):
        for way in (1, -1):
            heads[column].click()
            found = [key(row[column]) for row in _rows(opened)]
            assert found == sorted(found, reverse=way < 0)
            said = opened.find_elements("css selector", ".sortable th")[column].get_attribute("aria-sort")
            assert said == ("ascending" if way > 0 else "descending")
    # failed trials have no time, and are last both ways
    for _ in range(2):
        heads[1].click()
        assert all("compile" in row[-1] for row in _rows(opened)[-6:])
    assert errors(opened) == []


def test_a_range_that_is_dragged_selects_trials_everywhere(opened: Any) -> None:
    """The range of ?bm = 16 alone."""
    opened.execute_script("""
        const strip = document.querySelector('.strip[data-name="?bm"]'), svg = strip.ownerSVGElement;
        const at = JSON.parse(strip.dataset.places)[1];
        const point = y => new DOMPoint(0, y).matrixTransform(svg.getScreenCTM());
        strip.setPointerCapture = () => {};
        const send = (kind, y) => strip.dispatchEvent(new PointerEvent(kind, { clientY: point(y).y }));
        send("pointerdown", at - 12); send("pointermove", at + 12); send("pointerup", at + 12);""")
    rows = _rows(opened)
    assert {row[2] for row in rows} == {"16"}
    wanted = {str(t.number) for t in many() if dict(t.candidate.values)["?bm"] == 16}
    assert {row[0] for row in rows} == wanted
    lit = "return [...document.querySelectorAll('circle:not(.out)[data-t]')].map(c => c.dataset.t)"
    assert set(opened.execute_script(lit)) == wanted
    said = opened.find_element("css selector", ".selected").text
    assert said.startswith(f"{len(wanted)} of 60 trials are in the range: best")
    # a second range narrows the first
    opened.execute_script(CHOOSE, "hole", "2.core.j")
    opened.execute_script(CHOOSE, "to", "0")
    assert {(row[2], row[3]) for row in _rows(opened)} == {("16", "BLK.x")}
    opened.execute_script("document.querySelector('.ranges .all').click()")
    assert len(_rows(opened)) == 60
    assert errors(opened) == []


def test_a_range_of_the_time_leaves_failures_out(opened: Any) -> None:
    opened.execute_script(CHOOSE, "hole", "time")
    opened.execute_script(CHOOSE, "to", "6")
    rows = _rows(opened)
    assert 0 < len(rows) < 54
    assert all(row[-1] != "compile D103" for row in rows)


def test_readable_on_a_telephone(opened: Any) -> None:
    resize(opened, 390, 900)
    opened.refresh()
    assert opened.execute_script("return document.documentElement.scrollWidth") <= 390
    scale = "return Math.min(...[...document.querySelectorAll('svg')].map(s => s.getScreenCTM().a))"
    assert opened.execute_script(scale) >= 0.99, "letters in charts are not made smaller"
    assert errors(opened) == []


def test_live(driver: Any) -> None:
    """Trials appear, what the reader chose stays, the end is said, and nothing is refused by the policy."""
    board = Board("matmul")
    run = board.begin(BoardRun("matmul", (), ("c",), "evolution"))
    server = BoardServer(board, 0)
    try:
        for one in many()[:20]:
            board.tell(run, NOW, one)
        driver.get(server.address)
        _until(driver, "return document.querySelectorAll('.sortable tbody tr').length === 20")
        driver.execute_script(CHOOSE, "hole", "?bm")
        driver.execute_script(CHOOSE, "to", "0")
        for one in many()[20:]:
            board.tell(run, NOW, one)
        _until(driver, "return document.querySelectorAll('.sortable tbody tr').length === 60")
        assert {row[2] for row in _rows(driver)} == {"8"}
        board.end(run, tuned(many()))
    finally:
        server.leave()
    _until(driver, "return document.querySelector('.state').textContent.includes('has ended')")
    assert len(driver.find_elements("css selector", ".sortable tbody tr")) == 60
    assert errors(driver) == []


def _until(driver: Any, condition: str) -> None:
    end = time.monotonic() + 15
    while not driver.execute_script(condition):
        assert time.monotonic() < end, condition
        time.sleep(0.05)
