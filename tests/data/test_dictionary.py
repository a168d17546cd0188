"""Data dictionaries: what is declared of columns, in our own forms and in REDCap's."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

import tukeydp as td
from tukeydp.data.dictionary import Dictionary, detection, parse_dictionary, read_dictionary
from tukeydp.data.look import drafted, look_at_file
from tukeydp.data.readers.options import ReadOptions
from tukeydp.trusted.parameters import ParameterError

CSV = """\
column,label,type,lower,upper,unit,categories,missing,detection,sd
age,Age,number,18,100,years,,,,12
crp,C-reactive protein,,0,300,mg/L,,99 | -9,<0.3/2,
sex,Sex,category,,,,"m, Male | f, Female",,,
ward,,category,,,,A | B,,,
fit,,yes/no,,,,,,,
id,,,,,,,,,
"""
YAML = """\
columns:
  age: {label: Age, type: number, lower: 18, upper: 100, unit: years, sd: 12}
  crp: {label: C-reactive protein, lower: 0, upper: 300, unit: mg/L, missing: [99, -9], detection: <0.3/2}
  sex: {label: Sex, type: category, categories: {m: Male, f: Female}}
  ward: {type: category, categories: [A, B]}
  fit: {type: yes/no}
  id: {}
"""
JSON = """\
{"age": {"label": "Age", "type": "number", "lower": 18, "upper": 100, "unit": "years", "sd": 12},
 "crp": {"label": "C-reactive protein", "lower": 0, "upper": 300, "unit": "mg/L", "missing": [99, -9],
         "detection": "<0.3/2"},
 "sex": {"label": "Sex", "type": "category", "categories": {"m": "Male", "f": "Female"}},
 "ward": {"type": "category", "categories": ["A", "B"]}, "fit": {"type": "yes/no"}, "id": {}}
