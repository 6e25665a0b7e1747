"""Programs as operators of PyTorch: `mdh.torch.op`. Importing this module imports torch."""

from mdh.torch.operator import Op, op

__all__ = ["Op", "op"]
