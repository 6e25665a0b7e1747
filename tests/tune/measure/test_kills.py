"""Whether a killed, late or crashed worker speaks against its candidate."""

from mdh.tuner.measure.outcomes import Kills


def test_a_limit_that_passed_while_others_are_killed_is_believed_the_second_time() -> None:
    quiet, troubled = Kills(), Kills()
    assert quiet.overran("a", outside=False)
    troubled.elsewhere()
    assert [troubled.overran("a", outside=False) for _ in range(2)] == [False, True]
    assert not troubled.overran("a", outside=True)


def test_kills_speak_against_a_candidate_that_alone_is_met() -> None:
    alone = Kills()
    assert [alone.blame("a") for _ in range(3)] == [False, False, True]
    idle = Kills()
    idle.elsewhere()
    assert [idle.blame("a"), idle.blame("a")] == [False, False]
    many = Kills()
    assert [many.blame(name) for name in "abababab"] == [False] * 8
    assert [many.blame("a"), many.blame("a")] == [False, True]


def test_the_third_crash_that_may_be_for_want_of_memory_is_believed() -> None:
    kills = Kills()
    assert not kills.blame("1")
    assert [kills.believe("1") for _ in range(3)] == [False, False, True]
    kills.forget("1")
    assert not kills.believe("1")
