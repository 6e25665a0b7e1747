"""-D and --set words, and the places of messages about them."""

import pytest

from mdh.cli.command_line import CommandLine
from mdh.cli.values import parse_defines, parse_sets
from mdh.diagnostics import Failed
from mdh.hardware import Space


def test_defines_bind_integers_texts_and_flags() -> None:
    words = ["N=1024", "T=float", "FLAG", "H=0x10", "NEG=-3", "E=1.5", "EQ=a=b"]
    assert parse_defines(CommandLine.of(words), words) == {
        "N": 1024,
        "T": "float",
        "FLAG": 1,
        "H": 16,
        "NEG": -3,
        "E": "1.5",
        "EQ": "a=b",
    }


def test_the_same_define_twice_is_one() -> None:
    assert parse_defines(CommandLine.of([]), ["N=4", "N=4"]) == {"N": 4}


def test_sets_take_names_with_and_without_question_mark() -> None:
    words = ["bm=64", "?where=SM"]
    assert parse_sets(CommandLine.of(words), words) == {"bm": 64, "where": Space.SM}


@pytest.mark.parametrize("word", ["", "=4", "4=N", "a b=1", "é=1", "N="])
def test_malformed_defines_are_refused(word: str) -> None:
    with pytest.raises(Failed) as failed:
        parse_defines(CommandLine.of(["check", "-D", word]), [word])
    assert failed.value.diagnostics[0].code == "F108"


@pytest.mark.parametrize(
    ("words", "word", "shown", "column"),
    [
        (["check", "a.c", "-D", "4=N"], "4=N", "4=N", 18),
        (["check", "-D4=N"], "4=N", "4=N", 13),
        (["check", "--machine=foo"], "foo", "foo", 21),
        (["check", "my file.c"], "my file.c", "my file.c", 12),
        (["check", "a\nb"], "a\nb", "$'a\\nb'", 11),
    ],
)
def test_words_are_found_on_the_line(words: list[str], word: str, shown: str, column: int) -> None:
    span = CommandLine.of(words).span_of(word)
    assert span is not None
    assert (span.text, span.line, span.column) == (shown, 1, column)


def test_a_word_that_is_not_there_has_no_place() -> None:
    assert CommandLine.of(["check"]).span_of("a.c") is None
