"""The four screens: data, plan, release, take away. Every click is a form; every answer to one leads to a page."""

from __future__ import annotations

import io
import re
import time
import zipfile
from collections.abc import Callable
from functools import partial
from importlib.resources import files
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, RedirectResponse, Response
from starlette.routing import Route

from tukeydp.accounts.exports import FORMATS, exported
from tukeydp.app.choices import Choices, Column
from tukeydp.app.phrases import phrases, without_flags
from tukeydp.app.release import Desk
from tukeydp.app.results import FILES, told
from tukeydp.app.safety import Guard
from tukeydp.app.script import script, settings
from tukeydp.app.session import Session
from tukeydp.cli.options import float_below
from tukeydp.cli.sections import LITTLE_PROTECTION
from tukeydp.data.look import MARK, NOTE
from tukeydp.forecast.plan_words import MANY, USELESS, between
from tukeydp.mechanisms.table_plan import MISSING_N, two_digits
from tukeydp.results.escaping import escaped
from tukeydp.results.forest import panel_svg
from tukeydp.trusted.parameters import ParameterError, show

_STATIC = {"app.css": "text/css", "app.js": "text/javascript"}
_LEDGER_TYPES = {"json": "application/json", "csv": "text/csv", "yaml": "application/yaml"}


def application(session: Session, port: int, language: str = "en") -> Guard:
    """The guarded application, which knows the token."""
    pages = Pages(session, language)
    app = Starlette(routes=pages.routes(), exception_handlers={HTTPException: pages.error, Exception: pages.error})
    guard = Guard(app, port=port, largest=session.largest, fail=pages.failure)
    pages.proof = guard.proof
    return guard


