"""Packages that come with an extra: where one is missing, the error says what to type."""

from __future__ import annotations

from tukeydp.trusted.parameters import ParameterError


def missing(parameter: str, package: str, extra: str, value: object = "no such package") -> ParameterError:
    """The error for a package that an extra of ours installs.

    The line works wherever tukeydp is installed, from a wheel or from a clone: pip takes the extra from what is there.
    """
    return ParameterError(parameter, f'needs {package}: pip install "tukeydp[{extra}]"', value)
