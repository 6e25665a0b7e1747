"""Trials and headers survive the way to JSON and back; lines that are not what was written never load."""

import json
import math
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mdh.results.trial import LAST, LONGEST, SHORTEST, Candidate, Failure, Outcome, Trial
from mdh.tuner.records.form import header_fields, header_from, trial_fields, trial_from
from mdh.tuner.records.header import Header
from mdh.tuner.records.line import DEPTH_LIMIT, LINE_LIMIT, BadLineError, seal, unseal
from tests.tune.records.samples import header, trial

TEXTS = st.text(max_size=20)
SECONDS = st.floats(0.0, LONGEST).map(abs)
RUNS = st.lists(st.floats(SHORTEST, LONGEST), max_size=4).map(tuple)
COUNTS = st.integers(0, LAST - 1)
NUMBERS = st.integers(-(2**63), 2**64)
OWN = frozenset(trial_fields(trial(0), "")) | {"sum", "schema"}


def _pairs(values: st.SearchStrategy[object]) -> st.SearchStrategy[tuple[tuple[str, object], ...]]:
    return st.dictionaries(TEXTS, values, max_size=4).map(lambda d: tuple(d.items()))


JSON = st.recursive(
    st.none() | st.booleans() | NUMBERS | SECONDS | TEXTS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3),
    max_leaves=6,
)
OUTCOMES = st.builds(
    Outcome,
    failure=st.none() | st.sampled_from(Failure),
    code=TEXTS, message=TEXTS, warm=RUNS, cold=RUNS, clock=TEXTS, stopped=st.booleans(),
    build_seconds=SECONDS, check_seconds=SECONDS, measure_seconds=SECONDS,
    resources=_pairs(NUMBERS), clocks=RUNS, device=TEXTS, title=TEXTS, versions=_pairs(TEXTS),
    innocent=st.booleans(),
)  # fmt: skip
TRIALS = st.builds(
    Trial,
    number=COUNTS,
    candidate=st.builds(Candidate, key=TEXTS, schedule=TEXTS, values=_pairs(NUMBERS | TEXTS)),
    origin=TEXTS, phase=TEXTS, outcome=OUTCOMES, started=SECONDS, elapsed=SECONDS,
    extra=st.dictionaries(TEXTS.filter(lambda name: name not in OWN), JSON.map(json.dumps), max_size=3)
    .map(lambda d: tuple(d.items())),
)  # fmt: skip
HEADERS = st.builds(
    Header,
    program=TEXTS, schedule=TEXTS, sizes=_pairs(NUMBERS | TEXTS), types=_pairs(TEXTS), device=TEXTS,
    machine=TEXTS, target=TEXTS, parts=_pairs(TEXTS), versions=_pairs(TEXTS), method=TEXTS, command=TEXTS,
    seed=NUMBERS, created=SECONDS,
)  # fmt: skip


@given(TRIALS)
def test_trials_return(one: Trial) -> None:
    assert trial_from(unseal(seal(trial_fields(one, "0123")).removesuffix(b"\n"))) == one


@given(HEADERS)
def test_headers_return(one: Header) -> None:
    found = header_from(unseal(seal(header_fields(one)).removesuffix(b"\n")))
    assert (found, found.key) == (one, one.key)


def test_extra_fields_come_back_into_the_line() -> None:
    fields = {**trial_fields(trial(1, 1.0), "0123"), "energy": {"joule": [1, 2.5]}, "note": None}
    found = trial_from(fields)
    assert found.extra == (("energy", '{"joule": [1, 2.5]}'), ("note", "null"))
    assert trial_fields(found, "0123") == fields


