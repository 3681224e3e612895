"""Records of logging arrive in the host's log, each once and at its level, however the script has configured logging."""

import unittest

from host import HostCase

LOGGING = """
import logging, os, sys
model = logging.getLogger("model")
@worker.command
def log(level="INFO", text="said", name="model"):
    logging.getLogger(name).log(logging.getLevelName(level), text)
@worker.command
def execute(code): exec(code, globals())
"""
RECORD = {"type": "log", "level": "info", "logger": "model", "text": "said", "correlation_id": "1"}
HANDLERS = (
    "logging.basicConfig()",
    "logging.basicConfig(force=True)",
    "logging.basicConfig(stream=sys.stdout, format='%(asctime)s %(message)s')",
    "logging.info('configures'); logging.getLogger().addHandler(logging.StreamHandler(sys.stdout))",
    "model.addHandler(logging.StreamHandler())",
    "model.addHandler(logging.StreamHandler()); model.propagate = False",
    "model.addHandler(logging.StreamHandler()); logging.basicConfig()",
    "sys.stderr = open(2, 'w', closefd=False); logging.basicConfig()",
    "import logging.config; logging.config.dictConfig({'version': 1, 'disable_existing_loggers': False, 'handlers':"
    " {'out': {'class': 'logging.StreamHandler', 'stream': 'ext://sys.stdout'}}, 'root': {'handlers': ['out']}})",
    "import skep.logs; logging.getLogger().addHandler(skep.logs.Handler()); model.addHandler(logging.StreamHandler())",
    "class Twice(logging.StreamHandler):\n    def emit(self, record): super().emit(record); super().emit(record)\n"
    "logging.getLogger().addHandler(Twice())",
    "model.addHandler(logging.NullHandler())",
)


class Logging(HostCase):
    def start_logging(self, *lines, log_level="info", before="", **more):
        script = f"{before}\nimport skep\nworker = skep.Worker()\n{LOGGING}\n" + "\n".join(lines)
        host = self.start_script(f"{script}\nif __name__ == '__main__': worker.run()\n", ready=False)
        host.receive()
        host.welcome(log_level=log_level, **more)
        self.assertEqual(host.receive(), {"type": "ready"})
        return host

    def told(self, host):
        return host.receive(host.control)

    def told_text(self, host):
        return self.told(host)["text"]

    def end(self, host):
        """Ends the worker. Returns its output and the records that have not been received."""
        host.tell({"type": "shutdown", "grace_ms": 1000})
        status, stdout, stderr = host.finish()
        self.assertEqual(status, 0)
        records = list(iter(lambda: self.told(host), None))
        return stdout + stderr, records

    def check_once(self, host, **changes):
        """The record arrived, and nothing else did."""
        self.assertEqual(self.told(host), {**RECORD, **changes})
        self.assertEqual(self.end(host), ("", []))


class Level(Logging):
    def levels(self, host):
        for level in ("DEBUG", "INFO", "WARNING", "ERROR", "CRITICAL"):
            host.call("log", {"level": level, "text": level})
        output, records = self.end(host)
        self.assertEqual(output, "")
        return [(record["level"], record["text"]) for record in records]

    EXPECTED = [
        ("debug", "DEBUG"),
        ("info", "INFO"),
        ("warning", "WARNING"),
        ("error", "ERROR"),
        ("error", "CRITICAL"),
    ]

    def test_is_the_hosts_but_never_above_that_of_python(self):
        for level, first in (("debug", 0), ("info", 1), ("warning", 2), ("error", 2), ("off", 2), ("moon", 2)):
            for lines in ("", "logging.basicConfig()"):
                with self.subTest(level=level, lines=lines):
                    host = self.start_logging(lines, log_level=level)
                    self.assertEqual(self.levels(host), self.EXPECTED[first:])

    def test_that_the_script_sets_wins(self):
        for lines, first in (
            ("logging.getLogger().setLevel(logging.DEBUG)", 0),
            ("logging.basicConfig(level=logging.ERROR)", 3),
            ("worker.on_start(lambda: logging.basicConfig(level=logging.WARNING))", 2),
            ("worker.on_start(lambda: logging.getLogger().setLevel(logging.ERROR))", 3),
            ("model.setLevel(logging.DEBUG)", 0),
        ):
            with self.subTest(lines):
                self.assertEqual(self.levels(self.start_logging(lines)), self.EXPECTED[first:])

    def test_that_a_command_sets_wins(self):
        for code, first in (
            ("logging.basicConfig(level=logging.ERROR)", 3),
            ("logging.getLogger().setLevel(logging.WARNING)", 2),
        ):
            with self.subTest(code):
                host = self.start_logging()
                host.call("execute", {"code": code})
                self.assertEqual(self.levels(host), self.EXPECTED[first:])

    def test_of_an_older_host_is_that_of_python(self):
        host = self.start("import logging\n" + LOGGING)
        self.assertEqual(self.levels(host), self.EXPECTED[2:])


