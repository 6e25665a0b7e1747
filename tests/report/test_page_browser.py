"""The page of a schedule in a headless browser: it loads, its controls work, what it lights up is true."""

import json
from collections.abc import Iterator
from itertools import product
from pathlib import Path
from random import Random
from typing import Any

import pytest

from mdh.assembly.hot import HotLoop
from mdh.assembly.listing import Instruction
from mdh.checker.run import check
from mdh.cli.main import run
from mdh.counters.counted import Counted, CounterValue
from mdh.diagnostics import Failed
from mdh.frontend.c.read import read_program
from mdh.lower.run import lower
from mdh.machine import load_machine
from mdh.report.picture.page import schedule_page
from mdh.report.picture.refused import refused_page
from mdh.report.picture.stage import StageView, stage_view
from mdh.schedule.parser import parse_schedule
from mdh.source import Source
from mdh.target.emit import emit
from tests.report.test_ownership import SMALL, digits_of, shown, small_plan
from tests.report.test_page import LARGE, written
from tests.support.browser import browser, errors, missing, resize, scheme, scripts, show
from tests.support.source_tree import ROOT

pytestmark = pytest.mark.skipif(bool(missing()), reason=missing() or "a browser is there")
PAGES = [
    LARGE,
    ("matmul", "matmul/generic-cpu/base", ["-D", "M=512", "-D", "N=512", "-D", "K=512"]),
    ("conv2d", "conv2d/h200/base", []),
    ("ccsdt_1", "ccsdt_1/h200/base", []),
    ("dot", "dot/h200/kernel", []),
    ("prefix_sum", "prefix_sum/h200/base", []),
    ("histogram", "histogram/h200/base", []),
    ("gather_sum", "gather_sum/h200/base", []),
    ("softmax", "softmax/h200/base", []),
]


@pytest.fixture(scope="module")
def driver() -> Iterator[Any]:
    with browser() as opened:
        yield opened


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("pages")
    return {schedule: written(folder, program, schedule, words) for program, schedule, words in PAGES}


@pytest.fixture
def page(driver: Any, pages: dict[str, Path]) -> Any:
    """The page of a product of 1024³ in a window of 1280 pixels, light."""
    scheme(driver, dark=False)
    resize(driver, 1280, 900)
    show(driver, pages["matmul/h200/base"])
    return driver


def _lit(page: Any, picture: str) -> str:
    found: str = page.execute_script(
        "return document.querySelector(`[data-picture='${arguments[0]}'] .lit`).getAttribute('d')", picture
    )
    return found


def _step(page: Any) -> int:
    found: int = page.execute_script("return mdhPage.views[0].step")
    return found


@pytest.mark.parametrize("name", [p[1] for p in PAGES])
@pytest.mark.parametrize("width", [1280, 390])
def test_loads_without_errors_and_fits(driver: Any, pages: dict[str, Path], name: str, width: int) -> None:
    """All steps of all stages are walked through."""
    resize(driver, width, 900)
    show(driver, pages[name])
    driver.execute_script("mdhPage.views.forEach(v => v.stage.steps.forEach((_, s) => v.go(s)))")
    assert errors(driver) == []
    assert driver.execute_script("return document.documentElement.scrollWidth") <= width
    empty = (
        "return [...document.querySelectorAll('.picture svg')].filter(s => !s.querySelector('.lit')).length"
    )
    assert driver.execute_script(empty) == 0


def test_a_stage_of_one_element_is_shown(driver: Any, tmp_path: Path) -> None:
    """No step splits it."""
    page = tmp_path / "one.html"
    words = ["-D", "M=1", "-D", "N=1", "-D", "K=1", "--machine", "h200", "--html", str(page)]
    assert run(["explain", str(ROOT / "inputs_c" / "matmul.c"), *words]) == 0
    resize(driver, 1280, 900)
    show(driver, page)
    assert errors(driver) == []
    assert driver.find_element("css selector", ".count").text == "step 1 of 1"
    assert "A[0][0]" in driver.find_element("css selector", ".who").text


