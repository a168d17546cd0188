"""Made-up exports as people have them: a hospital's visits, a survey with weights, a REDCap project. Nobody's data.

Each generator returns files by name, always the same for a seed; `true` values stand beside what is written.
"""

from __future__ import annotations

import random
from dataclasses import dataclass, field
from typing import Any

from support.messy import workbook

HOSPITAL_BOUNDS = {
    "Alter [Jahre]": (18, 100), "BMI [kg/m²]": (12, 60), "RR syst. [mmHg]": (60, 240), "CRP [mg/l]": (0, 50),
    "Schmerz (0-10)": (0, 10), "Hb [g/dl]": (4, 20), "Kreatinin [mg/dl]": (0.2, 10),
}  # fmt: skip
HOSPITAL_DICTIONARY = """\
column;label;type;lower;upper;unit;categories;missing;detection;sd
PatientenNr;;text;;;;;;;
Alter [Jahre];Age;number;18;100;years;;;;
Geschlecht;Sex;category;;;;m, male | w, female;;;
Arm;Arm;category;;;;A, Standard | B, Intensive | C, Control;;;
BMI [kg/m²];BMI;number;12;60;kg/m²;;;;
RR syst. [mmHg];Systolic pressure;number;60;240;mmHg;;-9;;
CRP [mg/l];CRP;number;0;50;mg/l;;-9;<0,3/2;
Schmerz (0-10);Pain;number;0;10;;;99 | -9;;
Hb [g/dl];Haemoglobin;number;4;20;g/dl;;-9;;
Kreatinin [mg/dl];Creatinine;number;0,2;10;mg/dl;;-9;;
Raucher;Smoker;yes/no;;;;ja, Yes | nein, No;;;
Diabetes;Diabetes;yes/no;;;;1, Yes | 0, No;9;;
"""
_TITLES = ["Klinikum Musterstadt", "Auszug Studie KARDIO-7, Stand 03.11.2025", ""]


@dataclass(frozen=True)
class Export:
    """Files by name, and true values: for each measured column those of all its rows (None: missing)."""

    files: dict[str, bytes]
    rows: list[list[Any]]
    names: list[str]
    true: dict[str, list[float | None]] = field(default_factory=dict)


def hospital(seed: int = 7, persons: int = 420, visits: int = 843) -> Export:
    """843 visits of 420 patients: titles above, decimal commas, units in the header and in cells, 99 and -9, <0,3."""
    draw = random.Random(seed)
    ids = [*range(persons), *(draw.randrange(persons) for _ in range(visits - persons))]
    draw.shuffle(ids)
    people = [
        (
            draw.gauss(62, 12),
            draw.choice("mw"),
            draw.choice("ABC"),
            draw.gauss(27, 4.5),
            draw.random() < 0.23,
            draw.choices(["0", "1", "9"], [75, 20, 5])[0],
        )
        for _ in range(persons)
    ]
    names = [
        "PatientenNr", "Alter [Jahre]", "Geschlecht", "Arm", "BMI [kg/m²]", "RR syst. [mmHg]", "CRP [mg/l]",
        "Schmerz (0-10)", "Hb [g/dl]", "Kreatinin [mg/dl]", "Raucher", "Diabetes",
    ]  # fmt: skip
    rows: list[list[Any]] = []
    true: dict[str, list[float | None]] = {name: [] for name in HOSPITAL_BOUNDS}
    for i in ids:
        age, sex, arm, bmi, smoker, diabetes = people[i]
        values = {
            "Alter [Jahre]": float(min(max(round(age), 18), 97)),
            "BMI [kg/m²]": round(bmi, 1),
            "RR syst. [mmHg]": float(round(draw.gauss(138, 19))),
            "CRP [mg/l]": round(draw.lognormvariate(0.8, 1.1), 1),
            "Schmerz (0-10)": float(min(max(round(draw.gauss(4, 2.2)), 0), 10)),
            "Hb [g/dl]": round(draw.gauss(13.4, 1.6), 1),
            "Kreatinin [mg/dl]": round(draw.lognormvariate(0.0, 0.3), 2),
        }
        cells = {name: _german(value) for name, value in values.items()}
        cells["RR syst. [mmHg]"] += " mmHg" if draw.random() < 0.1 else ""
        if values["CRP [mg/l]"] < 0.3:
            cells["CRP [mg/l]"], values["CRP [mg/l]"] = "<0,3", 0.15
        shown: dict[str, float | None] = dict(values)
        for name, code, share in _CODES:
            if draw.random() < share:
                cells[name], shown[name] = code, None
        for name, value in shown.items():
            true[name].append(value)
        first = [f"P{i + 1:04d}", cells["Alter [Jahre]"], sex, arm]
        rows.append([*first, *(cells[n] for n in names[4:10]), "ja" if smoker else "nein", diabetes])
    text = "\r\n".join([*_TITLES, *(";".join(row) for row in [names, *rows]), ""])
    wide = len(names)
    above: list[list[Any]] = [[title, *[None] * (wide - 1)] for title in _TITLES]
    # Excel: numbers are numbers in half of the columns and texts with commas in the others, as exports have them.
    typed = [[*row[:1], float(row[1]), *row[2:]] for row in rows]
    group = ["", "Person", "", "", "Labor", *[""] * (wide - 5)]
    files = {
        "visits.csv": text.encode("cp1252"),
        "visits.xlsx": workbook(("Hinweise", [["Legende"], ["99 = keine Angabe"]]), ("Daten", [*above, names, *typed])),
        "two-headers.xlsx": workbook(("Daten", [*above, group, names, *typed])),
        "dictionary.csv": HOSPITAL_DICTIONARY.encode(),
    }
    return Export(files, rows, names, true)


