"""The pictures of the documentation: `python tools/pictures` draws them all into docs/pictures (`make pictures`)."""
