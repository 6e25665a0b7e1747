"""The rules in the order they run. To add one, write a function in a file of this folder and a row here."""

from mdh.checker.rules.arity import check_arity
from mdh.checker.rules.banks import check_banks
from mdh.checker.rules.capacity import check_capacity
from mdh.checker.rules.combine import check_combines
from mdh.checker.rules.consent import check_consent
from mdh.checker.rules.copies import check_inward, check_known_extent
from mdh.checker.rules.coverage import check_coverage, check_cyclic_nesting
from mdh.checker.rules.depth import check_depth
from mdh.checker.rules.engines import check_engines
from mdh.checker.rules.for_order import check_for_order
from mdh.checker.rules.group_registers import check_group_registers
from mdh.checker.rules.hints import check_hints
from mdh.checker.rules.labels import check_initial, check_labels
from mdh.checker.rules.launch import check_block_axes, check_cluster, check_grid_axes, check_threads
from mdh.checker.rules.layers import check_axis_once, check_known_layers, check_nesting
from mdh.checker.rules.layouts import check_layouts
from mdh.checker.rules.lowered import check_lowered
from mdh.checker.rules.mma import check_edges, check_factors, check_mma
from mdh.checker.rules.names import check_names
from mdh.checker.rules.open import check_open_splits, check_open_tiles, check_open_tiles_kept
from mdh.checker.rules.order import (
    check_arrival_order,
    check_scan_layers,
    check_scan_order,
    check_strict_order,
)
from mdh.checker.rules.parallel import check_order, check_races
from mdh.checker.rules.pipeline import check_pipeline
from mdh.checker.rules.roles import check_inflight, check_promote, check_roles, check_turns
from mdh.checker.rules.scatter import check_private, check_scatter
from mdh.checker.rules.stores import check_boxed_stores, check_stores
from mdh.checker.rules.stream import check_stream
from mdh.checker.rules.tiles import check_tiles
from mdh.checker.rules.unrolled import check_copies
from mdh.checker.rules.vectors import check_vectors
from mdh.checker.rules.visibility import check_visibility
from mdh.checker.rules.warps import check_below_warps, check_warp_products
from mdh.checker.rules.window import check_window

SHAPE_RULES = (check_depth, check_arity)
"""These run first, because later rules walk the groups dimension by dimension."""

PROGRAM_RULES = (check_order,)
"""Rules about the stages of a program together, before any schedule is looked at."""

DRAFT_RULES = (
    check_races,
    check_names,
    check_labels,
    check_initial,
    check_tiles,
    check_open_tiles,
    check_layouts,
    check_for_order,
    check_consent,
)
"""Rules about each step as written. The plan is resolved only if none of these reports anything."""

ATOM_RULES = (check_mma,)
"""Rules about the step of tensor cores. The others run only if it has its atom."""

PLAN_RULES = (
    check_known_layers,
    check_nesting,
    check_axis_once,
    check_warp_products,
    check_below_warps,
    check_coverage,
    check_cyclic_nesting,
    check_scan_order,
    check_scan_layers,
    check_strict_order,
    check_arrival_order,
    check_scatter,
    check_private,
    check_visibility,
    check_combines,
    check_inward,
    check_known_extent,
    check_threads,
    check_block_axes,
    check_grid_axes,
    check_cluster,
    check_vectors,
    check_pipeline,
    check_stores,
    check_hints,
    check_roles,
    check_inflight,
    check_promote,
    check_lowered,
    check_copies,
    check_open_splits,
)
"""Rules about the resolved plan."""
TILE_RULES = (
    check_factors,
    check_edges,
    check_open_tiles_kept,
    check_capacity,
    check_group_registers,
    check_turns,
    check_stream,
    check_engines,
    check_boxed_stores,
    check_banks,
    check_window,
)
"""Rules about the tile tree of a resolved plan."""
