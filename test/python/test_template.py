"""A script as a template (`launch.preload`): it forks workers, which are like workers that a pool has started."""

import ctypes
import json
import os
import resource
import signal
import socket
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path

from host import FRAME_LIMIT, LOOP, SDK, TIMEOUT, TOKEN, Peer

PR_SET_CHILD_SUBREAPER = 36
COMMANDS = """
import os, random, signal, sys, threading, uuid
import skep
worker = skep.Worker()
loaded = []
drawn = random.random()
first_id = uuid.uuid1()
@worker.on_preload
def load(): loaded.append(os.getpid())
@worker.on_start
def greet(): print("hello from", worker.slot, file=sys.stderr)
@worker.command
def about():
    return {"pid": os.getpid(), "loaded": loaded, "arguments": sys.argv[1:], "group": os.getpgid(0),
            "session": os.getsid(0), "stdin": os.readlink("/proc/self/fd/0"), "parent": os.getppid(),
            "previous_exit": worker.previous_exit}
early = skep.shared(5000)
@worker.command
def make(size): return [skep.shared(size), early]
@worker.command
def variable(name): return os.environ.get(name)
@worker.command
def descriptors():
    paths = map("/proc/self/fd/{}".format, range(1000))
    return [os.readlink(path) for path in paths if os.path.lexists(path)]
@worker.command
def draw(): return [random.random(), str(uuid.uuid1()), str(uuid.uuid1())]
"""
RUN = "worker.run()\n"
ONE = "import skep\nworker = skep.Worker()\n@worker.command\ndef one(): return 1\n" + RUN
# Root is exempt from the limit of processes.
LEAVE_ROOT = "import os\nif os.getuid() == 0: os.setgid(65534); os.setuid(65534)\n"


class ForkedWorker(Peer):
    """A worker that a template has forked, or is to fork."""

    def __init__(self, slot):
        data, data_end = socket.socketpair()
        control, control_end = socket.socketpair()
        super().__init__(data, control)
        self.leash, self.guard = socket.socketpair()
        self.stdout, stdout_end = os.pipe()
        self.stderr, stderr_end = os.pipe()
        self.slot = f"default/{slot}"
        self.far_ends = [data_end.detach(), control_end.detach(), stdout_end, stderr_end]
        self.pid = self.pidfd = None

    def order(self, environment=(), arguments=()):
        """The order to fork the worker."""
        worker = {"SKEP_PROTOCOL": "1", "SKEP_TRANSPORT": "socket", "SKEP_TOKEN": TOKEN, "SKEP_DATA_FD": "3"}
        worker.update(SKEP_CONTROL_FD="4", SKEP_POOL="default", SKEP_WORKER=f"{self.slot}#1", SKEP_THREADS="1")
        worker.update(environment)
        return {"type": "fork", "worker": f"{self.slot}#1", "environment": worker, "arguments": list(arguments)}

    def about(self):
        return self.call("about")

    def output(self):
        """What the worker has written to stdout and stderr, once it has ended."""
        return tuple(read_all(descriptor) for descriptor in (self.stdout, self.stderr))

    def wait(self):
        """The end of the worker, as its reaper sees it: from the end of the process between template and worker on."""
        while Path(f"/proc/{self.pid}/stat").read_text().rpartition(")")[2].split()[1] != str(os.getpid()):
            pass
        return os.waitid(os.P_PIDFD, self.pidfd, os.WEXITED)

    def stop(self):
        self.tell({"type": "shutdown", "grace_ms": 1000})
        return self.wait()

    def close_far_ends(self):
        while self.far_ends:
            os.close(self.far_ends.pop())

    def end(self):
        self.close_far_ends()
        for stream in (self.data, self.control, self.leash, self.guard):
            stream.close()
        if self.pid is not None:
            try:
                signal.pidfd_send_signal(self.pidfd, signal.SIGKILL)
                self.wait()
            except (ProcessLookupError, FileNotFoundError):  # the test has seen its end
                pass
            os.close(self.pidfd)
        for descriptor in (self.stdout, self.stderr):
            os.close(descriptor)


