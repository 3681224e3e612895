"""A worker in C++, test/support/cpp_worker.cpp, frame by frame. SKEP_CPP_WORKER names the built program."""

import os
import resource
import signal
import unittest

from host import HostCase
from test_template import TemplateCase

PROGRAM = os.environ.get("SKEP_CPP_WORKER", "")


@unittest.skipUnless(PROGRAM, "SKEP_CPP_WORKER names no program")
class CppWorkerCase(HostCase):
    def start_program(self, *args, ready=True, stdio=False):
        return self.start_command([PROGRAM, *args], ready, stdio=stdio)

    def start_each_way(self, *args):
        """Over sockets, and over stdio."""
        for stdio in (False, True):
            with self.subTest(stdio=stdio):
                yield self.start_program(*args, stdio=stdio)


class CallsTest(CppWorkerCase):
    def test_hello(self):
        host = self.start_program("capacity=3", ready=False)
        hello = host.handshake()
        self.assertEqual((hello["capacity"], hello["control"], hello["pid"]), (3, True, host.process.pid))
        self.assertEqual(hello["health_check"], "skep.health_check")
        self.assertIs(hello["own_health_check"], False)
        self.assertIs(hello["recall"], True)
        self.assertIn("add", hello["commands"])

    def test_a_correlation_id_is_made_of_the_welcome(self):
        host = self.start_program(ready=False)
        host.receive()
        host.welcome(limits={"frame_bytes": 1 << 20}, correlation="7f-", previous_exit="segfault")
        host.receive()
        self.assertEqual(host.call("facts")["correlation_id"], "7f-1")
        self.assertEqual(host.call("facts", correlation_id="mine")["correlation_id"], "mine")
        self.assertEqual(host.call("previous_exit"), "segfault")

    def test_a_worker_without_template_preloads_for_itself(self):
        host = self.start_program()
        self.assertEqual(host.call("loader"), host.process.pid)

    def test_what_it_prints_is_not_among_the_frames(self):
        host = self.start_program(stdio=True)
        self.assertEqual(host.call("add", {"a": 1, "b": 2}), 3)
        host.tell({"type": "shutdown", "grace_ms": 1000})
        self.assertEqual(host.finish(), (0, "", "hello from stdout\nstopped in order\n"))

    def test_errors(self):
        host = self.start_program()
        self.assertEqual(host.call_error("nothing")["type"], "skep.UnknownCommand")
        self.assertEqual(host.call_error("add", {"a": []})["type"], "skep.InvalidArguments")
        self.assertEqual(host.call_error("slow", {"ms": 1}, deadline_ms=0)["type"], "skep.DeadlineExceeded")
        self.assertEqual(
            host.call_error("fail", {"how": "caller", "message": "bad"}),
            {"type": "skep.Error", "message": "bad", "code": "bad_input", "data": {"size": 3}},
        )
        error = host.call_error("fail", {"how": "nan"})
        self.assertNotIn("data", error)
        self.assertIn("its data is left out", error["message"])
        self.assertTrue(host.call_error("fail", {"how": "odd"})["type"].endswith("::odd_failure"))

    def test_health_check(self):
        self.assertIsNone(self.start_program().call("skep.health_check"))
        host = self.start_program("unhealthy")
        self.assertEqual(host.call_error("skep.health_check")["type"], "skep.Unhealthy")
        self.assertEqual(host.ping()["completed"], 0)

    def test_no_more_at_once_than_its_capacity(self):
        host = self.start_program("capacity=2")
        calls = [host.send_call("slow", {"ms": 100_000}) for _ in range(3)]
        while host.ping()["in_flight"] < 2:
            pass
        for call in reversed(calls):  # the one that has not begun among them
            host.tell({"type": "cancel", "id": call})
            reply = host.receive()
            self.assertEqual((reply["id"], reply["error"]["type"]), (call, "skep.Cancelled"))
        self.assertEqual(host.call("cleanups"), 2)

    def test_a_cancel_that_comes_before_its_call_which_would_have_to_wait(self):
        host = self.start_program()
        first = host.send_call("slow", {"ms": 100_000})
        while host.ping()["in_flight"] < 1:
            pass
        host.tell({"type": "cancel", "id": first + 1})
        host.ping()
        second = host.send_call("slow", {"ms": 100_000})
        reply = host.receive()
        self.assertEqual((reply["id"], reply["error"]["type"]), (second, "skep.Cancelled"))


