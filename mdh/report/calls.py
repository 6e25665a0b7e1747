"""Calls of libraries in words."""

from mdh.ir.library_call import LibraryCall, MatrixCall


def call_text(found: LibraryCall) -> str:
    """`by openblas: cblas_sgemm, 64×32 = 64×16 · 16×32, A turned, for each b`."""
    parts = [f"{found.call.function}, {_sizes(found.call)}"]
    turned = [x.buffer for x in found.call.operands if x.turned]
    parts += [f"{' and '.join(turned)} turned"] if turned else []
    parts += [f"for each {', '.join(found.around)}"] if found.around else []
    rest = ", ".join(o.buffer for o in found.rest)
    return f"by {found.library}: {', '.join(parts)}{f'; then {rest} by kernels' if rest else ''}"


def _sizes(call: MatrixCall) -> str:
    if call.vector:
        return f"{call.m} = {call.m}×{call.k} · {call.k}"
    return f"{call.m}×{call.n} = {call.m}×{call.k} · {call.k}×{call.n}"