class Pages:
    """Handlers are plain functions, which Starlette runs in threads: nothing waits for a forecast."""

    def __init__(self, session: Session, language: str) -> None:
        self.session, self.t, self.proof = session, phrases(language), ""
        self._jinja = Environment(
            loader=PackageLoader("tukeydp.app"), autoescape=True, undefined=StrictUndefined, trim_blocks=True,
            lstrip_blocks=True,
        )  # fmt: skip
        self._jinja.filters["shown"] = partial(escaped, form="text")  # then escaped for HTML like everything
        self._static = {name: (files("tukeydp.app") / "static" / name).read_bytes() for name in _STATIC}

    def routes(self) -> list[Route]:
        get: dict[str, Callable[[Request], Response]] = {
            "/": self.data, "/plan": self.plan, "/release": self.release, "/status": self.status,
            "/take-away": self.take_away, "/take-away/{number:int}/{name}": self.file, "/ledger/{form}": self.ledger,
            "/settings": self.settings, "/everything": self.everything, "/static/{name}": self.static,
        }  # fmt: skip
        post: dict[str, Callable[[Request], Response]] = {
            "/upload": self.upload, "/know": self.know, "/read": self.read, "/columns": self.columns,
            "/look": self.look, "/erase": self.erase, "/plan": self.planned, "/release": self.spend,
        }  # fmt: skip
        both = ((get, "GET"), (post, "POST"))
        return [Route(path, page, methods=[method]) for paths, method in both for path, page in paths.items()]

    def render(self, screen: str, status: int = 200, template: str = "", **more: Any) -> HTMLResponse:
        s = self.session
        left = s.account.remaining()
        known = {
            "t": self.t, "screen": screen, "s": s, "proof": self.proof, "left": float_below(left.epsilon),
            "total": show(s.account.epsilon), "persons": s.about_persons, "message": "",
            "say": lambda text: without_flags(text, self.t["labels"]), "svg": panel_svg,
        }  # fmt: skip
        return HTMLResponse(self._jinja.get_template(f"{template or screen}.html").render(known | more), status)

    def failure(self, status: int) -> str:
        told = self.t["errors"].get(str(status), self.t["errors"]["500"])
        return self._jinja.get_template("failure.html").render(t=self.t, told=told)

    async def error(self, request: Request, raised: Exception) -> Response:
        status = raised.status_code if isinstance(raised, HTTPException) else 500
        return HTMLResponse(self.failure(status), status)

    def _then(self, address: str, job: Callable[[], None] | None = None, otherwise: str = "") -> Response:
        """Do it and go on; where a parameter breaks a rule, say so on the page that it came from."""
        try:
            if job is not None:
                job()
        except ParameterError as error:
            self.session.message, address = str(error), otherwise or address
        return RedirectResponse(address, 303)

    def _message(self) -> str:
        with self.session.lock:
            said, self.session.message = self.session.message, ""
        return said

    # 1. Data

    def data(self, request: Request) -> Response:
        waiting = [run for run in self.session.desk.runs if not run.seen and run.choices is None]
        return self.render("data", message=self._message(), mark=MARK, note=NOTE, waiting=waiting)

    def upload(self, request: Request) -> Response:
        form = request.state.form
        self.session.hidden = "hidden" in form
        sent = form.get("file")

        def job() -> None:
            if sent is None or isinstance(sent, str) or not sent.filename:
                raise ParameterError("FILE", "must be chosen first", "none")
            with sent.file as content:
                self.session.load(sent.filename, content.read())

        return self._then("/", job)

    def know(self, request: Request) -> Response:
        sent = request.state.form.get("file")

        def job() -> None:
            if sent is None or isinstance(sent, str) or not sent.filename:
                raise ParameterError("dictionary", "must be chosen first", "none")
            with sent.file as content:
                self.session.know(sent.filename, content.read())

        return self._then("/", job)

    def read(self, request: Request) -> Response:
        return self._then("/", lambda: self.session.read_again(_texts(request)))

    def look(self, request: Request) -> Response:
        self.session.hidden = "hidden" in request.state.form
        return self._then("/")

    def erase(self, request: Request) -> Response:
        self.session.erase()
        return self._then("/")

    def columns(self, request: Request) -> Response:
        kept = {"statistic", "epsilon", "confidence", "wish", "wish_for", "rows"}  # what the next screen asks for

        def job() -> None:
            with self.session.lock:
                later = {name: text for name, text in self.session.typed.items() if name in kept}
                self.session.typed = {**later, **_texts(request)}
            self.session.count_persons()
            self.session.compare()

        return self._then("/plan", job, otherwise="/")

    # 2. Plan: public numbers only

    def plan(self, request: Request) -> Response:
        try:
            choices = self.session.choices()
        except ParameterError as error:
            return self.render("plan", choices=None, message=self._message() or str(error))
        rehearsal = None
        if "rehearse" in request.query_params and self._cost(choices)["fits"]:
            rehearsal = told(choices.rehearsal(), choices)
        found = self._forecast(choices) | {"doubts": self._doubts(choices)}
        return self.render("plan", choices=choices, message=self._message(), rehearsal=rehearsal, **found)

    def planned(self, request: Request) -> Response:
        """Save what was typed. The script of the page asks for the forecast alone, while a slider moves."""
        typed, live = _texts(request), "x-live" in request.headers
        going = typed.pop("go", "")
        try:
            choices = self.session.save(typed)
        except ParameterError as error:
            if live:
                return self.render("plan", template="forecast", choices=None, message=str(error))
            self.session.message = str(error)
            return RedirectResponse("/plan", 303)
        if live:
            found = self._forecast(choices) | {"doubts": self._doubts(choices)}
            return self.render("plan", template="forecast", choices=choices, **found)
        return RedirectResponse({"release": "/release", "rehearse": "/plan?rehearse"}.get(going, "/plan"), 303)

    def _forecast(self, choices: Choices) -> dict[str, Any]:
        plan, option, words = choices.plan(), choices.forecast(), self.t["plan"]
        counted = choices.rehearsal().said[0] if choices.statistic == "counts" else ""
        rows = [
            [
                c.column,
                between(c.typical_in_units or c.typical),
                between(c.within_95_in_units or c.within_95),
                words["sd"] if c.typical_in_units is None else choices.units.get(c.column, words["units"]),
            ]
            for c in (option.columns if option is not None else ())
        ]
        if choices.statistic == "summary":
            places = {column.name: j for j, column in enumerate(choices.columns)}
            lines = sorted(choices.table_plan().lines, key=lambda line: places.get(line.column, len(places)))
            rows = [self._line(line, choices) for line in lines]
        widths = sorted({f"{width:.3g}" for width in plan.question.widths.tolist()}, key=float)
        return {
            "plan": plan, "option": option, "rows": rows, "counted": counted, "widths": widths, "many": MANY,
            "answers": choices.answers(),
            "little": option is not None and option.within_95 is not None and option.within_95[1] > USELESS,
            "weak": plan.epsilon > LITTLE_PROTECTION, **self._cost(choices),
        }  # fmt: skip

    def _line(self, line: Any, choices: Choices) -> list[str]:
        """A line of Table 1: how far it is typically off, and what it would need where that is too much."""
        words = self.t["plan"]
        if line.statistic == MISSING_N and line.error is not None:
            return [line.column, line.statistic, "", words["missing"].format(share=f"{100 * line.error:.0f}")]
        unit = words["share" if "%" in line.statistic else "sd"]
        error, unit = (words["left_out"], "") if line.error is None else (f"{line.error:.2g}", unit)
        needs = "" if line.needs is None else words["needs" if line.error is None else "rough"].format(needs=line.needs)
        if line.half is not None:
            unit += words["wide"].format(half=f"{line.half:.2g}")
        if line.half is not None and line.usual is not None:
            unit += words["of_units"].format(half=two_digits(line.half * line.usual), sd=two_digits(line.usual))
        name = choices.labels.get(line.column, line.column)
        return [name, line.statistic, error, "; ".join(filter(None, (unit, needs)))]

    def _doubts(self, choices: Choices) -> list[str]:
        """What is in the file and would stop the release, or make it noise: for the owner, where the look is shown."""
        s, words = self.session, self.t["plan"]
        if s.hidden or s.look is None:
            return []
        read, found = {column.name: column for column in s.look.columns}, []
        for column in choices.numeric:
            about = read[column.name]
            if about.kind in ("text", "dates", "empty"):
                found.append(words["doubt_kind"].format(column=column.name, kind=about.kind))
            told = [one for one in about.remarks if _told(one, column)]
            found += [words["doubt"].format(column=column.name, remark=one) for one in told]
        for name, cells in s.others.items():
            if name not in choices.read:
                continue
            said = words["doubt_key"] if name == choices.by else words["doubt_category"]
            found.append(words["doubt"].format(column=name, remark=said.format(cells=cells)))
        if not choices.person:
            who = [(about.name, one) for about in s.look.columns for one in about.remarks if "--person" in one]
            found += [words["doubt"].format(column=name, remark=one) for name, one in who]
        return found

    def _cost(self, choices: Choices) -> dict[str, Any]:
        """What it costs and leaves, and why it would be refused."""
        account = self.session.account
        known: dict[str, Any] = {"cost": choices.epsilon, "fits": False, "after": None, "refused": ""}
        try:
            cost, _ = choices.dry_run()
        except ParameterError as error:
            return known | {"refused": str(error)}
        known["cost"] = show(cost.epsilon)
        if not account.check(cost):
            return known | {"refused": self.t["plan"]["no_room"]}
        return known | {"fits": True, "after": float_below(account.budget.remaining(account.totals.plus(cost)).epsilon)}

    # 3. Release

    def release(self, request: Request) -> Response:
        desk = self.session.desk
        response = self._release(desk)
        for run in desk.runs:
            if run.told is not None or run.state == "lost":  # it stands on the page
                run.note_seen()
        return response

    def _release(self, desk: Desk) -> Response:
        known: dict[str, Any] = {"runs": desk.runs, "spent": desk.spent, "running": desk.running}
        if known["running"] is not None:
            elapsed = int(time.monotonic() - known["running"].started)
            return self.render("release", elapsed=elapsed, order=None, message=self._message(), **known)
        try:
            order, number = desk.number(self.session.order)
        except ParameterError as error:
            why = str(error) if self.session.file is not None else self.t["release"]["nothing"]
            return self.render("release", order=None, why=why, message=self._message(), **known)
        known |= {"number": number, "code": script(*desk.about(order))}
        return self.render("release", order=order, message=self._message(), **known, **self._cost(order.choices))

    def spend(self, request: Request) -> Response:
        typed = _texts(request)
        try:
            self.session.settle()
        except ParameterError as error:
            self.session.message = str(error)
            return RedirectResponse("/release", 303)
        try:
            found = self.session.desk.submit(
                typed.get("number", ""), self.session.order, confirmed=bool(typed.get("again"))
            )
        except ParameterError:  # the file is gone, or what was typed does not fit any more
            found = "stale"
        if isinstance(found, str):
            self.session.message = self.t["release"][found]
        return RedirectResponse("/release", 303)

    def status(self, request: Request) -> Response:
        """How long it has taken, and nothing else."""
        run = self.session.desk.running
        return JSONResponse({"seconds": None if run is None else int(time.monotonic() - run.started)})

    # 4. Take away

    def take_away(self, request: Request) -> Response:
        done = [run for run in self.session.desk.runs if run.files]
        return self.render("take_away", runs=done, forms=FORMATS)

    def file(self, request: Request) -> Response:
        number, name = request.path_params["number"], request.path_params["name"]
        runs = self.session.desk.runs
        if not 0 < number <= len(runs) or name not in FILES or name not in runs[number - 1].files:
            raise HTTPException(404)
        runs[number - 1].note_seen()
        return _download(runs[number - 1].files[name], f"release-{number}-{name}", FILES[name])

    def ledger(self, request: Request) -> Response:
        form = request.path_params["form"]
        if form not in FORMATS:
            raise HTTPException(404)
        content = exported(self.session.account, form, self._ledger_name).encode()
        return _download(content, f"ledger.{form}", _LEDGER_TYPES[form])

    @property
    def _ledger_name(self) -> str:
        return "demo" if self.session.ledger is None else self.session.ledger.stem

    def settings(self, request: Request) -> Response:
        """What is chosen now, to be loaded again."""
        try:
            order = self.session.order()
        except ParameterError:
            raise HTTPException(404) from None
        return _download(settings(order.options, order.choices).encode(), "settings.json", "application/json")

    def everything(self, request: Request) -> Response:
        """All releases, each with its files, and the ledger."""
        held = io.BytesIO()
        with zipfile.ZipFile(held, "w", zipfile.ZIP_DEFLATED) as archive:
            for run in self.session.desk.runs:
                for name, content in run.files.items():
                    archive.writestr(f"release-{run.number}/{name}", content)
                if run.files:
                    run.note_seen()
            for form in FORMATS:
                archive.writestr(f"ledger.{form}", exported(self.session.account, form, self._ledger_name))
        return _download(held.getvalue(), "tukeydp.zip", "application/zip")

    def static(self, request: Request) -> Response:
        name = request.path_params["name"]
        if name not in _STATIC:
            raise HTTPException(404)
        return Response(self._static[name], media_type=_STATIC[name])


def _told(remark: str, column: Column) -> bool:
    """Whether a remark of the look is about cells that would be lost or wrong, and not declared on the page."""
    if "not numbers, such as" in remark:
        return not (column.detection or column.unit)
    if "--detection" in remark:
        return not column.detection
    word = re.match(r"(?:if )?'?([^\s']+)", remark)
    return "--missing" in remark and (word is None or word[1] not in column.missing)


def _download(content: bytes, name: str, kind: str) -> Response:
    safe = escaped(name, "file name")
    return Response(content, media_type=kind, headers={"Content-Disposition": f'attachment; filename="{safe}"'})


def _texts(request: Request) -> dict[str, str]:
    return {name: value for name, value in request.state.form.items() if isinstance(value, str)}
