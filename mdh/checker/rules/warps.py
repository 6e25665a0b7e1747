"""K112, K113: a warp has 32 lanes, a warp group has four warps, and threads are split below them."""

from collections.abc import Iterator

from mdh.checker.loops import by_layer
from mdh.checker.resolve import has_layer
from mdh.checker.subject import Subject
from mdh.diagnostics import Diagnostic
from mdh.hardware import Layer

PRODUCT, BELOW = "K112", "K113"
LANES, WARPS, GROUP = 32, 4, 128


def check_warp_products(subject: Subject) -> Iterator[Diagnostic]:
    """K112. Under WRP, the product of the THR parts is 32. Under WGP, the product of the WRP parts is 4, or
    without WRP that of the THR parts is 128."""
    group, warp, thread = (subject.plan.units(layer) for layer in (Layer.WGP, Layer.WRP, Layer.THR))
    lanes = any(by_layer(subject.plan, Layer.THR))
    if warp > 1 and lanes and thread != LANES:
        yield _product(subject, Layer.THR, thread, LANES, "THR under WRP are the lanes of a warp")
    if group > 1 and warp > 1 and warp != WARPS:
        yield _product(subject, Layer.WRP, warp, WARPS, "WRP under WGP are the warps of a warp group")
    if group > 1 and warp == 1 and lanes and thread != GROUP:
        yield _product(subject, Layer.THR, thread, GROUP, "THR under WGP are the threads of a warp group")


def _product(subject: Subject, layer: Layer, got: int, wanted: int, reason: str) -> Diagnostic:
    loops = list(by_layer(subject.plan, layer))
    shown = " × ".join(str(loop.parts) for loop in loops)
    headline = (
        f"{layer} has {shown} = {got} parts where exactly {wanted} are needed"
        if len(loops) > 1
        else (f"{layer} has {got} parts where exactly {wanted} are needed")
    )
    said = f"{reason}: make parent tile / tile of the {layer} entries multiply to {wanted}"
    return Diagnostic(
        PRODUCT, headline, subject.split_spans(layer), help=said,
        witness=(("layer", layer), ("product", got), ("wanted", wanted)),
    )  # fmt: skip


def check_below_warps(subject: Subject) -> Iterator[Diagnostic]:
    """K113. A split over WRP or WGP needs a split over THR or MMA inside it."""
    plan = subject.plan
    if any(by_layer(plan, Layer.THR)) or any(has_layer(s, Layer.MMA) for s in subject.draft.splitting):
        return
    for layer in (Layer.WGP, Layer.WRP):
        if plan.units(layer) > 1:
            headline = f"{layer} has {plan.units(layer)} parts, but no THR or MMA step splits them further"
            said = f"add a step whose THR entries have {LANES} parts, or use THR instead of {layer}"
            yield Diagnostic(BELOW, headline, subject.split_spans(layer), help=said)
            return
