"""K160 to K163: the launch fits the machine: threads of a block, axes of block and grid, and clusters."""

from collections.abc import Iterator

from mdh.checker.loops import by_layer
from mdh.checker.subject import Subject, parts
from mdh.diagnostics import Diagnostic
from mdh.hardware import GRID_AXES, THREADED, Layer
from mdh.ir.plan import StagePlan
from mdh.language import LANGUAGES
from mdh.machine import Machine

THREADS, BLOCK_AXIS, GRID_AXIS, CLUSTER = "K160", "K161", "K162", "K163"


def check_threads(subject: Subject) -> Iterator[Diagnostic]:
    """K160. Product of WGP, WRP and THR parts, and the threads that copy with `@roles`, <= threads of a block
    (on a GPU; a CPU loops over them)."""
    if subject.machine.kind == "cpu":
        return
    loops = list(by_layer(subject.plan, *THREADED))
    threads = 1
    for loop in loops:
        threads *= loop.parts
    limit = subject.machine.threads_per_block
    teams = subject.plan.teams
    copying = subject.plan.block_threads - threads * teams
    if threads * teams + copying > limit:
        factors = [*(x.parts for x in loops), *([teams] if teams > 1 else [])]
        threads *= teams
        shown = " × ".join(map(str, factors))
        product = f"{shown} = {threads}" if len(factors) > 1 else str(threads)
        more = f" and {copying} that copy" if copying else ""
        headline = f"a block of {product} threads{more}, `{subject.machine.name}` allows {limit}"
        labels = tuple(label for layer in THREADED for label in subject.split_spans(layer))
        most = (limit - copying) // teams
        said = f"larger tiles in these entries, so that parts multiply to at most {most}"
        witness = (("threads", threads + copying), ("limit", limit))
        yield Diagnostic(THREADS, headline, labels, help=said, witness=witness)


def check_block_axes(subject: Subject) -> Iterator[Diagnostic]:
    """K161. THR parts on axis a <= the machine's block limit of a; with WRP or WGP the block has one axis."""
    if subject.machine.kind == "cpu" or any(by_layer(subject.plan, Layer.WRP, Layer.WGP)):
        return
    for loop in (x for x in by_layer(subject.plan, Layer.THR) if x.axis < GRID_AXES):
        limit = subject.machine.block_limits[loop.axis]
        if loop.parts > limit and loop.parts <= subject.machine.threads_per_block:
            axis = f"THR.{'xyz'[loop.axis]}"
            headline = f"{axis} has {parts(loop.parts)}, `{subject.machine.name}` allows {limit} on this axis"
            labels = subject.at_core(loop.step, loop.dim)
            yield Diagnostic(
                BLOCK_AXIS,
                headline,
                labels,
                help="use another axis, or a larger tile",
                witness=(("axis", axis), ("parts", loop.parts), ("limit", limit)),
            )


def check_grid_axes(subject: Subject) -> Iterator[Diagnostic]:
    """K162. CLU parts * BLK parts on axis a <= the machine's grid limit of a; a persistent grid is folded."""
    if subject.plan.grid.persistent:
        return
    for loop in by_layer(subject.plan, Layer.BLK, Layer.CLU):
        clusters, blocks = (subject.plan.axis_parts(layer, loop.axis) for layer in (Layer.CLU, Layer.BLK))
        limit = subject.machine.grid_limits[loop.axis]
        if clusters * blocks <= limit or (loop.layer == Layer.CLU and blocks > 1):
            continue
        axis = "xyz"[loop.axis]
        headline = (
            f"the grid has {clusters * blocks} blocks on axis {axis}, `{subject.machine.name}` allows {limit}"
        )
        roomy = "xyz"[max(range(3), key=lambda a: subject.machine.grid_limits[a])]
        yield Diagnostic(
            GRID_AXIS,
            headline,
            subject.at_core(loop.step, loop.dim),
            help=f"use {loop.layer}.{roomy}, a larger tile, or @persistent",
            witness=(("axis", axis), ("parts", clusters * blocks), ("limit", limit)),
        )


def clusters_fit(plan: StagePlan, machine: Machine) -> bool:
    return plan.units(Layer.CLU) == 1 or 1 < machine.cluster >= plan.units(Layer.BLK)


def check_cluster(subject: Subject) -> Iterator[Diagnostic]:
    """K163. If CLU is split, the product of the BLK parts is at most the machine's cluster size."""
    if Layer.CLU not in LANGUAGES[subject.target].layers or clusters_fit(subject.plan, subject.machine):
        return
    limit, blocks = subject.machine.cluster, subject.plan.units(Layer.BLK)
    if limit == 1:
        headline = f"`{subject.machine.name}` has no clusters of blocks"
        yield Diagnostic(CLUSTER, headline, subject.split_spans(Layer.CLU), help="split over BLK alone")
    else:
        headline = f"a cluster of {blocks} blocks, `{subject.machine.name}` allows {limit}"
        labels = subject.split_spans(Layer.BLK) + subject.split_spans(Layer.CLU)
        said = f"BLK under CLU are the blocks of one cluster: their parts multiply to at most {limit}"
        yield Diagnostic(CLUSTER, headline, labels, help=said, witness=(("blocks", blocks), ("limit", limit)))
