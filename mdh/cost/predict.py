"""A Plan to a Prediction."""

from collections.abc import Iterable, Sequence

from mdh.cost.cpu_terms import cpu_terms
from mdh.cost.gpu_terms import FIRST_LAUNCH, LAUNCH, gpu_terms
from mdh.cost.nest import CostNest, inner_nests, nest_of
from mdh.cost.prediction import NOMINAL, TERMS, Constants, Prediction, Signs, seconds_of
from mdh.cost.work import peak_of, plan_bytes, plan_operations, stage_work
from mdh.ir.plan import Plan, StagePlan
from mdh.ir.swaps import swaps_of
from mdh.ir.turns import times
from mdh.machine import Machine


def predict(plan: Plan, constants: Constants | None = None) -> Prediction:
    """What the plan will take on its machine. Nothing is lowered or compiled.

    The answer is finite and positive for every plan that the checker makes. constants: of the machine's kind.
    None stands for the nominal ones, which rank plans but do not claim to be right in seconds.
    """
    machine = plan.machine
    known = constants or NOMINAL[machine.kind]
    found = [_terms(s, machine) for s in plan.stages]
    guests = {n for launch in plan.launches for n in launch[1:]}
    features = tuple(
        _unlaunched(terms, machine) if n in guests else terms for n, (terms, _) in enumerate(found)
    )
    signs = [one for _, one in found]
    turns = [times(plan.computed.loops, n) for n in range(len(features))]
    trips = {x.var: x.trips for x in plan.computed.loops}
    for x in swaps_of(plan):
        # a copy that one turn makes, and one as large in front of the loop
        turns[x.copy] = 2 * turns[x.copy] // trips[x.loop]
    each = [seconds_of(known, terms) for terms in features]
    spent = [n * t for n, t in zip(turns, each, strict=True)]
    seconds = sum(turns[launch[0]] * _together(launch, each, signs) for launch in plan.launches)
    # a stage that is over at once may leave as much idle as it likes
    idle = sum(s.idle * t for s, t in zip(signs, spent, strict=True)) / sum(spent)
    sign = Signs(max(s.spills for s in signs), idle, max(s.code for s in signs))
    columns = zip(*([n * f for f in terms] for n, terms in zip(turns, features, strict=True)), strict=True)
    sums = [w * sum(column) for w, column in zip(known.weights, columns, strict=True)]
    terms = tuple(zip(TERMS[machine.kind], sums, strict=True))
    return Prediction(seconds, terms, features, sign, machine.kind, about_of(plan))


def _together(launch: Sequence[int], each: Sequence[float], signs: Sequence[Signs]) -> float:
    """Seconds of the stages of a launch. Their blocks share the machine: together they take what all of them
    need of it, each its seconds on the share of the units that it keeps busy, and no less than the longest
    one takes. So stages that fill the machine add up, and small ones run at the same time."""
    return max(*(each[n] for n in launch), sum(each[n] * (1 - signs[n].idle) for n in launch))


def _unlaunched(terms: tuple[float, ...], machine: Machine) -> tuple[float, ...]:
    """The terms of a stage whose blocks are in the launch of another one."""
    at = TERMS[machine.kind].index("launch")
    launch = max(0.0, terms[at] - FIRST_LAUNCH) if machine.kind == "gpu" else 0.0
    return (*terms[:at], launch, *terms[at + 1 :])


def seconds_of_stages(plans: Iterable[StagePlan], machine: Machine) -> float:
    """What kernels take one after another, by the nominal constants. Only the first is started while nothing
    runs."""
    known = NOMINAL[machine.kind]
    found = [_terms(s, machine)[0] for s in plans]
    started = FIRST_LAUNCH - LAUNCH if machine.kind == "gpu" else 0.0
    total: float = sum(seconds_of(known, terms) for terms in found)
    return total - (len(found) - 1) * started


def _terms(plan: StagePlan, machine: Machine) -> tuple[tuple[float, ...], Signs]:
    """The terms of a stage. A library is expected to reach the machine's peak."""
    if plan.call is None:
        return _terms_with_inner(nest_of(stage_work(plan.program, plan.stage), plan, machine))
    known = {
        "arithmetic": plan_operations(plan) / peak_of(machine, plan.stage, tensor_cores=False),
        "dm": plan_bytes(plan) / machine.bandwidth,
        "launch": 1e-6,
    }
    return tuple(known.get(name, 0.0) for name in TERMS[machine.kind]), Signs()


def _terms_with_inner(nest: CostNest) -> tuple[tuple[float, ...], Signs]:
    """The terms of a kernel: those of its stage and of the stages inside of it, which need no launch."""
    terms, signs = terms_of(nest)
    names = TERMS[nest.machine.kind]
    for one in inner_nests(nest):
        more, sign = terms_of(one)
        kept = (0.0 if name in ("launch", "groups") else x for name, x in zip(names, more, strict=True))
        terms = tuple(a + b for a, b in zip(terms, kept, strict=True))
        signs = Signs(max(signs.spills, sign.spills), signs.idle, signs.code + sign.code)
    return terms, signs


def terms_of(nest: CostNest) -> tuple[tuple[float, ...], Signs]:
    """The terms of a stage at nominal speeds, named by TERMS, and its signs."""
    return cpu_terms(nest) if nest.machine.kind == "cpu" else gpu_terms(nest)


def about_of(plan: Plan) -> str:
    """Program, sizes and machine."""
    extents = (str(d.extent) for s in plan.stages for d in s.stage.dims)
    return f"{plan.program.name} {'x'.join(extents)} {plan.machine.name}"
