"""Every exporter on names that are formulas, tags, markup, commands and codes of terminals; the output is read back.

Exporters are found, not listed: every module that escapes anything must have run here, and none escapes by itself.
"""

from __future__ import annotations

import ast
import csv
import importlib
import io
import json
import re
import shutil
import subprocess
from dataclasses import replace
from fractions import Fraction
from functools import cache
from html.parser import HTMLParser
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pandas as pd
import pytest
import yaml
from markdown_it import MarkdownIt
from rich.console import Console

import tukeydp as td
from support.browser import browser, seen
from test_house import imports, modules
from tukeydp.accounts.exports import FORMATS, exported
from tukeydp.app.choices import Choices, Column
from tukeydp.app.results import told
from tukeydp.app.script import notebook, parts, script, settings
from tukeydp.audit.check import Check, Effort
from tukeydp.audit.check import Result as Found
from tukeydp.audit.report import as_page as audit_page
from tukeydp.audit.running import Outcome as Checked
from tukeydp.cli import counts as counts_command
from tukeydp.cli import demo, ledger, words
from tukeydp.cli import finishing as check
from tukeydp.cli import finishing as group_finishing
from tukeydp.cli import quantiles as quantiles_command
from tukeydp.cli import summary as summary_command
from tukeydp.cli.reports import GROUP_REPORTS, REPORTS
from tukeydp.cli.sections import Account, GroupAccount
from tukeydp.data.look import drafted, look_at_file
from tukeydp.data.readers.options import ReadOptions
from tukeydp.data.readers.sources import InMemory
from tukeydp.data.tables import Table
from tukeydp.forecast.example import write_csv
from tukeydp.paper.experiments.experiment import Claim, Experiment, Results, Verdict
from tukeydp.paper.experiments.experiment import Table as ReportTable
from tukeydp.paper.experiments.report import Section, report_text
from tukeydp.results import escaping
from tukeydp.results.escaping import FORMS, csv_text, escaped, printable
from tukeydp.results.forest import forest, panel_svg, release_panels
from tukeydp.trusted.parameters import ParameterError

HOSTILE = (
    "=cmd|' /C calc'!A0",
    'a;=HYPERLINK("http://evil.example","x")',
    "-1 +cmd|' /C calc'!A0",
    "+1-1",
    "@SUM(1)",
    "\t=1+1",
    "x\r=1+1",
    "\uff1d1+1",
    '"=1+1',
    "<script>alert(1)</script>",
    '" onmouseover="alert(1)',
    "' onclick='alert(1)",
    "--><!-- ]]>",
    "a|b\\|c",
    "`x`[y](javascript:alert(1))![z](http://evil.example)",
    "http://evil.example www.evil.example <http://evil.example>",
    "two\nlines | # and\n\n- more",
    "\x1b[2J\x1b]8;;http://evil.example\x07link",
    "\u202egpj.exe",
    "$\\frac{1$ $x$",
    "\\input{/etc/passwd}% & # _ ^ ~",
    "[0pt] x",
    "* x",
    "{{ 7*7 }}{% x %}{: onclick=x}",
    "[/bold][link=http://evil.example]x",
    "'''\"\"\"\\",
    "$(touch evil); `touch evil` #",
    "\U0001f600 \u00e4 \u2013 \u8840\u5727",
    ": &a !!python/object:x",
)
ROWS = 4 * len(HOSTILE)