class RecallTest(CppWorkerCase):
    def recall(self, host, call):
        host.tell({"type": "recall", "id": call})
        host.tell({"type": "ping", "seq": 1})
        message = host.receive(host.control)
        is_given_back = message == {"type": "recalled", "id": call}
        if is_given_back:
            message = host.receive(host.control)
        self.assertEqual(message["type"], "pong")
        return is_given_back

    def test_a_call_that_has_not_begun_is_given_back(self):
        for blocks in (False, True):  # the strand
            with self.subTest(blocks=blocks):
                host = self.start_program()
                running = host.send_call("block" if blocks else "slow", {"ms": 300})
                host.until_busy()
                recalled = host.send_call("facts")
                last = host.send_call("facts")
                self.assertFalse(self.recall(host, running))
                self.assertTrue(self.recall(host, recalled))
                self.assertEqual([host.receive()["id"] for _ in range(2)], [running, last])
                self.assertFalse(self.recall(host, last))
                self.assertEqual(host.ping()["completed"], 2)

    def test_a_recall_may_arrive_before_its_call(self):
        host = self.start_program()
        self.assertTrue(self.recall(host, 1))
        host.send_call("facts")
        self.assertEqual(host.call("facts")["id"], 2)

    def test_one_recalled_and_cancelled_is_dropped(self):
        host = self.start_program()
        running = host.send_call("slow", {"ms": 300})
        host.until_busy()
        waiting = host.send_call("facts")
        coming = waiting + 1
        for call in (waiting, coming):
            self.assertTrue(self.recall(host, call))
            host.cancel(call)
        host.send_call("facts")
        self.assertEqual(host.receive()["id"], running)
        self.assertEqual(host.call("facts")["id"], coming + 1)

    def test_each_of_many_is_given_back_or_answered(self):
        host = self.start_program("capacity=2")
        for _ in range(100):
            sent = [host.send_call("facts") for _ in range(8)]
            returned = {call for call in sent[::-2] if self.recall(host, call)}
            answered = {host.receive()["id"] for _ in range(len(sent) - len(returned))}
            self.assertEqual(sorted(answered | returned), sent)

    def test_the_hello_does_not_offer_it_over_stdio(self):
        host = self.start_program(ready=False, stdio=True)
        self.assertNotIn("recall", host.receive())


class StreamsTest(CppWorkerCase):
    def test_credit(self):
        for host in self.start_each_way():
            call = host.send_call("tokens", {"count": 4}, stream={"chunks": 2, "bytes": 1000})
            self.assertEqual([host.receive()["value"] for _ in range(2)], [0, 1])
            self.assertEqual(host.ping()["in_flight"], 1)  # and no chunk before the pong
            host.tell({"type": "credit", "id": call, "credit": {"chunks": 9, "bytes": 0}})
            self.assertEqual([host.receive()["value"] for _ in range(3)], [2, 3, 4])

    def test_credit_of_bytes(self):
        host = self.start_program()
        call = host.send_call("tokens", {"count": 2, "bytes": 500}, stream={"chunks": 9, "bytes": 1})
        host.receive()
        self.assertEqual(host.ping()["in_flight"], 1)
        host.tell({"type": "credit", "id": call, "credit": {"chunks": 0, "bytes": 1000}})
        self.assertEqual(host.receive()["value"], {"index": 1, "size": 500})

    def test_a_list_of_chunks_has_all_their_attachments(self):
        host = self.start_program()
        self.assertEqual(host.call("tokens", {"count": 3}), [0, 1, 2])
        host.call("tokens", {"count": 2, "bytes": 3})
        self.assertEqual(host.received_attachments, [b"\0\0\0", b"\1\1\1"])

    def test_references_of_a_list_of_chunks(self):
        host = self.start_program()
        chunks = [{"$attachment": 0}, [{"$attachment": 0}, {"$attachment": 9}], {"$attachment": -1}]
        shifted = [{"$attachment": 0}, [{"$attachment": 1}, {"$attachment": 9}], {"$attachment": -1}]
        self.assertEqual(host.call("send_all", {"values": chunks, "attachments": [1, 1, 0]}), shifted)
        error = host.call_error("send_all", {"values": [{"$attachment": 1}, 0, 0], "attachments": [0, 1, 1]})
        self.assertEqual(error["type"], "skep.UnserializableResult")
        self.assertIn('{"$attachment":1} as data', error["message"])


