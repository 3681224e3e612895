#!/usr/bin/env python3
"""Opens the admin page in a real browser and works with it as an operator would, with 4 workers and with 200.

    test/admin/page_test.py OBSERVABILITY [--shots FOLDER]    the sample's program; screenshots, to be looked at
"""

import pathlib
import re
import signal
import subprocess
import sys
import time
import urllib.error
import urllib.request

from browser import browser

TOKEN = "a-token-of-the-tests"

# The texts that stand out too little from what is behind them, by the rule of WCAG AA.
FAINT = r"""(() => {
  const canvas = document.createElement('canvas').getContext('2d', {willReadFrequently: true});
  const rgba = color => {
    canvas.clearRect(0, 0, 1, 1); canvas.fillStyle = color; canvas.fillRect(0, 0, 1, 1);
    return [...canvas.getImageData(0, 0, 1, 1).data];
  };
  const linear = v => (v /= 255) <= .03928 ? v / 12.92 : ((v + .055) / 1.055) ** 2.4;
  const luminance = ([r, g, b]) => .2126 * linear(r) + .7152 * linear(g) + .0722 * linear(b);
  const faint = [];
  const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (texts.nextNode()) {
    const element = texts.currentNode.parentElement;
    if (!texts.currentNode.data.trim() || ['SCRIPT', 'STYLE'].includes(element.tagName)
        || !element.checkVisibility()) continue;
    let behind = element, ground;
    do { ground = rgba(getComputedStyle(behind).backgroundColor); behind = behind.parentElement; }
    while (behind && ground[3] === 0);
    const [a, b] = [luminance(rgba(getComputedStyle(element).color)), luminance(ground)];
    const ratio = (Math.max(a, b) + .05) / (Math.min(a, b) + .05);
    if (ratio < 4.5) faint.push(element.tagName + ' ' + texts.currentNode.data.trim().slice(0, 30) + ' ' + ratio.toFixed(2));
  }
  return faint; })()"""
FACTS = """Object.fromEntries([...document.querySelectorAll('#facts dt')].map(
    name => [name.textContent, name.nextElementSibling.textContent]))"""
SESSIONS = """[...document.querySelectorAll('section[data-pool=models] .numbers dt')].find(
    name => name.textContent === 'sessions').nextElementSibling.textContent"""
PROBED = """(() => {
  const worker = latest.pools.flatMap(each => each.status.workers).find(each => each.id === opened);
  worker.last_probe = {at_ms: 1.7e12, duration_ms: 3, passed: true};
  drawWorker(); })()"""
CHANGE = re.compile(r"\w+ \u2192 \w+ at ([\d-]+ )?\d\d:\d\d:\d\d, after [\d.]+ \S+")
RAW_TIME = re.compile(r"\b\d{13,}\b")  # since 1970
TILES = "document.querySelectorAll('section[data-pool=models] [data-worker]').length"
SAID = "document.querySelector('section[data-pool=models] .said').textContent"


def check(holds, what):
    if not holds:
        sys.exit(f"page_test: {what}")
    print(f"ok: {what}", flush=True)