@pytest.fixture(scope="module")
def things():
    """Results of every kind, all of whose names are hostile."""
    rng = np.random.default_rng(1)
    table = pd.DataFrame(rng.random((ROWS, len(HOSTILE))), columns=list(HOSTILE))
    by = pd.Series([HOSTILE[i % len(HOSTILE)] for i in range(ROWS)], name=HOSTILE[9])
    few, ends = table.iloc[:, :3], {"epsilon": 1, "bounds": (0, 1), "randomness": td.seeded(1)}
    account = td.Accountant(epsilon=100)
    release = replace(td.cube(table, **ends, accountant=account), units=HOSTILE[::-1], notes=HOSTILE)
    grouped = td.mean(few, by=by.to_list(), keys=list(HOSTILE), **ends, accountant=account)
    grouped = replace(grouped, by="<b>=1|2\x1b[2J")
    quantiles = replace(td.quantiles(table, **ends, accountant=account), units=HOSTILE[::-1])
    summary = td.summary(few, by=by.to_list(), keys=list(HOSTILE), **ends, accountant=account)
    summary = replace(summary, by="<b>=1|2\x1b[2J")
    counts = td.counts(
        pd.DataFrame({HOSTILE[9]: by.to_list()}), HOSTILE[9], categories=list(HOSTILE), by=by.to_list(),
        keys=list(HOSTILE[9:12]), epsilon=1, confidence=None, accountant=account,
    )  # fmt: skip
    counts = replace(counts, by="<b>=1|2\x1b[2J", notes=HOSTILE)
    drawn = td.summary(table[[HOSTILE[19]]], by=by.to_list(), keys=list(HOSTILE[9:25:3]), **ends)
    for name in HOSTILE:
        account.spend("0.1", mechanism=name, parameters={"columns": list(HOSTILE), "bounds": [[0, -5], [1, -2.5]]})
    header = io.StringIO()
    csv.writer(header).writerow(HOSTILE)
    file = InMemory(f"{HOSTILE[9]}.csv", (header.getvalue() + (",".join(["1"] * len(HOSTILE)) + "\n") * 60).encode())
    return {
        "release": release, "grouped": grouped, "quantiles": quantiles, "summary": summary, "drawn": drawn,
        "counts": counts,
        "account": account,
        "refused": td.Refused(**_of_refusal(release)),
        "plan": td.plan(400, columns=dict.fromkeys(HOSTILE, (0, 1)), epsilon=1, sd=dict.fromkeys(HOSTILE, "0.1")),
        "look": look_at_file(file), "file": file, "table": Table(table.to_numpy(), HOSTILE),
    }  # fmt: skip


def _of_refusal(release):
    same = ("seal", "guarantee", "seeded", "mechanism", "n", "d", "columns", "units", "bounds", "settings", "notes")
    return {name: getattr(release, name) for name in same if name in td.Refused.__dataclass_fields__}


