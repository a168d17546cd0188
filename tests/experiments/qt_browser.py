"""Opens a page in Qt's Chromium and prints [width of every picture, console messages] as JSON. Run as a program."""

import json
import sys

WIDTHS = "JSON.stringify(Array.from(document.images, i => i.complete ? i.naturalWidth : 0))"
LONGEST = 60_000  # milliseconds


def main(address):
    from PyQt6.QtCore import QTimer, QUrl
    from PyQt6.QtWebEngineCore import QWebEnginePage
    from PyQt6.QtWidgets import QApplication

    complaints = []

    class Page(QWebEnginePage):
        def javaScriptConsoleMessage(self, level, message, line, source):
            complaints.append(message)

    app = QApplication(["browser", "--no-sandbox", "--disable-gpu"])
    page = Page()

    def answer(widths):
        sys.stdout.write(json.dumps([json.loads(widths), complaints]) + "\n")
        app.quit()

    page.loadFinished.connect(lambda _: page.runJavaScript(WIDTHS, answer))
    page.load(QUrl(address))
    QTimer.singleShot(LONGEST, app.quit)
    app.exec()


if __name__ == "__main__":
    main(sys.argv[1])