class Once(Logging):
    def test_with_handlers_that_print(self):
        for lines in HANDLERS:
            with self.subTest(lines):
                host = self.start_logging(lines)
                host.call("log")
                if "configures" in lines:  # printed, before there was a host
                    host.tell({"type": "shutdown", "grace_ms": 1000})
                    host.finish()
                    self.assertEqual([self.told(host), self.told(host)], [RECORD, None])
                else:
                    self.check_once(host)

    def test_with_handlers_from_a_hook(self):
        for lines in HANDLERS:
            with self.subTest(lines):
                host = self.start_logging(f"@worker.on_start\ndef configure(): exec({lines!r}, globals())")
                host.call("log")
                if "configures" in lines:
                    self.assertEqual(self.told_text(host), "configures")
                self.check_once(host)

    def test_with_handlers_from_a_command(self):
        for lines in HANDLERS:
            with self.subTest(lines):
                host = self.start_logging()
                host.call("execute", {"code": lines})
                host.call("log")
                if "configures" in lines:
                    self.assertEqual(self.told_text(host), "configures")
                self.check_once(host, correlation_id="2")

    def test_configured_before_the_import(self):
        for lines in HANDLERS[:3]:
            with self.subTest(lines):
                host = self.start_logging(before=f"import logging, sys\n{lines}")
                host.call("log")
                self.check_once(host)

    def test_without_an_import_of_logging_before_the_call(self):
        host = self.start("@worker.command\ndef late():\n    import logging\n    logging.warning('said')")
        host.call("late")
        self.check_once(host, logger="root", level="warning")

    def test_from_the_thread_of_a_queue(self):
        host = self.start_logging(
            "import logging.handlers, queue; queue = queue.SimpleQueue()\n"
            "logging.basicConfig(handlers=[logging.handlers.QueueHandler(queue)])\n"
            "listener = logging.handlers.QueueListener(queue, logging.StreamHandler()); listener.start()\n"
            "worker.on_stop(lambda: listener.stop())"
        )
        host.call("log")
        record = self.told(host)
        record["correlation_id"] = "1"  # missing if the call is over by then
        self.assertEqual(record, {**RECORD, "text": "INFO:model:said"})
        self.assertEqual(self.end(host), ("", []))

    def test_in_hooks(self):
        host = self.start_logging(
            "logging.basicConfig()\n"
            "worker.on_start(lambda: model.info('starts'))\n"
            "worker.on_stop(lambda: model.info('stops'))"
        )
        output, records = self.end(host)
        self.assertEqual((output, [record["text"] for record in records]), ("", ["starts", "stops"]))

    def test_with_its_traceback(self):
        host = self.start_logging(
            "logging.basicConfig(format='%(levelname)s %(message)s')\n"
            "@worker.command\ndef fail():\n"
            "    try: 1 / 0\n"
            "    except ZeroDivisionError: model.exception('no %s', 'luck')"
        )
        host.call("fail")
        self.assertRegex(self.told_text(host), r"^no luck\nTraceback (.*\n)+ZeroDivisionError: division by zero$")

    def test_as_a_handler_of_the_script_formats_it(self):
        host = self.start_logging(
            "class Masking(logging.StreamHandler):\n"
            "    def format(self, record): return super().format(record).replace('secret', '***')\n"
            "logging.basicConfig(handlers=[Masking()], format='%(message)s')"
        )
        host.call("log", {"text": "the secret"})
        self.check_once(host, text="the ***")

    def test_as_a_formatter_and_a_filter_of_the_script_make_it(self):
        host = self.start_logging(
            "class Formatter(logging.Formatter):\n    def format(self, record): return f'<{record.getMessage()}>'\n"
            "def without_secrets(record):\n    record.msg = record.msg.replace('secret', '***')\n    return 'noise' not in record.msg\n"
            "handler = logging.StreamHandler()\n"
            "handler.setFormatter(Formatter())\n"
            "handler.addFilter(without_secrets)\n"
            "logging.basicConfig(handlers=[handler])"
        )
        host.call("log", {"text": "noise"})
        host.call("log", {"text": "the secret"})
        self.check_once(host, text="<the ***>", correlation_id="2")


