"""Passes over the statements of a kernel, one file a pass. `table` lists them in their order."""
