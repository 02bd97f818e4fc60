"""One tab in each of the three engines that browsers draw a site with.

Chromium by Playwright; Firefox by WebDriver BiDi, which it speaks itself;
WebKit by its own WebDriver, through selenium, on a screen that nobody sees.

What they lack: Firefox does not tell of a file that is not there. WebKit tells
of no error, and hides the words of those of pages from disk: it reads them from
a server of ours, whose pages keep their errors, and prints no warnings of its
own. Neither can be told here to be dark, to print, or to hold a clock.
"""

import json
import os
import re
import shutil
import subprocess
import tempfile
import time
from contextlib import contextmanager
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from urllib.parse import quote, unquote, urlsplit

from tests.support.optional import absent, started_browser

KEYS = {"Home": "\ue011", "End": "\ue010", "ArrowLeft": "\ue012",
        "ArrowRight": "\ue014", "Enter": "\ue007", "Space": " "}
# The middle of an element that has come to rest in the middle of the window,
# and whether it is on top.
PLACE = """async ([css, name]) => {
    const found = [...document.querySelectorAll(css)].find(each => name === null
        || (each.ariaLabel ?? each.textContent.trim()) === name)
    let at, before
    do {
        before = String(at)
        found.scrollIntoView({ block: "center", behavior: "instant" })
        await new Promise(requestAnimationFrame)
        const { x, y, width, height } = found.getBoundingClientRect()
        at = [x + width / 2, y + height / 2]
    } while (String(at) !== before)
    return [at, found.contains(document.elementFromPoint(...at))] }"""
# What Firefox says now and then while it reads a page, of a formula that it has
# by half; where the parts of a formula stand is tested when it has all.
HALF_READ = "Invalid markup: Incorrect number of children for <m"
# Looks again and again, for a minute at most.
WAIT = """given => new Promise(done => {
    const last = performance.now() + 60_000
    const look = () => (%s)(given) ? done(true)
        : performance.now() > last ? done(false) : setTimeout(look, 30)
    look() })"""


class Tab:
    """What tests do with a page, the same in each engine."""

    def evaluate(self, function, given=None):
        """What a function of JavaScript returns, or promises."""
        said = self.call("async text => JSON.stringify([await "
                         f"({function})(JSON.parse(text))])", json.dumps(given))
        return json.loads(said)[0]

    def resize(self, width, height=900):
        """Make the window as wide, and let the page know."""
        self.size(width, height)
        assert self.wait("width => innerWidth === width", width)
        self.evaluate("() => new Promise(done => requestAnimationFrame("
                      "() => requestAnimationFrame(() => done(true))))")

    def wait(self, function, given=None):
        return self.evaluate(WAIT % function, given)

    def place(self, css, name=None):
        """The middle of the first such element, or of that of this name."""
        at, on_top = self.evaluate(PLACE, [css, name])
        assert on_top, f"something lies on {css} {name}"
        return at

    def click(self, css, name=None):
        self.drag(self.place(css, name))


class Chromium(Tab):
    def __init__(self, browser):
        self.tab, self.heard = browser.new_page(), []
        self.tab.on("pageerror", lambda error: self.heard.append(str(error)))
        self.tab.on("console", lambda line: line.type in ("error", "warning")
                    and self.heard.append(line.text))

    def call(self, function, text):
        return self.tab.evaluate(function, text)

    def open(self, path):
        self.heard.clear()
        self.tab.goto(path.as_uri())

    def reload(self):
        self.tab.wait_for_timeout(1000)     # for what a page from disk keeps
        self.tab.reload()

    def errors(self):
        return self.heard

    def size(self, width, height):
        self.tab.set_viewport_size({"width": width, "height": height})

    def press(self, key):
        self.tab.keyboard.press(key)

    def drag(self, start, *way):
        self.tab.mouse.move(*start)
        self.tab.mouse.down()
        for point in way:
            self.tab.mouse.move(*point)
        self.tab.mouse.up()


class W3C(Tab):
    """Keys and mouse in the words of WebDriver, old and BiDi."""

    def press(self, key):
        self.act({"type": "key", "id": "keys", "actions": [
            {"type": how, "value": KEYS[key]} for how in ("keyDown", "keyUp")]})

    def drag(self, start, *way):
        start, *way = ({"type": "pointerMove", "x": round(x), "y": round(y)}
                       for x, y in (start, *way))
        down, up = ({"type": f"pointer{how}", "button": 0}
                    for how in ("Down", "Up"))
        self.act({"type": "pointer", "id": "mouse",
                  "parameters": {"pointerType": "mouse"},
                  "actions": [start, down, *way, up]})


class Firefox(W3C):
    def __init__(self, socket):
        self.socket, self.number, self.heard = socket, 0, []
        self.send("session.new", capabilities={})
        self.send("session.subscribe", events=["log.entryAdded"])
        [first] = self.send("browsingContext.getTree")["contexts"]
        self.here = {"context": first["context"]}

    def send(self, method, **params):
        self.number += 1
        self.socket.send(json.dumps(
            {"id": self.number, "method": method, "params": params}))
        while (said := json.loads(self.socket.recv())
               ).get("id") != self.number:
            text = said["params"].get("text") or ""
            if (said["params"].get("level") in ("error", "warn")
                    and not text.startswith(HALF_READ)):
                self.heard.append(text)
        if said["type"] == "error":
            raise RuntimeError(f"{method}: {said['message']}")
        return said["result"]

    def call(self, function, text):
        said = self.send(
            "script.callFunction", functionDeclaration=function,
            awaitPromise=True, target=self.here,
            arguments=[{"type": "string", "value": text}])
        if said["type"] == "exception":
            raise RuntimeError(said["exceptionDetails"]["text"])
        return said["result"]["value"]

    def open(self, path):
        self.heard.clear()
        self.send("browsingContext.navigate", **self.here, url=path.as_uri(),
                  wait="complete")

    def reload(self):
        self.send("browsingContext.reload", **self.here, wait="complete")

    def errors(self):
        return self.heard

    def size(self, width, height):
        self.send("browsingContext.setViewport", **self.here,
                  viewport={"width": width, "height": height})

    def act(self, source):
        self.send("input.performActions", **self.here, actions=[source])


