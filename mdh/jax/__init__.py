"""Programs as operators of JAX: `mdh.jax.op`. Importing this module imports jax."""

from mdh.jax.operator import Op, op

__all__ = ["Op", "op"]
