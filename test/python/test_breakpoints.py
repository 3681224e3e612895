"""breakpoint() in a worker waits for `python3 -m skep attach`."""

import os
import signal
import socket
import subprocess
import sys
import tempfile
import unittest

from host import ROOT, TIMEOUT, HostCase

SOURCE = """
@worker.command
def work(value):
    doubled = 2 * value
    breakpoint()
    return doubled
@worker.command
def twice():
    breakpoint()
    breakpoint()
    return "end"
@worker.command
def ask():
    breakpoint()
    return return_it(skep.call_host("ask"))
def return_it(value):
    return value
@worker.command
def echo(value): return value
"""


class Breakpoints(HostCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.environment = {"TMPDIR": folder.name, "PYTHONBREAKPOINT": "skep.breakpoint"}
        self.folder = os.path.join(folder.name, f"skep-debug-{os.getuid()}")

    def start_worker(self):
        source = f"import skep\nworker = skep.Worker()\n{SOURCE}\nworker.run()\n"
        return self.start_script(source, env=self.environment)

    def path_from(self, host):
        """The socket that the worker's message names."""
        line = host.process.stderr.readline().decode()
        self.assertRegex(line, r"^skep: breakpoint at script\.py:\d+ in \w+; to attach: python3 -m skep attach /")
        return line.split()[-1]

    def environment_of_attach(self):
        return {**os.environ, **self.environment, "PYTHONPATH": str(ROOT / "lib" / "python")}

    def attach(self, *arguments, says=""):
        """Runs the command with these lines as its input: status, stdout and stderr."""
        ran = subprocess.run(
            [sys.executable, "-m", "skep", "attach", *arguments],
            env=self.environment_of_attach(),
            input=says,
            capture_output=True,
            text=True,
            timeout=TIMEOUT,
            check=False,
        )
        return ran.returncode, ran.stdout, ran.stderr

    def test_the_debugger_sees_and_changes_the_call(self):
        host = self.start_worker()
        host.send_call("work", {"value": 4})
        path = self.path_from(host)
        status, output, _ = self.attach(path, says="p doubled\ndoubled = 99\ncontinue\n")
        self.assertEqual(status, 0)
        self.assertIn("return doubled\n", output)
        self.assertIn("(skep) 8\n", output)
        self.assertEqual(host.receive()["value"], 99)
        self.assertFalse(os.path.exists(path))

    def test_without_a_path(self):
        dead, host = self.start_worker(), self.start_worker()
        dead.send_call("work", {"value": 4})
        self.path_from(dead)
        dead.process.kill()
        dead.process.wait()
        host.send_call("work", {"value": 4})
        self.path_from(host)
        with open(os.path.join(self.folder, ".not-yet"), "w"):  # does not listen yet
            pass
        self.assertEqual(self.attach(says="continue\n")[0], 0)
        self.assertEqual(host.receive()["value"], 8)
        self.assertEqual(os.listdir(self.folder), [".not-yet"])

    def test_nobody_waits(self):
        self.assertEqual(self.attach()[::2], (1, "skep: no worker of this user waits at a breakpoint\n"))
        status, _, errors = self.attach("/no/such")
        self.assertEqual((status, errors), (1, "skep: no breakpoint waits at /no/such: No such file or directory\n"))

    def test_after_a_detachment_the_code_runs_on(self):
        host = self.start_worker()
        host.send_call("twice")
        self.assertEqual(self.attach(self.path_from(host))[0], 0)
        self.assertEqual(self.attach(self.path_from(host), says="continue\n")[0], 0)
        self.assertEqual(host.receive()["value"], "end")

    def connect(self, host):
        """A debugger of the test's own at the breakpoint of a call."""
        connection = socket.socket(socket.AF_UNIX)
        self.addCleanup(connection.close)
        connection.settimeout(TIMEOUT)
        connection.connect(self.path_from(host))
        return connection

    def read_to_prompt(self, connection):
        data = b""
        while not data.endswith(b"(skep) "):
            part = connection.recv(4096)
            self.assertTrue(part, data)
            data += part
        return data.decode()

    def test_a_debugger_that_dies_with_unread_output(self):
        host = self.start_worker()
        host.send_call("work", {"value": 4})
        connection = self.connect(host)
        self.read_to_prompt(connection)
        connection.sendall(b"help\n")
        connection.recv(1, socket.MSG_PEEK)
        connection.close()
        self.assertEqual(host.receive()["value"], 8)

    def test_a_debugger_that_dies_before_its_own_breakpoint(self):
        host = self.start_worker()
        host.send_call("ask")
        connection = self.connect(host)
        self.read_to_prompt(connection)
        connection.sendall(b"break return_it\n")
        self.read_to_prompt(connection)
        connection.sendall(b"continue\n")
        call = host.receive_tool_call()
        connection.close()
        host.answer_tool(call, 5)
        self.assertEqual(host.receive()["value"], 5)

    def test_ctrl_c_detaches(self):
        host = self.start_worker()
        host.send_call("work", {"value": 4})
        attached = subprocess.Popen(
            [sys.executable, "-m", "skep", "attach", self.path_from(host)],
            env=self.environment_of_attach(),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        self.addCleanup(attached.communicate)
        self.addCleanup(attached.kill)
        attached.stdout.read(1)
        attached.send_signal(signal.SIGINT)
        self.assertEqual(host.receive()["value"], 8)
        _, errors = attached.communicate(timeout=TIMEOUT)
        self.assertEqual((attached.returncode, errors), (130, b""))

    def test_quit_fails_the_call_and_the_worker_goes_on(self):
        host = self.start_worker()
        host.send_call("work", {"value": 4})
        self.assertEqual(self.attach(self.path_from(host), says="quit\n")[0], 0)
        self.assertEqual(host.receive()["error"]["type"], "bdb.BdbQuit")
        self.assertEqual(host.call("echo", {"value": 1}), 1)

    def test_the_folder_is_private(self):
        os.mkdir(self.folder, 0o755)
        host = self.start_worker()
        error = host.call_error("work", {"value": 4})
        self.assertEqual(error["type"], "PermissionError")
        status, _, errors = self.attach()
        self.assertEqual((status, errors.count("\n")), (1, 1))
        self.assertIn("must be a folder of this user alone", errors)
        os.rmdir(self.folder)
        host.send_call("work", {"value": 4})
        path = self.path_from(host)
        self.assertEqual(os.lstat(self.folder).st_mode & 0o777, 0o700)
        self.attach(path, says="continue\n")
        self.assertEqual(host.receive()["value"], 8)

    def test_the_folder_may_inherit_its_group(self):
        os.mkdir(self.folder)
        os.chmod(self.folder, 0o2700)  # as in a setgid folder
        host = self.start_worker()
        host.send_call("work", {"value": 4})
        self.attach(self.path_from(host), says="continue\n")
        self.assertEqual(host.receive()["value"], 8)

    def test_a_cancel_and_an_end_interrupt_the_wait(self):
        host = self.start_worker()
        call_id = host.send_call("work", {"value": 4})
        path = self.path_from(host)
        host.cancel(call_id)
        self.assertEqual(host.receive()["error"]["type"], "skep.Cancelled")
        self.assertFalse(os.path.exists(path))
        host.send_call("work", {"value": 4})
        path = self.path_from(host)
        host.signal(signal.SIGTERM)
        self.assertIsNone(host.receive())
        self.assertEqual(host.finish()[0], 0)
        self.assertFalse(os.path.exists(path))


if __name__ == "__main__":
    unittest.main()