class HostToolsTest(CppWorkerCase):
    def test_answers(self):
        for host in self.start_each_way():
            host.send_call("ask", {"name": "lookup", "args": {"key": "x"}}, [b"abc"])
            asked = host.receive()
            self.assertEqual((asked["name"], asked["args"], asked["tool_call"]), ("lookup", {"key": "x"}, 1))
            self.assertEqual(host.received_attachments, [b"abc"])
            host.tell({"type": "tool_result", "tool_call": 1, "value": {"found": True}})
            self.assertEqual(host.receive()["value"], {"found": True})
            host.send_call("ask", {"name": "lookup"})
            error = {"type": "skep.UnknownTool", "message": "there is none"}
            host.tell({"type": "tool_error", "tool_call": host.receive()["tool_call"], "error": error})
            error = host.receive()["error"]
            self.assertEqual(error["type"], "skep.HostError")
            self.assertIn("skep.UnknownTool: there is none", error["message"])

    def test_limit(self):
        host = self.start_program(ready=False)
        host.handshake(tool_calls=2)
        host.send_call("ask_all", {"name": "double", "items": [1, 2, 3]})
        first, second = host.receive(), host.receive()
        self.assertEqual(host.ping()["in_flight"], 1)  # and no third tool call before the pong
        host.tell({"type": "tool_result", "tool_call": second["tool_call"], "value": 4})
        third = host.receive()
        for asked in (third, first):
            host.tell({"type": "tool_result", "tool_call": asked["tool_call"], "value": 2 * asked["args"]["item"]})
        self.assertEqual(host.receive()["value"], [2, 4, 6])

    def test_a_cancelled_call_does_not_wait(self):
        host = self.start_program()
        call = host.send_call("ask", {"name": "lookup"})
        asked = host.receive()
        host.tell({"type": "cancel", "id": call})
        self.assertEqual(host.receive()["error"]["type"], "skep.Cancelled")
        host.tell({"type": "tool_result", "tool_call": asked["tool_call"], "value": 1})
        self.assertEqual(host.call("echo", {"value": 1}), 1)


class ProgressTest(CppWorkerCase):
    def test_the_newest_comes_before_the_answer(self):
        host = self.start_program()
        host.send_call("report", {"steps": 100})
        messages = [host.receive()]
        while messages[-1]["type"] == "progress":
            messages.append(host.receive())
        *reports, result = messages
        self.assertEqual(result["value"], 100)
        fractions = [report["fraction"] for report in reports]
        self.assertEqual((fractions[0], fractions[-1]), (0.01, 1.0))
        self.assertEqual(fractions, sorted(fractions))
        self.assertEqual(reports[-1]["text"], "step 100")


class BlockingHandlerTest(CppWorkerCase):
    def test_pings_and_cancels_get_through(self):
        for host in self.start_each_way():
            call = host.send_call("block", {"ms": 100_000})
            host.until_busy()
            host.tell({"type": "cancel", "id": call})
            self.assertEqual(host.receive()["value"], "cancelled")

    def test_a_chunk_finds_the_call_cancelled(self):
        host = self.start_program()
        call = host.send_call("block_and_send")
        host.until_busy()
        host.tell({"type": "cancel", "id": call})
        self.assertEqual(host.receive()["error"]["type"], "skep.Cancelled")

    def test_it_ends_with_its_host(self):
        for channel, *options in (("data",), ("control",), ("data", "threads=2"), ("control", "threads=2")):
            with self.subTest(channel=channel, options=options):
                host = self.start_program(*options)
                host.send_call("block", {"ms": 100_000})
                host.until_busy()
                getattr(host, channel).close()
                self.assertIn(host.process.wait(timeout=60), (70, -signal.SIGKILL))