@pytest.mark.parametrize("name", [p[1] for p in PAGES])
def test_pictures_stay_light(driver: Any, pages: dict[str, Path], name: str) -> None:
    resize(driver, 1280, 900)
    show(driver, pages[name])
    slowest = driver.execute_script("""
        let worst = 0;
        let letters = 0;
        const pictures = [...document.querySelectorAll(".picture svg")];
        for (const v of mdhPage.views)
          for (v.zoom of [true, false])
            for (v.scope of ["part", ...v.stage.layers])
              for (let s = 0; s < v.stage.steps.length; s++) {
                const start = performance.now();
                v.go(s);
                worst = Math.max(worst, performance.now() - start);
                letters = Math.max(letters, ...pictures.map(p => p.innerHTML.length));
              }
        return [worst, letters, document.querySelectorAll(".picture svg *").length];""")
    milliseconds, letters, nodes = slowest
    assert milliseconds < 500
    assert letters < 400_000
    assert nodes < 4000


def test_steps_by_buttons_keys_and_clicks(page: Any) -> None:
    page.execute_script("document.querySelector('[data-go=\"1\"]').click()")
    assert _step(page) == 1
    page.find_element("css selector", "body").send_keys("\ue014\ue014")  # arrow right
    assert _step(page) == 3
    page.find_element("css selector", "body").send_keys("\ue012")
    assert _step(page) == 2
    page.execute_script("document.querySelector('button.step[data-step=\"4\"]').click()")
    assert _step(page) == 4
    on = page.execute_script(
        "return [...document.querySelectorAll('.code .l.on')].map(l => l.textContent.trim())"
    )
    assert "__align__(16) float A_RM[8];" in on
    assert page.execute_script("return document.querySelector('.steplist .on button').dataset.step") == "4"
    page.execute_script(
        "[...document.querySelectorAll('.code .l')].find(l => l.textContent.includes('k_2 = 0')).click()"
    )
    assert _step(page) == 1


def test_a_step_that_is_pointed_at_shows_its_lines(page: Any) -> None:
    """In the list beside the text, and in the one beside the pictures."""
    hot = "return [...document.querySelectorAll('.code .l.hot')].map(l => l.textContent.trim())"
    for button in (".mini[data-mini='0.1']", ".steplist > li:nth-child(2)"):
        page.execute_script(
            f"document.querySelector(`{button}`).dispatchEvent(new PointerEvent('pointerenter'))"
        )
        assert any(line.startswith("for (int k_2 = 0;") for line in page.execute_script(hot))
        page.execute_script(
            f"document.querySelector(`{button}`).dispatchEvent(new PointerEvent('pointerleave'))"
        )
        assert page.execute_script(hot) == []
    page.execute_script("document.querySelector(`.mini[data-mini='0.4']`).click()")
    assert _step(page) == 4
    seen = """const l = document.querySelector('.code .l.on').getBoundingClientRect();
        const c = document.querySelector('.code').getBoundingClientRect();
        return c.top <= l.top && l.bottom <= c.bottom"""
    assert page.execute_script(seen)