class Keeping(SimpleHTTPRequestHandler):
    """Serves this machine's files; each page keeps what it complains of."""

    KEEP = """<script>
        var heard = []
        addEventListener("error", event => heard.push(event.message
            ?? `${event.target.src ?? event.target.href} is not there`), true)
        addEventListener("unhandledrejection",
            event => heard.push(String(event.reason)))
        for (const how of ["error", "warn"])
            console[how] = (...said) => heard.push(said.join(" "))
        </script>"""

    def do_GET(self):
        path = Path(unquote(urlsplit(self.path).path))
        if path.suffix != ".html":
            return super().do_GET()
        html = re.sub("(?=<(head|script))", self.KEEP,
                      path.read_text("utf-8"), count=1).encode()
        self.send_response(200)
        self.send_header("Content-Type", "text/html; charset=utf-8")
        self.send_header("Content-Length", str(len(html)))
        self.end_headers()
        self.wfile.write(html)

    def log_message(self, *line):
        pass


class WebKit(W3C):
    """Its driver does not tell what pages complain of, and from disk nobody
    learns it: a server adds a script to the pages."""

    # Else its window is never narrower than its bar of buttons.
    STYLE = "* { min-width: 0; padding: 0; margin: 0 }"

    def __init__(self, driver, address):
        self.driver, self.address = driver, address
        driver.set_script_timeout(600)

    def call(self, function, text):
        said, failed = self.driver.execute_async_script(
            f"const [text, done] = arguments; ({function})(text).then("
            "said => done([said, null]), "
            "error => done([null, String(error)]))", text)
        if failed:
            raise RuntimeError(failed)
        return said

    def open(self, path):
        self.driver.get(f"{self.address}{quote(str(path))}")

    def reload(self):
        self.driver.refresh()

    def errors(self):
        return self.evaluate("() => heard")

    def size(self, width, height):
        self.driver.set_window_size(width, height)

    def act(self, source):
        self.driver.execute("actions", {"actions": [source]})


# ------------------------------------------------------------------- starting

@contextmanager
def process(*command, **options):
    started = subprocess.Popen(command, **options)
    try:
        yield started
    finally:
        started.terminate()
        started.wait()


def needed(*programs, package):
    """The first of the programs that is installed."""
    for program in programs:
        if found := shutil.which(program):
            return found
    absent(programs[0], f"install the package {package} of your system")


def imported():
    try:
        import selenium.webdriver
        import websocket
    except ImportError:
        absent("selenium", ".venv/bin/pip install -r tests/site/engines/"
               "requirements.txt")
    return selenium.webdriver, websocket


@contextmanager
def chromium():
    with started_browser() as browser:
        yield Chromium(browser)


@contextmanager
def firefox():
    program = needed("firefox-esr", "firefox", package="firefox-esr")
    _, websocket = imported()
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        with process(program, "--headless", "--no-remote", "--profile", profile,
                     "--remote-debugging-port", "0",
                     stdout=subprocess.DEVNULL,
                     stderr=subprocess.DEVNULL) as running:
            port = Path(profile, "WebDriverBiDiServer.json")
            while not port.exists() or not port.read_text("utf-8"):
                assert running.poll() is None, "Firefox did not start"
                time.sleep(0.1)
            at = json.loads(port.read_text("utf-8"))
            socket = websocket.create_connection(
                f"ws://{at['ws_host']}:{at['ws_port']}/session",
                suppress_origin=True, skip_utf8_validation=True)
            yield Firefox(socket)
            socket.close()


@contextmanager
def webkit():
    program = needed("WebKitWebDriver", package="webkit2gtk-driver")
    screen = needed("Xvfb", package="xvfb")
    webdriver, _ = imported()
    options = webdriver.WebKitGTKOptions()
    options.add_argument("--automation")
    with tempfile.TemporaryDirectory() as config, process(
            screen, "-displayfd", "1", "-screen", "0", "1400x1000x24",
            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as shown:
        style = Path(config, "gtk-3.0", "gtk.css")
        style.parent.mkdir()
        style.write_text(WebKit.STYLE, "utf-8")
        display = shown.stdout.readline().decode().strip()
        service = webdriver.WebKitGTKService(program, env={
            **os.environ, "DISPLAY": f":{display}", "XDG_CONFIG_HOME": config})
        driver = webdriver.WebKitGTK(options=options, service=service)
        try:
            with ThreadingHTTPServer(
                    ("127.0.0.1", 0),
                    partial(Keeping, directory="/")) as server:
                Thread(target=server.serve_forever, daemon=True).start()
                yield WebKit(driver, f"http://127.0.0.1:{server.server_port}")
                server.shutdown()
        finally:
            driver.quit()


ENGINES = {each.__name__: each for each in (chromium, firefox, webkit)}
