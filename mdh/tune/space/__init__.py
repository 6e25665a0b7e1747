"""The exact space of a schedule with holes: counted, un-ranked and sampled without listing its points."""
