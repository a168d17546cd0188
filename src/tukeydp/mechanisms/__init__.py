"""The private mechanisms; each reads like its theorem."""

from tukeydp.depth import choice as choice  # says which directions are usual, to the steps that draw