def test_the_hot_loop_shows_its_lines(driver: Any, tmp_path: Path) -> None:
    """And the page says where the time goes, on a telephone too."""
    page = tmp_path / "page.html"
    one = Instruction("vfmadd231ps ymm3,ymm2,ymm1", 12)
    loop = HotLoop("f", "a <CPU>", 0, (one, Instruction("jne 10 <f+0x1>", None)), 64)
    counts = (
        CounterValue("task-clock", 20.0, "ms"),
        CounterValue("cycles", 6e7),
        CounterValue("instructions", 1.2e8),
    )
    counted = Counted("perf", "a CPU", 3, 0.01, counts, "this processor does not count cache-misses")
    plan = small_plan("warps")
    module = lower(plan)
    text = schedule_page(plan, module, emit(module, plan.program), hot=loop, counted=counted)
    page.write_text(text, encoding="utf-8")
    resize(driver, 390, 900)
    show(driver, page)
    driver.execute_script(
        "document.querySelector('.asm .l[data-n]').dispatchEvent(new PointerEvent('pointerenter'))"
    )
    lines = "return [...document.querySelectorAll('.beside .code .l')].map(l => l.classList.contains('hot'))"
    assert [n for n, lit in enumerate(driver.execute_script(lines), 1) if lit] == [12]
    spent = driver.find_element("css selector", ".spent").text
    assert "Not all counters: this processor does not count cache-misses." in spent
    assert "2.00\ninstructions a cycle" in spent
    assert "jne 10 <f+0x1>" in driver.find_element("css selector", ".asm").text
    assert driver.execute_script("return document.documentElement.scrollWidth") <= 390
    assert errors(driver) == []


def test_hover_lights_the_same_unit_everywhere(page: Any) -> None:
    before = [_lit(page, n) for n in ("space", "0", "1", "2")]
    _point(page, "2", 0.9, 0.4)
    after = [_lit(page, n) for n in ("space", "0", "1", "2")]
    assert all(a != b for a, b in zip(before, after, strict=True))
    said = page.execute_script("return document.querySelector('.who').textContent")
    assert "BLK.y 3" in said and "BLK.x 7" in said
    page.execute_script(
        "document.querySelector('[data-picture=\"2\"] svg').dispatchEvent(new PointerEvent('pointerleave'))"
    )
    assert [_lit(page, n) for n in ("space", "0", "1", "2")] == before


def test_a_click_stays_and_arrows_move_the_focused_picture(page: Any) -> None:
    _point(page, "space", 0.6, 0.6, "click")
    assert page.execute_script("return mdhPage.views[0].kept.map(x => Math.floor(x / 128))")[:2] == [4, 4]
    page.find_element("css selector", "[data-picture='space'] svg").send_keys("\ue015")  # arrow down
    assert page.execute_script("return mdhPage.views[0].kept.map(x => Math.floor(x / 128))")[:2] == [5, 4]
    assert _step(page) == 0


def _point(page: Any, picture: str, x: float, y: float, kind: str = "pointermove") -> None:
    page.execute_script(
        """const [picture, x, y, kind] = arguments;
        const svg = document.querySelector(`[data-picture='${picture}'] svg`);
        const box = svg.getBoundingClientRect();
        const at = { clientX: box.left + x * box.width, clientY: box.top + y * box.height, bubbles: true };
        svg.dispatchEvent(kind === "click" ? new MouseEvent("click", at) : new PointerEvent(kind, at));""",
        picture, x, y, kind,
    )  # fmt: skip


def test_dark_and_light(page: Any) -> None:
    colour = "return getComputedStyle(document.body).backgroundColor"
    light = page.execute_script(colour)
    scheme(page, dark=True)
    dark = page.execute_script(colour)
    scheme(page, dark=False)
    assert (light, dark) == ("rgb(251, 251, 249)", "rgb(21, 24, 28)")


@pytest.mark.parametrize("width", [1280, 390])
def test_letters_are_large_enough(page: Any, width: int) -> None:
    resize(page, width, 900)
    smallest = page.execute_script(
        "return Math.min(...[...document.querySelectorAll('main *')]"
        ".filter(n => n.offsetParent && n.textContent.trim())"
        ".map(n => parseFloat(getComputedStyle(n).fontSize)))"
    )
    assert smallest >= 11.5


def test_without_scripts_all_is_there_but_the_controls(driver: Any, pages: dict[str, Path]) -> None:
    scripts(driver, on=False)
    try:
        show(driver, pages["matmul/h200/base"])
        assert len(driver.find_elements("css selector", ".picture svg rect")) >= 4 * 6
        assert len(driver.find_elements("css selector", ".code .l")) > 100
        assert not any(node.is_displayed() for node in driver.find_elements("css selector", ".js"))
        assert driver.find_element("css selector", ".steplist").is_displayed()
    finally:
        scripts(driver, on=True)


