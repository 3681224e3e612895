"""A small driver of headless Chromium for tests, over --remote-debugging-pipe. Standard library only."""

import base64
import fcntl
import json
import os
import select
import shutil
import signal
import tempfile
import time

FLAGS = (
    "--headless=new", "--remote-debugging-pipe", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
    "--disable-breakpad", "--disable-extensions", "--disable-background-networking", "--disable-component-update",
    "--disable-sync", "--disable-default-apps", "--mute-audio", "--no-first-run", "--no-default-browser-check",
    "--hide-scrollbars", "--password-store=basic",
)
KEY_CODES = {"Enter": 13, "Escape": 27, "Tab": 9, "Backspace": 8, "Delete": 46, "Home": 36, "End": 35,
             "ArrowLeft": 37, "ArrowUp": 38, "ArrowRight": 39, "ArrowDown": 40, " ": 32}
KEY_TEXTS = {"Enter": "\r", " ": " "}


class browser_error(Exception):
    """The browser refused a command, ended, or did not answer in time."""


class browser:
    """One page in a browser of its own, as a context manager."""

    def __init__(self, program=None, timeout=60):
        """Starts the browser; program is a path, or else the first Chromium that is found."""
        self._timeout = timeout
        self._buffer = b""
        self._last_id = 0
        self._errors = []
        self._loads = 0
        self._session = None
        self._ends = []
        self._pid = None
        self._profile = tempfile.mkdtemp(prefix="browser.")
        try:
            self._launch(program or shutil.which("chromium") or shutil.which("google-chrome") or "chromium")
            target = self._call("Target.createTarget", url="about:blank")["targetId"]
            self._session = self._call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
            for domain in ("Page", "Runtime", "Log"):
                self._call(domain + ".enable")
        except BaseException:
            self.close()
            raise

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def open(self, url):
        """Goes to a page and waits until it is loaded."""
        loads = self._loads
        failure = self._call("Page.navigate", url=url).get("errorText")
        if failure:
            raise browser_error("%s: %s" % (url, failure))
        deadline = time.monotonic() + self._timeout
        while self._loads == loads:
            self._receive(deadline)

    def evaluate(self, expression):
        """What a JavaScript expression yields, as a JSON value; waits for promises."""
        answer = self._call("Runtime.evaluate", expression=expression, awaitPromise=True, returnByValue=True)
        if "exceptionDetails" in answer:
            raise browser_error(_text_of_exception(answer["exceptionDetails"]))
        return answer["result"].get("value")

    def wait_until(self, expression, seconds=60):
        """Waits until an expression is true in JavaScript's sense, and returns its value."""
        deadline = time.monotonic() + seconds
        while True:
            value = self.evaluate(expression)
            if value:
                return value
            if time.monotonic() > deadline:
                raise browser_error("not within %g s: %s" % (seconds, expression))
            time.sleep(0.05)

    def screenshot(self, path, whole_page=False):
        """Writes what is to be seen, or the whole page, as a PNG file."""
        answer = self._call("Page.captureScreenshot", format="png", captureBeyondViewport=whole_page)
        with open(path, "wb") as file:
            file.write(base64.b64decode(answer["data"]))

    def emulate(self, width, height, dark=False, reduced_motion=False):
        """Sets the size of the window in CSS pixels, and what the user prefers."""
        self._call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)
        self._call("Emulation.setEmulatedMedia", features=[
            {"name": "prefers-color-scheme", "value": "dark" if dark else "light"},
            {"name": "prefers-reduced-motion", "value": "reduce" if reduced_motion else "no-preference"}])

    def press(self, key, shift=False):
        """Presses and releases a key, named as in KeyboardEvent.key."""
        text = KEY_TEXTS.get(key, key if len(key) == 1 else "")
        code = KEY_CODES.get(key, ord(key.upper()) if key.isalnum() and len(key) == 1 else 0)
        details = {"key": key, "windowsVirtualKeyCode": code, "modifiers": 8 if shift else 0}
        self._call("Input.dispatchKeyEvent", type="keyDown" if text else "rawKeyDown", text=text, **details)
        self._call("Input.dispatchKeyEvent", type="keyUp", **details)

    def type(self, text):
        """Enters text where the focus is, as an input method does."""
        self._call("Input.insertText", text=text)

    def console_errors(self):
        """The errors on the console and the uncaught exceptions so far."""
        self.evaluate("0")  # whatever was written before that has arrived with its answer
        return list(self._errors)

    def close(self):
        """Ends the browser and removes its profile; may be called again."""
        if self._pid:
            _kill_group(self._pid)
            os.waitpid(self._pid, 0)
            for _ in range(50):  # its helpers are init's to reap
                if not _kill_group(self._pid):
                    break
                time.sleep(0.1)
            self._pid = None
        for end in self._ends:
            os.close(end)
        self._ends = []
        shutil.rmtree(self._profile, ignore_errors=True)

    def _launch(self, program):
        """Starts the program in a process group of its own, with the pipes as its descriptors 3 and 4."""
        ends = os.pipe() + os.pipe()
        # Out of the way of 3 and 4, so that neither is overwritten before it is copied.
        theirs_in, ours_out, ours_in, theirs_out = (fcntl.fcntl(end, fcntl.F_DUPFD_CLOEXEC, 10) for end in ends)
        for end in ends:
            os.close(end)
        self._ends = [ours_in, ours_out]
        arguments = [program, *FLAGS, "--user-data-dir=" + self._profile, "about:blank"]
        actions = [(os.POSIX_SPAWN_OPEN, 0, os.devnull, os.O_RDONLY, 0),
                   (os.POSIX_SPAWN_OPEN, 1, os.devnull, os.O_WRONLY, 0),
                   (os.POSIX_SPAWN_DUP2, 1, 2),
                   (os.POSIX_SPAWN_DUP2, theirs_in, 3),
                   (os.POSIX_SPAWN_DUP2, theirs_out, 4)]
        try:
            self._pid = os.posix_spawnp(program, arguments, os.environ, file_actions=actions, setpgroup=0)
        finally:
            os.close(theirs_in)
            os.close(theirs_out)

    def _call(self, method, **parameters):
        """Sends a command and waits for its answer."""
        self._last_id += 1
        message = {"id": self._last_id, "method": method, "params": parameters}
        if self._session:
            message["sessionId"] = self._session
        data = json.dumps(message).encode() + b"\0"
        try:
            while data:
                data = data[os.write(self._ends[1], data):]
        except BrokenPipeError as error:
            raise browser_error("the browser has ended") from error
        deadline = time.monotonic() + self._timeout
        while True:
            answer = self._receive(deadline)
            if answer.get("id") == self._last_id:
                break
        if "error" in answer:
            raise browser_error("%s: %s" % (method, answer["error"].get("message")))
        return answer["result"]

    def _receive(self, deadline):
        """The next message; what happens on the page is noted on the way."""
        while b"\0" not in self._buffer:
            if not select.select([self._ends[0]], [], [], max(0, deadline - time.monotonic()))[0]:
                raise browser_error("no answer from the browser in time")
            data = os.read(self._ends[0], 1 << 20)
            if not data:
                raise browser_error("the browser has ended")
            self._buffer += data
        line, _, self._buffer = self._buffer.partition(b"\0")
        message = json.loads(line.decode())
        self._note(message.get("method"), message.get("params", {}))
        return message

    def _note(self, method, what):
        """Remembers loads and errors."""
        if method == "Page.loadEventFired":
            self._loads += 1
        elif method == "Runtime.exceptionThrown":
            self._errors.append(_text_of_exception(what["exceptionDetails"]))
        elif method == "Runtime.consoleAPICalled" and what["type"] in ("error", "assert"):
            self._errors.append(" ".join(str(each.get("value", each.get("description"))) for each in what["args"]))
        elif method == "Log.entryAdded" and what["entry"]["level"] == "error":
            self._errors.append("%s %s" % (what["entry"]["text"], what["entry"].get("url", "")))


def _kill_group(group):
    """Kills what is left of a process group, and tells whether there was anything."""
    try:
        os.killpg(group, signal.SIGKILL)
        return True
    except ProcessLookupError:
        return False


def _text_of_exception(details):
    """What an exception says, and where it came from."""
    exception = details.get("exception", {})
    text = exception.get("description") or str(exception.get("value", details.get("text")))
    return "%s (line %d)" % (text, details.get("lineNumber", -1) + 1)
