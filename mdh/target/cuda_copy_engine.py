"""The copy engine and tokens in CUDA C++: each instruction is a small device function around a line of PTX.

Source: PTX ISA, "mbarrier" and "cp.async.bulk.tensor".
"""

import re
from dataclasses import replace

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
from mdh.ir.expr import Expr
from mdh.target.clike import place, text
from mdh.target.dialect import Dialect, PrintScope
from mdh.target.signature import wrapped

TENSOR_MAP = "tensor_map"
"""The C++ type of a tensor map."""
MAP_TYPE = f"struct __align__(64) {TENSOR_MAP} {{ unsigned char bytes[128]; }};\n"
_SHARED = "(unsigned)__cvta_generic_to_shared({})".format


def copy_engine_line(s: CopyEngineStmt, scope: PrintScope, dialect: Dialect) -> str:
    def at(buffer: str, index: tuple[Expr, ...]) -> str:
        return f"&{place(scope.buffers[buffer], index, scope, dialect)}"

    def said(e: Expr) -> str:
        return text(e, scope, dialect)

    match s:
        case FetchMap(name):
            return f"fetch_map(&{scope.name(name)});"
        case InitTokens(buffer, arrivals):
            return f"init_tokens<{scope.buffers[buffer].elements}>({scope.name(buffer)}, {arrivals});"
        case TokensReady():
            return "tokens_ready();"
        case Expect(buffer, index, size):
            return f"expect_bytes({at(buffer, index)}, {size});"
        case Arrive(buffer, index, None):
            return f"token_arrive({at(buffer, index)});"
        case Arrive(buffer, index, rank) if rank is not None:
            return f"token_arrive_at({at(buffer, index)}, {said(rank)});"
        case Await(buffer, index, parity):
            return f"token_await({at(buffer, index)}, {said(parity)});"
        case BoxCopy():
            start = ", ".join(said(e) for e in reversed(s.start))
            peers = "" if s.peers is None else f", {said(s.peers)}"
            name = f"box_copy{'' if s.peers is None else '_to'}_{len(s.start)}d"
            # boxes begin where the pattern of the swizzle does, so that it moves nothing there
            dst = place(replace(scope.buffers[s.dst], swizzle=0), s.index, scope, dialect)
            where = f"&{dst}, &{scope.name(s.map)}, {at(s.token, s.slot)}"
            return f"{name}({where}{peers}, {start});"
        case BoxStore():
            src = place(replace(scope.buffers[s.src], swizzle=0), s.index, scope, dialect)
            start = ", ".join(said(e) for e in reversed(s.start))
            return f"box_store_{len(s.start)}d(&{scope.name(s.map)}, &{src}, {start});"
        case StoreFence():
            return "store_fence();"
        case StoreCommit():
            return "store_commit();"
        case StoreWait(pending, ended):
            return f"store_wait{'_all' if ended else ''}<{pending}>();"
        case SetRegisters(count, more):
            return f"{'more' if more else 'fewer'}_registers<{count}>();"
        case _:
            raise AssertionError(s)


def copy_engine_function(name: str, inline: str) -> str | None:
    """The definition of a device function, or None where `name` is none of the copy engine."""
    if found := re.fullmatch(r"box_copy(_to)?_([1-5])d", name):
        return _box_copy(name, int(found[2]), inline, peers=found[1] is not None)
    if found := re.fullmatch(r"box_store_([1-5])d", name):
        return _box_store(name, int(found[1]), inline)
    found_text = _FUNCTIONS.get(name)
    return None if found_text is None else found_text.replace("INLINE", inline)