def test_fields_that_older_lines_lack_have_defaults() -> None:
    found = trial_from({"record": "0", "trial": 3, "key": "k", "schedule": "s", "failure": "crash"})
    assert found == Trial(3, Candidate("k", "s"), "", "", Outcome(Failure.CRASH))


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("trial", "1"), ("trial", True), ("trial", 1.5), ("key", None), ("schedule", 7), ("failure", "tired"),
        ("failure", ["crash"]), ("warm", 1.0), ("warm", ["1"]), ("warm", [True]), ("warm", [10**30]),
        ("values", [["?bm", 8]]), ("values", {"?bm": 8.5}), ("resources", {"registers": "64"}),
        ("versions", {"mdh": 1}), ("stopped", 1), ("started", "now"), ("warm", [-1e-3]), ("warm", [0.0]),
        ("warm", [1e-300]), ("warm", [1e300]), ("warm", [1e-3, -0.0]), ("warm", [None]), ("cold", [0]),
        ("cold", [True]), ("clocks", [-1.0]), ("build_seconds", -1), ("build_seconds", False),
        ("check_seconds", 1e12), ("measure_seconds", -1e-9), ("started", -1.0), ("elapsed", 1e300),
        ("elapsed", 10**400), ("trial", -1), ("trial", 1 << 62), ("trial", 10**4000), ("record", 1),
    ],
)  # fmt: skip
def test_a_field_of_another_type_is_not_loaded(name: str, value: object) -> None:
    with pytest.raises(BadLineError, match=f"`{name}`"):
        trial_from({**trial_fields(trial(1, 1.0), "0123"), name: value})


@pytest.mark.parametrize("name", ["trial", "key", "schedule", "failure"])
def test_a_field_that_is_missing_is_named(name: str) -> None:
    fields = trial_fields(trial(1, 1.0), "0123")
    del fields[name]
    with pytest.raises(BadLineError, match=f"no field `{name}`"):
        trial_from(fields)


def test_a_header_whose_key_is_not_its_own_is_not_loaded() -> None:
    with pytest.raises(BadLineError, match="key"):
        header_from({**header_fields(header()), "machine": "a100", "parts": {"machine": "a100"}})


@pytest.mark.parametrize(
    ("line", "why"),
    [
        (b"", "not JSON"),
        (b"[]", "not a JSON object"),
        (b"{}", "no checksum"),
        (b'{"sum":"0123456789abcdef"}', "checksum is wrong"),
        (b'{"sum":7}', "checksum is wrong"),
        (b'{"a":NaN}', "NaN is no number"),
        (b'{"a":1e999}', "number that is none"),
        (b'{"a":1,"a":1}', "twice"),
        (b'{"a":{"b":1,"b":2}}', "twice"),
        (b'{"a":"\xb5"}', "not JSON"),
        (b'{"a":"\\ud800"}', "no text"),
        (b"\0" * 100, "not JSON"),
        (b"\xff\xfe{\0}\0", "not JSON"),
        (b"9" * 10_000, "not JSON"),
        (b'{"a":' * 100_000, "not JSON|nested"),
        (b"[" * 900 + b"]" * 900, "object|nested"),
        (b'{"a":' + b"[" * 900 + b"]" * 900 + b"}", "nested"),
        (b'{"a":' + b"[" * DEPTH_LIMIT + b"]" * DEPTH_LIMIT + b"}", "nested"),
        (b'"' + b"a" * LINE_LIMIT + b'"', "more than 1,048,576 bytes"),
    ],
)
def test_other_lines_are_refused_with_a_reason(line: bytes, why: str) -> None:
    with pytest.raises(BadLineError, match=why):
        unseal(line)


@given(st.binary(max_size=60))
def test_any_bytes_are_refused_quietly(line: bytes) -> None:
    with pytest.raises(BadLineError):
        unseal(line)


def test_messages_of_compilers_are_kept_as_text() -> None:
    outcome = replace(trial(0).outcome, message="bad byte \udcb5 here " + "x" * 50_000)
    found = trial_from(
        unseal(seal(trial_fields(replace(trial(0), outcome=outcome), "0")).removesuffix(b"\n"))
    )
    assert found.outcome.message.startswith("bad byte ? here xxx")
    assert len(found.outcome.message) == 20_000


def test_clocks_that_nobody_knows_are_left_out() -> None:
    outcome = replace(trial(0, 1.0).outcome, clocks=(math.nan, 1980.0, math.inf))
    fields = unseal(seal(trial_fields(replace(trial(0), outcome=outcome), "0")).removesuffix(b"\n"))
    assert trial_from(fields).outcome.clocks == (1980.0,)


@pytest.mark.parametrize("number", [math.nan, math.inf])
def test_no_number_is_written_that_json_lacks(number: float) -> None:
    with pytest.raises(ValueError, match="JSON"):
        seal({"started": number})