def test_other_dimensions_are_chosen(driver: Any, pages: dict[str, Path]) -> None:
    """A contraction of seven dimensions shows any two of them; the others have sliders."""
    show(driver, pages["ccsdt_1/h200/base"])
    counts = driver.execute_script("""
        const view = mdhPage.views[0], figure = document.querySelector("[data-picture='space']");
        const before = figure.querySelector(".range").textContent;
        const select = figure.querySelector("select");
        select.value = "5";
        select.dispatchEvent(new Event("change"));
        const slider = document.querySelector(".sliders input"); slider.value = 1;
        slider.dispatchEvent(new Event("input"));
        return [before !== figure.querySelector(".range").textContent, view.space.dims[0],
                document.querySelectorAll(".sliders input").length, view.kept[slider.dataset.dim],
                view.stage.dims.length];""")
    changed, across, sliders, kept, dims = counts
    assert changed and (across, kept) == (5, 1)
    assert sliders == dims - 2


# -- what is lit is true -----------------------------------------------------------------------------------


@pytest.mark.parametrize("name", SMALL)
def test_lit_elements_are_those_of_the_unit(driver: Any, tmp_path: Path, name: str) -> None:
    """The page's own sets, for some points and every unit layer, equal those checked against the kernels."""
    plan = small_plan(name)
    module = lower(plan)
    page = tmp_path / "page.html"
    page.write_text(schedule_page(plan, module, emit(module, plan.program)), encoding="utf-8")
    show(driver, page)
    view, rng = stage_view(plan, plan.stages[0]), Random(name)
    for _ in range(6):
        at = [rng.randrange(dim.extent) for dim in view.dims]
        for layer in view.layers:
            mine = driver.execute_script(
                "const [at, layer] = arguments, v = mdhPage.views[0];"
                "const fixed = mdhPage.fixedFor(v.stage, at, 0, layer);"
                "return JSON.stringify(mdhPage.touched(v.stage, fixed))", at, layer,
            )  # fmt: skip
            assert _numbered(view, json.loads(mine)) == shown(view, _units(view, at, layer))
            _drawn_as_projected(driver, at, layer, view)


@pytest.mark.parametrize(
    "name", ["matmul/h200/base", "prefix_sum/h200/base", "dot/h200/kernel", "conv2d/h200/base"]
)
def test_lit_at_full_size(driver: Any, pages: dict[str, Path], name: str) -> None:
    """At every step and for every scope: the window's elements that are lit are those of the digits."""
    show(driver, pages[name])
    checked, wrong = driver.execute_script("""
        const wrong = [];
        let checked = 0;
        for (const v of mdhPage.views) for (v.scope of ["part", ...v.stage.layers])
          for (let s = 0; s < v.stage.steps.length; s++) {
            v.kept = v.at = v.stage.dims.map((d, n) => Math.floor(d.extent * (0.31 + 0.07 * n)));
            v.go(s);
            const fixed = mdhPage.fixedFor(v.stage, v.at, s, v.scope), limits = v.space.limits();
            limits.forEach(([lo, hi, res], d) => {
              const dim = v.stage.dims[d], last = fixed[d].findLastIndex(want => want !== null);
              if (hi - lo > 20000 || (last >= 0 && dim.digits[last].weight < res)) return;
              checked++;
              const lit = mdhPage.runs(dim, fixed[d], lo, hi, res);
              for (let e = lo; e < hi; e++) {
                const mine = fixed[d].every((want, k) => {
                  let rest = e;
                  for (let n = 0; n < k; n++) rest %= dim.digits[n].weight;
                  return want === null || Math.floor(rest / dim.digits[k].weight) === want;
                });
                const shown = lit.some(([a, b]) => a <= e && e < b);
                if (mine !== shown) wrong.push([v.scope, s, dim.name, e]);
              }
            });
          }
        return [checked, wrong.slice(0, 5)];""")
    assert checked >= 3
    assert wrong == []