class ThreadsTest(CppWorkerCase):
    def test_plain_functions_run_on_them_and_coroutines_do_not(self):
        host = self.start_program("threads=2", ready=False)
        self.assertEqual(host.handshake()["capacity"], 2)
        host = self.start_program("threads=2", "capacity=4")
        blocked = [host.send_call("block", {"ms": 100_000}) for _ in range(2)]
        self.assertEqual(host.call("add_later", {"a": 1, "b": 2}), 3)
        added = host.send_call("add", {"a": 1, "b": 2})  # waits for a thread
        host.tell({"type": "cancel", "id": blocked[1]})
        self.assertEqual([host.receive()["id"] for _ in range(2)], [blocked[1], added])
        host.tell({"type": "cancel", "id": blocked[0]})
        self.assertEqual(host.receive()["value"], "cancelled")
        self.assertEqual(host.call_error("fail", {"how": "caller"})["code"], "bad_input")

    def test_a_call_that_is_cancelled_before_a_thread_is_free_does_not_begin(self):
        host = self.start_program("threads=1", "capacity=2")
        first, second = (host.send_call("block", {"ms": 100_000}) for _ in range(2))
        while host.ping()["in_flight"] < 2:
            pass
        host.tell({"type": "cancel", "id": second})
        host.tell({"type": "cancel", "id": first})
        self.assertEqual(host.receive()["id"], first)  # which its thread may not have begun either
        self.assertEqual(host.receive()["error"]["type"], "skep.Cancelled")

    def test_progress_from_a_thread(self):
        host = self.start_program("threads=1")
        host.send_call("report_busily", {"steps": 100_000})
        messages = [host.receive()]
        while messages[-1]["type"] == "progress":
            messages.append(host.receive())
        *reports, result = messages
        self.assertEqual(result["value"], {"$attachment": 0})
        self.assertEqual(reports[-1]["fraction"], 1.0)
        self.assertLess(len(reports), 1000)

    def test_it_ends_when_they_have_ended(self):
        host = self.start_program("threads=2")
        host.send_call("block", {"ms": 300})
        host.until_busy()
        host.tell({"type": "shutdown", "grace_ms": 5000})
        self.assertEqual(host.receive()["value"], "done")
        status, printed, _ = host.finish()
        self.assertEqual((status, printed), (0, "hello from stdout\nstopped in order\n"))

    def test_sigterm_shows_as_cancellation_and_answers_nothing(self):
        host = self.start_program("threads=1", "capacity=2")
        for _ in range(2):  # one of which waits for the thread
            host.send_call("block", {"ms": 100_000})
        while host.ping()["in_flight"] < 2:
            pass
        host.signal(signal.SIGTERM)
        self.assertIsNone(host.receive())
        status, printed, _ = host.finish()
        self.assertEqual((status, printed), (0, "hello from stdout\nstopped in order\n"))


class EndTest(CppWorkerCase):
    def test_shutdown_lets_a_call_finish(self):
        for host in self.start_each_way():
            host.send_call("slow", {"ms": 300})
            host.until_busy()
            host.tell({"type": "shutdown", "grace_ms": 5000})
            self.assertEqual(host.receive()["type"], "result")
            self.assertEqual(host.process.wait(timeout=60), 0)

    def test_sigterm_cancels_and_answers_nothing(self):
        host = self.start_program()
        host.send_call("slow", {"ms": 100_000})
        host.until_busy()
        host.signal(signal.SIGTERM)
        self.assertIsNone(host.receive())
        status, printed, _ = host.finish()
        self.assertEqual((status, printed), (0, "hello from stdout\nstopped in order\n"))

    def test_hooks_that_fail(self):
        host = self.start_program("start_fails", ready=False)
        host.receive()
        host.welcome()
        status, _, complaint = host.finish()
        self.assertEqual((status, complaint), (1, "skep: on_start failed: no model\n"))
        host = self.start_program("stop_fails")
        host.tell({"type": "shutdown", "grace_ms": 5000})
        status, _, complaint = host.finish()
        self.assertEqual((status, complaint), (1, "skep: on_stop failed: no flush\n"))

    def test_a_host_that_breaks_the_protocol(self):
        host = self.start_program()
        host.tell({"type": "call", "id": 1, "command": "add", "args": {}})
        status, _, complaint = host.finish()
        self.assertEqual(status, 76)
        self.assertIn("a call came over the control channel", complaint)

    def test_without_a_pool(self):
        for protocol, why in (("", "a skep pool starts it"), ("9", "speaks protocol 9")):
            host = self.start_command([PROGRAM], ready=False, env={"SKEP_PROTOCOL": protocol})
            status, _, complaint = host.finish()
            self.assertEqual(status, 64)
            self.assertIn(why, complaint)