def _box_copy(name: str, rank: int, inline: str, *, peers: bool) -> str:
    """Coordinates come as the hardware wants them, the fastest first."""
    starts = [f"x{d}" for d in range(rank)]
    params = ["void *dst", f"const {TENSOR_MAP} *map", "unsigned long long *token"]
    params += ["unsigned short peers"] if peers else []
    params += [f"int {x}" for x in starts]
    coordinates = ", ".join(f"%{3 + d}" for d in range(rank))
    how = ".multicast::cluster" if peers else ""
    mask = f", %{3 + rank}" if peers else ""
    given = ", ".join(f'"r"({x})' for x in starts) + (', "h"(peers)' if peers else "")
    head = "\n".join(wrapped(f"{inline} void {name}", params))
    return f"""{head}
{{
    asm volatile("cp.async.bulk.tensor.{rank}d.shared::cluster.global.mbarrier::complete_tx::bytes{how}"
                 " [%0], [%1, {{{coordinates}}}], [%2]{mask};"
                 :: "r"({_SHARED("dst")}), "l"(map),
                    "r"({_SHARED("token")}), {given}
                 : "memory");
}}
"""


def _box_store(name: str, rank: int, inline: str) -> str:
    starts = [f"x{d}" for d in range(rank)]
    coordinates = ", ".join(f"%{2 + d}" for d in range(rank))
    params = [f"const {TENSOR_MAP} *map", "const void *src", *(f"int {x}" for x in starts)]
    return f"""{inline} void {name}({", ".join(params)})
{{
    asm volatile("cp.async.bulk.tensor.{rank}d.global.shared::cta.bulk_group [%0, {{{coordinates}}}], [%1];"
                 :: "l"(map), "r"({_SHARED("src")}),
                    {", ".join(f'"r"({x})' for x in starts)}
                 : "memory");
}}
"""


_FUNCTIONS = {
    "fetch_map": f"""INLINE void fetch_map(const {TENSOR_MAP} *map)
{{
    asm volatile("prefetch.tensormap [%0];" :: "l"(map) : "memory");
}}
""",
    "store_fence": """INLINE void store_fence()
{
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
}
""",
    "store_commit": """INLINE void store_commit()
{
    asm volatile("cp.async.bulk.commit_group;" ::: "memory");
}
""",
    "store_wait": """template <int pending>
INLINE void store_wait()
{
    asm volatile("cp.async.bulk.wait_group.read %0;" :: "n"(pending) : "memory");
}
""",
    "store_wait_all": """template <int pending>
INLINE void store_wait_all()
{
    asm volatile("cp.async.bulk.wait_group %0;" :: "n"(pending) : "memory");
}
""",
    "init_tokens": f"""template <int count>
INLINE void init_tokens(unsigned long long *tokens, int arrivals)
{{
    #pragma unroll
    for (int i = 0; i < count; ++i)
        asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;"
                     :: "r"({_SHARED("tokens + i")}), "r"(arrivals) : "memory");
}}
""",
    "tokens_ready": """INLINE void tokens_ready()
{
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
}
""",
    "expect_bytes": f"""INLINE void expect_bytes(unsigned long long *token, unsigned int bytes)
{{
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;"
                 :: "r"({_SHARED("token")}), "r"(bytes) : "memory");
}}
""",
    "token_arrive": f"""INLINE void token_arrive(unsigned long long *token)
{{
    asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];"
                 :: "r"({_SHARED("token")}) : "memory");
}}
""",
    "token_arrive_at": f"""INLINE void token_arrive_at(unsigned long long *token, int rank)
{{
    asm volatile("{{\\n.reg .b32 there;\\nmapa.shared::cluster.u32 there, %0, %1;\\n"
                 "mbarrier.arrive.shared::cluster.b64 _, [there];\\n}}"
                 :: "r"({_SHARED("token")}), "r"(rank) : "memory");
}}
""",
    "token_await": f"""INLINE void token_await(unsigned long long *token, int parity)
{{
    unsigned int ended;
    do
        asm volatile("{{\\n.reg .pred p;\\nmbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2;\\n"
                     "selp.u32 %0, 1, 0, p;\\n}}"
                     : "=r"(ended)
                     : "r"({_SHARED("token")}), "r"(parity) : "memory");
    while (!ended);
}}
""",
    "more_registers": """template <int count>
INLINE void more_registers()
{
    asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" :: "n"(count));
}
""",
    "fewer_registers": """template <int count>
INLINE void fewer_registers()
{
    asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" :: "n"(count));
}
""",
}
