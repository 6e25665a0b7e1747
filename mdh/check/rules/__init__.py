"""The rules in the order they run. Adding one: a function in a file of this folder, and a row here."""

from mdh.check.rules.arity import check_arity
from mdh.check.rules.banks import check_banks
from mdh.check.rules.capacity import check_capacity
from mdh.check.rules.combine import check_combines
from mdh.check.rules.copies import check_inward, check_known_extent
from mdh.check.rules.coverage import check_coverage, check_cyclic_nesting
from mdh.check.rules.depth import check_depth
from mdh.check.rules.engines import check_engines
from mdh.check.rules.for_order import check_for_order
from mdh.check.rules.hints import check_hints
from mdh.check.rules.labels import check_initial, check_labels
from mdh.check.rules.launch import check_block_axes, check_cluster, check_grid_axes, check_threads
from mdh.check.rules.layers import check_axis_once, check_known_layers, check_nesting
from mdh.check.rules.layouts import check_layouts
from mdh.check.rules.lowered import check_lowered
from mdh.check.rules.mma import check_mma
from mdh.check.rules.names import check_names
from mdh.check.rules.order import (
    check_arrival_order,
    check_scan_layers,
    check_scan_order,
    check_strict_order,
)
from mdh.check.rules.parallel import check_order, check_races
from mdh.check.rules.pipeline import check_pipeline
from mdh.check.rules.scatter import check_scatter
from mdh.check.rules.stores import check_stores
from mdh.check.rules.tiles import check_tiles
from mdh.check.rules.vectors import check_vectors
from mdh.check.rules.visibility import check_visibility
from mdh.check.rules.warps import check_below_warps, check_warp_products
from mdh.check.rules.window import check_window

SHAPE_RULES = (check_depth, check_arity)
"""Before anything else: later rules walk the groups dimension by dimension."""

PROGRAM_RULES = (check_order,)
"""The stages of a program together, before any schedule."""

DRAFT_RULES = (
    check_races,
    check_names,
    check_labels,
    check_initial,
    check_tiles,
    check_layouts,
    check_for_order,
)
"""Each step as written; the plan is resolved only where all of these are content."""

PLAN_RULES = (
    check_known_layers,
    check_nesting,
    check_axis_once,
    check_warp_products,
    check_below_warps,
    check_mma,
    check_coverage,
    check_cyclic_nesting,
    check_scan_order,
    check_scan_layers,
    check_strict_order,
    check_arrival_order,
    check_scatter,
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
    check_lowered,
)
"""The resolved plan."""
TILE_RULES = (check_capacity, check_engines, check_banks, check_window)
"""The tile tree of a resolved plan."""