@unittest.skipUnless(PROGRAM, "SKEP_CPP_WORKER names no program")
class TemplateTest(TemplateCase):
    def start_program(self, *args, objections=()):
        return self.start_command([PROGRAM, *args], objections)

    def test_workers_share_what_is_loaded(self):
        template = self.start_program()
        workers = [self.send_order(template, slot, {"DEVICE": str(slot)}) for slot in range(3)]
        for slot, worker in enumerate(workers):
            self.receive_worker(template, worker)
            self.assertEqual(worker.handshake()["pid"], worker.pid)
            self.assertEqual(worker.call("loader"), template.process.pid)
            self.assertEqual(worker.call("slot"), f"default/{slot}")
            self.assertEqual(worker.call("variable", {"name": "DEVICE"}), str(slot))
            for name in ("SKEP_TOKEN", "SKEP_TEMPLATE", "SKEP_TEMPLATE_FD"):
                self.assertIsNone(worker.call("variable", {"name": name}))
            self.assertEqual((os.getpgid(worker.pid), os.getsid(worker.pid)), (worker.pid, worker.pid))
        self.assertEqual(template.finish(), (0, "hello from stdout\n", ""))
        self.assertEqual(workers[0].stop().si_status, 0)
        self.assertEqual(workers[0].output(), ("stopped in order\n", ""))
        for worker, end in zip(workers[1:], ("leash", "guard")):
            getattr(worker, end).close()
            self.assertEqual(worker.wait().si_status, signal.SIGKILL)

    def test_threads_as_commands_need_them(self):
        template = self.start_program("threads=2")
        worker = self.fork(template, ready=False)
        self.assertEqual(worker.handshake()["capacity"], 2)
        self.assertEqual(worker.call("add", {"a": 1, "b": 2}), 3)

    def test_a_thread_before_the_fork(self):
        objection = f"1 thread: {os.path.basename(PROGRAM)[:15]}; start them in on_start"
        self.assertEqual(self.failure(self.start_program("early_thread", objections=[objection])), objection)

    def test_arguments_come_too_late(self):
        template = self.start_program()
        error = "launch.slot_args do not reach a program that has begun"
        self.assertEqual(self.failure(template, arguments=["more"]), error)
        self.fork(template)

    def test_no_room_for_descriptors(self):
        template = self.start_program()
        limit = resource.prlimit(template.process.pid, resource.RLIMIT_NOFILE)
        for few in (6, 8, 10):
            resource.prlimit(template.process.pid, resource.RLIMIT_NOFILE, (few, limit[1]))
            self.assertRegex(self.failure(template), "Too many open files")
        resource.prlimit(template.process.pid, resource.RLIMIT_NOFILE, limit)
        self.fork(template)
        self.assertEqual(len(os.listdir(f"/proc/{template.process.pid}/fd")), 4)

    def test_a_hook_that_fails(self):
        template = self.start_command_unready([PROGRAM, "preload_fails"])
        self.assertEqual(template.receive(), (None, []))
        self.assertEqual(template.finish()[::2], (1, "skep: on_preload failed: no file\n"))

    def test_an_order_that_breaks_the_protocol(self):
        template = self.start_program()
        template.line.send(b'{"type":"fork"')
        self.assertEqual(template.receive(), (None, []))
        self.assertEqual(template.finish()[0], 76)


if __name__ == "__main__":
    unittest.main()