def exporters(things, tmp_path, monkeypatch):
    """(name, format, text) of everything that can be written or printed."""
    release, grouped, quantiles, summary = (things[k] for k in ("release", "grouped", "quantiles", "summary"))
    ending = {".html": "html", ".md": "markdown", ".csv": "csv", ".json": "json", ".tex": "latex", ".svg": "svg"}
    ending |= {".py": "python", ".ipynb": "notebook", ".png": "bytes"}
    for name, account in (
        ("release", Account(release, "mean", "How it ran")),
        ("refused", Account(things["refused"], "mean")),
    ):
        yield from ((f"{name} {kind}", ending[kind], report(account)) for kind, report in REPORTS.items())
    account = GroupAccount(grouped, "mean", True)
    yield from ((f"grouped {kind}", ending[kind], report(account)) for kind, report in GROUP_REPORTS.items())
    for kind, report in quantiles_command._KINDS.items():
        yield f"quantiles {kind}", ending[kind], report(quantiles)
    for kind, report in counts_command._KINDS.items():
        yield f"counts {kind}", ending[kind], report(things["counts"])
    for kind, report in summary_command._KINDS.items():
        if kind in summary_command._OFFICE:
            continue  # packed; what is in their cells: tests/mechanisms/test_table.py
        content = report(things["drawn"] if kind in summary_command._PICTURES else summary)
        yield f"summary {kind}", ending[kind], content if kind == ".png" else content.decode()
    for form in FORMATS:
        yield f"ledger {form}", form, exported(things["account"], form, HOSTILE[9])
    for name in ("release", "refused", "grouped", "quantiles", "counts", "summary", "plan", "look"):
        yield f"{name} in a notebook", "html", things[name]._repr_html_()
        yield f"{name} printed", "text", str(things[name])
        yield f"{name} for Python", "text", repr(things[name])
    yield "look's command", "shell", things["look"].command
    yield "look as JSON", "json", json.dumps(things["look"].to_dict())
    columns = tuple(Column(name, "0", "1", name) for name in HOSTILE[:3])
    choices = Choices(columns, (), ROWS, HOSTILE[9], HOSTILE)
    yield "drafted dictionary", "csv", drafted(things["look"])
    yield "settings", "json", settings(ReadOptions(), choices)
    for one in (release, grouped, summary):
        found = told(one, replace(choices, statistic="summary" if one is summary else "mean"))
        for name, content in found.files.items():
            if name.endswith((".docx", ".xlsx", ".png")):  # written as for the command
                continue
            yield f"page's {name} of {one.mechanism}", ending["." + name.rpartition(".")[2]], content.decode()
    for some in (choices, replace(choices, by="", keys=()), replace(choices, by="", keys=(), person=HOSTILE[9])):
        about = parts(
            things["file"], ReadOptions(units={n: [HOSTILE[9], HOSTILE[25]] for n in HOSTILE}), some, f"{HOSTILE[9]}.db"
        )
        yield "script", "python", script(*about)
        yield "notebook", "notebook", notebook(*about)
    yield from (("picture", "svg", panel_svg(panel, panel.name)) for panel in release_panels(release))
    things["plan"].plot(tmp_path / "plan.html")
    yield "plan's page", "html", (tmp_path / "plan.html").read_text()
    forest(things["drawn"]).savefig(tmp_path / "forest.png")
    points = pd.DataFrame(things["table"].cells[:20, 19:21], columns=HOSTILE[19:21])
    td.plots.contours(points, depth=td.AxisAligned()).savefig(tmp_path / "contours.png")
    write_csv(things["table"], tmp_path / "demo.csv")
    yield "made-up table", "csv", (tmp_path / "demo.csv").read_text()
    Results([dict.fromkeys(HOSTILE, name) for name in HOSTILE]).write_csv(tmp_path / "results.csv")
    yield "experiment's numbers", "csv", (tmp_path / "results.csv").read_text()
    yield "experiments' page", "html", _experiments(tmp_path)
    odd = Check(HOSTILE[9], HOSTILE[10], HOSTILE[11], lambda _: None)
    yield "audit", "html", audit_page([Checked(odd, Found(1, 1, 1.0, 2.0, failures=HOSTILE), 0.0)], Effort())
    yield from (("page", "html", page) for page in _screens(things))
    yield from (("terminal", "text", text) for text in _printed(things, tmp_path, monkeypatch))


def _experiments(folder):
    results = Results([{"across": name, "error": 1.0} for name in HOSTILE])
    table = lambda _: ReportTable(HOSTILE[9], HOSTILE[:3], (HOSTILE[:3], HOSTILE[9:12]))  # noqa: E731
    experiment = Experiment(
        HOSTILE[10], HOSTILE[9], HOSTILE[11], list, list, list, (), ("across",), table=table, notes=HOSTILE
    )  # fmt: skip
    verdicts = tuple(Verdict(Claim(name, name, list, limits=name), False, (name,)) for name in HOSTILE)
    (folder / "x.png").write_bytes(b"")
    section = Section(experiment, results, verdicts, dict.fromkeys(HOSTILE, folder / "x.png"))
    return report_text([section], {name: name for name in HOSTILE})


