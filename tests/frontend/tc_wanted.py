"""What the listings of the Tensor Comprehensions paper compute, in numpy."""

from collections.abc import Callable

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

Arrays = dict[str, np.ndarray]
Scalars = dict[str, float]


def _sgemm(a: Arrays, s: Scalars) -> Arrays:
    return {"C": s["b"] * a["C"] + s["a"] * (a["A"] @ a["B"])}


def _layer(x: np.ndarray, w: np.ndarray, bias: np.ndarray) -> np.ndarray:
    n = min(x.shape[1], w.shape[1])
    return np.maximum(bias + x[:, :n] @ w[:, :n].T, 0)


def _conv2d(a: Arrays, _: Scalars) -> Arrays:
    windows = sliding_window_view(a["in"], a["weight"].shape[2:], axis=(2, 3))
    return {"out": np.einsum("bihwkl,oikl->bohw", windows, a["weight"])}


def _maxpool(a: Arrays, _: Scalars) -> Arrays:
    windows = sliding_window_view(a["in"], (2, 2), axis=(2, 3))[:, :, ::2, ::2]
    return {"out": windows.max(axis=(4, 5))}


def _sconv2d(a: Arrays, s: Scalars) -> Arrays:
    windows = sliding_window_view(a["I"], a["W"].shape[2:], axis=(2, 3))[
        :, :, :: int(s["sh"]), :: int(s["sw"])
    ]
    return {"O": np.einsum("nchwkl,fckl->nfhw", windows, a["W"]) + a["B"][None, :, None, None]}


def _lut(a: Arrays, _: Scalars) -> Arrays:
    return {"O1": a["LUT1"][a["I1"]].sum(axis=1), "O2": a["LUT2"][a["I2"]].sum(axis=1)}


def _gconv(bias: Callable[[np.ndarray], np.ndarray]) -> Callable[[Arrays, Scalars], Arrays]:
    def wanted(a: Arrays, _: Scalars) -> Arrays:
        windows = sliding_window_view(a["I"], a["W1"].shape[3:], axis=(3, 4))
        return {"O": np.einsum("ngihwkl,goikl->ngohw", windows, a["W1"]) + bias(a["B"])}

    return wanted


def _mlp3(a: Arrays, _: Scalars) -> Arrays:
    o2 = _layer(a["O1"], a["W2"], a["B2"])
    o3 = _layer(o2, a["W3"], a["B3"])
    return {"O2": o2, "O3": o3, "O4": _layer(o3, a["W4"], a["B4"])}


def _model(a: Arrays, _: Scalars) -> Arrays:
    c1, c2, c3 = a["LUT1"][a["I1"]].sum(axis=1), a["LUT2"][a["I2"]].sum(axis=1), a["I3"] @ a["W"].T
    joined = np.concatenate([c1, c2, c3], axis=1)
    o1 = _layer(joined, a["W1"], a["B1"])
    return {"C1": c1, "C2": c2, "C3": c3, "I": joined, "O1": o1, **_mlp3({**a, "O1": o1}, {})}


WANTED: dict[str, Callable[[Arrays, Scalars], Arrays]] = {
    "mv": lambda a, _: {"C": a["A"] @ a["x"]},
    "mv_short": lambda a, _: {"C": a["A"] @ a["x"]},
    "sgemm": _sgemm,
    "fcrelu": lambda a, _: {"out": _layer(a["in"], a["weight"], a["bias"])},
    "conv2d": _conv2d,
    "maxpool2x2": _maxpool,
    "gather": lambda a, _: {"Z": a["X"][a["I"]]},
    "sconv2d": _sconv2d,
    "outerProductMM": lambda a, _: {"O": np.einsum("pqr,srt->psqt", a["A"], a["B"])},
    "tmm": lambda a, _: {"C": a["A"] @ a["B"].T},
    "tbmm": lambda a, _: {"Z": np.einsum("bnm,bkm->bnk", a["X"], a["Y"])},
    "2LUT": _lut,
    "mm": lambda a, _: {"C": a["A"] @ a["B"]},
    "MLP1": lambda a, _: {"O1": _layer(a["I"], a["W1"], a["B1"])},
    "conv1d": lambda a, _: {"O": np.correlate(a["I"], a["K"], "valid")},
    "gconv": _gconv(lambda b: b[None, None, :, None, None]),
    "dconv": _gconv(lambda b: b[None, :, :, None, None]),
    "MLP3": _mlp3,
    "prodModel": _model,
}
