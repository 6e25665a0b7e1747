"""A program and the steps of a schedule to the tile tree: loops, units, and what lies where."""
