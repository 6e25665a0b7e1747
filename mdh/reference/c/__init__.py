"""What C says of types and of literals, for the interpreter and for slices of the text."""
