"""The compiled loops whose code is kept in files, for processes to come.

Apart from the loops themselves, because numba makes a folder for the files as soon as it is told to keep them: whether
there is one must not depend on the rows (compiling.py).
"""

from __future__ import annotations

from numba import njit

from tukeydp.sampling import kernels
from tukeydp.sampling.branches import listing, nodes

propose = njit(nogil=True, cache=True)(kernels.propose.py_func)
count_inside = njit(nogil=True, cache=True)(kernels.count_inside.py_func)
grow = njit(nogil=True, cache=True)(nodes.grow.py_func)
climbed = njit(nogil=True, cache=True)(listing.climbed.py_func)
about_visits = njit(nogil=True, cache=True)(listing.about_visits.py_func)
list_points = njit(nogil=True, cache=True)(listing.list_points.py_func)
