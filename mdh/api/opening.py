"""`mdh.open`: a size that stays open, for `defines`."""

from mdh.api.options import of_type
from mdh.ir.open_size import OpenSize


def open(least: int, most: int, multiple: int = 1) -> OpenSize:
    """A size from `least` to `most` that is a multiple of `multiple`: `defines={"M": mdh.open(1, 4096)}`. Few
    kernels serve the range; each call passes the value. Raises TypeError for what is no whole number."""
    for name, value in (("least", least), ("most", most), ("multiple", multiple)):
        of_type(name, value, int, "a whole number")
    return OpenSize("", least, most, multiple)