class Others(Logging):
    def test_handlers_that_do_not_print_are_left_alone(self):
        for lines in (
            "logging.basicConfig(filename=path, format='%(levelname)s %(message)s')",
            "logging.basicConfig(stream=open(path, 'w'), format='%(levelname)s %(message)s')",
        ):
            for start in (f"{lines}\n", f"@worker.on_start\ndef start(): {lines}\n"):
                with self.subTest(start):
                    host = self.start_logging(f"path = __file__ + '.log'\n{start}")
                    host.call("log")
                    host.call("execute", {"code": "skep.emit(open(path).read())"})
                    self.assertEqual(self.told(host)["name"], "INFO said\n")
                    self.assertEqual(self.end(host), ("", []))

    def test_a_file_beside_the_hosts_log(self):
        host = self.start_logging(
            "path = __file__ + '.log'\n"
            "logging.basicConfig(handlers=[logging.FileHandler(path), logging.StreamHandler()])"
        )
        host.call("log")
        self.assertEqual(self.told(host), RECORD)
        host.call("execute", {"code": "skep.emit(open(path).read())"})
        self.assertEqual(self.told(host)["name"], "INFO:model:said\n")

    def test_a_stream_of_the_script_gets_the_records(self):
        host = self.start_logging(
            "class Masking:\n"
            "    def write(self, text): sys.stdout.write(text.replace('secret', '***'))\n"
            "    def flush(self): sys.stdout.flush()\n"
            "    def fileno(self): return 2\n"
            "logging.basicConfig(stream=Masking())"
        )
        host.call("log", {"text": "the secret"})
        output, records = self.end(host)
        self.assertIn("INFO:model:the ***", output)
        self.assertEqual(records, [])

    def test_a_record_that_cannot_be_formatted_shows_as_ever(self):
        host = self.start_logging("logging.basicConfig()\n@worker.command\ndef bad(): model.info('%d', 'x')")
        host.call("bad")
        output, records = self.end(host)
        self.assertIn("--- Logging error ---", output)
        self.assertEqual(records, [])

    def test_without_a_host_records_are_printed(self):
        for more, texts in (
            ({"records": False}, ["of a call"]),
            ({}, ["of a child", "at the end"]),
        ):
            with self.subTest(more):
                host = self.start_logging(
                    "import atexit\n"
                    "logging.basicConfig()\n"
                    "atexit.register(lambda: model.warning('at the end'))\n"
                    "@worker.command\ndef fork():\n"
                    "    if not os.fork(): model.warning('of a child'); os._exit(0)\n"
                    "    os.wait()",
                    **more,
                )
                host.call("fork")
                host.call("log", {"level": "WARNING", "text": "of a call"})
                output, records = self.end(host)
                for text in texts:
                    self.assertIn(f"WARNING:model:{text}\n", output)
                self.assertEqual([record["text"] for record in records], [] if more else ["of a call"])


if __name__ == "__main__":
    unittest.main()