def _screens(things):
    from app.conftest import User

    user = User(td.Accountant(epsilon=3))
    user.upload(HOSTILE[9], things["file"].content)
    names = user.session.names
    keys = "\n".join(printable(name) for name in HOSTILE[9:14])
    user.choose(dict.fromkeys(names[:4], (0, 1)), by=names[9], keys=keys, **{f"unit-{j}": HOSTILE[9] for j in range(4)})
    for plan in ({}, {"statistic": "summary"}):
        user.plan(**plan)
        yield from (user.get(path).text for path in ("/", "/plan", "/release"))
    user.release()
    yield from (user.get(path).text for path in ("/release", "/take-away", "/nothing"))


def _printed(things, folder, monkeypatch):
    """What commands print on a terminal, without the codes for bold."""
    out = io.StringIO()
    terminal = Console(file=out, width=80, force_terminal=True, color_system=None, highlight=False)
    monkeypatch.chdir(folder)
    monkeypatch.setattr(words, "console", lambda **_: terminal)
    monkeypatch.setattr(ledger.options, "run", lambda job: job())
    monkeypatch.setattr(ledger.Accountant, "open", lambda _: things["account"])
    jobs = [
        lambda: words.explain(things["release"], "mean", HOSTILE[9]),
        lambda: words.explain(replace(things["release"], point=np.zeros(len(HOSTILE))), "mean"),
        lambda: check.tell_stop(replace(things["refused"], settings={"epsilon_check": Fraction(1, 20)}), HOSTILE[17]),
        lambda: demo.demo(Path("x\x1b[2J.csv")),
        lambda: group_finishing.finish_groups(GroupAccount(things["grouped"], "mean"), as_json=False),
        lambda: quantiles_command._explain(things["quantiles"], verbose=False),
        lambda: counts_command._finish(things["counts"], [], as_json=False),
        lambda: summary_command._finish(things["summary"], [], as_json=False),
        lambda: ledger.show_ledger("x"),
        lambda: [words.complain(name) for name in HOSTILE],
        lambda: [words.say_lines(f"Wrote {name}.") for name in HOSTILE],
        lambda: [words.say_command(str(ParameterError("columns", f"must not be {name}", name))) for name in HOSTILE],
        lambda: [words.say_command(name) for name in HOSTILE],
    ]
    for job in jobs:
        job()
        yield out.getvalue()
        out.seek(0)
        out.truncate()


# How each format is read back.

NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?[\]} ]*")
RUNS = "=+-@\uff1d\uff0b\uff0d\uff20"


def read_csv(text):
    assert all(c.isprintable() or c in "\r\n" for c in text)
    rows = list(csv.reader(io.StringIO(text)))
    assert len({len(row) for row in rows}) == 1
    for separator in ",;|\t":  # whatever the reader's country separates cells with
        for cell in (cell for row in csv.reader(io.StringIO(text), delimiter=separator) for cell in row):
            begins = cell.lstrip(' "')
            assert begins[:1] not in RUNS or not begins or NUMBER.fullmatch(begins), cell


TAGS = re.compile(
    "html|head|meta|title|style|body|main|h1|h2|p|b|i|small|table|thead|tbody|tr|th|td|caption|"
    "dl|dt|dd|div|details|summary|footer|ul|li|ol|nav|a|span|section|figure|figcaption|img|header|"
    "form|input|label|select|option|textarea|fieldset|legend|button|svg|text|line|path|circle|g|defs|"
    "use|rect|clippath|br|code|pre|article|link|script|noscript|sub|sup|metadata|rdf:rdf|cc:work|"
    "dc:type|dc:format|dc:creator|cc:agent|dc:title|em"
)
ATTRIBUTES = re.compile(
    "class|id|style|scope|data-label|role|charset|name|content|http-equiv|lang|colspan|alt|src|href|tabindex|open|method"
    "|action|enctype|type|value|for|checked|required|selected|aria-.*|rows|inputmode|autocomplete|accept|data-.*|rel"
    "|defer|download|hidden|min|max|step|viewbox|width|height|x|y|x1|x2|y1|y2|d|r|cx|cy|text-anchor|transform|xmlns.*"
    "|xlink:href|rdf:resource|rdf:about|version|clip-path|preserveaspectratio|title|disabled|multiple|start"
)