class Service:
    """The sample with so many workers."""

    def __init__(self, program, workers):
        self.process = subprocess.Popen(
            [program, "--workers", str(workers), "--port", "0", "--token", TOKEN, "--python", "/usr/bin/python3"],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        line = self.process.stdout.readline()
        check(line.startswith("the admin page is at http://127.0.0.1:"), f"the service with {workers} workers starts")
        self.url = line.split()[-1]

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.communicate()

    def readiness(self):
        try:
            with urllib.request.urlopen(self.url + "readyz", timeout=10) as response:
                return response.status
        except urllib.error.HTTPError as refusal:
            return refusal.code

    def end(self):
        self.process.send_signal(signal.SIGINT)
        self.process.communicate(timeout=60)
        return self.process.returncode


def check_looks(page, shots, name):
    for width, height in ((1280, 900), (360, 800)):
        for dark in (False, True):
            page.emulate(width, height, dark)
            time.sleep(0.5)
            look = f"{name}, {width} px wide, {'dark' if dark else 'light'}"
            if shots:
                page.screenshot(str(shots / f"{look.replace(', ', '-').replace(' ', '-')}.png"), True)
            faint = page.evaluate(FAINT)
            check(faint == [], f"legible: {look} {faint or ''}")
            check(page.evaluate("document.documentElement.scrollWidth <= innerWidth"), f"as wide as the window: {look}")
    page.emulate(1280, 900)


def click(page, action):
    page.evaluate(f"document.querySelector('section[data-pool=models] [data-action={action}]').click()")


def check_work(page, service):
    """What an operator does: look at a worker, filter, pause, and change the pool."""
    page.evaluate("document.querySelector('[data-worker=\"models/1#1\"]').focus()")
    page.press("Enter")
    check(page.evaluate("document.getElementById('dialog').open"), "a worker's tile opens its details by keyboard")
    facts = page.evaluate(FACTS)
    for name in ("started at", "updated at"):
        check(re.fullmatch(r"([\d-]+ )?\d\d:\d\d:\d\d", facts[name]), f"'{name}' is a time of the day: {facts[name]}")
    changes = facts["transitions"].split("\n")
    check(len(changes) > 1 and all(CHANGE.match(each) for each in changes), f"a line for each transition: {changes}")
    check(not any(RAW_TIME.search(text) for text in facts.values()), f"no fact is a raw time: {facts}")
    check(page.wait_until(f"/[1-9]/.test({FACTS}['sessions'])", 30), "a worker shows how many sessions it serves")
    check(facts["strict sessions"] == "0", "and how many of them are strictly bound to it")
    check(page.wait_until(f"/[1-9]/.test({SESSIONS})", 30), "a pool shows how many sessions it knows")
    yesterday = page.evaluate("moment(Date.now() - 86400e3)")
    check(re.fullmatch(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d", yesterday), f"a time of another day has its date: {yesterday}")
    page.evaluate(PROBED)
    nested = page.evaluate(FACTS)["last probe"]
    check(re.fullmatch(r"at [\d-]+ [\d:]+ \u00b7 duration 3 ms \u00b7 passed true", nested), f"facts inside of facts: {nested}")
    page.press("Escape")
    check(page.wait_until("/is empty/.test(document.getElementById('log').textContent)", 30), "what workers log shows")
    log = page.evaluate("document.getElementById('log').textContent")
    check(not RAW_TIME.search(log), "no event has a raw time")
    page.press("/")
    page.type("is empty")
    check(page.wait_until("(rows => rows.length > 0 && rows.every(row => /is empty/.test(row.textContent)))"
                          "([...document.querySelectorAll('#log > li')])", 10), "the filter leaves what was asked for")
    page.evaluate("(f => { f.value = ''; f.dispatchEvent(new Event('input')); f.blur(); })(document.getElementById('filter'))")
    page.press("p")
    check(page.evaluate("document.getElementById('connection').textContent") == "paused", "p pauses")
    page.press("p")
    click(page, "suspend")
    check(page.wait_until(f"/token/.test({SAID})", 10), "without the token nothing is changed")
    page.evaluate("document.getElementById('token').focus()")
    page.type(TOKEN)
    click(page, "suspend")
    check(page.wait_until(f"/done/.test({SAID})", 10) and service.readiness() == 503, "a pool is suspended")
    click(page, "resume")
    check(page.wait_until("document.querySelectorAll('[data-state=suspended]').length == 0", 10)
          and service.readiness() == 200, "and resumed")
    click(page, "restart")
    check(page.wait_until("[...document.querySelectorAll('[data-worker]')].every(tile => tile.dataset.worker.endsWith('#2'))"
                          f" && {TILES} == 4", 60), "a rolling restart shows, worker by worker")
    check(page.evaluate("document.getElementById('connection').textContent") == "live", "the page has lived through it")


def main():
    program = sys.argv[1]
    shots = pathlib.Path(sys.argv[3]) if sys.argv[2:3] == ["--shots"] else None
    with browser() as page:
        for workers in (4, 200):
            with Service(program, workers) as service:
                page.emulate(1280, 900)
                page.open(service.url)
                check(page.wait_until(f"{TILES} == {workers}", 60), f"{workers} workers show")
                check(page.wait_until("document.getElementById('connection').textContent == 'live'", 10), "live")
                check(page.wait_until("/train/.test(document.querySelector('section[data-pool=models]').innerText)", 30),
                      "calls show")
                check_looks(page, shots, f"{workers} workers")
                if workers == 4:
                    check_work(page, service)
                page.open("about:blank")
                check(service.end() == 130, "Ctrl-C ends the service")
        errors = [error for error in page.console_errors() if "401" not in error]
        check(errors == [], f"the browser has nothing to complain of {errors or ''}")


main()
