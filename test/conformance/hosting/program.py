"""A started worker program and the channels to it."""

import os
import select
import signal
import socket
import subprocess
import tempfile
import time

_READ_SIZE = 1 << 16


class Program:
    """Starts the program as a pool would. `data`, `control` and `line`, which is for shared memory, are the host's ends.
    Over stdio, data and control are the same. The line is None over stdio, and unless `shares` is true."""

    def __init__(self, command, transport, token, protocol="1", shares=False):
        self._output = tempfile.TemporaryFile()
        environment = {
            **{name: value for name, value in os.environ.items() if not name.startswith("SKEP_")},
            "SKEP_PROTOCOL": protocol,
            "SKEP_TRANSPORT": transport,
            "SKEP_WORKER": "conformance/0#1",
            "SKEP_POOL": "conformance",
            "SKEP_THREADS": "1",
        }
        self.line = None
        self.data, data_end = socket.socketpair()
        ends = [data_end]
        if transport == "stdio":
            self.control = self.data
            streams = {"stdin": data_end, "stdout": data_end, "stderr": self._output}
        else:
            self.control, control_end = socket.socketpair()
            ends.append(control_end)
            environment["SKEP_TOKEN"] = token
            environment["SKEP_DATA_FD"] = str(data_end.fileno())
            environment["SKEP_CONTROL_FD"] = str(control_end.fileno())
            streams = {"stdin": subprocess.DEVNULL, "stdout": self._output, "stderr": self._output}
            if shares:
                self.line, line_end = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
                ends.append(line_end)
                environment["SKEP_SHARED_FD"] = str(line_end.fileno())
            streams["pass_fds"] = [end.fileno() for end in ends]
        self.channels = list(dict.fromkeys((self.data, self.control)))
        for channel in self.channels:
            channel.setblocking(False)
        try:
            self.process = subprocess.Popen(command, env=environment, start_new_session=True, **streams)
        except BaseException:
            self._let_go()
            raise
        finally:
            for end in ends:
                end.close()

    def receive(self, channel):
        """What there is to be read: b"" at the end of the stream, None if there is nothing yet."""
        try:
            return channel.recv(_READ_SIZE)
        except BlockingIOError:
            return None
        except ConnectionError:
            return b""

    def send(self, channel, data, until):
        """Whether all of it was taken by then; nothing is read meanwhile. What cannot be sent for the worker is gone is
        dropped: the end of the stream tells of that."""
        rest = memoryview(data)
        while rest:
            try:
                rest = rest[channel.send(rest) :]
            except BlockingIOError:
                if not select.select([], [channel], [], max(0, until - time.monotonic()))[1]:
                    return False
            except ConnectionError:
                return True
        return True

    def terminate(self):
        """SIGTERM, as a pool sends it: to the whole process group."""
        os.killpg(self.process.pid, signal.SIGTERM)

    def output_tail(self):
        """The last of what it has printed, for reports."""
        size = self._output.seek(0, os.SEEK_END)
        self._output.seek(max(0, size - 400))
        return self._output.read().decode("utf-8", "replace").strip()

    def end(self):
        """Kills what is left of it."""
        try:
            os.killpg(self.process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        self.process.wait()
        self._let_go()

    def _let_go(self):
        for channel in self.channels:
            channel.close()
        if self.line:
            self.line.close()
        self._output.close()
