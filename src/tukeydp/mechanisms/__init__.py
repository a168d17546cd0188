"""The private mechanisms; each reads like its theorem."""
