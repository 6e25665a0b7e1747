"""The values that the stages of the pipeline pass on, their printers and their verifiers.

Nothing here knows a target or a user's text. From the C to the kernel:

- What the C says: `syntax` is the function as it is written, `statement` its statements, and `program` the
  stages that carry them out. `turns` are loops around stages, and `open_size` sizes that the call gives.
- What a schedule makes of a stage: `layout` says by mixed-radix digits where an element lies and whose it
  is, `tile` is the tree of loops, units and tiles. `plan` holds both, with all that the checker has proven.
- What a kernel does: `kernel` has the statements, `intrinsic` functions that C lacks, `copy_engine` and
  `matrix` the statements of TMA and of tensor cores, whose instructions are data in `atoms`. `library_call`
  is a stage that a library computes.
- What all levels share: scalar expressions (`expr`, `dtype`), their affine form (`affine`, `clauses`), the
  values that they can take (`ranges`, `width`), how they are built (`construct`), and walks over statements
  (`walk`).

Stages can be changed or joined before they have a schedule. One file each says what they are then:
`fusion`, `inlining`, `inner`, `online*` and `carried`, `shared_launch`, `parallel_loop`, `wavefronts`,
`swaps`.

Two files recognise forms that several folders ask for: `product_sum` sums of products, `factor` a factor
that all terms of a sum share. `numerics` says how a plan rounds, for the judge of results.

`tile_text` and `syntax_text` print; `tile_verify` and `verify` find what may not be: a bug of mdh.
"""
