"""The page about a run of the tuner, from its result alone."""

from mdh.pipeline import Pipeline
from mdh.report.html import Winner, page
from mdh.report.picture.page import schedule_page
from mdh.report.tune_roof import roof_of
from mdh.results.tuning import Tuned


def tuned_page(tuned: Tuned) -> str:
    winner = None
    if tuned.plan is not None and tuned.text is not None:
        picture = schedule_page(tuned.plan, Pipeline().lower(tuned.plan), tuned.text, inside=True)
        winner = Winner(picture, roof_of(tuned, tuned.plan))
    return page(tuned, winner)
