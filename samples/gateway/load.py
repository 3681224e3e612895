#!/usr/bin/env python3
"""Puts a gateway under load, makes trouble meanwhile, and reports failed requests.

    load.py                     5,000 requests from 32 connections; meanwhile a rolling restart, and a worker is killed
    load.py --calm              without the trouble
    load.py --calm --to-the-end goes on until the gateway takes no more connections
    load.py --streams 200       200 event streams at once; every second client leaves in the middle
    load.py --streams 20 --stay 20 event streams at once; every client stays to the end

Exits with 1 after any failure. Needs only Python. Without --calm, run it on the gateway's machine.
"""

import argparse
import asyncio
import collections
import itertools
import json
import os
import signal
import sys
import time
import urllib.request

TEXTS = {"en": "the sun shines over the city today", "es": "el sol brilla hoy sobre la ciudad",
         "fr": "le soleil brille sur la ville"}
PATIENCE = 30  # seconds
WORDS = 100  # of a story


class Connection:
    """A connection to the gateway, reused for several requests."""

    def __init__(self, host, port):
        self.host, self.port = host, port
        self.reader = self.writer = None

    async def post(self, path, body):
        """Sends a request, and returns status and header fields of the response. Does not read the body."""
        if self.writer is None:
            self.reader, self.writer = await asyncio.open_connection(self.host, self.port)
        head = f"POST {path} HTTP/1.1\r\nHost: {self.host}\r\nContent-Length: {len(body)}\r\n\r\n"
        self.writer.write(head.encode() + body)
        lines = (await self.reader.readuntil(b"\r\n\r\n")).decode().split("\r\n")
        fields = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines[1:])}
        return int(lines[0].split()[1]), fields

    async def fetch(self, path, body):
        """Sends a request, and returns status and body of the response."""
        status, fields = await self.post(path, body)
        content = await self.reader.readexactly(int(fields["content-length"]))
        if fields.get("connection") == "close":
            self.close()
        return status, content

    def close(self):
        if self.writer is not None:
            self.writer.close()
            self.writer = None


class Tally:
    """Times and failures of requests."""

    def __init__(self):
        self.times = []
        self.failures = collections.Counter()

    async def measure(self, connection, language, text):
        """Sends one request. Raises ConnectionRefusedError if the gateway takes no connections."""
        begun = time.monotonic()
        try:
            body = json.dumps({"text": text}).encode()
            status, answer = await asyncio.wait_for(connection.fetch("/predict", body), PATIENCE)
            if status != 200:
                self.failures[str(status)] += 1
            elif json.loads(answer)["language"] != language:
                self.failures["the answer is to another request"] += 1
        except ConnectionRefusedError:
            raise
        except (OSError, EOFError, asyncio.TimeoutError) as problem:
            self.failures[repr(problem)] += 1
            connection.close()
        self.times.append(time.monotonic() - begun)

    def tell(self, seconds):
        times = sorted(self.times)
        middle, late = times[len(times) // 2], times[len(times) * 99 // 100]
        print(f"{len(times):,} requests in {seconds:.1f} s: {len(times) / seconds:,.0f}/s, "
              f"p50 {middle * 1000:.1f} ms, p99 {late * 1000:.1f} ms, slowest {times[-1] * 1000:.0f} ms")
        print(f"failed: {sum(self.failures.values())}" + "".join(f"\n  {count} x {what}" for what, count in
                                                                   self.failures.items()))


def workers_of(admin, pool):
    """Returns the workers of a pool, from the admin page."""
    with urllib.request.urlopen(admin + "/status.json", timeout=PATIENCE) as response:
        pools = [each["status"] for each in json.load(response)["pools"]]
    return next(each["workers"] for each in pools if each["name"] == pool)


def parent_of(pid):
    with open(f"/proc/{pid}/stat", encoding="ascii", errors="replace") as stat:
        return int(stat.read().rpartition(")")[2].split()[1])


def pids_of(admin):
    return {each["pid"] for pool in ("models", "pictures", "stories") for each in workers_of(admin, pool)}


def restart_all(admin):
    gateway = parent_of(workers_of(admin, "models")[0]["pid"])
    os.kill(gateway, signal.SIGHUP)
    print(f"SIGHUP to the gateway, process {gateway}: all workers are to be new")


def are_new(admin, old):
    """Waits until all old workers have ended. Returns whether they have."""
    end = time.monotonic() + PATIENCE
    while old & pids_of(admin) and time.monotonic() < end:
        time.sleep(0.1)
    return not old & pids_of(admin)


def kill_one(admin):
    workers = workers_of(admin, "models")
    victim = next((each for each in workers if each["calls"]), workers[0])["pid"]
    os.kill(victim, signal.SIGKILL)
    print(f"SIGKILL to a worker, process {victim}")


async def send_requests(args):
    tally, left = Tally(), itertools.count() if args.to_the_end else iter(range(args.requests))
    old = set() if args.calm else await asyncio.to_thread(pids_of, args.admin)
    trouble = {} if args.calm else {args.requests // 4: restart_all, args.requests * 3 // 4: kill_one}

    async def use_connection():
        connection = Connection(args.host, args.port)
        for number in left:
            if number in trouble:
                await asyncio.to_thread(trouble[number], args.admin)
            try:
                await tally.measure(connection, *list(TEXTS.items())[number % len(TEXTS)])
            except ConnectionRefusedError as refused:
                if not args.to_the_end:
                    tally.failures[repr(refused)] += 1
                return
        connection.close()

    begun = time.monotonic()
    await asyncio.gather(*(use_connection() for _ in range(args.connections)))
    tally.tell(time.monotonic() - begun)
    renewed = not old or await asyncio.to_thread(are_new, args.admin, old)
    if not renewed:
        print("failed: workers that were there before the restart are still there")
    return renewed and not tally.failures


async def listen(args, number):
    """Reads one event stream, and returns its last event."""
    connection = Connection(args.host, args.port)
    leaves = number % 2 == 0 and not args.stay
    try:
        status, _ = await connection.post("/generate", json.dumps({"words": WORDS, "prompt": "the"}).encode())
        last = str(status)
        for count in range(WORDS + 1):
            event = (await connection.reader.readuntil(b"\n\n")).decode()
            last = event.splitlines()[0].removeprefix("event: ")
            if last != "word" or (leaves and count == 20):
                break
    except (OSError, EOFError) as problem:
        last = repr(problem)
    connection.close()
    if last == "end" and count < WORDS:
        last = f"end after {count} words"
    return "left" if last == "word" and leaves else last


async def follow_streams(args):
    ends = collections.Counter(await asyncio.wait_for(
        asyncio.gather(*(listen(args, number) for number in range(args.streams))), PATIENCE))
    print(f"streams: {dict(ends)}")
    if args.stay:
        return set(ends) == {"end"}
    await asyncio.sleep(1)
    running = sum(len(each["calls"]) for each in await asyncio.to_thread(workers_of, args.admin, "stories"))
    print(f"generators that still run: {running}")
    return set(ends) <= {"left", "end"} and running == 0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--port", type=int, default=8080)
    parser.add_argument("--admin", default="http://127.0.0.1:8081")
    parser.add_argument("--requests", type=int, default=5000)
    parser.add_argument("--connections", type=int, default=32)
    parser.add_argument("--calm", action="store_true")
    parser.add_argument("--to-the-end", action="store_true")
    parser.add_argument("--streams", type=int, default=0)
    parser.add_argument("--stay", action="store_true")
    args = parser.parse_args()
    sys.exit(0 if asyncio.run(follow_streams(args) if args.streams else send_requests(args)) else 1)


if __name__ == "__main__":
    main()