class Page(HTMLParser):
    def __init__(self):
        super().__init__()
        self.told = ""

    def handle_starttag(self, tag, attributes):
        assert TAGS.fullmatch(tag), tag
        for name, value in attributes:
            assert ATTRIBUTES.fullmatch(name), (tag, name)
            assert name not in ("href", "src", "action") or re.match(r"/|#|data:", value), (tag, name, value)
        assert tag != "script" or dict(attributes).get("src") == "/static/app.js"

    def handle_data(self, data):
        self.told += data

    def handle_comment(self, data):
        raise AssertionError("a comment")

    def unknown_decl(self, data):
        raise AssertionError("a declaration")


def read_html(text):
    page = Page()
    page.feed(text)
    page.close()
    visible = re.sub(r"<style>.*?</style>", "", text, flags=re.DOTALL)
    assert all(c.isprintable() or c in "\r\n\t" for c in visible)


def read_markdown(text):
    parser = MarkdownIt("commonmark", {"html": True}).enable("table")
    tokens = parser.parse(text)
    kinds = [token.type for token in tokens]
    inline = [child.type for token in tokens if token.children for child in token.children]
    assert not {"html_inline", "link_open", "image", "code_inline", "em_open", "softbreak", "hardbreak"} & set(inline)
    assert not {"html_block", "fence", "code_block", "bullet_list_open", "blockquote_open", "hr"} & set(kinds)
    assert kinds.count("heading_open") == 1
    rows = "".join({"tr_open": "\n", "td_open": "x", "th_open": "x"}.get(kind, "") for kind in kinds).split()
    assert len(set(rows)) <= 1
    assert not re.search(r"(?<!\\)://|www\.", text)  # what GitHub makes a link of


MACROS = re.compile(
    "usepackage|begin|end|caption|centering|small|setlength|tabcolsep|raggedright|toprule|midrule|bottomrule|par|"
    "smallskip|footnotesize|multicolumn|quad|"
    "textbackslash|textasciitilde|textasciicircum|textless|textgreater|textbar|textasciigrave|char"
)


def read_latex(text):
    body = text.removeprefix("% needs \\usepackage{booktabs}\n")
    macros = re.findall(r"\\([A-Za-z]+)", re.sub(r"\\\\", "", body))
    assert all(MACROS.fullmatch(macro) for macro in macros)
    plain = re.sub(r"\\[A-Za-z]+|\\[\\&%$#_{}]", "", body)
    assert not set('%$#_^~"`|<>') & set(plain)
    depth = 0
    for c in plain:
        depth += (c == "{") - (c == "}")
        assert depth >= 0
    assert depth == 0
    rows = [line for line in body.splitlines() if line.endswith("\\\\") and "multicolumn" not in line]
    assert len({len(re.findall(r"(?<!\\)&", row)) for row in rows}) == 1
    assert not any(line.removeprefix("\\quad ").startswith(("[", "*")) for line in body.splitlines())


def read_yaml(text):
    found = yaml.safe_load(text)
    assert set(found) == {"url_slug", "status", "tier", "deployment"}
    assert all(name in found["deployment"]["implementation"]["mechanisms"] for name in HOSTILE)


CALLS = {
    "td.mean",
    "td.summary",
    "td.read",
    "td.Accountant.open",
    "print",
}


def read_python(text):
    for node in ast.walk(ast.parse(text)):
        assert not isinstance(node, ast.Call) or ast.unparse(node.func) in CALLS
        assert isinstance(
            node, ast.Module | ast.stmt | ast.expr | ast.expr_context | ast.alias | ast.keyword | ast.unaryop
        )
        assert not isinstance(node, ast.FunctionDef | ast.BinOp | ast.Lambda | ast.JoinedStr)
    assert all(c.isprintable() or c == "\n" for c in text)
    assert len(re.findall("import", text)) == 1


