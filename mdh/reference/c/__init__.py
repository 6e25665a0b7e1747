"""What C says of types, literals and integers, for the interpreter and for slices of the text."""