class Template:
    """A started template, and the host's end of its line."""

    def __init__(self, command, env=()):
        self.line, end = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self.line.settimeout(TIMEOUT)
        variables = {"PYTHONPATH": SDK, "SKEP_TEMPLATE": "1", "SKEP_TEMPLATE_FD": str(end.fileno())}
        self.process = subprocess.Popen(
            command,
            env={**os.environ, **variables, **dict(env)},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            pass_fds=[end.fileno()],
            start_new_session=True,
        )
        end.close()

    def receive(self):
        """The next message and its descriptors; the message is None at the end."""
        text, descriptors, _, _ = socket.recv_fds(self.line, 65536, 4)
        return (json.loads(text) if text else None), descriptors

    def finish(self):
        """Closes the line. Returns status, stdout and stderr."""
        self.line.close()
        stdout, stderr = self.process.communicate(timeout=TIMEOUT)
        return self.process.returncode, stdout.decode(), stderr.decode()

    def end(self):
        self.line.close()
        self.process.kill()
        self.process.communicate(timeout=TIMEOUT)


def read_all(descriptor):
    data = b"".join(iter(lambda: os.read(descriptor, 4096), b""))
    return data.decode()


@unittest.skipUnless(hasattr(os, "pidfd_open"), "a template needs Python 3.9")
class TemplateCase(unittest.TestCase):
    """Tests that start templates. The test is the subreaper, so workers become its children."""

    @classmethod
    def setUpClass(cls):
        ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1)
        cls.addClassCleanup(ctypes.CDLL(None).prctl, PR_SET_CHILD_SUBREAPER, 0)

    def start(self, script=COMMANDS + RUN, objections=(), **options):
        """Starts a template of a script, and waits for its report."""
        return self.check_report(self.start_unready(script, **options), objections)

    def start_command(self, command, objections=()):
        return self.check_report(self.start_command_unready(command), objections)

    def check_report(self, template, objections):
        message, _ = template.receive()
        report = {"type": "template", "version": 1, "pid": template.process.pid}
        report.update(objections=list(objections), shared=1)
        self.assertEqual(message, report)
        return template

    def start_unready(self, script, **options):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        path = Path(folder.name) / "script.py"
        path.write_text(script)
        return self.start_command_unready([sys.executable, str(path), "first"], **options)

    def start_command_unready(self, command, **options):
        template = Template(command, **options)
        self.addCleanup(template.end)
        return template

    def send_order(self, template, slot=0, environment=(), arguments=(), lines=()):
        worker = ForkedWorker(slot)
        self.addCleanup(worker.end)
        leash = [worker.leash.fileno(), worker.guard.fileno()]
        order = json.dumps(worker.order(environment, arguments)).encode()
        socket.send_fds(template.line, [order], worker.far_ends + leash + list(lines))
        worker.close_far_ends()
        return worker

    def receive_worker(self, template, worker):
        answer, (worker.pidfd,) = template.receive()
        worker.pid = answer["pid"]
        self.assertEqual(answer, {"type": "forked", "pid": worker.pid})
        return worker

    def fork(self, template, slot=0, ready=True, **options):
        worker = self.receive_worker(template, self.send_order(template, slot, **options))
        if ready:
            self.assertEqual(worker.handshake()["pid"], worker.pid)
        return worker

    def failure(self, template, **options):
        """The answer to an order that fails."""
        self.send_order(template, **options)
        answer, descriptors = template.receive()
        self.assertEqual((answer["type"], descriptors), ("failed", []))
        return answer["error"]


