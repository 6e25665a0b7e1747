"""Plan to Prediction."""

from mdh.ir.plan import Plan
from mdh.tuner.prior.constants import NAMES, NOMINAL, Constants, seconds_of
from mdh.tuner.prior.cpu import cpu_terms
from mdh.tuner.prior.facts import facts_of
from mdh.tuner.prior.gpu import gpu_terms
from mdh.tuner.prior.model import Prediction, Signs
from mdh.tuner.prior.nest import nest_of


def predict(plan: Plan, constants: Constants | None = None) -> Prediction:
    """What the plan will take on its machine, from the plan alone: nothing is lowered or compiled.

    The answer is finite and positive for every plan that the checker makes. constants: of the machine's kind;
    None: the nominal ones, which rank but do not claim to be right in seconds.
    """
    machine = plan.machine
    known = constants or NOMINAL[machine.kind]
    terms_of = cpu_terms if machine.kind == "cpu" else gpu_terms
    features: list[tuple[float, ...]] = []
    signs: list[Signs] = []
    for stage in plan.stages:
        nest = nest_of(facts_of(plan.program, stage.stage), stage, machine)
        terms, found = terms_of(nest, machine)
        features.append(terms)
        signs.append(found)
    times = [seconds_of(known, f) for f in features]
    seconds = sum(times)
    # a stage that is over at once may leave as much idle as it likes
    idle = sum(s.idle * t for s, t in zip(signs, times, strict=True)) / seconds
    sign = Signs(max(s.spills for s in signs), idle, max(s.code for s in signs))
    sums = [w * sum(column) for w, column in zip(known.weights, zip(*features, strict=True), strict=True)]
    return Prediction(
        seconds, tuple(zip(NAMES[machine.kind], sums, strict=True)), tuple(features), sign, machine.kind,
        about_of(plan),
    )  # fmt: skip


def about_of(plan: Plan) -> str:
    """Program and sizes: predictions about the same ones compete with one another."""
    extents = (str(d.extent) for s in plan.stages for d in s.stage.dims)
    return f"{plan.program.name} {'x'.join(extents)} {plan.machine.name}"
