"""Branch and bound over the grid points of a box, compiled: loops only."""
