"""The version, where every room can read it: a ledger notes which one made a release."""

__version__ = "0.1.0"
