"""What the words of schedules mean, in a sentence each. docs/language.md is the reference."""

from mdh.hardware import Layer, Space
from mdh.schedule.attribute_values import legal_values
from mdh.schedule.attributes import ATTRIBUTES, Attribute, Parameter
from mdh.schedule.names import LAYER_ALIASES, REGION_ALIASES, axes_of, layer_of, region_of

LOOP = "FOR"
LAYERS = {
    Layer.NOD: "Nodes of a cluster of computers. mdh parses it, and lowers one part only (K190).",
    Layer.DEV: "Devices of a node. mdh parses it, and lowers one part only (K190).",
    Layer.CLU: "Clusters of blocks, which can read one another's shared memory. Beside it, BLK are the "
    "blocks of a cluster, at most 8.",
    Layer.BLK: "Blocks of the grid. In OpenCL a work-group. On a CPU, each is on one core.",
    Layer.WGP: "Warp groups of a block: four warps, 128 threads, which `wgmma` needs.",
    Layer.WRP: "Warps of a block. Below it, THR are the 32 lanes of a warp; below WGP there are exactly 4.",
    Layer.THR: "Threads of a block. Below WRP they are the 32 lanes of a warp. On a CPU, loops inside "
    "of the one work-item.",
    Layer.VEC: "Lanes of a vector, along one dimension with tile 1: 2 or 4 in CUDA; 2, 4, 8 or 16 in "
    "OpenCL and C.",
    Layer.MMA: "Axes of an atom of tensor cores: `m` and `n` are of the result, `k` is reduced.",
}
REGIONS = {
    Space.HM: "Memory of the host.",
    Space.DM: "Device memory, where arrays are at first.",
    Space.SM: "Shared memory of a block; in OpenCL local memory. On a CPU, a packed copy that fits "
    "into the cache.",
    Space.RM: "Registers of a thread. Loops over what lies there are unrolled.",
}
ATTRIBUTE_MEANINGS = {
    "pad": "Elements that are added behind each row of the fastest dimension, against bank conflicts.",
    "swizzle": "XORs the number of each 16-byte chunk with the number of its row, inside spans of n bytes, "
    "against bank conflicts. Not together with `@pad`.",
    "copy": "Who copies: `plain` is a thread through its registers, `async` is cp.async, `tma` the copy "
    "engine. `else` states what to take where the machine does not have it.",
    "stages": "Slots of the buffers that the step stages: copies for the next turns run while this one is "
    "computed.",
    "roles": "One more warp group copies, and `math` warp groups compute. `regs=x/y` are registers of a "
    "thread of each.",
    "unroll": "Unrolls the loops of the step: whole, or n turns at a time.",
    "cyclic": "Deals out n elements after another to the units, in turns, instead of whole parts.",
    "order": "The order in which blocks take the tiles of the grid. `grouped(n)` keeps n rows close, for "
    "the second-level cache.",
    "persistent": "As many blocks as run at once take all tiles, one after another.",
    "occupancy": "Blocks that should share a multiprocessor. The compiler limits registers for that.",
    "combine": "How the parts of a reduction that units hold become one result.",
    "window": "A sliding buffer along the innermost loop of the step: only what is new is copied.",
    "store": "Who stores results, and how wide: threads (`plain`), or the copy engine (`tma`) with `subtile` "
    "columns at once.",
    "cache": "A hint to the cache: `stream` is used once, `keep` again.",
    "atom": "The instruction that multiplies: `mma` and `dmma` of a warp, `wgmma` of a warp group. The types "
    "of the C decide where it is left out.",
    "acc": "The type in which an atom sums.",
    "as": "Rounds factors of f32 to tf32 (11 significant bits). Needs your consent: `--allow tf32`.",
    "inflight": "Turns of the loop whose atoms may still run when the next slot is awaited.",
    "launch": "How the turns of a loop are launched: one by one by the host, or as a recorded graph.",
    "once": "Refuses any recomputation of a stage that its readers compute (K122).",
    "skew": "Adds the outer counter, n times, to the time of the inner one. Iterations of one time are then "
    "independent.",
    "promote": "After n elements of the reduction, threads add the sum to a second accumulator in f32.",
}
KEYWORDS = {
    "stage": "The steps of one stage: `stage NAME { … }`. Or how it is computed: `inline`, `in READER:step`, "
    "`beside STAGE`, `online STAGES`, `= library(NAME)`.",
    "loop": "A loop of the C around stages, whose iterations units share: `loop NAME( counter ) { … }`.",
    "fuse": "Dimensions that are one in the steps of the stage: `fuse n, p, q`.",
    "where": "A condition on named holes: `where ?bm * ?bn <= 32768`.",
    "target": "The machine that the schedule is for, if the command names none.",
    "program": "The function that the schedule is for.",
    "for": "Sizes and machines that the schedule was made for: `for matmul M=1024 N=1024 on h200`.",
    "small": "Small sizes at which the same steps still take part. `mdh check` checks them, too.",
    "over": "A case of a table: a schedule for sizes in these ranges: `over M=1..16 { … }`.",
}
HOW = {
    "kernel": "The stage has a kernel of its own.",
    "inline": "The stages that read the results compute them where they read them.",
    "in": "The kernel of a reader computes the stage at one of its steps, which stages the results.",
    "beside": "The stage shares the launch of another one: the blocks of both are blocks of one grid.",
    "online": "The stage and the sums and maxima that it reads run along a row together, part after part.",
}


def layer_text(word: str) -> str | None:
    """What a core layer is; None if the word is none."""
    if word == LOOP:
        return "**FOR.n** · sequential loop\n\nThe n-th loop of the step, from outside."
    layer = layer_of(word)
    if layer is None:
        return None
    alias = f" (`{word}`)" if word in LAYER_ALIASES else ""
    axes = ", ".join(f"`{layer}.{axis}`" for axis in axes_of(layer))
    return f"**{layer}**{alias} · core layer\n\n{LAYERS[layer]}\n\nAxes: {axes}"


def region_text(word: str) -> str | None:
    """What a memory region is; None if the word is none."""
    region = region_of(word)
    if region is None:
        return None
    alias = f" (`{word}`)" if word in REGION_ALIASES else ""
    return f"**{region}**{alias} · memory region\n\n{REGIONS[region]}"


def attribute_text(name: str) -> str | None:
    """What an attribute does, where it may stand, and its legal values; None if there is none of the name."""
    known = ATTRIBUTES.get(name)
    if known is None:
        return None
    rows = [f"**@{name}** · on {' or '.join(known.sites)}", ATTRIBUTE_MEANINGS[name], f"    {known.form}"]
    legal = [f"- {_parameter(known, p)}" for p in known.parameters]
    return "\n\n".join([*rows, *(["\n".join(legal)] if legal else [])])


def _parameter(known: Attribute, parameter: Parameter) -> str:
    named = f"`{parameter.name}=`" if parameter.name else "argument" if len(known.parameters) == 1 else ""
    may = "" if parameter.required else " (may be left out)"
    searched = f"; `?` ranges over {domain_text(parameter)}" if parameter.domain else ""
    return f"{named} {legal_values(parameter)}{may}{searched}".strip()


def domain_text(parameter: Parameter) -> str:
    return ", ".join(f"`{value}`" for value in parameter.domain)
