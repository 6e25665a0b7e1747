"""A Module as text, for `--dump kernel`: one line a statement, the same for both targets."""

from typing import assert_never

from mdh.hardware import CacheHint
from mdh.ir.copy_engine import (
    Arrive,
    Await,
    BoxCopy,
    BoxStore,
    CopyEngineStmt,
    Expect,
    FetchMap,
    InitTokens,
    SetRegisters,
    StoreCommit,
    StoreFence,
    StoreWait,
    TokensReady,
)
from mdh.ir.expr import Expr, Load
from mdh.ir.expression_text import expression_text
from mdh.ir.kernel import (
    Alloc,
    Atomic,
    AwaitKernels,
    Barrier,
    Buf,
    Comment,
    Commit,
    Fence,
    For,
    If,
    Kernel,
    Let,
    Module,
    Move,
    Stmt,
    Store,
    Wait,
    While,
)
from mdh.ir.library_call import MatrixCall
from mdh.ir.matrix import (
    GroupMma,
    LoadMatrix,
    LoadWord,
    MatrixStmt,
    Mma,
    MmaCommit,
    MmaFence,
    MmaWait,
    SharedMatrix,
    StoreMatrix,
)


def module_text(module: Module) -> str:
    lines = [f"module {module.name} ({', '.join(module.params)}) for {module.machine}, {module.target}"]
    for workspace in module.workspaces:
        lines.append(f"  workspace {_buffer(workspace.buf)}{' zeroed' if workspace.zero else ''}")
    for kernel in module.kernels:
        lines.extend(_kernel_lines(kernel))
    return "\n".join(lines) + "\n"


def kernel_text(kernel: Kernel) -> str:
    return "\n".join(_kernel_lines(kernel)) + "\n"


def _kernel_lines(kernel: Kernel) -> list[str]:
    grid, block = (("×".join(map(str, n))) for n in (kernel.launch.grid, kernel.launch.block))
    lines = [f"  kernel {kernel.name} of stage {kernel.stage}: grid {grid}, block {block}"]
    lines.extend(f"    {_buffer(b)}{' readonly' if b.readonly else ''}" for b in kernel.buffers)
    lines.extend(f"    {name}: {dtype}" for name, dtype in kernel.scalars)
    for m in kernel.maps:
        steps = f", steps {m.steps}" if m.steps else ""
        lines.append(f"    {m.name}: map of {m.buffer}, boxes {m.box}{steps}, swizzle {m.swizzle}")
    lines.extend(_block(kernel.body, 4))
    return lines


def _buffer(b: Buf) -> str:
    shape = "".join(f"[{n}]" for n in b.shape)
    lanes = f" × {b.lanes} lanes" if b.lanes > 1 else ""
    return f"{b.name}: {b.space} {b.dtype}{shape}{lanes} strides {b.strides}"


def _block(body: tuple[Stmt, ...], depth: int) -> list[str]:
    return [line for stmt in body for line in _statement(stmt, depth)]


def _statement(stmt: Stmt, depth: int) -> list[str]:
    pad = " " * depth
    match stmt:
        case For(var, start, stop, step, body, kind, factor):
            head = ", ".join(expression_text(e) for e in (start, stop, step))
            by = f" by {factor}" if factor > 1 else ""
            return [f"{pad}for {var} in ({head}) {kind}{by}", *_block(body, depth + 2)]
        case While(cond, body):
            return [f"{pad}while {expression_text(cond)}", *_block(body, depth + 2)]
        case If(cond, then, orelse):
            lines = [f"{pad}if {expression_text(cond)}", *_block(then, depth + 2)]
            return [*lines, f"{pad}else", *_block(orelse, depth + 2)] if orelse else lines
        case _:
            return [pad + _simple(stmt)]


def _call(s: MatrixCall) -> str:
    left, right, out = (
        f"{_element(x.buffer, x.index, 1)} step {x.step}{' turned' if x.turned else ''}" for x in s.operands
    )
    alpha, beta = map(expression_text, (s.alpha, s.beta))
    return f"{s.function}({s.m}×{s.n}×{s.k}) {out} = {alpha} * {left} * {right} + {beta} * old"


def _simple(
    stmt: Comment
    | Alloc
    | Let
    | Store
    | Move
    | Atomic
    | Barrier
    | Fence
    | Commit
    | Wait
    | AwaitKernels
    | MatrixStmt
    | CopyEngineStmt
    | MatrixCall,
) -> str:
    match stmt:
        case Comment(text, _):
            return f"// {text}"
        case Alloc(buf, init):
            return f"alloc {_buffer(buf)}{'' if init is None else f' = {expression_text(init)}'}"
        case Let(name, value, dtype):
            return f"let {name}: {dtype} = {expression_text(value)}"
        case Store(buffer, index, value, lanes, cache):
            return f"{_element(buffer, index, lanes)} = {expression_text(value)}{_cache(cache)}"
        case Move():
            return _move(stmt)
        case Atomic(op, buffer, index, value, result, lanes):
            got = f"{result} = " if result else ""
            return f"{got}atomic {op} {_element(buffer, index, lanes)}, {expression_text(value)}"
        case Barrier(scope, reason):
            return f"barrier {scope}{f'  // {reason}' if reason else ''}"
        case MatrixCall():
            return _call(stmt)
        case Fence():
            return "fence"
        case Commit():
            return "commit"
        case Wait(pending):
            return f"wait {pending}"
        case AwaitKernels():
            return "await the kernels in front"
        case (
            LoadMatrix()
            | LoadWord()
            | StoreMatrix()
            | Mma()
            | GroupMma()
            | MmaFence()
            | MmaCommit()
            | MmaWait()
        ):
            return _matrix(stmt)
        case _:
            return _copy_engine(stmt)


