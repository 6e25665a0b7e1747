"""The handler by which XLA calls kernels: C, compiled once by the system's compiler against jax's own header.

XLA's foreign function interface gives a handler the addresses of arguments and results. This one passes them
on to a function of Python, which launches the kernel. Nothing is copied. Source of the interface: the header
`xla/ffi/api/c_api.h` in `jax.ffi.include_dir()`, so that the structs are those of the jax at hand.
"""

import ctypes
from collections.abc import Sequence
from pathlib import Path

from mdh.device.c import loaded
from mdh.device.c_compiler import find_compiler
from mdh.device.c_run import made_library, run_compiler
from mdh.device.cache import cache_if_any, key_of
from mdh.diagnostics import fail
from mdh.folders import scratch, unserving

SCHEMA = "mdh.jax/1"
CALLBACK = ctypes.CFUNCTYPE(
    ctypes.c_int,
    ctypes.c_int64,
    ctypes.c_int64,
    ctypes.c_void_p,
    ctypes.c_int64,
    ctypes.POINTER(ctypes.c_void_p),
    ctypes.POINTER(ctypes.c_int64),
    ctypes.POINTER(ctypes.POINTER(ctypes.c_int64)),
    ctypes.c_void_p,
    ctypes.c_int64,
)
"""Of the number of a call, the number of the GPU (-1: host memory), its stream, the number of arrays, their
addresses, ranks and extents, and room for a message. Not 0: the message says what is wrong."""

TEXT = r"""
#include <stdint.h>
#include <string.h>
#include "xla/ffi/api/c_api.h"

typedef int (*mdh_callback)(
    int64_t, int64_t, void *, int64_t, void **, int64_t *, int64_t **, char *, int64_t);
static mdh_callback callback;
enum { ARRAYS = 64, MESSAGE = 4096 };

void mdh_jax_set(mdh_callback f) { callback = f; }

static XLA_FFI_Error *failed(const XLA_FFI_Api *api, const char *message)
{
    XLA_FFI_Error_Create_Args args;
    memset(&args, 0, sizeof args);
    args.struct_size = XLA_FFI_Error_Create_Args_STRUCT_SIZE;
    args.message = message;
    args.errc = XLA_FFI_Error_Code_INVALID_ARGUMENT;
    return api->XLA_FFI_Error_Create(&args);
}

/* XLA asks which version of the interface the handler was compiled for. */
static int told(XLA_FFI_CallFrame *frame, uint32_t traits)
{
    __typeof__(frame->extension_start) e = frame->extension_start; /* its type has had two names */
    for (; e; e = e->next)
        if (e->type == XLA_FFI_Extension_Metadata) {
            XLA_FFI_Metadata *m = ((XLA_FFI_Metadata_Extension *)e)->metadata;
            m->api_version.major_version = XLA_FFI_API_MAJOR;
            m->api_version.minor_version = XLA_FFI_API_MINOR;
            m->traits = traits;
            return 1;
        }
    return 0;
}

static XLA_FFI_Error *run(XLA_FFI_CallFrame *frame, int64_t device, void *stream)
{
    void *data[ARRAYS];
    int64_t ranks[ARRAYS], *dims[ARRAYS], number = -1, n = 0;
    char message[MESSAGE] = "";
    if (frame->args.size + frame->rets.size > ARRAYS)
        return failed(frame->api, "mdh: more than 64 arrays");
    for (int64_t i = 0; i < frame->attrs.size; ++i)
        if (frame->attrs.names[i]->len == 4 && !memcmp(frame->attrs.names[i]->ptr, "call", 4))
            number = *(int64_t *)((XLA_FFI_Scalar *)frame->attrs.attrs[i])->value;
    for (int64_t i = 0; i < frame->args.size + frame->rets.size; ++i, ++n) {
        int64_t k = i - frame->args.size;
        XLA_FFI_Buffer *b = (XLA_FFI_Buffer *)(k < 0 ? frame->args.args[i] : frame->rets.rets[k]);
        data[n] = b->data;
        ranks[n] = b->rank;
        dims[n] = b->dims;
    }
    if (!callback)
        return failed(frame->api, "mdh: Python has ended");
    if (callback(number, device, stream, n, data, ranks, dims, message, MESSAGE))
        return failed(frame->api, message);
    return 0;
}

XLA_FFI_Error *mdh_jax_cpu(XLA_FFI_CallFrame *frame)
{
    return told(frame, 0) ? 0 : run(frame, -1, 0);
}

XLA_FFI_Error *mdh_jax_cuda(XLA_FFI_CallFrame *frame)
{
    XLA_FFI_Stream_Get_Args args;
    int64_t device = 0;
    XLA_FFI_Error *error;
    if (told(frame, 0))
        return 0;
    memset(&args, 0, sizeof args);
    args.struct_size = XLA_FFI_Stream_Get_Args_STRUCT_SIZE;
    args.ctx = frame->ctx;
    if ((error = frame->api->XLA_FFI_Stream_Get(&args)))
        return error;
#ifdef MDH_ORDINAL
    XLA_FFI_DeviceOrdinal_Get_Args which;
    memset(&which, 0, sizeof which);
    which.struct_size = XLA_FFI_DeviceOrdinal_Get_Args_STRUCT_SIZE;
    which.ctx = frame->ctx;
    if ((error = frame->api->XLA_FFI_DeviceOrdinal_Get(&which)))
        return error;
    device = which.device_ordinal;
#endif
    return run(frame, device, args.stream);
}
"""


def handler(include: str) -> ctypes.CDLL:
    """The loaded handler. include: the folder of jax's headers. Raises Failed D113, D114."""
    compiler, header = find_compiler(), Path(include) / "xla" / "ffi" / "api" / "c_api.h"
    declared = header.read_text(encoding="utf-8")
    ordinal = ("-DMDH_ORDINAL",) if "XLA_FFI_DeviceOrdinal_Get_Args" in declared else ()
    key = key_of(SCHEMA, TEXT, declared, compiler.version, *compiler.command)
    cache = cache_if_any()
    image = None if cache is None else cache.get(key)
    if image is None:
        image = _compiled((*compiler.command, "-O1", "-shared", "-fPIC", f"-I{include}", *ordinal))
        if cache is not None:
            cache.put(key, image)
    return loaded(image)


def _compiled(words: Sequence[str]) -> bytes:
    try:
        with scratch("jax") as name:
            source, library = Path(name) / "handler.c", Path(name) / "handler.so"
            source.write_text(TEXT, encoding="utf-8")
            done = run_compiler((*words, str(source), "-o", str(library)), Path(name))
            image = made_library(done, library)
    except OSError as error:
        raise unserving(error) from error
    if image is None:
        lines = [line for line in done.log.splitlines() if "error" in line] or ["no reason given"]
        what = f"the C compiler `{words[0]}` refuses the handler for this version of jax: {lines[0][-200:]}"
        raise fail("D113", what, help="name another one in the variable CC")
    return image
