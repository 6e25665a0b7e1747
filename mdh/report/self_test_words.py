"""What a self-test found, in words."""

from mdh.device.self_test import Passed
from mdh.report.health import Finding
from mdh.target.faults import Fault

_RIGHT = "functions, conditions, 16-bit floats and barriers are right"
_BROKEN = {
    Fault.FUNCTIONS: "functions are wrong for single numbers",
    Fault.HALVES: "rounds wrongly to 16-bit floats",
    Fault.BARRIERS: "barriers do not hold",
    Fault.CRASH: "the test did not come to an end",
}
_FIX = "results may be wrong: install another version, or use another device"


def verdict(name: str, passed: Passed) -> Finding:
    """A finding. Faults that mdh's texts avoid do no harm; others make the device unusable."""
    faults = passed.faults
    broken = [said for fault, said in _BROKEN.items() if fault in faults.kinds]
    around = ["reads under conditions"] if Fault.MASKED_READS in faults.kinds else []
    around += [f"vectors of {names}" for names in _grouped(faults.lanes)]
    if broken:
        detail = "; ".join(broken)
        if passed.functions:
            detail += f" ({', '.join(passed.functions)})"
        return Finding(name, "broken", detail, fix=_FIX)
    detail = f"wrong, and avoided by mdh's texts: {', '.join(around)}" if around else _RIGHT
    return Finding(name, "ok", detail)


def _grouped(lanes: frozenset[str]) -> tuple[str, ...]:
    """`sin, cos (f32 by 2, 4, 8)` of `sin_f32x2` and so on."""
    sizes: dict[tuple[str, str], list[int]] = {}
    for call in lanes:
        function, _, vector = call.rpartition("_")
        dtype, _, count = vector.partition("x")
        sizes.setdefault((function, dtype), []).append(int(count))
    named: dict[str, list[str]] = {}
    for (function, dtype), found in sorted(sizes.items()):
        named.setdefault(f"{dtype} by {', '.join(map(str, sorted(found)))}", []).append(function)
    return tuple(f"{', '.join(functions)} ({size})" for size, functions in named.items())
