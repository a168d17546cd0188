"""Optional packages: how to install what an extra brings, said in one way that works for a release and in a clone."""

from __future__ import annotations


def install(extra: str) -> str:
    """For messages: the line that installs an extra of pyproject.toml.

    >>> install("sklearn")
    'pip install "tukeydp[sklearn]" (in a clone: pip install -e ".[sklearn]")'
    """
    return f'pip install "tukeydp[{extra}]" (in a clone: pip install -e ".[{extra}]")'