def _units(view: StageView, at: list[int], layer: str) -> dict[str, int]:
    outer = view.layers[: view.layers.index(layer) + 1]
    digits = {n: v for dim, e in zip(view.dims, at, strict=True) for n, v in digits_of(dim, e).items()}
    return {d.var: digits[d.var] for dim in view.dims for d in dim.digits if d.layer in outer}


def _numbered(view: StageView, touched: dict[str, list[str]]) -> tuple[set[Any], set[Any]]:
    shapes = {a.name: a.shape for a in view.arrays}
    out: tuple[set[Any], set[Any]] = (set(), set())
    for key, indices in touched.items():
        name, way = key.split()
        for index in indices:
            at = 0
            for i, n in zip(index.split(","), shapes[name], strict=True):
                at = at * n + int(i)
            out[way == "out"].add((name, at))
    return out


def _drawn_as_projected(driver: Any, at: list[int], layer: str, view: StageView) -> None:
    """The rectangles of every array's picture cover the shadow of the touched elements, and nothing else."""
    drawn = driver.execute_script(
        """const v = mdhPage.views[0], [at, layer] = arguments; v.scope = layer;
        const fixed = mdhPage.fixedFor(v.stage, at, 0, layer);
        const sets = v.stage.dims.map((dim, d) => mdhPage.runs(dim, fixed[d], 0, dim.extent, 0));
        return v.pictures.slice(1).map(p => [p.dims, p.sets(sets)]);""", at, layer,
    )  # fmt: skip
    read, written_ = shown(view, _units(view, at, layer))
    for array, (dims, rects) in zip(view.arrays, drawn, strict=True):
        cells = {c for x0, x1, y0, y1 in rects for c in product(range(x0, x1), range(y0, y1))}
        wanted = {_shadow(array.shape, dims, n) for name, n in read | written_ if name == array.name}
        assert cells == wanted


def _shadow(shape: tuple[int, ...], dims: list[int | None], number: int) -> tuple[int, ...]:
    index = []
    for n in reversed(shape):
        number, at = divmod(number, n)
        index.insert(0, at)
    return tuple(0 if k is None else index[k] for k in dims)


def test_a_refused_schedule(driver: Any, tmp_path: Path) -> None:
    """Shown on a telephone, too."""
    text = Source("s.mdh", "1: (de-)comp( 128, 4096, ^ ) ( ^, ^ ; ^ ) ( BLK.y, BLK.x, ^ )\n")
    program = read_program(Source("f.c", (ROOT / "inputs_c" / "matmul.c").read_text()))
    with pytest.raises(Failed) as failed:
        check(program, parse_schedule(text), load_machine("h200"), "cuda")
    page = tmp_path / "page.html"
    page.write_text(refused_page("s.mdh", [text], list(failed.value.diagnostics)), encoding="utf-8")
    resize(driver, 390, 900)
    show(driver, page)
    assert errors(driver) == []
    assert driver.find_element("css selector", "#K104").is_displayed()
    assert driver.execute_script("return document.documentElement.scrollWidth") <= 390


