"""The cost model: what a schedule will take on a machine, before anything is compiled."""
