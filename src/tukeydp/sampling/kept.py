"""The compiled loops whose code is kept in files, for processes to come.

Apart from the loops themselves, because numba makes a folder for the files as soon as it is told to keep them: whether
there is one must not depend on the rows (compiling.py).
"""

from __future__ import annotations

from tukeydp.sampling import kernels
from tukeydp.sampling.branches import listing, nodes
from tukeydp.trusted.compiled_code import compiled

propose = compiled(kernels.propose.py_func)
count_inside = compiled(kernels.count_inside.py_func)
grow = compiled(nodes.grow.py_func)
climbed = compiled(listing.climbed.py_func)
about_visits = compiled(listing.about_visits.py_func)
list_points = compiled(listing.list_points.py_func)
