"""Tables for ranges of sizes."""