def _matrix(stmt: MatrixStmt) -> str:
    match stmt:
        case LoadMatrix(dst, src, index, transposed):
            how = " transposed" if transposed else ""
            return f"load matrix{how} {_registers(dst)} = {_element(src, index, 1)}"
        case LoadWord(to, src, places, conditions):
            where = ("" if e is None else f" where {expression_text(e)}" for e in conditions)
            terms = (f"{_element(src, at, 1)}{e}" for at, e in zip(places, where, strict=True))
            return f"load word {_registers((to,))} = {', '.join(terms)}"
        case StoreMatrix(src, dst, index):
            return f"store {stmt.count} matrices {_element(dst, index, 1)} = {expression_text(src)}"
        case Mma(atom, acc, a, b):
            return f"mma {atom.name} {_registers(acc)} += {_registers(a)} * {_registers(b)}"
        case GroupMma(atom, acc, row, column, a, b, keep):
            left = _registers(a) if isinstance(a, tuple) else _shared_matrix(a)
            kept = f"{_element(acc.buffer, acc.index, 1)} by {row}, {column}"
            said = "" if keep is None else f" keep {expression_text(keep)}"
            return f"group mma {atom.name} {kept} += {left} * {_shared_matrix(b)}{said}"
        case MmaFence(settled):
            return f"mma fence{f' after {settled}' if settled else ''}"
        case MmaCommit():
            return "mma commit"
        case MmaWait(pending):
            return f"mma wait {pending}"
        case _:
            assert_never(stmt)


def _copy_engine(stmt: CopyEngineStmt) -> str:
    match stmt:
        case FetchMap(name):
            return f"fetch map {name}"
        case InitTokens(buffer, arrivals):
            return f"init tokens {buffer}, {arrivals} arrivals"
        case TokensReady():
            return "tokens ready"
        case Expect(buffer, index, size):
            return f"expect {_element(buffer, index, 1)}, {size} bytes"
        case Arrive(buffer, index, rank):
            return (
                f"arrive {_element(buffer, index, 1)}{'' if rank is None else f' of {expression_text(rank)}'}"
            )
        case Await(buffer, index, parity):
            return f"await {_element(buffer, index, 1)}, parity {expression_text(parity)}"
        case BoxCopy():
            start = ", ".join(map(expression_text, stmt.start))
            peers = "" if stmt.peers is None else f" to blocks {expression_text(stmt.peers)}"
            to = f"{_element(stmt.dst, stmt.index, 1)}{peers}"
            return f"box {to} = {stmt.map}({start}), {_element(stmt.token, stmt.slot, 1)}"
        case BoxStore(name, start, src, index):
            return f"box {name}({', '.join(map(expression_text, start))}) = {_element(src, index, 1)}"
        case StoreFence():
            return "store fence"
        case StoreCommit():
            return "store commit"
        case StoreWait(pending, ended):
            return f"store wait {pending}{' stored' if ended else ''}"
        case SetRegisters(count, more):
            return f"{'more' if more else 'fewer'} registers: {count}"
        case _:
            assert_never(stmt)


def _shared_matrix(m: SharedMatrix) -> str:
    rows = "k" if m.along_k else "own"
    return f"{_element(m.buffer, m.index, 1)} rows along {rows}, swizzle {m.swizzle}, {m.group}, {m.block}"


def _registers(places: tuple[Load, ...]) -> str:
    return "(" + ", ".join(_element(p.buffer, p.index, 1) for p in places) + ")"


def _element(buffer: str, index: tuple[Expr, ...], lanes: int) -> str:
    return buffer + "".join(f"[{expression_text(i)}]" for i in index) + (f":{lanes}" if lanes > 1 else "")


def _cache(cache: str) -> str:
    return "" if cache == CacheHint.DEFAULT else f" ({cache})"


def _move(m: Move) -> str:
    where = "" if m.pred is None else f" where {expression_text(m.pred)}"
    fill = "" if m.fill is None else f" else {expression_text(m.fill)}"
    sink, source = _element(m.dst, m.dst_index, m.lanes), _element(m.src, m.src_index, m.lanes)
    return f"move {m.engine} {sink} = {source}{where}{fill}{_cache(m.cache)}"
