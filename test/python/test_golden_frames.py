"""The golden frames of the conformance program, as the SDK reads them."""

import json
import socket
import struct
import subprocess
import sys
import unittest

from host import ROOT, HostCase

sys.path.insert(0, str(ROOT / "lib" / "python"))

from skep._wire.channel import Channel
from skep._wire.errors import ProtocolError

KIT = ROOT / "test" / "conformance"
INDEX = json.loads((KIT / "frames" / "index.json").read_text())
TO_WORKER = [entry for entry in INDEX["frames"] if entry["direction"] == "host_to_worker"]

EXIT_PROTOCOL_ERROR = 76


def content(entry):
    return (KIT / "frames" / entry["file"]).read_bytes()


def receive(data):
    """What the SDK makes of a frame that comes after these limits were told."""
    near, far = socket.socketpair()
    with near, far:
        far.sendall(data)
        far.shutdown(socket.SHUT_WR)
        channel = Channel.over_socket(near)
        channel.limit = INDEX["limits"]["frame_bytes"]
        return channel.receive()


class GoldenFramesTest(unittest.TestCase):
    def test_files_are_as_their_script_writes_them(self):
        check = subprocess.run([sys.executable, KIT / "golden.py", "--check"], stdout=subprocess.PIPE, text=True)
        self.assertEqual(check.returncode, 0, check.stdout)

    def test_sdk_reads_good_ones(self):
        for entry in TO_WORKER:
            if "message" in entry:
                with self.subTest(entry["file"]):
                    frame = receive(content(entry))
                    self.assertEqual(frame.message, entry["message"])
                    self.assertEqual([len(part) for part in frame.attachments], entry["attachments"])
                    data = content(entry)
                    json_length = struct.unpack_from(">II", data)[1]
                    self.assertEqual(b"".join(frame.attachments), data[8 + json_length :])

    def test_sdk_refuses_bad_ones(self):
        for entry in TO_WORKER:
            if entry.get("layer") in ("frame", "json"):
                with self.subTest(entry["file"]):
                    self.assertRaises(ProtocolError, receive, content(entry))


class BadMessagesTest(HostCase):
    def test_worker_gives_up_on_bad_messages(self):
        for entry in TO_WORKER:
            if entry.get("layer") == "message":
                with self.subTest(entry["file"]):
                    worker = self.start("")
                    stream = worker.data if entry["channel"] == "data" else worker.control
                    stream.sendall(content(entry))
                    status, _, said = worker.finish()
                    self.assertEqual(status, EXIT_PROTOCOL_ERROR)
                    self.assertIn("the host broke the protocol", said)


if __name__ == "__main__":
    unittest.main()