class Forks(TemplateCase):
    def test_a_worker_is_like_a_started_one(self):
        template = self.start()
        worker = self.fork(template, slot=3, arguments=["second", "third"])
        self.assertEqual(
            worker.about(),
            {
                "pid": worker.pid,
                "loaded": [template.process.pid],
                "arguments": ["first", "second", "third"],
                "group": worker.pid,
                "session": worker.pid,
                "stdin": "/dev/null",
                "parent": os.getpid(),
                "previous_exit": None,
            },
        )
        self.assertEqual(worker.call("variable", {"name": "SKEP_WORKER"}), "default/3#1")
        for name in ("SKEP_TOKEN", "SKEP_TEMPLATE", "SKEP_TEMPLATE_FD"):
            self.assertIsNone(worker.call("variable", {"name": name}))
        end = worker.stop()
        self.assertEqual((end.si_code, end.si_status), (os.CLD_EXITED, 0))
        self.assertEqual(worker.output(), ("", "hello from default/3\n"))
        self.assertEqual(template.finish(), (0, "", ""))

    def test_a_worker_has_the_descriptors_of_a_worker_alone(self):
        found = self.fork(self.start()).call("descriptors")
        sockets = [target for target in found if target.startswith("socket:")]
        pipes = [target for target in found if target.startswith("pipe:")]
        self.assertEqual((len(sockets), len(set(sockets))), (2, 2), found)
        self.assertEqual(len(pipes), 4, found)  # stdout and stderr, and the pipe of signals
        self.assertEqual(len(found), 7, found)

    def test_a_worker_may_share_memory(self):
        near, far = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self.addCleanup(near.close)
        worker = self.fork(self.start(), ready=False, environment={"SKEP_SHARED_FD": "5"}, lines=[far.fileno()])
        far.close()
        self.assertEqual(worker.receive()["shared"], 1)
        worker.welcome(shared={"least": 4096, "bytes": 1 << 20, "regions": 4})
        self.assertEqual(worker.receive(), {"type": "ready"})
        found = worker.call("descriptors")
        self.assertEqual(len([target for target in found if target.startswith("socket:")]), 3, found)
        self.assertEqual(len(found), 8, found)
        memory = os.memfd_create("region")
        self.addCleanup(os.close, memory)
        os.ftruncate(memory, 4096)
        socket.send_fds(near, [b'{"region":1,"bytes":4096}'], [memory])
        place = {"region": 1, "at": 0, "bytes": 4096}
        self.assertIn("parent", worker.call("about", attachments=[place]))
        self.assertEqual(worker.receive(worker.control), {"type": "release", "region": 1, "at": 0})
        self.assertEqual(worker.call("make", {"size": 5000}), [{"$attachment": 0}, {"$attachment": 1}])
        own, of_template = worker.received_attachments
        self.assertEqual(own["bytes"], 5000)
        self.assertEqual(of_template, bytes(5000))

    def test_orders_are_carried_out_in_turn(self):
        template = self.start()
        workers = [self.send_order(template, slot) for slot in range(5)]
        for worker in workers:
            self.receive_worker(template, worker)
        for worker in workers:
            self.assertEqual(worker.handshake()["pid"], worker.pid)
        self.assertEqual(len({worker.pid for worker in workers}), 5)
        for worker in workers:
            self.assertEqual(worker.call("variable", {"name": "SKEP_WORKER"}), f"{worker.slot}#1")

    def test_workers_outlive_their_template(self):
        template = self.start()
        worker = self.fork(template)
        self.assertEqual(template.finish()[0], 0)
        self.assertEqual(worker.about()["pid"], worker.pid)

    def test_a_template_that_is_killed_leaves_its_workers(self):
        template = self.start()
        worker = self.fork(template)
        template.process.kill()
        self.assertEqual(template.receive(), (None, []))
        self.assertEqual(worker.about()["pid"], worker.pid)

    def test_either_end_of_the_leash_kills_the_group(self):
        command = "import subprocess\n@worker.command\ndef child(): return subprocess.Popen(['sleep', '100']).pid\n"
        template = self.start(COMMANDS + command + RUN)
        for end in ("leash", "guard"):
            worker = self.fork(template)
            child = os.pidfd_open(worker.call("child"))
            self.addCleanup(os.close, child)
            getattr(worker, end).close()
            status = worker.wait()
            self.assertEqual((status.si_code, status.si_status), (os.CLD_KILLED, signal.SIGKILL))
            self.assertEqual(os.waitid(os.P_PIDFD, child, os.WEXITED).si_status, signal.SIGKILL)

    def test_exit_status_signal_and_stacks(self):
        template = self.start(COMMANDS + "@worker.command\ndef crash(): os.kill(os.getpid(), signal.SIGSEGV)\n" + RUN)
        worker = self.fork(template)
        worker.send_call("crash")
        self.assertEqual(worker.wait().si_status, signal.SIGSEGV)
        self.assertIn("Fatal Python error: Segmentation fault", worker.output()[1])
        worker = self.fork(template, ready=False)
        self.assertEqual(worker.receive()["stack_signal"], signal.SIGUSR2)
        worker.data.close()
        worker.control.close()
        self.assertEqual(worker.wait().si_status, 70)

    def test_handlers_of_the_end_belong_to_the_process_that_has_registered_them(self):
        hook = "import atexit\natexit.register(print, 'template')\n@worker.on_start\ndef more():\n"
        hook += "    atexit.register(print, 'worker')\n    threading.Thread(target=print, args=('thread',)).start()\n"
        template = self.start(COMMANDS + hook + RUN)
        worker = self.fork(template)
        self.assertEqual(worker.stop().si_status, 0)
        self.assertEqual(worker.output()[0].splitlines(), ["thread", "worker"])
        self.assertEqual(template.finish(), (0, "", ""))

    def test_a_hook_that_fails_in_a_worker(self):
        hook = "@worker.on_start\ndef fail(): {}\n"
        for line, status, text in (("raise ValueError('no disk')", 1, "ValueError: no disk"), ("sys.exit(7)", 7, "")):
            worker = self.fork(self.start(COMMANDS + hook.format(line) + RUN), ready=False)
            worker.receive()
            worker.welcome()
            self.assertEqual(worker.wait().si_status, status)
            self.assertIn(text, worker.output()[1])

    def test_sigterm_ends_a_worker_in_order(self):
        worker = self.fork(self.start())
        signal.pidfd_send_signal(worker.pidfd, signal.SIGTERM)
        end = worker.wait()
        self.assertEqual((end.si_code, end.si_status), (os.CLD_EXITED, 0))

    def test_variables_of_the_order(self):
        template = self.start(env={"GONE": "1"})
        worker = self.fork(template, environment={"DEVICE": "7", "GONE": None})
        self.assertEqual(worker.call("variable", {"name": "DEVICE"}), "7")
        self.assertIsNone(worker.call("variable", {"name": "GONE"}))
        self.fork(template, environment={"DEVICE": "8"})
        self.assertEqual(
            template.finish()[2],
            "skep: DEVICE, GONE: set for a worker after script.py was imported for all workers (launch.preload); "
            "read such variables in on_start\n",
        )

    def test_output_of_the_template_is_its_own(self):
        first = "import sys, io\nsys.stdout = io.TextIOWrapper(open(1, 'wb'))\nprint('importing', end='')\n"
        template = self.start(first + COMMANDS + RUN)
        worker = self.fork(template)
        worker.stop()
        self.assertEqual(worker.output(), ("", "hello from default/0\n"))
        self.assertEqual(template.finish(), (0, "importing", ""))

    def test_random_numbers_and_ids_differ(self):
        template = self.start()
        drawn = [self.fork(template).call("draw") for _ in range(3)]
        self.assertEqual(len({numbers[0] for numbers in drawn}), 3)
        self.assertEqual(len({each for numbers in drawn for each in numbers[1:]}), 6)

    def test_numpy_and_torch_are_reseeded(self):
        for name in ("numpy.random", "torch"):
            script = f"import types\nfake = sys.modules['{name}'] = types.ModuleType('{name}')\n"
            script += "fake.seed = lambda: loaded.append('seeded')\n"
            about = self.fork(self.start(COMMANDS + script + RUN)).about()
            self.assertEqual(about["loaded"][1:], ["seeded"])

    def test_objects_are_frozen_and_collected_as_before(self):
        command = "import gc\n@worker.command\ndef state(): return [gc.isenabled(), gc.get_freeze_count() > 1000]\n"
        for change, is_enabled in (("", True), ("gc.disable()\n", False)):
            template = self.start(COMMANDS + command + change + RUN)
            self.assertEqual(self.fork(template).call("state"), [is_enabled, True])

    def test_async_workers(self):
        script = """
import asyncio, skep
worker = skep.Worker()
loops = []
@worker.on_preload
async def load(): loops.append(await asyncio.get_running_loop().run_in_executor(None, lambda: 1))
@worker.command
async def loaded(): return loops
worker.run()
"""
        template = self.start(script)
        for slot in range(2):
            self.assertEqual(self.fork(template, slot).call("loaded"), [1])

    def test_threads_and_engines(self):
        template = self.start(ONE.replace("()", "(thread_safe=True)", 1))
        worker = self.fork(template, ready=False, environment={"SKEP_THREADS": "3"})
        self.assertEqual(worker.handshake()["capacity"], 3)
        self.assertEqual(worker.call("one"), 1)
        template = self.start("""
import skep
worker = skep.Worker()
@worker.engine("count", slots=2)
def count(engine):
    for step in engine:
        for call in step.new: engine.send(call, 5); engine.finish(call)
""" + RUN)
        self.assertEqual(self.fork(template).call("count"), [5])

    def test_the_loop_of_a_worker(self):
        for variables, loop in (({}, LOOP), ({"SKEP_PURE_PYTHON": "1"}, "python")):
            worker = self.fork(self.start(ONE, env=variables), ready=False)
            self.assertEqual(worker.handshake(frame_bytes=FRAME_LIMIT)["loop"], loop)
            self.assertEqual(worker.call("one"), 1)

    def test_hooks_run_once_in_a_worker_without_template(self):
        script = """
import skep
worker = skep.Worker()
order = []
@worker.on_start
def start(): order.append("start")
@worker.on_preload
def load(): order.append("preload"); worker.call("seen")
@worker.command
def seen(): return order
"""
        self.assertEqual(self.fork(self.start(script + RUN)).call("seen"), ["preload", "start"])
        script += "print(worker.call('seen'))\n"
        output = subprocess.check_output([sys.executable, "-c", script], env={**os.environ, "PYTHONPATH": SDK})
        self.assertEqual(output, b"['preload', 'start']\n")


