"""Mixtures of Gaussians by hand: one loop a component, dense algebra, nothing shared."""
