"""What turns the pages of `docs/` into the site: used by `tools/docs_hooks.py`."""
