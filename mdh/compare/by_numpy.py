"""numpy: products by the BLAS that it was built with."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from mdh.compare.calling import finish_of
from mdh.compare.library import Bound
from mdh.compare.numpy_calls import PEERS
from mdh.compare.product import product
from mdh.decompose.contraction import MatrixProduct
from mdh.reference.numbers import Array


def version() -> str:
    config: Any = np.show_config(mode="dicts")
    blas = config.get("Build Dependencies", {}).get("blas", {})
    return f"numpy {np.__version__}, {blas.get('name', 'BLAS')} {blas.get('version', '')}".rstrip()


def bind(what: MatrixProduct, arrays: Mapping[str, Array], place: str) -> Bound:
    call, note = product(np, what, arrays)
    return Bound(call, lambda: None, note=note)


def named(call: str, values: Mapping[str, Array | int | float], place: str) -> Bound:
    found = PEERS[call]({name: np.asarray(value) for name, value in values.items()})
    return Bound(found, finish_of(found))
