#!/usr/bin/env python3
"""The worker of honest.py, which shares memory with its host as well, for others to break a rule of that."""

import json
import mmap
import os
import socket

from honest import Worker as HonestWorker


class Worker(HonestWorker):
    def __init__(self):
        super().__init__()
        line = os.environ.get("SKEP_SHARED_FD")
        self.line = socket.socket(fileno=int(line)) if line else None
        if self.line:
            self.line.setblocking(False)
        self.limits_of_memory = None
        self.regions = {}  # lent ones
        self.sealed = {}
        self.results = []  # [number, mapping, places in use by their beginnings]
        self.has_asked = False

    def hello(self):
        return {**super().hello(), "shared": 1} if self.line else super().hello()

    def on_welcome(self, message):
        self.limits_of_memory = message.get("shared")
        super().on_welcome(message)

    def on_credit(self, message):
        call = self.calls.get(message["id"])
        if call and call.credit:  # else it only names released places
            super().on_credit(message)

    # --- attachments of calls

    def receive(self, channel):
        message, attachments = super().receive(channel)
        if self.limits_of_memory:
            self.free(message.get("released", ()))
        return message, attachments

    def attachments(self, items, rest):
        in_frame = iter(super().attachments([item for item in items if type(item) is int], rest))
        return [next(in_frame) if type(item) is int else self.open(item) for item in items]

    def open(self, item):
        kind = "sealed" if "sealed" in item else "region"
        memories = self.sealed if kind == "sealed" else self.regions
        if item[kind] not in memories:
            self.take_packets()
        memory = memories[item[kind]]
        content = bytes(memory[item["at"] : item["at"] + item["bytes"]])
        if len(content) != item["bytes"]:
            raise ValueError("an attachment is outside of its memory")
        if kind == "region":
            self.opened(item)
        return content

    def opened(self, item):
        """Its bytes are copied."""
        self.release(item)

    def release(self, item):
        self.send(self.control, {"type": "release", "region": item["region"], "at": item["at"]})

    def take_packets(self):
        while True:
            try:
                text, descriptors, _, _ = socket.recv_fds(self.line, 256, 1)
            except BlockingIOError:
                return
            if not descriptors:
                return  # a refusal, after which it asks no more; or the host is gone
            packet = json.loads(text)
            writes = packet.get("results") == 1
            access = mmap.PROT_READ | mmap.PROT_WRITE if writes else mmap.PROT_READ
            memory = mmap.mmap(descriptors[0], packet["bytes"], mmap.MAP_SHARED if writes else mmap.MAP_PRIVATE, access)
            os.close(descriptors[0])
            if writes:
                self.results.append([packet["region"], memory, {}])
            elif "sealed" in packet:
                self.sealed[packet["sealed"]] = memory
            else:
                self.regions[packet["region"]] = memory

    # --- attachments of results

    def pack(self, message, attachments=()):
        if not attachments or not self.limits_of_memory:
            return super().pack(message, attachments)
        self.take_packets()
        items = [self.place(part) or len(part) for part in attachments]
        in_frame = [part for part, item in zip(attachments, items) if type(item) is int]
        return self.frame({**message, "attachments": items}, in_frame)

    def place(self, part):
        if len(part) < self.limits_of_memory["least"]:
            return None
        for number, memory, used in self.results:
            at = self.find_room(memory, used, len(part))
            if at is not None:
                memory[at : at + len(part)] = part
                used[at] = len(part)
                return {"region": number, "at": at, "bytes": len(part)}
        if not self.has_asked:
            self.has_asked = True
            self.send(self.control, {"type": "region", "bytes": self.limits_of_memory["bytes"] // 16})
        return None

    def find_room(self, memory, used, size):
        ends = [0, *(at + length for at, length in used.items())]
        return next((end for end in ends if end + size <= len(memory) and self.is_free(used, end, size)), None)

    def is_free(self, used, at, size):
        return all(begin + length <= at or at + size <= begin for begin, length in used.items())

    def free(self, places):
        for region, at in places:
            next(used for number, _, used in self.results if number == region).pop(at)


if __name__ == "__main__":
    Worker().serve()