"""
TOML = """\
[age]
label = "Age"
type = "number"
lower = 18
upper = 100
unit = "years"
sd = 12
[crp]
label = "C-reactive protein"
lower = 0
upper = 300
unit = "mg/L"
missing = [99, -9]
detection = ["<0.3/2"]
[sex]
label = "Sex"
type = "category"
categories = {m = "Male", f = "Female"}
[ward]
type = "category"
categories = ["A", "B"]
[fit]
type = "yes/no"
[id]
"""
REDCAP = """\
"Variable / Field Name","Form Name",\
"Section Header","Field Type","Field Label","Choices, Calculations, OR Slider Labels",\
"Field Note","Text Validation Type OR Show Slider Number","Text Validation Min","Text Validation Max",Identifier?
record_id,base,,text,Record,,,,,,
age,base,,text,"<b>Age</b>",,,integer,18,99,
weight,base,,text,Weight,,,number_1dp_comma_decimal,"30,5",250,
born,base,,text,Born,,,date_dmy,1920-01-01,today,y
until,base,,text,Until,,,number,[age],,
sex,base,,radio,Sex,"1, Male | 2, Female | 9, Other, not said",,,,,
symptoms,base,,checkbox,Symptoms,"1, Cough | x-2, Fever",,,,,
smoker,base,,yesno,Smoker,,,,,,
pain,base,,slider,Pain,none | some | worst,,number,,,
bmi,base,,calc,BMI,[weight]/2,,,,,
hello,base,,descriptive,Hello,,,,,,
"""


def dictionary(text: str, ending: str = ".csv") -> Dictionary:
    return parse_dictionary(text, ending, "dictionary")


@pytest.mark.parametrize(("text", "ending"), [(YAML, ".yaml"), (JSON, ".json"), (TOML, ".toml")])
def test_all_forms_say_the_same(text: str, ending: str) -> None:
    assert dictionary(text, ending) == dictionary(CSV)


def test_what_is_asked_of_columns() -> None:
    known = dictionary(CSV)
    names = ["sex", "crp", "fit", "nobody"]
    assert known.bounds_of(names) == {"crp": (0, 300)}
    assert known.missing_of(names) == {"crp": ("99", "-9")}
    assert known.categories_of(names)["sex"] == (("m", "Male"), ("f", "Female"))
    assert known.categories_of(names)["fit"] == (("1", "Yes"), ("0", "No"))
    assert known.sd_of(["age"]) == {"age": Fraction(12)}
    assert known.of_kind("number") == ["age", "crp"]
    assert known.columns["id"].kind == "text"
    assert str(known.columns["crp"].detection[0]) == "<0.3/2"


def test_redcap_choices_and_validation_are_categories_and_bounds() -> None:
    known = dictionary(REDCAP)
    assert known.columns["age"].label == "Age"
    assert known.bounds_of(known.columns) == {
        "age": (18, 99), "weight": (Fraction("30.5"), 250), "pain": (0, 100),
    }  # fmt: skip
    assert known.columns["sex"].categories == (("1", "Male"), ("2", "Female"), ("9", "Other, not said"))
    assert known.columns["symptoms___x_2"].label == "Symptoms: Fever"
    assert known.columns["born"].kind == "date"
    assert known.columns["until"].lower is None  # another field's name is no number
    assert known.of_kind("yes/no") == ["symptoms___1", "symptoms___x_2", "smoker"]
    assert "hello" not in known.columns
    by_interface = REDCAP.replace("Variable / Field Name", "field_name").replace(
        "Choices, Calculations, OR Slider Labels", "select_choices_or_calculations"
    )
    assert dictionary(by_interface.replace("Text Validation Type OR", "text_validation_type_or")) == known


def test_german_spreadsheets_write_semicolons_and_decimal_commas() -> None:
    assert dictionary("Column;Lower;Upper\ncrp;0,5;300\n").bounds_of(["crp"]) == {"crp": (Fraction(1, 2), 300)}


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "header"),
        ("lower,upper\n1,2\n", "header"),
        ("column,colour\na,b\n", "colour"),
        ("column,lower\na,many\n", "'many' for 'a'"),
        ("column,lower,upper\na,2,1\n", "below"),
        ("column,type\na,colour\n", "types"),
        ("column,categories\na,1 | 1\n", "each category once"),
        ("column,detection\na,0.3\n", "<0.3"),
        ("column,sd\na,0\n", "above 0"),
        ('column,categories\nsex,"f, m"\n', "bars between categories"),
        ("column,missing\na,99; -9\n", "bars between codes"),
        ('column,missing\na,"99, -9"\n', "bars between codes"),
        ("column\na\na\n", "twice"),
    ],
)
def test_slips_are_quoted(text: str, words: str) -> None:
    with pytest.raises(ParameterError, match="dictionary") as error:
        dictionary(text)
    assert words in str(error.value)


@pytest.mark.parametrize("ending", [".yaml", ".json", ".toml"])
@pytest.mark.parametrize("text", ["", "[1, 2]", "{", '"a"', "a: [1]", '{"a": 1}', "a = 1", "1: {2: 3}"])
def test_what_is_no_dictionary_is_refused(text: str, ending: str) -> None:
    with pytest.raises(ParameterError):
        dictionary(text, ending)


def test_limits_of_detection() -> None:
    assert detection("x", "< 0,3").value == Fraction("0.3")
    assert detection("x", ">200").value == 200
    assert detection("x", "<0.3 / 2").value == Fraction("0.15")
    with pytest.raises(ParameterError, match="must be a limit"):
        detection("x", "0.3")


def test_a_table_takes_codes_units_and_types_from_the_dictionary(tmp_path: Path) -> None:
    (tmp_path / "known.csv").write_text(
        "column,type,lower,upper,unit,missing\nage,number,0,120,years,99\npain,,0,10,,\nid,text,,,,\n"
    )
    file = tmp_path / "t.csv"
    file.write_text("id,pain,age\n1,3,44 years\n2,99,99\n3,x,81\n")
    table = td.read(file, dictionary=tmp_path / "known.csv")
    assert table.columns == ("age", "pain")
    assert np.array_equal(table.table().cells, [[44, 3], [np.nan, 99], [81, np.nan]], equal_nan=True)
    told = td.read(file, dictionary=read_dictionary(tmp_path / "known.csv"), missing={"pain": 99})
    assert np.isnan(told.table().cells[1]).all()
    everywhere = td.read(file, dictionary=tmp_path / "known.csv", missing=[44])
    assert np.isnan(everywhere.table().cells[:2, 0]).all()
    with pytest.raises(ParameterError, match="dictionary must be a file"):
        td.read(file, dictionary=3)  # type: ignore[arg-type]


def test_a_draft_keeps_how_its_file_is_read(tmp_path: Path) -> None:
    """Title, semicolons, decimal commas: the table is the same without any option, and those that are typed count."""
    file = tmp_path / "export.csv"
    file.write_text("Export\nid;age;ward\n" + "".join(f"P{i};{40 + i % 30},5;{'AB'[i % 2]}\n" for i in range(60)))
    text = drafted(look_at_file(file))
    known = parse_dictionary(text, ".csv", "draft")
    assert dict(known.file) == {"separator": "semicolon", "decimal": "comma", "skip": "1"}
    with_options = td.read(file, ["age"], separator=";", decimal=",", skip=1).table().cells
    assert np.array_equal(td.read(file, ["age"], dictionary=known).table().cells, with_options)
    typed = td.read(file, ["age"], dictionary=known, decimal=",", thousands=".").table().cells
    assert np.array_equal(typed, with_options)
    # As spreadsheets save it again, and in the other forms.
    assert dictionary("# decimal;comma;;\n# sheet;A, B;;\ncolumn;lower\na;1\n").file == {
        "decimal": "comma",
        "sheet": "A, B",
    }
    in_yaml = parse_dictionary("file: {decimal: comma, skip: 4}\ncolumns: {a: {}}", ".yaml", "x")
    assert dict(in_yaml.file) == {"decimal": "comma", "skip": "4"}
    assert not dictionary("column\na\n").file


@pytest.mark.parametrize(
    ("line", "words"), [("# colour,red", "colour"), ("# skip,four", "'four'"), ("# decimal,x", "x")]
)
def test_what_a_dictionary_says_of_its_file_is_checked(line: str, words: str) -> None:
    with pytest.raises(ParameterError) as error:
        ReadOptions().in_file(dictionary(f"{line}\ncolumn\na\n"))
    assert words in str(error.value)


@pytest.mark.parametrize("ending", ["sav", "dta", "xpt"])
def test_a_labelled_file_is_walked_from_look_to_table(ending: str, tmp_path: Path) -> None:
    """Labels of columns and values are drafted; with bounds filled in the same file has a Table 1."""
    pyreadstat, pd = pytest.importorskip("pyreadstat"), pytest.importorskip("pandas")
    rng = np.random.default_rng(1)
    frame = pd.DataFrame(
        {
            "AGE": rng.normal(60, 10, 800).round(),
            "SEX": rng.choice([1.0, 2.0], 800),
            "ARM": rng.choice([1.0, 2.0], 800),
        }
    )
    file, labels = tmp_path / f"study.{ending}", {"AGE": "Age at entry", "SEX": "Sex", "ARM": "Study arm"}
    values = {"SEX": {1: "male", 2: "female"}, "ARM": {1: "drug", 2: "placebo"}}
    if ending == "sav":
        pyreadstat.write_sav(frame, str(file), column_labels=labels, variable_value_labels=values)
    elif ending == "dta":
        frame = frame.astype({"SEX": "int32", "ARM": "int32"})
        pyreadstat.write_dta(frame, str(file), column_labels=labels, variable_value_labels=values)
    else:
        pyreadstat.write_xport(frame, str(file), column_labels=labels)
    text = drafted(look_at_file(file)).replace("AGE,Age at entry,number,,", "AGE,Age at entry,number,18,100")
    if ending == "xpt":  # which has no labels of values
        text = text.replace("SEX,Sex,number,,,,", 'SEX,Sex,category,,,,"1, male | 2, female"')
        text = text.replace("ARM,Study arm,number,,,,", 'ARM,Study arm,category,,,,"1, drug | 2, placebo"')
    known = parse_dictionary(text, ".csv", "draft")
    listed = known.categories_of(["SEX", "ARM"])
    assert dict(listed["ARM"]) == {"1": "drug", "2": "placebo"}
    found = td.summary(
        td.read(file, ["AGE"], dictionary=known), epsilon=4, bounds=known.bounds_of(["AGE"]),
        categories={"SEX": dict(listed["SEX"])}, by="ARM", keys=dict(listed["ARM"]), randomness=td.seeded(1),
        labels={"AGE": known.columns["AGE"].title},
    )  # fmt: skip
    said = str(found)
    assert "Age at entry, mean (SD)" in said
    assert "drug (N = " in said
    assert "· female" in said
    age = [line.mean for line in found.lines if line.column == "AGE"]
    assert age == pytest.approx([60.0, 60.0], abs=4.0)
