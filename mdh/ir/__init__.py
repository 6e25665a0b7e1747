"""The values that the stages of the pipeline pass on.


`program`, `statement` and `syntax` hold the C function. `layout` and `tile` hold the tile tree, which
`tile_text` prints and `tile_verify` verifies. `plan` is a checked schedule. `kernel` and `intrinsic` are the
kernel IR of all targets, which `verify` verifies; `atoms` are the instructions of tensor cores. `fusion`
makes one dimension of several. `expr`, `affine`, `ranges` and `width` are the expressions that all levels
share, and `construct` makes those of indices, loops and guards. `walk` visits statements, and `product_sum`
recognises sums of products.
"""
