"""Commands behind wrappers: the outermost function decides what is called, the value what is done with it."""

import functools
import inspect
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

import skep
from skep._calls.command import Command

from host import ROOT, HostCase

# Wrappers as libraries write them.
WRAPPERS = """
import asyncio, contextlib, functools, skep, time
def injecting(function):
    @functools.wraps(function)
    def wrapper(*args, **named):
        return function("db", *args, **named)
    return wrapper
def adding(function):
    @functools.wraps(function)
    def wrapper(*args, token, **named):
        return [token, function(*args, **named)]
    return wrapper
"""
ASYNC = """
@injecting
async def slow(db, n=0):
    if n: skep.progress(1)
    await asyncio.sleep(n)
    return [db, n]
@injecting
async def pieces(db, n=2):
    try:
        for i in range(n):
            await asyncio.sleep(0)
            yield i
        if n > 99:
            skep.progress(1)
            await asyncio.sleep(1000)
    finally: print("cleaned up")
worker.command(slow)
worker.command(pieces)
@worker.command
def plain(): return "plain"
class Adder:
    async def __call__(self, a, b): return a + b
class Wrapped:
    def __init__(self, function): functools.update_wrapper(self, function); self.function = function
    def __call__(self, **named): return self.function(**named)
@worker.command
@Wrapped
async def behind(n): return skep.current().id and n
worker.command(name="lambda")(lambda n: slow(n))
async def late(): return pieces()
worker.command(name="late")(lambda: late())
"""


def injecting(function):
    @functools.wraps(function)
    def wrapper(*args, **named):
        return function("db", *args, **named)

    return wrapper


class Outermost(unittest.TestCase):
    def setUp(self):
        self.worker = skep.Worker()

    def test_an_argument_that_is_injected_is_not_missed(self):
        @self.worker.command
        @injecting
        def load(db, key, limit=1):
            return [db, key, limit]

        self.assertEqual(self.worker.call("load", key="a"), ["db", "a", 1])

    def test_what_the_wrapper_cannot_pass_on_is_told_with_the_inner_signature(self):
        @self.worker.command
        @injecting
        def load(db, key, limit=1):
            return len(key)

        for args, said in (
            ({}, "missing 1 required positional argument: 'key'; it takes (db, key, limit=1)"),
            ({"key": "", "n": 1}, "got an unexpected keyword argument 'n'; it takes (db, key, limit=1)"),
        ):
            with self.subTest(said), self.assertRaisesRegex(skep.InvalidArguments, r"load\(\) ") as caught:
                self.worker.call("load", **args)
            self.assertTrue(str(caught.exception).endswith(said), str(caught.exception))
        with self.assertRaisesRegex(TypeError, "has no len") as caught:  # an error of the command itself
            self.worker.call("load", key=1)

    def test_an_error_inside_of_the_function_is_its_own(self):
        @self.worker.command
        @injecting
        def load(db, again=True):
            return load(nothing=1)

        with self.assertRaisesRegex(TypeError, "unexpected keyword argument 'nothing'"):
            self.worker.call("load")

    def test_an_argument_that_is_added_is_checked(self):
        def adding(function):
            @functools.wraps(function)
            def wrapper(token, **named):
                return [token, function(**named)]

            return wrapper

        @self.worker.command
        @adding
        def load(key):
            return key

        self.assertEqual(self.worker.call("load", token=1, key=2), [1, 2])
        with self.assertRaisesRegex(skep.InvalidArguments, r"missing argument 'token'; it takes \(token, \*\*named\)"):
            self.worker.call("load", key=2)

    def test_a_wrapper_with_other_parameters(self):
        def narrowing(function):
            @functools.wraps(function)
            def wrapper(text):
                return function(*text.split())

            return wrapper

        @self.worker.command
        @narrowing
        def join(a, b, /):
            return a + b

        self.assertEqual(self.worker.call("join", text="x y"), "xy")
        with self.assertRaisesRegex(skep.InvalidArguments, r"does not take argument 'a'; it takes \(text\)"):
            self.worker.call("join", text="x y", a=1)

    def test_a_declared_signature_holds_unless_it_is_a_copy(self):
        def validating(function):  # as pydantic.validate_call() does
            @functools.wraps(function)
            def wrapper(*args, **named):
                return function(*args, **named)

            wrapper.__signature__ = inspect.signature(function)
            return wrapper

        @validating
        def load(key):
            return key

        self.worker.command(load)
        self.worker.command(name="injected")(injecting(validating(lambda db, key: [db, key])))
        with self.assertRaisesRegex(skep.InvalidArguments, r"missing argument 'key'; it takes \(key\)"):
            self.worker.call("load")
        self.assertEqual(self.worker.call("injected", key=1), ["db", 1])

    def test_wrappers_written_in_c(self):
        @self.worker.command
        @functools.lru_cache()
        def square(n):
            return n * n

        self.assertEqual(self.worker.call("square", n=3), 9)
        with self.assertRaisesRegex(skep.InvalidArguments, "missing argument 'n'"):
            self.worker.call("square")

    def test_methods_partials_and_objects(self):
        class Model:
            @injecting_method
            def predict(self, db, text):
                return [db, text]

            @staticmethod
            def static(text):
                return text

            def __call__(self, text):
                return text

        self.worker.command(Model().predict)
        self.worker.command(name="static")(vars(Model)["static"])
        self.worker.command(name="object")(Model())
        self.worker.command(name="partial")(functools.partial(injecting(lambda db, a, b: [db, a, b]), a=1))
        self.assertEqual(self.worker.call("predict", text="a"), ["db", "a"])
        self.assertEqual(self.worker.call("static", text="a"), "a")
        self.assertEqual(self.worker.call("object", text="a"), "a")
        self.assertEqual(self.worker.call("partial", b=2), ["db", 1, 2])

    def test_what_cannot_be_a_command(self):
        for target, said in (
            (functools.singledispatch(lambda value: value), "by its first positional argument"),
            (classmethod(lambda cls: 1), "a command is a function"),
            (property(lambda self: 1), "a command is a function"),
            (functools.partialmethod(print), "a command is a function"),
            (42, "a command is a function"),
        ):
            with self.subTest(said), self.assertRaisesRegex(TypeError, said):
                self.worker.command(name="it")(target)
            with self.subTest(said), self.assertRaisesRegex(TypeError, said):
                self.worker.command(target, name="it")
        for register in (self.worker.on_start, self.worker.on_stop, self.worker.health_check):
            with self.assertRaisesRegex(TypeError, "is a function, not 'x'"):
                register("x")

    def test_a_circle_of_wrappers_ends(self):
        def load(key):
            return key

        load.__wrapped__ = load
        self.assertEqual(Command("load", load).check({"key": 1}), None)

    def test_an_argument_of_a_health_check_may_be_injected(self):
        self.worker.health_check(injecting(lambda db: db == "db"))
        with self.assertRaisesRegex(ValueError, "already"):
            self.worker.health_check(len)


