"""A nest to a finished Kernel: bind the units, run the passes, list the parameters."""

from collections.abc import Iterable
from dataclasses import replace

from mdh.hardware import Combine
from mdh.ir.affine import from_expr
from mdh.ir.dtype import I32, DType
from mdh.ir.expr import Var, loads, walk
from mdh.ir.kernel import Alloc, Buf, Comment, Kernel, Launch, Stmt, Workspace
from mdh.ir.program import Program, Scalar
from mdh.ir.walk import expressions, reads, statements, writes
from mdh.lower.boxes import token_end, token_start
from mdh.lower.close_boxed import store_end
from mdh.lower.cluster import finish_by_cluster
from mdh.lower.dependent_launch import awaiting, begins_early
from mdh.lower.launch import bind_blocks, bind_threads, launch_of
from mdh.lower.nest import Nest, dm_buf
from mdh.lower.overread import clear_slack
from mdh.lower.passes.table import Facts, Observer, run_passes
from mdh.lower.roles import in_roles
from mdh.lower.stream import begin_stream
from mdh.lower.ticket import finish_by_ticket


def kernel_of(
    nest: Nest, body: list[Stmt], observe: Observer, load: list[Stmt] | None = None
) -> tuple[Kernel, tuple[Workspace, ...]]:
    """The kernel with this body, and the workspaces that only it needs.

    observe: sees the kernel between the passes. load: what the role that copies does, where there are roles.
    """
    tail, counters = finish_by_ticket(nest)
    inner = [*clear_slack(nest), *body, *tail, *finish_by_cluster(nest)]
    inner = bind_blocks(nest, inner) if load is None else in_roles(nest, inner, load)
    bound = [
        *bind_threads(nest),
        *token_start(nest),
        *begin_stream(nest),
        *inner,
        *store_end(nest),
        *token_end(nest),
    ]
    shared = nest.declarations.with_slack
    fused = (Comment(f"fuse {', '.join(group)}") for group in nest.plan.fused)
    text = (*fused, *(Alloc(b) for b in shared.values()), *bound)
    bufs = {n: dm_buf(b, readonly=True) for n, b in nest.buffers.items()}
    bufs.update((w.buf.name, w.buf) for w in counters)
    scalars = tuple((s.name, _given_as(s)) for s in nest.program.numbers)
    launch = launch_of(nest)
    maps = tuple(nest.declarations.maps.values())
    raw = Kernel(nest.name, nest.stage.name, tuple(bufs.values()), scalars, launch, text, maps=maps)
    done = run_passes(raw, _facts(nest, {**bufs, **shared}), observe)
    known = nest.program.buffer_order
    named = _buffers(nest, done, bufs, (*known, *(n for n in bufs if n not in known)))
    params = tuple(b for b in named if b.values is None)
    constants = tuple(b for b in named if b.values is not None)
    if begins_early(done, params, nest.target, nest.machine):
        launch, done = replace(launch, early=True), awaiting(done)
    used = _scalars(done, nest.program, launch, params)
    kernel = replace(raw, buffers=params, scalars=used, launch=launch, body=done, constants=constants)
    return kernel, counters


def read_beyond(nest: Nest) -> frozenset[str]:
    """Arrays with a read that only its condition may keep inside: `i > 0 ? x[i - 1] : 0`, gathers."""
    box = {d.name: (0, d.extent - 1) for d in nest.stage.dims}
    box |= {x.var: (0, x.trips - 1) for x in nest.program.loops}
    out = set[str]().union(*map(read_beyond, nest.inner))
    for x in (n for e in nest.stage.expressions() for n in loads(e)):
        for f, extent in zip(map(from_expr, x.index), nest.buffers[x.buffer].shape, strict=True):
            known = f is not None and f.names <= box.keys()
            low, high = f.bounds(box) if f is not None and known else (0, 0)
            if not known or low < 0 or high >= extent:
                out.add(x.buffer)
    return frozenset(out)


def _facts(nest: Nest, bufs: dict[str, Buf]) -> Facts:
    return Facts(
        cpu=nest.cpu,
        strict=nest.program.strict_fp,
        threads=nest.threads,
        # they came with clusters (compute capability 9.0)
        adds_vectors=not nest.cpu and nest.machine.cluster > 1,
        bufs=bufs,
        names=nest.declarations.names,
        guarded=read_beyond(nest),
        managed=frozenset(nest.declarations.synchronised),
        shared=frozenset(nest.declarations.shared.keys() - nest.declarations.synchronised),
        divergent=frozenset({nest.tid, *(lv.var for lv in nest.thread_levels())}),
    )


def _buffers(
    nest: Nest, body: tuple[Stmt, ...], bufs: dict[str, Buf], order: tuple[str, ...]
) -> tuple[Buf, ...]:
    """DM buffers that the body names, read-only where it never writes them."""
    used: set[str] = set()
    written = {m.buffer for m in nest.declarations.maps if m.written}
    tickets = (names for f, names in nest.partials.items() if Combine.TICKET in nest.plan.combines[f])
    shared = () if nest.stream is None else (nest.stream.parts, nest.stream.flags)
    awaited = {n for names in (*tickets, *nest.passes.values(), shared) for n in names}
    for s in statements(body):
        written |= writes(s)
        used |= reads(s)
    return tuple(
        replace(bufs[n], readonly=n not in written, volatile=n in awaited)
        for n in order
        if n in used | written and n in bufs
    )


def _scalars(
    body: tuple[Stmt, ...], program: Program, launch: Launch, buffers: Iterable[Buf]
) -> tuple[tuple[str, DType], ...]:
    """Those that the kernel names, or that give the number of its blocks or a stride."""
    named = [*(e for s in statements(body) for e in expressions(s)), *(e for e in launch.counts if e)]
    used = {n.name for e in named for n in walk(e) if isinstance(n, Var)}
    used |= {name for b in buffers for o in b.open[1:] if o is not None for name in o.form.names}
    return tuple((s.name, _given_as(s)) for s in program.numbers if s.name in used)


def _given_as(scalar: Scalar) -> DType:
    """The type in which kernels take a number: `int` for open sizes, whatever the C calls them."""
    return scalar.dtype if scalar.open is None else I32
