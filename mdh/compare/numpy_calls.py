"""How numpy computes the programs that come with mdh, by their names, in place where it can."""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from mdh.compare.calling import Call

Arrays = Mapping[str, np.ndarray[Any, Any]]
_CHUNK = 64


def _product(a: Arrays) -> Call:
    return lambda: np.matmul(a["A"], a["B"], out=a["C"])


def _product_t(a: Arrays) -> Call:
    return lambda: np.matmul(a["B"], a["A"], out=a["C"])


def _batched_t(a: Arrays) -> Call:
    right = a["B"].transpose(0, 2, 1)
    return lambda: np.matmul(a["A"], right, out=a["C"])


def _dot(a: Arrays) -> Call:
    def call() -> None:
        a["C"][0] = np.dot(a["A"], a["B"])

    return call


def _dense(a: Arrays) -> Call:
    def call() -> None:
        np.matmul(a["A"], a["B"], out=a["C"])
        np.add(a["C"], a["bias"], out=a["C"])
        np.maximum(a["C"], 0, out=a["C"])

    return call


def _mlp1(a: Arrays) -> Call:
    def call() -> None:
        np.matmul(a["I"], a["W1"].T, out=a["O1"])
        np.add(a["O1"], a["B1"], out=a["O1"])
        np.maximum(a["O1"], 0, out=a["O1"])

    return call


def _mlp3(a: Arrays) -> Call:
    def call() -> None:
        x = a["X"]
        for n in "123":
            x = np.maximum(x @ a[f"W{n}"] + a[f"b{n}"], 0)
        a["Y"][...] = x

    return call


def _scaled(a: Arrays) -> Call:
    """With the program's scalars."""
    kind = a["C"].dtype.type
    alpha, beta = kind(a["alpha"]), kind(a["beta"])

    def call() -> None:
        found = a["A"] @ a["B"]
        np.multiply(found, alpha, out=found)
        np.multiply(a["C"], beta, out=a["C"])
        np.add(a["C"], found, out=a["C"])

    return call


def _giles(a: Arrays) -> Call:
    """All products of two inputs, then a matrix product with the constants."""
    flat, n = a["C"].reshape(len(a["C"]), -1), a["A"].shape[1]
    return lambda: np.matmul(flat, (a["A"][:, None, :] * a["B"][None, :, :]).reshape(-1, n), out=a["O"])


def _conv(a: Arrays) -> Call:
    """A matrix of windows, then one product."""
    (_, h, _, k), (_, r, s, c) = a["O"].shape, a["F"].shape
    stride = (a["I"].shape[1] - r + 1) // h

    def call() -> None:
        windows = sliding_window_view(a["I"], (r, s), axis=(1, 2))[:, ::stride, ::stride]
        matrix = windows.transpose(0, 1, 2, 4, 5, 3).reshape(-1, r * s * c)
        np.matmul(matrix, a["F"].reshape(k, -1).T, out=a["O"].reshape(-1, k))

    return call


def _grouped(a: Arrays) -> Call:
    n, g, f, h, w = a["O"].shape
    r, s = a["weight"].shape[3:]

    def call() -> None:
        windows = sliding_window_view(a["I"], (r, s), axis=(3, 4))
        matrix = windows.transpose(1, 0, 3, 4, 2, 5, 6).reshape(g, n * h * w, -1)
        out = np.matmul(matrix, a["weight"].reshape(g, f, -1).transpose(0, 2, 1))
        a["O"][...] = out.reshape(g, n, h, w, f).transpose(1, 0, 4, 2, 3)

    return call


def _filter(a: Arrays) -> Call:
    h, w = a["O"].shape
    part = np.empty_like(a["O"])

    def call() -> None:
        a["O"].fill(0)
        for (r, s), factor in np.ndenumerate(a["F"]):
            np.multiply(a["I"][r : r + h, s : s + w], factor, out=part)
            np.add(a["O"], part, out=a["O"])

    return call


def _jacobi(a: Arrays) -> Call:
    x, out = a["A"], a["B"]
    inner = slice(1, -1)

    def call() -> None:
        np.add(x[:-2, inner, inner], x[2:, inner, inner], out=out)
        for axis in (1, 2):
            for side in (slice(None, -2), slice(2, None)):
                where = [inner, inner, inner]
                where[axis] = side
                np.add(out, x[tuple(where)], out=out)
        np.add(out, x[inner, inner, inner], out=out)
        np.multiply(out, out.dtype.type(1 / 7), out=out)

    return call


def _histogram(a: Arrays) -> Call:
    def call() -> None:
        a["H"] += np.bincount(a["B"], minlength=a["H"].size).astype(a["H"].dtype)

    return call


def _gather(a: Arrays) -> Call:
    return lambda: np.sum(np.take(a["E"], a["I"], axis=0), axis=1, out=a["O"])


def _lookups(a: Arrays) -> Call:
    def call() -> None:
        for n in "12":
            np.sum(np.take(a[f"LUT{n}"], a[f"I{n}"], axis=0), axis=1, out=a[f"O{n}"])

    return call


def _argmax(a: Arrays) -> Call:
    def call() -> None:
        place = np.argmax(a["A"], axis=1)
        a["place"][...] = place
        a["best"][...] = np.take_along_axis(a["A"], place[:, None], 1)[:, 0]

    return call


WEIGHTS = {
    "name": (9.5, -4.25), "birth": (8.0, -5.5), "sex": (1.0, -6.0), "city": (4.75, -1.5),
    "code": (5.25, -2.0),
}  # fmt: skip


def _linkage(a: Arrays) -> Call:
    def call() -> None:
        rows = a["score"].size
        for low in range(0, rows, _CHUNK):
            part = slice(low, min(low + _CHUNK, rows))
            weight = np.zeros((part.stop - low, a["name"].size), np.float32)
            for field, (same, other) in WEIGHTS.items():
                equal = a[f"new_{field}"][part, None] == a[field][None, :]
                weight += np.where(equal, np.float32(same), np.float32(other))
            place = weight.argmax(axis=1)
            a["match"][part] = place
            a["score"][part] = np.take_along_axis(weight, place[:, None], 1)[:, 0]

    return call


CALLS: dict[str, Callable[[Arrays], Call]] = {
    "matmul_init": _product, "matmul_double": _product, "matmul_t": _product_t, "batched_matmul": _product,
    "batched_matmul_t": _batched_t, "matvec": _product, "dot": _dot, "matmul_bias_relu": _dense,
    "conv2d": _conv, "conv2d_56": _conv, "grouped_conv": _grouped, "filter5x5": _filter, "jacobi3d": _jacobi,
    "prefix_sum": lambda a: lambda: np.cumsum(a["A"], out=a["S"]), "histogram": _histogram,
    "gather_sum": _gather, "prl": _linkage, "row_argmax": _argmax,
    "row_max": lambda a: lambda: np.max(a["A"], axis=1, out=a["best"]),
}  # fmt: skip
"""By the names of the programs."""
PEERS: dict[str, Callable[[Arrays], Call]] = {
    **CALLS, "apart": _dense, "MLP1 apart": _mlp1, "mlp3": _mlp3, "2LUT": _lookups, "scaled": _scaled,
    "giles": _giles,
}  # fmt: skip
"""By the names that experiments call them."""
