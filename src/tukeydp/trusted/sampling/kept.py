"""The compiled loops whose code is kept in files, for processes to come.

Apart from the loops themselves, because numba makes a folder for the files as soon as it is told to keep them: whether
there is one must not depend on the rows (compiling.py).
"""

from __future__ import annotations

from tukeydp.trusted.compiled_code import compiled
from tukeydp.trusted.sampling import loops

propose = compiled(loops.propose.py_func)
count_inside = compiled(loops.count_inside.py_func)
climbed = compiled(loops.climbed.py_func)
about_visits = compiled(loops.about_visits.py_func)
list_points = compiled(loops.list_points.py_func)
