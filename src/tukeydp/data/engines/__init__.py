"""Engines that hold tables larger than memory: one file each, which says how its rows are read in batches."""
