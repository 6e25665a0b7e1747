"""The machine code of kernels, and the loop in it that matters most.

`of_c` and `of_cuda` compile a text once more, with line numbers, and read what disassemblers say. `hot`
finds the loop by the number of times that the text's own loops run (`trips`). Nothing is run, and no device
is needed."""
