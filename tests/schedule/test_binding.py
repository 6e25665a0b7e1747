"""Named holes get their values; conditions are settled."""

import pytest

from mdh.diagnostics import Failed
from mdh.hardware import Space
from mdh.schedule.binding import bind
from mdh.schedule.canonical import canonical
from mdh.schedule.holes import HolePlace, holes
from mdh.schedule.model import Schedule
from mdh.schedule.parser import parse_schedule
from mdh.schedule.printer import print_schedule
from mdh.source import Source

OPEN = """(de-)comp( ?bm{32,64}, ?bn ) ( A:?r[?l], ? ; C:RM[?d,2] ) ( ?c, ^ ) @order(?o) @stages(?s{2,3})
where ?bm * ?bn <= 2048
where ?s < N and N >= 2
"""
VALUES: dict[str, int | str] = {
    "bm": 64, "bn": 32, "r": "LM", "l": "[2,1]", "d": 1, "c": "WG.x", "o": "grouped(8)", "s": 2,
}  # fmt: skip


def _parse(text: str) -> Schedule:
    return parse_schedule(Source("<test>", text))


def _codes(text: str, values: dict[str, int | str], constants: dict[str, int] | None = None) -> list[str]:
    with pytest.raises(Failed) as caught:
        bind(_parse(text), values, constants)
    return [d.code for d in caught.value.diagnostics]


def test_every_kind_of_hole() -> None:
    text = print_schedule(bind(_parse(OPEN), VALUES))
    assert text == (
        "(de-)comp( 64, 32 ) ( A:SM[2,1], ? ; C:RM[1,2] ) ( BLK.x, ^ ) @order(grouped(8)) @stages(2)\n"
        "where 2 < N and N >= 2\n"
    )


def test_constants_of_the_program_settle_conditions() -> None:
    assert bind(_parse(OPEN), VALUES, {"N": 3}).sections[0].wheres == ()
    assert _codes(OPEN, VALUES, {"N": 2}) == ["S122"]
    assert _codes(OPEN, VALUES, {"M": 2}) == ["S123"]


def test_what_remains_open() -> None:
    left = holes(bind(_parse(OPEN), VALUES))
    assert [(h.place, h.section, h.step) for h in left] == [(HolePlace.MEMORY, 0, 0)]
    places = [h.place for h in holes(_parse(OPEN))]
    assert places[:3] == [HolePlace.TILE, HolePlace.TILE, HolePlace.REGION]
    assert [h.attribute for h in holes(_parse(OPEN)) if h.place is HolePlace.ARGUMENT] == ["order", "stages"]


@pytest.mark.parametrize(
    ("values", "codes"),
    [
        ({"bx": 1}, ["S120"]),
        ({"bm": 16}, ["S121"]),
        ({"bm": Space.SM, "r": "THR.x", "c": 4, "o": "spiral", "l": "1,3"}, ["S121"] * 5),
        ({"bm": 64, "bn": 64}, ["S122"]),
    ],
)
def test_values_that_do_not_fit(values: dict[str, int | str], codes: list[str]) -> None:
    assert _codes(OPEN, values) == codes


def test_the_caret_of_a_false_condition() -> None:
    with pytest.raises(Failed) as caught:
        bind(_parse(OPEN), {"bm": 64, "bn": 64})
    (found,) = caught.value.diagnostics
    assert (found.labels[0].span.line, found.labels[0].span.column) == (2, 1)
    assert found.labels[0].message == "bm = 64, bn = 64"


def test_floor_division_precedence_and_short_circuit() -> None:
    step = "(de-)comp(?b)(^;^)(BLK.x)\n"
    bind(_parse(step + "where -7 / 2 == 0 - 4 and -7 % 4 == 1 and not 1 + 2 * ?b != 7"), {"b": 3})
    bind(_parse(step + "where ?b == 3 or 1 / 0"), {"b": 3})
    assert _codes(step + "where 1 / (?b - 3)", {"b": 3}) == ["S123"]


def test_canonical_drops_what_says_nothing() -> None:
    text = (
        "(de-)comp( 64, ?{32,128} ) ( A:SM[1]@pad(0)@copy(plain), B:SM[1]@pad(4) ; ^@cache(default) )"
        " ( BLK.x, BLK.y ) @order(grouped(1)) @stages(1) @persistent\n"
        "(de-)comp( 4, ?{32,128} ) ( ^, ^ ; ^ ) ( THR.x@cyclic(4), THR.y@cyclic(2) )\n"
        "(de-)comp( 2, 1 ) ( ^, ^ ; ^ ) ( WRP.x@cyclic(1), ^ )\n"
    )
    assert print_schedule(canonical(_parse(text))) == (
        "(de-)comp( 64, ?{32,128} ) ( A:SM[1], B:SM[1]@pad(4) ; ^ ) ( BLK.x, BLK.y )           @persistent\n"
        "(de-)comp( 4, ?{32,128} )  ( ^, ^ ; ^ )                    ( THR.x, THR.y@cyclic(2) )\n"
        "(de-)comp( 2, 1 )          ( ^, ^ ; ^ )                    ( WRP.x@cyclic(1), ^ )\n"
    )
