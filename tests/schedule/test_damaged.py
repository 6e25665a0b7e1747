"""Damaged schedules: a coded answer at once, never a traceback; the grammar file agrees with the parser."""

import os
import time
from functools import cache
from pathlib import Path
from random import Random

import pytest
from lark import Lark
from lark.exceptions import UnexpectedInput

from mdh.diagnostics import Failed, render_text
from mdh.schedule.parser import parse_schedule
from mdh.source import Source
from mdh.textfile import SCHEDULE_LIMIT
from tests.support.mutations import mutate
from tests.support.source_tree import ROOT

COUNT = int(os.environ.get("MDH_MUTATIONS", "600"))
SEED = int(os.environ.get("MDH_SEED", "20261121"))
TEXTS = [p.read_text(encoding="utf-8") for p in sorted((ROOT / "schedules").rglob("*.mdh"))]
HANG = 20
"""Seconds of this process: texts take a fraction of one, hangs do not end (scripts/fuzz has the times)."""
SYNTAX = {"S101", "S106", "S112"}
"""Codes of texts that the grammar does not derive; S102-S104 are limits, all others are about words."""


def _codes(text: str) -> set[str]:
    try:
        parse_schedule(Source("<damaged>", text))
    except Failed as failed:
        assert all(render_text(d) for d in failed.diagnostics)
        return {d.code for d in failed.diagnostics}
    return set()


@cache
def _grammar() -> Lark:
    text = Path(__file__).with_name("grammar.lark").read_text(encoding="utf-8")
    return Lark(text, parser="lalr", lexer="contextual", maybe_placeholders=False)


def _derives(text: str) -> bool:
    try:
        _grammar().parse(text)
    except UnexpectedInput:
        return False
    return True


def test_damaged_texts() -> None:
    rng = Random(SEED)
    for n in range(COUNT):
        text = mutate(rng, rng.choice(TEXTS), TEXTS)
        started = time.process_time()
        codes = _codes(text)
        assert time.process_time() - started < HANG, f"seed {SEED}, text {n} took too long:\n{text}"
        if not codes & {"S102", "S103", "S104", "S105", "S114"}:
            assert _derives(text) == (not codes & SYNTAX), f"seed {SEED}, text {n}, {codes}:\n{text}"


@pytest.mark.parametrize("text", TEXTS)
def test_the_grammar_derives_what_ships(text: str) -> None:
    assert _derives(text)


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("(" * 10000, "S101"),
        ("where " + "(" * 10000, "S104"),
        ("where " + "not " * 10000 + "1", "S104"),
        ("where " + "-" * 10000 + "1", "S104"),
        ("where " + "1 + " * 10000 + "1", "S104"),
        ("(de-)comp(1)(^@copy(" + "plain else " * 5000 + "plain);^)(^)", "S111"),
        ("(de-)comp(1)(^;^)(^)@order(" + "a(" * 5000, "S104"),
        ("(de-)comp(?" + "{1," * 5000, "S101"),
        ("/*" * 10000, "S106"),
        ("9" * 10000 + ":", "S105"),
        ("(de-)comp(" + "1," * 20000 + "1)(^;^)(^)", "S113"),
        ("a\0b", "S102"),
        ("x" * (1 << 20), "S103"),
        ("(de-)comp(1)(^;^)(^)\n" * 60000, "S103"),
    ],
    ids=range(14),
)
def test_extreme_texts(text: str, code: str) -> None:
    started = time.process_time()
    assert code in _codes(text)
    assert time.process_time() - started < HANG


def test_the_largest_text_is_read_in_time() -> None:
    step = "1: (de-)comp( 8, ^ ) ( A:SM[1,2]@pad(4), ^ ; C:RM[1,2] ) ( BLK.x, FOR.1 ) @stages(2)\n"
    text = step * (SCHEDULE_LIMIT // len(step))
    started = time.process_time()
    assert not _codes(text)
    assert time.process_time() - started < HANG


def test_every_wrong_word_is_named_at_its_place() -> None:
    text = "1: (de-)comp( 0, 4 ) ( A:SN[1]@pda(3) ; C:RM[0] )\n   ( BLX.x, THR.w ) @stages(17)"
    with pytest.raises(Failed) as caught:
        parse_schedule(Source("<test>", text))
    places = [(d.code, d.labels[0].span.line, d.labels[0].span.column) for d in caught.value.diagnostics]
    assert places == [
        ("S105", 1, 15),
        ("S108", 1, 26),
        ("S109", 1, 31),
        ("S105", 1, 46),
        ("S107", 2, 6),
        ("S107", 2, 17),
        ("S111", 2, 29),
    ]
