"""Files to tables: one file for each format, registered in `formats.py`. Errors quote nothing from the file."""
