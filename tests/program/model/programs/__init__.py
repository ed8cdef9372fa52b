"""Model programs written by hand: what a lowering must come to."""
