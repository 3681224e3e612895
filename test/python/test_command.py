"""Registering commands and checking arguments."""

import functools
import unittest

import skep
from skep._calls.command import Command, find_command


def predict(text: str, top: int = 3) -> dict:
    return {"text": text, "top": top}


class Registration(unittest.TestCase):
    def test_the_ways_to_name_a_command(self):
        worker = skep.Worker()
        self.assertIs(worker.command(predict), predict)
        self.assertIs(worker.command("other")(predict), predict)
        self.assertIs(worker.command(name="third")(predict), predict)
        self.assertIs(worker.command()(max_of), max_of)
        self.assertEqual(list(worker._commands), ["predict", "other", "third", "max_of"])

    def test_a_name_is_taken_once(self):
        worker = skep.Worker()
        worker.command(predict)
        with self.assertRaisesRegex(ValueError, "already a command 'predict'"):
            worker.command(predict)

    def test_some_names_are_reserved(self):
        worker = skep.Worker()
        for name in ("skep.health_check", "skep.anything"):
            with self.assertRaisesRegex(ValueError, f"command '{name}' must not begin with 'skep.'"):
                worker.command(name)(predict)
        worker.command("skeptical")(predict)
        self.assertEqual(list(worker._commands), ["skeptical"])

    def test_what_cannot_be_a_command(self):
        worker = skep.Worker()
        exec("def positional(a, /, b): pass", globals())
        for function, said in (
            (globals()["positional"], "positional-only parameter 'a'"),
            (functools.partial(predict, top=1), "needs a name"),
        ):
            with self.subTest(said=said), self.assertRaisesRegex(TypeError, said):
                worker.command(function)

    def test_hooks_are_returned_unchanged(self):
        worker = skep.Worker()
        self.assertIs(worker.on_start(max_of), max_of)
        self.assertIs(worker.on_stop(max_of), max_of)


def max_of(*values, **named):
    return max(named.values())


class Arguments(unittest.TestCase):
    def refusal(self, function, args):
        with self.assertRaises(skep.InvalidArguments) as caught:
            Command(function.__name__, function).check(args)
        return str(caught.exception)

    def test_good_ones(self):
        for args in ({"text": "a"}, {"text": "a", "top": 1}):
            Command("predict", predict).check(args)
        Command("max_of", max_of).check({"anything": 1})
        Command("bound", self.bound).check({"a": 1})

    def bound(self, a):
        pass

    def test_bad_ones(self):
        def keyword_only(a, *, b):
            pass

        for function, args, said in (
            (predict, {}, "predict() is missing argument 'text'; it takes (text, top=3)"),
            (predict, {"text": 1, "n": 1}, "predict() does not take argument 'n'; it takes (text, top=3)"),
            (
                predict,
                {"txt": 1, "n": 2},
                "predict() is missing argument 'text' and does not take arguments 'n', 'txt'; it takes (text, top=3)",
            ),
            (keyword_only, {}, "keyword_only() is missing arguments 'a', 'b'; it takes (a, *, b)"),
            (self.bound, {}, "bound() is missing argument 'a'; it takes (a)"),
        ):
            with self.subTest(said=said):
                self.assertEqual(self.refusal(function, args), said)


class Unknown(unittest.TestCase):
    def refusal(self, name, *known):
        with self.assertRaises(skep.UnknownCommand) as caught:
            find_command({key: Command(key, predict) for key in known}, name)
        return str(caught.exception)

    def test_names_that_nobody_registered(self):
        self.assertEqual(
            self.refusal("predcit", "train", "predict"),
            "unknown command 'predcit'; did you mean 'predict'? this worker knows predict, train",
        )
        self.assertEqual(self.refusal("x", "train"), "unknown command 'x'; this worker knows train")
        self.assertEqual(self.refusal("x"), "unknown command 'x'; this worker has no commands")


if __name__ == "__main__":
    unittest.main()
