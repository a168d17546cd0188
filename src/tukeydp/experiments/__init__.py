"""The paper's tables and figures, and what it could not do, as experiments anyone can run again.

`tukeydp reproduce all --out DIR` runs them; `tukeydp.experiments.runner.reproduce` is the same from Python. Needs the
extra packages of `pip install "tukeydp[reproduce]"`.
"""
