"""Which candidates are kept."""

from random import Random

from mdh.cost.prediction import Prediction, Signs
from mdh.tuner.candidates.shortlist import rank, worth


def guess(seconds: float, code: int = 0) -> Prediction:
    return Prediction(seconds, (), (), Signs(code=code), "cpu", "p")


def test_the_best_first_and_the_hopeless_last() -> None:
    assert rank([guess(3.0), guess(1.0), guess(0.5, code=1 << 20), guess(1.0)]) == (1, 3, 0, 2)


def test_the_best_share_is_kept() -> None:
    drawn = [guess(float(n)) for n in range(32, 0, -1)]
    assert worth(drawn, (), Random(0), share=0.25, explore=0.0) == (31, 30, 29, 28, 27, 26, 25, 24)
    assert worth([], (), Random(0)) == ()
    assert worth([guess(1.0)], (), Random(0), explore=0.0) == (0,)


def test_others_are_explored_as_often_as_said() -> None:
    rng = Random(1)
    drawn = [guess(float(n)) for n in range(100)]
    extra = sum(len(worth(drawn, (), rng, share=0.1, explore=0.05)) - 10 for _ in range(200))
    assert 0.04 < extra / (200 * 90) < 0.06


def test_what_is_expected_to_lose_is_dropped_once_the_model_is_known_to_be_right() -> None:
    seen = [(guess(n / 10), n / 5) for n in range(1, 30)]
    drawn = [guess(0.1), guess(0.14), guess(2.0), guess(3.0)]
    assert worth(drawn, seen, Random(0), share=1.0, explore=0.0) == (0, 1)
    assert worth(drawn, seen[:5], Random(0), share=1.0, explore=0.0) == (0, 1, 2, 3)


def test_a_model_that_is_often_wrong_drops_less() -> None:
    noise = (0.2, 5.0)
    seen = [(guess(n / 10), n / 10 * noise[n % 2]) for n in range(1, 30)]
    assert len(worth([guess(0.1), guess(0.3), guess(1.0)], seen, Random(0), share=1.0, explore=0.0)) == 3


def test_nothing_is_dropped_to_the_last() -> None:
    seen = [(guess(n / 10), n / 10) for n in range(1, 30)]
    assert worth([guess(50.0), guess(40.0)], seen, Random(0), explore=0.0) == (1,)