class Refusals(TemplateCase):
    """Each script does what forbids to fork it."""

    def check(self, lines, *objections):
        template = self.start(lines + COMMANDS + RUN, objections)
        self.assertEqual(self.failure(template), "; ".join(objections))
        template.finish()

    def test_threads(self):
        start = "import threading, time\n"
        start += "threading.Thread(target=time.sleep, args=(100,), name='poller', daemon=True).start()\n"
        self.check(start, "1 thread: poller; start them in on_start")
        self.check(start + start, "2 threads: poller, poller; start them in on_start")

    def test_threads_of_native_code(self):
        start = "import _thread, time\n_thread.start_new_thread(time.sleep, (100,))\n"
        start += "import ctypes\nctypes.CDLL(None).prctl(15, b'main', 0, 0, 0)\n"
        template = self.start_unready(start + COMMANDS + RUN)
        (objection,) = template.receive()[0]["objections"]
        self.assertRegex(objection, r"^1 thread: python[\d.]*; start them in on_start$")

    def test_threads_that_have_ended(self):
        start = "thread = threading.Thread(target=print)\nthread.start()\nthread.join()\n"
        self.fork(self.start(COMMANDS + 20 * start + RUN))

    def test_devices(self):
        with tempfile.TemporaryDirectory() as folder:
            device = Path(folder) / "nvidia0"
            device.touch()
            lines = f"import skep._process.objections as module\nmodule._DEVICES = ('{folder}/nvidia',)\n"
            lines += f"files = [open('{device}'), open('{device}')]\n"
            self.check(lines, f"{device} is open: use the device in on_start")

    def test_event_loops(self):
        lines = "import os, select\nloop = select.epoll()\nos.dup2(loop.fileno(), 60)\nloop.close()\n"
        self.check(lines, "descriptor 60 is [eventpoll], as of an event loop: create it in on_start")

    def test_sockets(self):
        with socket.create_server(("127.0.0.1", 0)) as server:
            port = server.getsockname()[1]
            lines = f"import os, socket\nlink = socket.create_connection(('127.0.0.1', {port}))\n"
            lines += "os.dup2(link.fileno(), 60)\nlink.close()\n"
            self.check(lines, f"descriptor 60 is a socket to 127.0.0.1:{port}: open it in on_start")
        lines = "import os, socket\na, b = socket.socketpair()\nos.dup2(a.fileno(), 60)\na.close()\nb.close()\n"
        self.check(lines, "descriptor 60 is a socket: open it in on_start")

    def test_many_objections_fit_into_a_packet(self):
        lines = "import socket\nmany = [socket.socket() for _ in range(500)]\n"
        template = self.start_unready(lines + COMMANDS + RUN)
        self.assertEqual(len(template.receive()[0]["objections"]), 32)

    def test_output_over_sockets_is_no_objection(self):
        lines = "import os, socket\na, b = socket.socketpair()\nfor n in (0, 1, 2): os.dup2(a.fileno(), n)\n"
        self.fork(self.start(lines + "a.close()\nb.close()\n" + COMMANDS + RUN))


