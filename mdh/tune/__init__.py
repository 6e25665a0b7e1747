"""The tuner: a schedule with holes in, the best schedule without them out, and a record of every trial."""
