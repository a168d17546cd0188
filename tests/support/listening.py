"""Which keys and lanes a run reads, and keys that are fixed one by one."""

from __future__ import annotations

from tukeydp.randomness import Keystream, SystemRandomness, derived_key


def listen(monkeypatch) -> list[tuple[bytes, int]]:
    """Every (key, lane) that is read from, in turn; the list grows as lanes are opened."""
    found, made, lane_of = [], Keystream.__init__, Keystream._lane

    def remembered(self, key):
        self.key = key
        made(self, key)

    def listened(self, lane):
        found.append((self.key, lane))
        return lane_of(self, lane)

    monkeypatch.setattr(Keystream, "__init__", remembered)
    monkeypatch.setattr(Keystream, "_lane", listened)
    return found


def with_keys(monkeypatch, names) -> list[bytes]:
    """The operating system's keys, replaced by keys with these names; those given out so far."""
    given = []

    def key(self):
        given.append(derived_key(names[len(given)]))
        return given[-1]

    monkeypatch.setattr(SystemRandomness, "key", key)
    return given
