"""The values that the arrows of the pipeline make.

`program`, `statement` and `syntax` hold the C function; `layout` and `tile` the tile tree, which `tile_text`
prints and `tile_verify` verifies; `plan` a checked schedule; `kernel` and `intrinsic` the kernels for all
targets, which `verify` verifies. `expr`, `affine`, `ranges` and `width` are the expressions that all levels
share; `construct` spells those of indices, loops and guards; `walk` visits statements; `product_sum`
recognises sums of products.
"""
