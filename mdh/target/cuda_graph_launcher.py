"""The emitted launcher of a call whose launches are replayed as a CUDA graph (`@launch(graph)`).

The launches stand in a function of their own. The launcher records them once for each set of arguments, and
replays them. Where the caller records its stream itself, they are put there one by one.
"""

from mdh.ir.program import Buffer, Program, Scalar
from mdh.target.header import C_TYPES, parameters, prototype, scalar_type
from mdh.target.host import HostNames
from mdh.target.names import fresh
from mdh.target.text import KernelText

REPLAY = r"""
/* Records what `put` enqueues as a graph. */
template <typename Put>
static cudaError_t RECORD(cudaGraphExec_t *made, Put put)
{
    cudaStream_t side;
    cudaGraph_t graph = 0;
    cudaError_t error, ended;
    if ((error = cudaStreamCreateWithFlags(&side, cudaStreamNonBlocking)))
        return error;
    if (!(error = cudaStreamBeginCapture(side, cudaStreamCaptureModeRelaxed))) {
        error = (cudaError_t)put(side);
        ended = cudaStreamEndCapture(side, &graph);
        error = error ? error : ended;
        if (!error)
            error = cudaGraphInstantiateWithFlags(made, graph, 0);
        if (graph)
            cudaGraphDestroy(graph);
    }
    cudaStreamDestroy(side);
    return error;
}
"""


def launches_name(text: KernelText, host: HostNames) -> str:
    """The function that makes the launches."""
    return fresh(f"{host.function}_launches", _taken(text, host), "host")


def _taken(text: KernelText, host: HostNames) -> set[str]:
    return {host.function, *host.names.values(), *(k.name for k in text.kernels)}


def replaying(text: KernelText, program: Program, host: HostNames) -> tuple[str, str]:
    """What stands in front of the launches, and the launcher behind them."""
    own = launches_name(text, host)
    taken = {own, *_taken(text, host)}
    words = ("record", "last", "graph", "status", "side")
    record, last, graph, status, side = (fresh(word, taken, "host") for word in words)
    names = [host[p.name] for p in parameters(program)]
    fields = "\n".join(f"        {_held(p)}{host[p.name]};" for p in parameters(program))
    given, inner = (", ".join([*names, stream]) for stream in ("stream", side))
    differs = " || ".join(f"{last}.{n} != {n}" for n in names)
    kept = "\n".join(f"        {last}.{n} = {n};" for n in names)
    return (
        REPLAY.replace("RECORD", record),
        f"""{prototype(text, program, host)}
{{
    /* the graph, and the arguments that it was recorded with */
    static struct {{
        cudaGraphExec_t {graph};
{fields}
    }} {last};
    cudaStreamCaptureStatus {status};
    cudaError_t error;
    if ((error = cudaStreamIsCapturing((cudaStream_t)stream, &{status})))
        return error;
    if ({status} != cudaStreamCaptureStatusNone)
        return {own}({given});
    if (!{last}.{graph} || {differs}) {{
        if ({last}.{graph} && (error = cudaGraphExecDestroy({last}.{graph})))
            return error;
        {last}.{graph} = 0;
        if ((error = {record}(&{last}.{graph}, [&](void *{side}) {{ return {own}({inner}); }})))
            return error;
{kept}
    }}
    return cudaGraphLaunch({last}.{graph}, (cudaStream_t)stream);
}}
""",
    )


def _held(p: Buffer | Scalar) -> str:
    if isinstance(p, Scalar):
        return f"{scalar_type(p.dtype)} "
    return f"{'const ' if p.const else ''}{C_TYPES[p.dtype.name]} *"
