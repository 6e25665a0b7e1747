import mdh


class Foreign:
    """An array in a GPU's memory, of a library that mdh does not know."""

    def __init__(self) -> None:
        self.__cuda_array_interface__ = {
            "shape": (8,), "typestr": "<f4", "data": (4096, False), "version": 3,
        }  # fmt: skip


mdh.compile("input.tc")(Foreign())
