"""The page about a run of the tuner, from its result alone."""

from mdh.report.html import Winner, page
from mdh.report.tune_roof import roof_of
from mdh.tune.result import Tuned


def tuned_page(tuned: Tuned) -> str:
    winner = None
    if tuned.plan is not None and tuned.text is not None:
        language = {"cuda": "CUDA C++", "opencl": "OpenCL C", "c": "C"}[tuned.target]
        winner = Winner(tuned.plan.text, tuned.text.source, language, roof_of(tuned, tuned.plan))
    return page(tuned, winner)
