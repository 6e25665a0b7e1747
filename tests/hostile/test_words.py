"""A slice of what `scripts/hostile-input` runs, and that it sees, shrinks and keeps what goes wrong."""

from pathlib import Path
from random import Random

import pytest

from tests.hostile import campaign
from tests.hostile.kinds import Kind, tried
from tests.hostile.shrink import shrunk
from tests.hostile.verdict import Verdict
from tests.hostile.word_kinds import WORDS

COUNTS = {"command": 25, "project run": 15, "input": 60, "machine name": 60, "define": 80}


@pytest.mark.parametrize("name", WORDS)
def test_damaged_words_have_a_result_or_a_code(name: str) -> None:
    _, wrong = tried(WORDS[name], COUNTS.get(name, 150), 1)
    assert not [w for w in wrong if " s, " not in w[1]], wrong[:5]


def test_command_lines_as_they_should_be_are_fine() -> None:
    kind = WORDS["command"]
    found = {data: kind.judge(data).outcome for data in kind.valid()[:6]}
    assert set(found.values()) <= {"returned", "F115"}, found


def test_the_smallest_input_is_found() -> None:
    assert shrunk(b"some text with an x in it", lambda b: b"x" in b and b"a" in b) == b"ax"
    assert shrunk(b"", lambda _: True) == b""


def test_what_goes_wrong_is_counted_shrunk_and_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def judge(data: bytes) -> Verdict:
        return Verdict(b"!" not in data, "no `!` is wanted 17" if b"!" in data else "returned")

    def mutate(data: bytes, chance: Random) -> bytes:
        return data + (b"!?" if chance.random() < 0.3 else b"?")

    kind = Kind(lambda: (b"one", b"two"), mutate, judge)
    found = campaign.block(kind, 7, range(100))
    bad = found["outcomes"]["wrong"]
    assert found["outcomes"] == {"returned": 100 - bad, "wrong": bad}
    assert len(found["wrong"]) == bad > campaign.SHOWN
    kept = [w["input"] for w in found["wrong"] if w["input"]]
    assert kept == [b"!".hex()] * campaign.SHOWN
    text = campaign.report({"made up": [found]}, 7)
    assert f"| made up | 100 | {100 - bad} | 0 | {bad} | 0 | 0 |" in text


def test_a_campaign_goes_on_where_it_ended(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(campaign, "BLOCK", 10)
    first = campaign.campaign(["duration"], 20, 1, 1, tmp_path)
    monkeypatch.setattr(campaign, "run_tasks", lambda *_, **__: iter(()))
    assert campaign.campaign(["duration"], 20, 1, 1, tmp_path) == first
