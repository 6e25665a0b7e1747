"""What notebooks show of kernels, plans, tunings and comparisons: their pages in a frame.

Reports are imported when something is shown, since no call needs them.
"""

from importlib import import_module

from mdh.ir.plan import Plan
from mdh.pipeline import Pipeline
from mdh.results.comparison import Comparison
from mdh.results.tuning import Tuned
from mdh.shown import show_as
from mdh.target.text import KernelText


def plan_page(plan: Plan, text: KernelText | None = None) -> str:
    """The picture of a plan with its kernel's text, which is made if it is not given."""
    run = Pipeline()
    module = run.lower(plan)
    known = text or run.emit(module, plan.program)
    page = import_module("mdh.report.picture.page").schedule_page(plan, module, known)
    return _framed(page, f"{plan.program.name} on {plan.machine.name}")


def tuned_page(found: Tuned) -> str:
    return _framed(import_module("mdh.report.html").tuned_page(found), f"tuning of {found.program}")


def comparison_page(found: Comparison) -> str:
    page = import_module("mdh.report.compare_page").comparison_page(found)
    return _framed(page, f"comparison of {found.program}")


def _framed(page: str, title: str) -> str:
    framed: str = import_module("mdh.report.html_frame").framed(page, title)
    return framed


show_as(Plan, plan_page)
show_as(Comparison, comparison_page)
