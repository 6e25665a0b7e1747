"""What takes a schedule's time, by the cost model: the largest of its terms, in words."""

from mdh.cost.fit import begin
from mdh.cost.predict import about_of
from mdh.cost.prediction import NOMINAL, Constants, Prediction
from mdh.ir.kernel import Module
from mdh.ir.plan import Plan
from mdh.report.explain import explain_plan
from mdh.results.comparison import Platform
from mdh.tuner.warm_start.learned import load, place_of

_CPU = {
    "arithmetic": "arithmetic", "loads": "loads from L1", "chains": "dependent operations",
    "spills": "spilled registers", "loops": "loop overhead", "packing": "packing copies",
    "guards": "guards of edges", "l2": "L2 bandwidth", "l3": "L3 bandwidth", "dm": "memory bandwidth",
    "jumps": "cache misses", "pages": "address translation", "groups": "starting work-groups",
    "launch": "launch",
}  # fmt: skip
_GPU = {
    "arithmetic": "arithmetic", "issue": "instruction issue", "shared": "shared memory",
    "l1": "L1 bandwidth", "l2": "L2 bandwidth", "dm": "memory bandwidth", "latency": "latency",
    "spills": "spilled registers", "combine": "combining parts", "launch": "launch",
}  # fmt: skip
_IDLE = 0.25
"""Share of idle cores from which on they are said to be what limits."""


def limit_of(found: Prediction) -> str:
    """`arithmetic`, `L2 bandwidth`, `60% of cores idle`, …"""
    if found.signs.idle >= _IDLE:
        return f"{found.signs.idle:.0%} of the {'cores' if found.kind == 'cpu' else 'SMs'} idle"
    words = _CPU if found.kind == "cpu" else _GPU
    name, seconds = max(found.terms, key=lambda term: term[1], default=("", 0.0))
    return words.get(name, name) if seconds > 0 else ""


def occupancy_of(plan: Plan, module: Module) -> float | None:
    """The least of the stages' own kernels, from 0 to 1; None on a CPU. Kernels that start or combine results
    say nothing of the schedule."""
    if plan.machine.kind == "cpu":
        return None
    stages = explain_plan(plan, module).stages
    return min((r.occupancy for s in stages for r in s.resources if r.own), default=None)


def constants_of(plan: Plan, platform: Platform, versions: tuple[tuple[str, str], ...]) -> Constants:
    """Of the device, fitted to what tunings measured on it; those that mdh comes with where nothing was."""
    kind = plan.machine.kind
    path = place_of(platform.title, platform.target, kind, dict(versions).get("mdh", ""))
    return begin(NOMINAL[kind], dict(load(path, kind).programs), about_of(plan))[0]
