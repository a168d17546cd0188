"""Which keys and lanes a run reads, and keys that are fixed one by one."""

from __future__ import annotations

from tukeydp.depth import choice
from tukeydp.mechanisms import clipped_mean, clipped_sum, spread_step, subset_means
from tukeydp.sampling.cutting_planes import point_sampler
from tukeydp.trusted.bits import Keystream, SystemRandomness, derived_key


def listen(monkeypatch) -> list[tuple[bytes, int]]:
    """Every (key, lane) that is read from, in turn; the list grows as lanes are opened.

    Left out is the trial of directions on no rows, and nothing else: it gets a key of its own here, so that whoever
    else reads from a key that everybody knows is heard.
    """
    found, made, lane_of, tried = [], Keystream.__init__, Keystream._lane, derived_key("tried")
    monkeypatch.setattr(choice, "TRIAL_KEY", tried)

    def remembered(self, key):
        self.key = key
        made(self, key)

    def listened(self, lane):
        if self.key != tried:
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


def listen_to_draws(monkeypatch, radii_module, radii_name) -> list[tuple[str, object]]:
    """The epsilons that draws of a mean are made with: (what, epsilon), in turn; radii by the function of that name."""
    found = []
    for step, module in (("means", subset_means), ("spread", spread_step)):

        def sampler(prepared, *, within, epsilon, step=step):
            found.append((step, epsilon))
            return point_sampler(prepared, within=within, epsilon=epsilon)

        monkeypatch.setattr(module, "point_sampler" if module is subset_means else "DepthSampler", sampler)
    cube, radii = clipped_sum.cube_noise, getattr(radii_module, radii_name)

    def noise(d, scale, bits):
        found.append((f"noise in {d}", clipped_sum.STEPS / scale))
        return cube(d, scale, bits)

    def chosen(*given):
        found.append(("radii", given[-1].epsilon))  # the last one is the charge
        return radii(*given)

    for name in ("deepest_cells", "noised_counts", "noised_sums"):
        monkeypatch.setattr(clipped_mean, name, _told(name, getattr(clipped_mean, name), found))
    monkeypatch.setattr(clipped_sum, "cube_noise", noise)
    monkeypatch.setattr(radii_module, radii_name, chosen)
    return found


def _told(name, step, found):
    """The step, which is given its charge last."""

    def run(*given):
        found.append((name, given[-1].epsilon))
        return step(*given)

    return run
