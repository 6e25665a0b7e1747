"""The values that the arrows of the pipeline make, with a printer and a verifier for each level that has
one.

`program`, `statement` and `syntax` hold the C function; `layout` and `tile` the tile tree; `plan` a checked
schedule; `kernel` and `intrinsic` the kernels for all targets. `expr`, `affine`, `ranges` and `width` are
the expressions that all levels share; `walk` visits statements.
"""
