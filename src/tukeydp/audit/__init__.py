"""What `tukeydp audit` runs: checks of the installed package against accounts of its mechanisms by definition.

`oracles/` holds those accounts and imports nothing from the package; `checks/` has one file for each check, which
confronts them with the package's own code.
"""
