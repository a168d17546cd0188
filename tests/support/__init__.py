"""What several tests need: oracles that import nothing from the library, one fit test, made-up hints and plans."""
