"""The private mechanisms; each reads like its theorem."""

from tukeydp.mechanisms import cliff as cliff  # says which directions are usual, to the steps that draw
