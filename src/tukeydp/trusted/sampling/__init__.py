"""Proven draws: certified boxes around level sets, and the sampler that proposes from them."""