def injecting_method(function):
    @functools.wraps(function)
    def wrapper(self, *args, **named):
        return function(self, "db", *args, **named)

    return wrapper


class Value(HostCase):
    """What a plain function returns is awaited, or iterated, as it asks for."""

    def begin(self, source, **options):
        return self.start(f"{WRAPPERS}\n{source}", **options)

    def check_calls(self, host):
        self.assertEqual(host.call("slow"), ["db", 0])
        self.assertEqual(host.call("pieces"), [0, 1])
        self.assertEqual(host.call("behind", {"n": 1}), 1)
        self.assertEqual(host.call("lambda", {"n": 0}), ["db", 0])
        self.assertEqual(host.call("late"), [0, 1])
        self.assertEqual(host.call("plain"), "plain")
        call_id = host.send_call("pieces", {"n": 3}, stream={"chunks": 100, "bytes": 1 << 20})
        messages = [host.receive() for _ in range(4)]
        self.assertEqual([message.get("value") for message in messages], [0, 1, 2, None])
        self.assertEqual({message["id"] for message in messages}, {call_id})
        error = host.call_error("slow", {"m": 1})
        self.assertEqual(error["type"], "skep.InvalidArguments")
        self.assertIn("unexpected keyword argument 'm'; it takes (db, n=0)", error["message"])

    def check_cancelling(self, host):
        for command in ("slow", "pieces"):
            call_id = host.send_call(command, {"n": 1000})
            self.assertEqual(host.receive()["type"], "progress")
            host.cancel(call_id)
            self.assertEqual(host.receive()["error"]["type"], "skep.Cancelled")
        self.assertEqual(host.call("slow"), ["db", 0])

    def check_a_stream_that_is_left(self, host):
        call_id = host.send_call("pieces", {"n": 99}, stream={"chunks": 2, "bytes": 1 << 20})
        self.assertEqual([host.receive()["value"] for _ in range(2)], [0, 1])
        host.cancel(call_id)
        self.assertEqual(host.receive()["error"]["type"], "skep.Cancelled")

    def check_all(self, host):
        self.check_calls(host)
        self.check_cancelling(host)
        self.check_a_stream_that_is_left(host)
        host.tell({"type": "shutdown", "grace_ms": 1000})
        status, stdout, stderr = host.finish()
        self.assertEqual((status, stderr), (0, ""))
        self.assertEqual(stdout, "cleaned up\n" * 5)

    def test_in_a_process(self):
        self.check_all(self.begin(ASYNC))

    def test_over_stdio(self):
        host = self.begin(ASYNC, stdio=True)
        self.check_calls(host)

    def threaded(self, more="", threads="3"):
        source = f"import skep\nworker = skep.Worker(thread_safe=True)\n{WRAPPERS}\n{ASYNC}\n{more}\nworker.run()\n"
        return self.start_script(source, env={"SKEP_THREADS": threads})

    def test_in_threads(self):
        self.check_all(self.threaded())

    def test_in_threads_beside_an_event_loop(self):
        self.check_all(self.threaded("@worker.command\nasync def other(): pass"))

    def test_on_the_event_loop(self):
        source = ASYNC.replace("@worker.command\ndef plain", "@worker.command\nasync def plain")
        source = source.replace('(lambda n: slow(n))', "(injecting(slow_too))").replace(
            "class Adder", "async def slow_too(db, n): return [db, n]\nclass Adder"
        ).replace("(lambda: late())", "(late)")
        self.check_all(self.begin(source))

    def test_a_callable_object_with_an_async_call(self):
        self.assertEqual(self.begin(f"{ASYNC}\nworker.command(name='add')(Adder())\n", ready=False).receive(), None)
        host = self.begin(
            "class Adder:\n    async def __call__(self, a, b): return a + b\n"
            "worker.command(name='add')(Adder())\n"
            "worker.command(name='add_one')(functools.partial(Adder(), b=1))\n"
        )
        self.assertEqual(host.call("add", {"a": 1, "b": 2}), 3)
        self.assertEqual(host.call("add_one", {"a": 1}), 2)

    def test_termination_while_it_is_awaited(self):
        host = self.begin(f"{ASYNC}\n@worker.on_stop\nasync def last(): print('stopped')\n")
        host.send_call("pieces", {"n": 1000})
        host.receive()
        host.process.terminate()
        status, stdout, stderr = host.finish()
        self.assertEqual((status, stdout, stderr), (0, "cleaned up\nstopped\n", ""))

    def test_termination_beside_an_event_loop_and_in_threads(self):
        for more in ("", "@worker.command\nasync def other(): pass"):
            with self.subTest(more):
                host = self.threaded(more)
                host.send_call("pieces", {"n": 1000})
                host.receive()
                host.process.terminate()
                self.assertEqual(host.finish(), (0, "cleaned up\n", ""))

    def test_a_blocking_tool_call_in_a_coroutine(self):
        host = self.begin(
            "async def ask():\n"
            "    try: return [skep.call_host('tool'), await asyncio.sleep(0, 1), skep.call_host('tool')]\n"
            "    finally: print('cleaned up')\n"
            "worker.command(name='ask')(lambda: ask())\n"
        )
        host.send_call("ask")
        for n in (1, 2):
            host.answer_tool(host.receive_tool_call(), n)
        self.assertEqual(host.receive()["value"], [1, 1, 2])
        call_id = host.send_call("ask")
        host.receive_tool_call()
        host.cancel(call_id)
        self.assertEqual(host.receive()["error"]["type"], "skep.Cancelled")
        host.send_call("ask")
        host.receive_tool_call()
        host.process.terminate()
        self.assertEqual(host.finish(), (0, "cleaned up\n" * 3, ""))

    def test_a_span_around_a_command(self):
        host = self.begin(
            "@worker.command\n@skep.span('work')\ndef work(n): return n\n"
            "@worker.command\n@skep.span('late')\nasync def later(n): return n\n",
        )
        self.assertEqual([host.call(name, {"n": 1}) for name in ("work", "later")], [1, 1])

    def test_the_worker_s_loop_is_the_one_of_its_hooks(self):
        host = self.begin(
            "state = {}\n"
            "@worker.on_start\n"
            "async def first(): state['loop'] = asyncio.get_running_loop()\n"
            "async def same(): return state['loop'] is asyncio.get_running_loop()\n"
            "worker.command(name='same')(lambda: same())\n"
        )
        self.assertIs(host.call("same"), True)

    def test_tools_and_the_current_call(self):
        host = self.begin(
            "async def ask(): return [await skep.call_host_async('tool'), skep.current().command]\n"
            "worker.command(name='ask')(lambda: ask())\n"
        )
        host.send_call("ask")
        host.answer_tool(host.receive_tool_call(), 7)
        self.assertEqual(host.receive()["value"], [7, "ask"])

    def test_generators_that_are_no_generators_of_python(self):
        host = self.begin(
            "import collections.abc\n"
            "class Count(collections.abc.Generator):\n"
            "    n = 0\n"
            "    def send(self, value):\n"
            "        self.n += 1\n"
            "        if self.n > 3: raise StopIteration\n"
            "        return self.n\n"
            "    def throw(self, *error): raise StopIteration\n"
            "worker.command(name='count')(lambda: Count())\n"
            "async def later(): return Count()\n"
            "worker.command(name='later')(lambda: later())\n"
        )
        self.assertEqual(host.call("count"), [1, 2, 3])
        self.assertEqual(host.call("later"), [1, 2, 3])

    def test_a_generator_that_an_async_command_returns(self):
        host = self.begin(
            "@worker.command\n"
            "async def words():\n"
            "    def each():\n"
            "        yield 'a'\n"
            "        yield 'b'\n"
            "        return 'end'\n"
            "    return each()\n"
        )
        self.assertEqual(host.call("words"), ["a", "b"])
        host.send_call("words", stream={"chunks": 100, "bytes": 1 << 20})
        self.assertEqual([host.receive()["value"] for _ in range(3)], ["a", "b", "end"])

    def test_a_wrapper_that_runs_a_loop_of_its_own(self):
        host = self.begin(
            "def sync(function):\n"
            "    @functools.wraps(function)\n"
            "    def wrapper(**named): return asyncio.run(function(**named))\n"
            "    return wrapper\n"
            "@worker.command\n"
            "@sync\n"
            "async def slow(n): return n\n"
        )
        self.assertEqual(host.call("slow", {"n": 1}), 1)

    def test_health_checks(self):
        for returned, answer in (
            ("later()", 5),
            ("agenerator()", "TypeError"),
            ("generator()", "TypeError"),
            ("false()", "skep.Unhealthy"),
        ):
            for more in ("", "@worker.command\nasync def other(): pass\n"):
                with self.subTest(returned + more):
                    host = self.begin(
                        "async def later(): return 5\n"
                        "async def false(): return False\n"
                        "async def agenerator(): yield 5\n"
                        "def generator(): yield 5\n"
                        f"worker.health_check(lambda: {returned})\n{more}"
                    )
                    host.send_call("skep.health_check")
                    reply = host.receive()
                    self.assertEqual(reply["value"] if "value" in reply else reply["error"]["type"], answer)

    def test_a_hook_of_which_nothing_runs_fails_the_start(self):
        for hook, kind in (("def hook(): yield", "a generator"), ("async def hook(): yield", "an async generator")):
            with self.subTest(hook):
                host = self.begin(f"@worker.on_start\n{hook}\n", ready=False)
                host.receive()
                host.welcome()
                status, _, stderr = host.finish()
                self.assertEqual(status, 1)
                self.assertIn(f"TypeError: hook 'hook' returned {kind}, which has run none of its code", stderr)

    def test_hooks_return_what_can_be_awaited(self):
        host = self.begin(
            "class Later:\n"
            "    def __await__(self): yield from asyncio.sleep(0).__await__(); print('awaited')\n"
            "worker.on_start(lambda: Later())\n"
        )
        host.tell({"type": "shutdown", "grace_ms": 1000})
        self.assertEqual(host.finish(), (0, "awaited\n", ""))

    def test_a_pool_less_call(self):
        with tempfile.TemporaryDirectory() as folder:
            script = Path(folder) / "script.py"
            script.write_text(f"import skep\nworker = skep.Worker()\n{WRAPPERS}{ASYNC}\nworker.run()\n")
            process = subprocess.run(
                [sys.executable, "-m", "skep", "call", str(script), "slow"],
                env={"PYTHONPATH": str(ROOT / "lib" / "python")},
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
            )
        self.assertEqual((process.returncode, process.stdout), (0, b'[\n  "db",\n  0\n]\n'), process.stderr)


class WithoutPool(unittest.TestCase):
    def test_awaited_and_iterated(self):
        worker = skep.Worker()

        async def slow(db, n):
            return [db, n]

        async def pieces(db):
            yield db
            yield 1

        async def forgetful(db):
            return slow(db, 2)

        worker.command(injecting(forgetful))
        worker.command(name="async")(forgetful)
        self.assertEqual(worker.call("forgetful"), ["db", 2])
        self.assertEqual(worker.call("async", db="db"), ["db", 2])
        worker.command(injecting(slow))
        worker.command(injecting(pieces))
        self.assertEqual(worker.call("slow", n=1), ["db", 1])
        self.assertEqual(worker.call("pieces"), ["db", 1])


if __name__ == "__main__":
    unittest.main()
