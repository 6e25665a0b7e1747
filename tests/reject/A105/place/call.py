import numpy as np

import mdh


class OnCard:
    """What a library's array in a GPU's memory shows of itself."""

    def __init__(self) -> None:
        shown = {"shape": (8,), "typestr": "<f4", "data": (4096, False), "version": 3}
        self.__cuda_array_interface__ = shown


mdh.compile("input.c", device="opencl:0", defines={"n": 8})(8, 2.0, OnCard(), np.zeros(8, np.float32))