_CODES = [
    ("Schmerz (0-10)", "99", 0.06), ("Schmerz (0-10)", "-9", 0.02), ("RR syst. [mmHg]", "-9", 0.03),
    ("CRP [mg/l]", "-9", 0.04), ("Hb [g/dl]", "-9", 0.02), ("BMI [kg/m²]", "", 0.03),
]  # fmt: skip


def _german(value: float) -> str:
    return (str(int(value)) if value == int(value) else str(value)).replace(".", ",")


SURVEY_DICTIONARY = """\
columns:
  respondent: {type: text}
  region: {label: Region, type: category, categories: [North, South, East, West]}
  age: {label: Age, lower: 16, upper: 95, unit: years, sd: 17}
  trust: {label: Trust in institutions, type: category,
          categories: {1: strongly disagree, 2: disagree, 3: neither, 4: agree, 5: strongly agree}, missing: [8, 9]}
  health: {label: Self-rated health, lower: 1, upper: 5, missing: [8, 9]}
  income: {label: Net income, lower: 0, upper: 8000, unit: EUR, missing: [99999]}
  works: {label: In paid work, type: yes/no}
  weight: {label: Design weight, lower: 0.2, upper: 5}
"""


def survey(seed: int = 11, persons: int = 1500) -> Export:
    """Likert items with 8 and 9 for no answer, incomes with 99999, and weights between 0.2 and 5."""
    draw = random.Random(seed)
    names = ["respondent", "region", "age", "trust", "health", "income", "works", "weight"]
    rows: list[list[Any]] = []
    true: dict[str, list[float | None]] = {"age": [], "health": [], "income": []}
    for i in range(persons):
        age = min(max(round(draw.gauss(47, 17)), 16), 95)
        trust = draw.choices([1, 2, 3, 4, 5, 8, 9], [9, 18, 30, 28, 9, 4, 2])[0]
        health = draw.choices([1, 2, 3, 4, 5, 9], [4, 12, 30, 37, 14, 3])[0]
        income = 99999 if draw.random() < 0.12 else round(draw.lognormvariate(7.6, 0.45) / 10) * 10
        weight = round(min(max(draw.lognormvariate(0, 0.4), 0.2), 5), 3)
        region = draw.choices(["North", "South", "East", "West"], [3, 4, 2, 3])[0]
        rows.append([i + 1, region, age, trust, health, income, int(draw.random() < 0.6), weight])
        true["age"].append(age)
        true["health"].append(None if health == 9 else health)
        true["income"].append(None if income == 99999 else income)
    text = "\n".join(",".join(map(str, row)) for row in [names, *rows]) + "\n"
    return Export({"survey.csv": text.encode(), "dictionary.yaml": SURVEY_DICTIONARY.encode()}, rows, names, true)


REDCAP_DICTIONARY = """\
"Variable / Field Name","Form Name","Section Header","Field Type","Field Label",\
"Choices, Calculations, OR Slider Labels","Field Note","Text Validation Type OR Show Slider Number",\
"Text Validation Min","Text Validation Max",Identifier?,"Branching Logic (Show field only if...)","Required Field?",\
"Custom Alignment","Question Number (surveys only)","Matrix Group Name","Matrix Ranking?","Field Annotation"
record_id,baseline,,text,"Record ID",,,,,,,,,,,,,
dob,baseline,,text,"Date of birth",,,date_ymd,,,y,,,,,,,
age,baseline,,text,Age,,years,integer,18,99,,,,,,,,
sex,baseline,,radio,Sex,"1, Male | 2, Female",,,,,,,,,,,,
arm,baseline,,dropdown,"Randomised to","1, Placebo | 2, Verum",,,,,,,,,,,,
weight,baseline,,text,"Weight, kg",,,number_1dp,30,250,,,,,,,,
ldl,baseline,,text,"LDL, mmol/l",,,number,0.5,12,,,,,,,,
smoker,baseline,,yesno,"Current smoker",,,,,,,,,,,,,
comorbid,baseline,,checkbox,Comorbidity,"1, Hypertension | 2, Diabetes | 3, Asthma",,,,,,,,,,,,
vas,baseline,,slider,"Pain, VAS",none | | worst,,number,,,,,,,,,,
thanks,baseline,,descriptive,"Thank you",,,,,,,,,,,,,
"""


def redcap(seed: int = 5, persons: int = 300) -> Export:
    """A raw export with its data dictionary: codes for choices, a column for each checkbox."""
    draw = random.Random(seed)
    boxes = [f"comorbid___{k}" for k in (1, 2, 3)]
    names = ["record_id", "dob", "age", "sex", "arm", "weight", "ldl", "smoker", *boxes, "vas", "baseline_complete"]
    rows: list[list[Any]] = []
    for i in range(persons):
        age, arm = draw.randint(35, 80), draw.choice([1, 2])
        ldl = "" if draw.random() < 0.04 else round(draw.gauss(3.6 - 0.5 * (arm == 2), 0.8), 2)
        marks = [int(draw.random() < share) for share in (0.4, 0.15, 0.1)]
        first = [i + 1, f"{2025 - age}-06-15", age, draw.choice([1, 2]), arm, round(draw.gauss(80, 14), 1), ldl]
        rows.append([*first, int(draw.random() < 0.2), *marks, draw.randint(0, 100), 2])
    text = "\n".join(",".join(map(str, row)) for row in [names, *rows]) + "\n"
    true: dict[str, list[float | None]] = {"age": [row[2] for row in rows], "ldl": [row[6] or None for row in rows]}
    files = {"redcap.csv": text.encode("utf-8-sig"), "dictionary.csv": REDCAP_DICTIONARY.encode()}
    return Export(files, rows, names, true)