def read_notebook(text):
    book = json.loads(text)
    read_python("\n".join(cell["source"] for cell in book["cells"] if cell["cell_type"] == "code"))


def read_text(text):
    assert all(c.isprintable() or c == "\n" for c in text)


def read_svg(text):
    for node in ElementTree.fromstring(text).iter():
        tag = node.tag.rpartition("}")[2].lower()
        assert any(TAGS.fullmatch(prefix + tag) for prefix in ("", "rdf:", "cc:", "dc:")), tag
        assert not any(name.lower().startswith("on") for name in node.attrib)


def read_shell(text):
    read_text(text)
    assert "\n" not in text
    if shutil.which("bash"):
        said = subprocess.run(
            ["bash", "-c", f"told() {{ printf '%s\\0' \"$@\"; }}; told {text}"], capture_output=True, check=True
        )
        told_words = said.stdout.decode().split("\0")
        for name in HOSTILE:
            # Line breaks in a header are blanks to the reader.
            shown = {name.strip(), " ".join(name.split())}
            assert any(one in word for word in told_words for one in shown), name


READ = {
    "csv": read_csv, "html": read_html, "markdown": read_markdown, "latex": read_latex, "yaml": read_yaml,
    "python": read_python, "notebook": read_notebook, "text": read_text, "svg": read_svg, "shell": read_shell,
    "json": json.loads, "bytes": bytes,
}  # fmt: skip


@cache
def escaping_modules():
    """Every module that takes something from the one that escapes."""
    known = modules()
    return {name for name, path in known.items() if "results.escaping" in set(imports(path, set(known)))}


def watched(monkeypatch):
    """Which modules have called what they took from there."""
    called, own = set(), [thing for name, thing in vars(escaping).items() if callable(thing) and name != "partial"]
    for name in escaping_modules():
        module = importlib.import_module(f"tukeydp.{name}")

        def told_of(thing, name=name):
            return lambda *a, **k: (called.add(name), thing(*a, **k))[1]

        for attribute, thing in list(vars(module).items()):
            if any(thing is one for one in own):
                monkeypatch.setattr(module, attribute, told_of(thing))
    return called


@pytest.mark.filterwarnings("ignore:Glyph", "ignore:constrained_layout")  # emojis, and names as long as a picture
def test_every_exporter_writes_names_as_names(things, tmp_path, monkeypatch):
    called, wrong = watched(monkeypatch), []
    for name, form, text in exporters(things, tmp_path, monkeypatch):
        try:
            READ[form](text)
        except Exception as error:  # all of them are told at once
            wrong.append(f"{name}: {type(error).__name__} {str(error)[:300]}")
    assert wrong == []
    assert escaping_modules() - called == set()


@pytest.mark.parametrize("form", FORMS)
def test_every_format_is_tried(form):
    """A new one has to be added to those that are read back, or be one of the few that stand in a line of their own."""
    assert form in READ or form in ("plot", "file name")


def test_a_name_without_its_escape_is_noticed(things, tmp_path, monkeypatch):
    """The control: formats whose function does nothing fail, each of them."""
    for form in ("csv", "html", "markdown", "latex"):
        monkeypatch.setitem(escaping._SHOWN, form, str)
    files = dict(summary_command._KINDS)
    for ending, form in ((".csv", "csv"), (".html", "html"), (".md", "markdown"), (".tex", "latex")):
        with pytest.raises(AssertionError):
            READ[form](files[ending](things["summary"]).decode())
    monkeypatch.setattr(escaping, "printable", str)
    with pytest.raises(AssertionError):
        READ["html"](files[".html"](things["summary"]).decode())


OWN_WAYS = re.compile(r"^(html|html\.escape|xml\.sax.*|shlex.*|csv)$")
READERS = {"data.readers.delimited", "data.readers.dialects", "data.dictionary"}  # these only read CSV
MARKUP = re.compile(r"</?(p|td|tr|th|li|div|text|title|svg|dd|dt|h1|caption)\b|\\\\(begin|caption)\{")