def test_a_refused_schedule_begins_at_the_bad_step(driver: Any, tmp_path: Path) -> None:
    """Its tile is whole, because nothing splits it; the steps before are walked through as ever."""
    schedule, page = tmp_path / "bad.mdh", tmp_path / "page.html"
    schedule.write_text(
        "1: (de-)comp( 128, 128, ^ ) ( ^, ^ ; ^ ) ( BLK.y, BLK.x, ^ )\n"
        "2: (de-)comp( ^, 256, ^ ) ( ^, ^ ; ^ ) ( ^, THR.x, ^ )\n"
        "3: (de-)comp( 1, 1, 1 ) ( ^, ^ ; ^ ) ( ^, ^, ^ )\n"
    )
    words = [str(ROOT / "inputs_c" / "matmul.c"), "--schedule", str(schedule), "--machine", "h200", *LARGE[2]]
    assert run(["explain", *words, "--html", str(page)]) == 1
    resize(driver, 390, 900)
    show(driver, page)
    assert driver.find_element("css selector", ".count").text == "step 2 of 2"
    cells = """return [...document.querySelectorAll('[data-picture="space"] .cell')]
        .reduce((n, path) => n + path.getAttribute("d").split("M").length - 1, 0)"""
    assert driver.execute_script(cells) == 1
    driver.execute_script("mdhPage.views[0].go(0)")
    assert driver.execute_script(cells) > 1
    assert driver.execute_script("return document.documentElement.scrollWidth") <= 390
    assert errors(driver) == []


@pytest.mark.parametrize("width", [1280, 390])
@pytest.mark.parametrize("dark", [False, True])
def test_pages_of_schedules_work_inside_a_comparison(
    driver: Any, tmp_path: Path, width: int, dark: bool
) -> None:
    page = tmp_path / "compared.html"
    schedule = str(ROOT / "schedules" / "matmul/h200/base.mdh")
    words = [str(ROOT / "inputs_c" / "matmul.c"), "-s", schedule, "-s", "default", "--machine", "h200"]
    assert run(["compare", *words, "--html", str(page)]) == 0
    assert page.read_text(encoding="utf-8").count("class View ") == 1, "the script is there once"
    scheme(driver, dark=dark)
    resize(driver, width, 900)
    show(driver, page)
    driver.execute_script("document.querySelectorAll('details').forEach(d => { d.open = true; })")
    frames = driver.find_elements("css selector", "iframe")
    assert len(frames) == 2
    colours = {driver.execute_script("return getComputedStyle(document.body).backgroundColor")}
    for frame in frames:
        driver.execute_script("arguments[0].scrollIntoView()", frame)
        driver.switch_to.frame(frame)
        driver.execute_script("document.querySelector('[data-go=\"1\"]').click()")
        assert _step(driver) == 1
        size = "return [document.documentElement.scrollWidth, innerWidth]"
        wide, inner = driver.execute_script(size)
        assert wide <= inner
        colours.add(driver.execute_script("return getComputedStyle(document.body).backgroundColor"))
        driver.switch_to.default_content()
    scheme(driver, dark=False)
    assert len(colours) == 1, "light and dark are those of the page around"
    assert driver.execute_script("return document.documentElement.scrollWidth") <= width
    assert errors(driver) == []


def test_pages_inside_a_comparison_can_be_read_without_scripts(driver: Any, tmp_path: Path) -> None:
    """Their pictures keep their colours: what is shared is the script alone."""
    page = tmp_path / "compared.html"
    words = [str(ROOT / "inputs_c" / "matmul.c"), "-s", "default", "--machine", "h200", "--html", str(page)]
    assert run(["compare", *words]) == 0
    resize(driver, 1280, 900)
    show(driver, page)
    driver.execute_script("document.querySelectorAll('details').forEach(d => { d.open = true; })")
    opened = tmp_path / "opened.html"
    opened.write_text(driver.page_source.replace('loading="lazy"', ""), encoding="utf-8")
    scripts(driver, on=False)
    try:
        show(driver, opened)
        driver.switch_to.frame(driver.find_element("css selector", "iframe"))
        assert driver.find_element("css selector", ".steplist").is_displayed()
        assert not any(node.is_displayed() for node in driver.find_elements("css selector", ".js"))
        cell = driver.find_element("css selector", ".picture svg rect.cell, .picture svg .blk")
        assert cell.value_of_css_property("fill") not in ("rgb(0, 0, 0)", "none")
    finally:
        driver.switch_to.default_content()
        scripts(driver, on=True)
