"""A script that a pool has started and that forgets worker.run() is told so."""

import subprocess
import sys
import unittest

from host import ROOT, HostCase

SAID = "skep: script.py ended without calling worker.run(): put it in the last line\n"
WORKER = "import skep\nworker = skep.Worker()\n"


class MissingRun(HostCase):
    def ended(self, source, **options):
        """How a script that a pool has started ended: status, stdout and stderr."""
        return self.start_script(source, ready=False, **options).finish()

    def test_it_is_said(self):
        for source in (
            WORKER,
            WORKER + "skep.Worker()\n",
            "import skep\ndef create(): return skep.Worker()\ncreate()\n",
            WORKER + "try: raise ValueError\nexcept ValueError: pass\n",
            WORKER + "import threading\nthreading.Thread(target=lambda: None).start()\n",
            WORKER + "if __name__ == 'main': worker.run()\n",
        ):
            with self.subTest(source):
                self.assertEqual(self.ended(source), (120, "", SAID))

    def test_over_stdio(self):
        self.assertEqual(self.ended(WORKER + "print('text')\n", stdio=True), (120, "", "text\n" + SAID))

    def test_nothing_that_happens_at_exit_is_lost(self):
        source = (
            "import atexit, sys\n"
            "def last(): print('at exit', file=sys.stderr, flush=True); print('and here')\n"
            "atexit.register(last)\n" + WORKER + "file = open(__file__ + '.txt', 'w'); file.write('text')\n"
            "atexit.register(print, 'before')\n"
        )
        host = self.start_script(source, ready=False)
        self.assertEqual(host.finish(), (120, "before\nand here\n", SAID + "at exit\n"))
        with open(host.process.args[1] + ".txt") as file:
            self.assertEqual(file.read(), "text")

    def test_a_script_that_says_itself_why_it_ends(self):
        for end, status, said in (
            ("sys.exit(3)", 3, ""),
            ("sys.exit()", 0, ""),
            ("sys.exit('no model')", 1, "no model\n"),
            ("os._exit(4)", 4, ""),
        ):
            with self.subTest(end):
                self.assertEqual(self.ended(f"{WORKER}import os, sys\n{end}\n"), (status, "", said))

    def test_a_script_that_goes_on_after_run(self):
        source = WORKER + "try: worker.run()\nexcept SystemExit: print('over')\n"
        host = self.start_script(source)
        host.tell({"type": "shutdown", "grace_ms": 1000})
        self.assertEqual(host.finish(), (0, "over\n", ""))

    def test_an_uncaught_exception(self):
        for end in ("raise ValueError", "def f(): 1 / 0\nf()"):
            status, _, stderr = self.ended(f"{WORKER}{end}\n")
            self.assertEqual(status, 1)
            self.assertNotIn("worker.run()", stderr)

    def test_children_may_end_without(self):
        for spawn in (
            "if not os.fork(): sys.exit()\nos.wait()\n",
            "pid = os.fork()\nif pid: os.wait()\n",  # and then comes to its end like its parent
            "multiprocessing.get_context('fork').Process(target=print).start()\n",
        ):
            with self.subTest(spawn):
                source = f"{WORKER}import multiprocessing, os, sys\n{spawn}"
                self.assertEqual(self.ended(source)[2], SAID)

    def test_children_that_multiprocessing_spawns_may_end_without(self):
        host = self.start_script(
            "import multiprocessing, skep\n"
            "worker = skep.Worker()\n"
            "@worker.command\n"
            "def spawn():\n"
            "    child = multiprocessing.get_context('spawn').Process(target=abs, args=(1,))\n"
            "    child.start(); child.join()\n"
            "    return child.exitcode\n"
            "if __name__ == '__main__': worker.run()\n"
        )
        self.assertEqual(host.call("spawn"), 0)
        host.tell({"type": "shutdown", "grace_ms": 1000})
        self.assertEqual(host.finish(), (0, "", ""))

    def test_without_a_pool_there_is_nothing_to_say(self):
        process = subprocess.run(
            [sys.executable, "-c", WORKER],
            env={"PYTHONPATH": str(ROOT / "lib" / "python")},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        self.assertEqual((process.returncode, process.stdout, process.stderr), (0, b"", b""))


if __name__ == "__main__":
    unittest.main()