def test_nobody_escapes_by_himself_or_not_at_all():
    """Who writes CSV, quotes for a shell or has markup in its texts takes the one function; readers of CSV aside."""
    apart = {}
    for name, path in modules().items():
        tree = ast.parse(path.read_text(encoding="utf-8"))
        taken = {alias.name for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names}
        taken |= {str(node.module) for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
        own = {module for module in taken if OWN_WAYS.match(module)}
        texts = [n.value for n in ast.walk(tree) if isinstance(n, ast.Constant) and isinstance(n.value, str)]
        if name == "results.escaping" or (name in READERS and own == {"csv"}):
            continue
        if own or (any(MARKUP.search(text) for text in texts) and name not in escaping_modules()):
            apart[name] = own or "markup"
    assert apart == {"app.safety": "markup"}  # no name in them


@pytest.mark.parametrize("text", ["-5", "+5", "-5.25", "-1e-7", "-.5", "5", "1/3", "a-b", "a - b", "a=b", "x, y", ""])
def test_numbers_and_plain_names_stay_as_they_are_in_csv(text):
    assert escaped(text, "csv") == text
    assert csv_text([[-5, -5.25, float("nan"), None]]) == "-5,-5.25,,\r\n"


@pytest.mark.parametrize(
    "text", ["=1", "+a", "-5+1", "-5 +1", "@x", "\uff1d1", " =1", "a;=1", "a, -5+1", 'a"=1', "a|@x"]
)
def test_formulas_get_an_apostrophe_where_a_cell_could_begin(text):
    assert "'" in escaped(text, "csv")
    assert escaped(escaped(text, "csv"), "csv") == escaped(text, "csv")


def test_json_in_a_cell_of_csv_stays_json(things):
    rows = list(csv.DictReader(io.StringIO(exported(things["account"], "csv", "x"))))
    assert json.loads(rows[-1]["parameters"])["bounds"] == [[0, -5], [1, -2.5]]


def test_yaml_shell_and_python_read_back_what_was_written():
    for name in (*HOSTILE, "\ud800", "\U0001f600"):
        if name != "\ud800":
            assert yaml.safe_load(escaped(name, "yaml")) == name
        assert ast.literal_eval(escaped(name, "python")) == name


@pytest.mark.parametrize("name", ["a.csv", '../"x"\r\nSet-Cookie: a', "ü\u202e.html", ".htaccess", "", "c:\\x"])
def test_a_file_name_fits_in_a_header(name):
    found = escaped(name, "file name")
    assert re.fullmatch(r"[A-Za-z0-9 _()-][A-Za-z0-9 ._()-]*", found)
    assert escaped("release-1-report.html", "file name") == "release-1-report.html"


def test_in_a_browser_nothing_runs_and_nothing_scrolls_sideways(things, tmp_path):
    """Grouped reports are the widest: a column for each column."""
    x = np.random.default_rng(1).random((300, 12))
    by = {"by": [HOSTILE[9 + i % 3] for i in range(300)], "keys": list(HOSTILE[9:12])}
    grouped = td.mean(Table(x, HOSTILE[8:20]), epsilon=1, bounds=(0, 1), randomness=td.seeded(1), **by)
    page = tmp_path / "r.html"
    page.write_text(GROUP_REPORTS[".html"](GroupAccount(grouped, "mean", True)), encoding="utf-8")
    with browser() as chromium:
        for width in (320, 390, 720, 1200):
            shown = seen(chromium, page.as_uri(), (width, 800))
            assert (shown.sideways, shown.complaints) == (0, [])
        assert printable(HOSTILE[9]) in shown.text


def test_errors_move_no_cursor():
    """A traceback is printed as it is."""
    assert str(ParameterError("x", "must be y", "\x1b[2J\u202e")) == "x must be y; got \\x1b[2J\\u202e."