class Failures(TemplateCase):
    def test_a_script_that_fails(self):
        hook = "@worker.on_preload\ndef fail(): raise ValueError('bad model')\n"
        for script, status, text in (
            ("raise ValueError('bad import')\n" + COMMANDS + RUN, 1, "ValueError: bad import"),
            (COMMANDS + hook + RUN, 1, "ValueError: bad model"),
            (COMMANDS, 120, "ended without calling worker.run()"),
            (COMMANDS + "sys.exit(7)\n", 7, ""),
        ):
            with self.subTest(text):
                template = self.start_unready(script)
                self.assertEqual(template.receive(), (None, []))
                found, _, stderr = template.finish()
                self.assertEqual(found, status)
                self.assertIn(text, stderr)

    def test_no_room_for_a_process(self):
        limit = """
import resource
most = resource.getrlimit(resource.RLIMIT_NPROC)[1]
def limit(count): resource.setrlimit(resource.RLIMIT_NPROC, (count, most))
limit(0)
signal.signal(signal.SIGUSR1, lambda *_: limit(most))
"""
        template = self.start(COMMANDS + LEAVE_ROOT + limit + RUN)
        self.assertEqual(self.failure(template), "fork: Resource temporarily unavailable")
        template.process.send_signal(signal.SIGUSR1)
        limits = Path(f"/proc/{template.process.pid}/limits")
        while limits.read_text().split("Max processes")[1].split()[0] == "0":
            pass
        self.fork(template)

    def test_no_room_for_descriptors(self):
        template = self.start()
        limit = resource.prlimit(template.process.pid, resource.RLIMIT_NOFILE)
        for few in (6, 8):
            resource.prlimit(template.process.pid, resource.RLIMIT_NOFILE, (few, limit[1]))
            self.assertEqual(self.failure(template), "descriptors: Too many open files")
        for few in (10, 11):  # the six of the order fit, but the pipe of the two processes or the worker's own does not
            resource.prlimit(template.process.pid, resource.RLIMIT_NOFILE, (few, limit[1]))
            self.assertRegex(self.failure(template), "Too many open files")
        resource.prlimit(template.process.pid, resource.RLIMIT_NOFILE, limit)
        self.fork(template)
        while len(os.listdir(f"/proc/{template.process.pid}/fd")) != 5:  # it closes those of the order after its report
            time.sleep(0.01)

    def test_no_memory_between_template_and_worker(self):
        """The script does not see the end of the process between."""
        lines = "def fail(): raise MemoryError\nos.pipe = fail\n"
        lines += "try:\n    worker.run()\nfinally:\n    print('unwound', flush=True)\n"
        template = self.start(COMMANDS + lines)
        self.assertRegex(self.failure(template), "^the process that forks the worker has ended")
        self.assertEqual(template.finish(), (0, "", ""))

    def test_a_worker_that_cannot_be_set_up(self):
        template = self.start()
        self.assertIn("the worker: ", self.failure(template, environment={"A=B": "1"}))
        self.fork(template)

    def test_a_worker_with_another_protocol(self):
        worker = self.fork(self.start(), ready=False, environment={"SKEP_PROTOCOL": "2"})
        self.assertEqual(worker.wait().si_status, 64)
        self.assertIn("speaks protocol 2", worker.output()[1])

    def test_orders_that_break_the_protocol(self):
        orders = ("{", "[]", "{}", '{"type":"fork","environment":{"A":1}}', '{"type":"fork","environment":[]}')
        for order in (*orders, '{"type":"spoon","environment":{}}'):
            with self.subTest(order):
                template = self.start()
                with open(os.devnull) as null:
                    socket.send_fds(template.line, [order.encode()], [null.fileno()] * 6)
                self.assertEqual(template.receive(), (None, []))
                status, _, stderr = template.finish()
                self.assertEqual(status, 76)
                self.assertIn("skep: the host broke the protocol: a malformed order", stderr)
        template = self.start()
        template.line.send(b'{"type":"fork","environment":{}}')
        self.assertEqual(template.process.wait(TIMEOUT), 76)

    def test_a_script_that_ignores_its_children(self):
        template = self.start(COMMANDS + "signal.signal(signal.SIGCHLD, signal.SIG_IGN)\n" + RUN)
        for slot in range(2):
            self.fork(template, slot)

    def test_a_child_that_leaves_a_hook(self):
        hook = "@worker.on_preload\ndef fork():\n    child = os.fork()\n    if child: os.waitpid(child, 0)\n"
        worker = self.fork(self.start(COMMANDS + hook + RUN))
        self.assertEqual(worker.about()["pid"], worker.pid)


if __name__ == "__main__":
    unittest.main()
