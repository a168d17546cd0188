"""Certified sizes of level sets, for REM's test."""
