#!/usr/bin/env python3
"""Opens the admin page in a real browser and works with it as an operator would, with 4 workers and with 200.

    test/admin/page_test.py OBSERVABILITY INCIDENT NODES [--shots FOLDER]

OBSERVABILITY is the sample's program, INCIDENT that of test/support/incident.cpp, NODES that of
test/support/node_page.cpp. Screenshots are to be looked at.
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
HAS_BUTTONS = "document.querySelector('section[data-pool=models] [data-action=suspend]') !== null"
OVERVIEW = "[...document.querySelectorAll('#overview > li')].map(each => each.innerText)"
FAULTS = "[...document.querySelectorAll('#faults > li')].map(each => each.innerText)"
RANKING = "document.querySelector('section[data-pool=ranking]')"
POOL = "document.querySelector('section[data-pool=nodes]')"
NODES = f"[...{POOL}.querySelectorAll('[aria-label=\"Nodes of nodes\"] tbody tr')]"
TILES = "document.querySelectorAll('section[data-pool=models] [data-worker]').length"
SAID = "document.querySelector('section[data-pool=models] .said').textContent"


def check(holds, what):
    if not holds:
        sys.exit(f"page_test: {what}")
    print(f"ok: {what}", flush=True)


class Service:
    """A running program that prints the address of its page."""

    def __init__(self, *command):
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        line = self.process.stdout.readline()
        check(line.startswith("the admin page is at http://127.0.0.1:"), f"{command[0]} starts")
        self.url = line.split()[-1]

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.communicate()

    def readiness(self):
        try:
            with urllib.request.urlopen(self.url + "readyz", timeout=60) as response:
                return response.status
        except urllib.error.HTTPError as refusal:
            return refusal.code

    def end(self):
        self.process.send_signal(signal.SIGINT)
        self.process.communicate(timeout=60)
        return self.process.returncode


def sample(program, workers):
    return Service(program, "--workers", str(workers), "--port", "0", "--token", TOKEN, "--python", "/usr/bin/python3")


def check_looks(page, shots, name):
    for width, height in ((1440, 900), (390, 844)):
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
    check(page.wait_until(f"/[1-9]/.test({FACTS}['sessions'])"), "a worker shows how many sessions it serves")
    check(facts["strict sessions"] == "0", "and how many of them are strictly bound to it")
    check(page.wait_until(f"/[1-9]/.test({SESSIONS})"), "a pool shows how many sessions it knows")
    yesterday = page.evaluate("moment(Date.now() - 86400e3)")
    check(re.fullmatch(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d", yesterday), f"a time of another day has its date: {yesterday}")
    page.evaluate(PROBED)
    nested = page.evaluate(FACTS)["last probe"]
    check(re.fullmatch(r"at [\d-]+ [\d:]+ \u00b7 duration 3 ms \u00b7 passed true", nested), f"facts inside of facts: {nested}")
    page.press("Escape")
    check(page.wait_until("/is empty/.test(document.getElementById('log').textContent)"), "what workers log shows")
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
    check(page.evaluate("document.querySelectorAll('[data-action]').length") == 0, "without a token there are no buttons")
    page.evaluate("document.getElementById('token').focus()")
    page.type(TOKEN[:-1] + "x")
    check(page.wait_until(HAS_BUTTONS), "with a token there are")
    click(page, "suspend")
    check(page.wait_until(f"/token/.test({SAID})"), "with a wrong token nothing is changed")
    page.press("Backspace")
    page.type(TOKEN[-1])
    click(page, "suspend")
    check(page.wait_until(f"/done/.test({SAID})") and service.readiness() == 503, "a pool is suspended")
    click(page, "resume")
    page.wait_until(f"/resume.*done/i.test({SAID})")  # the tiles may not have shown the suspension yet
    check(page.wait_until("document.querySelectorAll('[data-state=suspended]').length == 0")
          and service.readiness() == 200, "and resumed")
    click(page, "restart")
    check(page.wait_until("[...document.querySelectorAll('[data-worker]')].every(tile => tile.dataset.worker.endsWith('#2'))"
                          f" && {TILES} == 4", 60), "a rolling restart shows, worker by worker")
    check(page.evaluate("document.getElementById('connection').textContent") == "live", "the page has lived through it")


def check_incident(page):
    """What an operator sees who opens the page some seconds after the trouble has begun."""
    check(page.wait_until(f"/rerank/.test({OVERVIEW}[0]) && /score/.test({OVERVIEW}[0])"),
          "the worst pool is first, with its crashes and its failing calls")
    worst = page.evaluate(OVERVIEW)[0]
    check(worst.startswith("ranking"), f"it has its name: {worst}")
    check(re.search(r"worker lost in rerank: its process ended, signal 11", worst), "the command and the cause of the crash")
    check(re.search(r"last call: rerank order-4\d{3}", worst), "the call of the crash")
    check(re.search(r"calls fail in score: remote_error, KeyError .*since .*last call: order-\d+", worst), "the failing calls")
    check(page.wait_until(f"/since/.test({OVERVIEW}[0])"), "and since when")
    check(page.evaluate(f"{RANKING}.dataset.tone") == "bad", "the colour of a pool follows its failed calls")
    check(page.wait_until("document.querySelector('section[data-pool=parsing]').dataset.tone == 'ok'", 60), "of a sound pool, too")
    check(page.evaluate("document.title").startswith("! ranking"), "the title names the worst pool")
    check("Fatal Python error: Segmentation fault" in page.evaluate(f"{RANKING}.querySelector('.tail').textContent"),
          "the last failure shows the output's tail")
    check(page.wait_until(f"(t => t.scrollTop + t.clientHeight >= t.scrollHeight - 2)({RANKING}.querySelector('.tail'))"),
          "and of it the end, with the thread that crashed")
    check(page.evaluate(f"/remote_error/.test({RANKING}.innerText)"), "the outcomes are shown by code")
    check(any("worker lost" in each for each in page.evaluate(FAULTS)), "the faults have a list")
    page.evaluate("document.querySelector('#faults details').open = true")
    check(page.wait_until("/unanswered: rerank order-4/.test(document.querySelector('#faults details').innerText)"),
          "a fault opens to its occurrences")
    check(page.wait_until("/worker.terminated/.test(document.getElementById('log').textContent)"),
          "events of the time before the page was opened are in the log")
    page.evaluate(f"(plot => {{ const box = plot.getBoundingClientRect(); plot.dispatchEvent(new PointerEvent('pointermove',"
                  f" {{clientX: box.right - 3, clientY: box.top + 5}})); }})({RANKING}.querySelector('svg'))")
    check(re.search(r"at \d\d:\d\d:\d\d", page.evaluate(f"{RANKING}.querySelector('figure').innerText")),
          "the pointer on a plot shows the values of that moment")
    page.evaluate("document.querySelector('#ranges button').click()")
    check("60 s ago" in page.evaluate(f"{RANKING}.querySelector('figure').innerText"), "the range of the plots can be chosen")
    check("secret" not in page.evaluate("document.documentElement.innerHTML"), "no secret of the configuration is shown")
    check(page.evaluate("document.querySelectorAll('#configurations details').length") == 4, "four configurations are")
    check(page.evaluate("document.querySelectorAll('[data-action], #token').length") == 0, "nothing can be changed")


def check_nodes(page, count):
    """A pool whose workers are nodes, and the clients of the node that the program itself is."""
    check(page.wait_until(f"{POOL} !== null && {NODES}.length == {count}"), f"{count} nodes show")
    states = page.evaluate(f"{NODES}.map(row => row.cells[1].innerText)")
    troubled = [state for state in states if state != "linked"]
    check(troubled and states[:len(troubled)] == troubled, f"nodes in trouble come first: {sorted(set(troubled))}")
    check(page.evaluate(f"{NODES}.some(row => row.innerText.includes('gpu-2'))"), "each with its name")
    check(re.search(r"\d+ of \d+ nodes take calls", page.evaluate(f"{POOL}.innerText")), "the pool counts its nodes")
    check(page.evaluate(f"{POOL}.querySelector('.grid').checkVisibility()") is False, "no tiles of processes show")
    links = page.evaluate(f"{POOL}.innerText")
    check("busy answers" in links and "sent again" in links, "what the bus did to the links shows")
    check(page.wait_until(f"{FAULTS}.some(each => each.includes('node ejected'))"), "an ejection is a fault")
    agent = page.evaluate("document.getElementById('agent').innerText")
    check("Node gpu-0" in agent and "shop-2" in agent, "the clients of the node itself show")
    page.evaluate("document.getElementById('token').focus()")
    page.type(TOKEN)
    time.sleep(1.5)
    check(page.evaluate(f"{POOL}.querySelectorAll('[data-action]').length") == 0, "nodes have no buttons")
    page.evaluate(f"{NODES}.find(row => row.cells[1].innerText === 'linked').querySelector('button').click()")
    check(page.evaluate("document.getElementById('dialog').open"), "a node opens the details of its link")
    check(page.evaluate(FACTS)["node"].startswith("gpu-"), "which name the node")
    check(page.evaluate("[...document.querySelectorAll('#dialog [data-action]')].every(each => !each.checkVisibility())"),
          "and have no buttons either")
    page.press("Escape")


def main():
    program, incident, nodes = sys.argv[1:4]
    shots = pathlib.Path(sys.argv[5]) if sys.argv[4:5] == ["--shots"] else None
    with browser() as page:
        for count in (3, 100):
            with Service(nodes, str(count), TOKEN) as service:
                page.emulate(1440, 900)
                page.open(service.url)
                check_nodes(page, count)
                check_looks(page, shots, f"{count} nodes")
                page.open("about:blank")
        for workers in (1, 50):
            with Service(incident, str(workers)) as service:
                time.sleep(12)  # two crashes, which the page is not there to see
                page.emulate(1440, 900)
                page.open(service.url)
                check_incident(page)
                check(page.evaluate("document.getElementById('legend-box').open"), "the legend is open")
                page.emulate(390, 844)
                page.open(service.url)
                check(not page.evaluate("document.getElementById('legend-box').open"), "on a phone the legend is folded")
                check(page.wait_until(f"/rerank/.test({OVERVIEW}[0])"), "and the crashes show there")
                check_looks(page, shots, f"incident of {4 * workers} workers")
                page.open("about:blank")
        for workers in (4, 200):
            with sample(program, workers) as service:
                page.emulate(1280, 900)
                page.open(service.url)
                check(page.wait_until(f"{TILES} == {workers}", 60), f"{workers} workers show")
                check(page.wait_until("document.getElementById('connection').textContent == 'live'"), "live")
                check(page.wait_until("/train/.test(document.querySelector('section[data-pool=models]').innerText)"),
                      "calls show")
                check_looks(page, shots, f"{workers} workers")
                if workers == 4:
                    check_work(page, service)
                page.open("about:blank")
                check(service.end() == 130, "Ctrl-C ends the service")
        errors = [error for error in page.console_errors() if "401" not in error]
        check(errors == [], f"the browser has nothing to complain of {errors or ''}")


main()
