"""Random products in turns of a loop, whose counter chooses the weights, with copies of inputs."""

from random import Random

from mdh.ir.program import Program


def random_weights(seed: int) -> str:
    """A product in each of a few turns, read from the layer before; the weights' place has a random form."""
    rng = Random(seed)
    layers, rows, width = rng.randint(2, 4), rng.choice((5, 12, 16)), rng.choice((8, 11, 16))
    step, first = rng.choice((1, 1, 2)), rng.randint(0, 2)
    index, shape = rng.choice([
        ("[l][k][n]", f"[{layers}][{width}][{width}]"),
        (f"[{step} * l + {first}][k][n]", f"[{step * layers + first}][{width}][{width}]"),
        (f"[{layers - 1} - l][n][k]", f"[{layers}][{width}][{width}]"),
        ("[k][n + l]", f"[{width}][{width + layers}]"),
        ("[k + l][n]", f"[{width + layers}][{width}]"),
        (f"[k][{width} * l + n]", f"[{width}][{width * layers}]"),
        ("[n][k][l]", f"[{width}][{width}][{layers}]"),
    ])  # fmt: skip
    more = rng.choice(("", " + b[l][n]", " + b[l][n] * h[l][b_][n]"))
    return f"""
void layers(const float w{shape}, const float b[{layers}][{width}], float h[{layers + 1}][{rows}][{width}])
{{
  for (int l = 0; l < {layers}; l++)
    for (int b_ = 0; b_ < {rows}; b_++)
      for (int n = 0; n < {width}; n++) {{
        float s = 0;
        for (int k = 0; k < {width}; k++)
          s += h[l][b_][k] * w{index};
        h[l + 1][b_][n] = s{more};
      }}
}}
"""


def weights_schedule(program: Program, seed: int) -> str:
    """Steps of the product alone: inputs are copied at random steps, where they are no results, too."""
    rng = Random(seed + 1)
    stage = next(s for s in program.stages if any(r.op is not None for r in s.results))
    names, outputs = program.inputs(stage), program.outputs(stage)

    def entries() -> str:
        out = []
        for name in names:
            rank = len(program.buffer_of[name].shape)
            layout = rng.sample(range(1, rank + 1), rank)
            copied = rng.random() < 0.6
            out.append(f"{name}:SM[{','.join(map(str, layout))}]" if copied else "^")
        return f"( {', '.join(out)} ; {', '.join('^' * len(outputs))} )"

    count = len(stage.dims)
    outer = [str(rng.choice((2, 4, "^"))) for _ in range(count)]
    inner = ["1" if rng.random() < 0.7 else "^" for _ in range(count)]
    plain, none = (
        ", ".join(["^"] * count),
        f"( {', '.join('^' * len(names))} ; {', '.join('^' * len(outputs))} )",
    )
    first = ", ".join("BLK.x" if n == 0 else "^" for n in range(count))
    return (
        f"stage {stage.name} {{\n  1: (de-)comp( {', '.join(outer)} ) {entries()} ( {first} )\n"
        f"  2: (de-)comp( {', '.join(inner)} ) {rng.choice((entries(), none))} ( {plain} )\n}}\n"
    )
