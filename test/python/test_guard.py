"""skep.guard() notices an object that two threads use at once."""

import threading
import unittest

import skep


class Model:
    def __init__(self):
        self.inside, self.go = threading.Event(), threading.Event()
        self.weight = 1

    def slow(self):
        self.inside.set()
        return self.go.wait(60)

    def quick(self, factor=1):
        return self.weight * factor

    def outer(self):
        return guarded.quick()

    def __len__(self):
        return 3

    def __getitem__(self, index):
        return index

    def __call__(self, value):
        return value


class Guard(unittest.TestCase):
    def setUp(self):
        global guarded
        self.model = Model()
        guarded = self.guarded = skep.guard(self.model)

    def test_one_thread_sees_no_difference(self):
        guarded = self.guarded
        guarded.weight = 2
        self.assertEqual([guarded.weight, guarded.quick(factor=3), len(guarded)], [2, 6, 3])
        self.assertEqual([guarded[5], guarded(6), bool(guarded)], [5, 6, True])
        self.assertFalse(skep.guard(0))
        self.assertEqual(guarded.outer(), 2)
        with self.assertRaises(AttributeError):
            guarded.missing
        with self.assertRaises(TypeError):
            iter(skep.guard(5))
        del guarded.weight
        self.assertFalse(hasattr(self.model, "weight"))

    def test_a_second_thread_gets_both_stacks(self):
        thread = threading.Thread(target=self.guarded.slow, name="first")
        thread.start()
        self.model.inside.wait(60)
        try:
            for use in (self.guarded.quick, lambda: len(self.guarded), lambda: setattr(self.guarded, "weight", 1)):
                with self.assertRaises(RuntimeError) as caught:
                    use()
            said = str(caught.exception)
            self.assertRegex(said, r"^MainThread uses 'weight' of a guarded object\n(.*\n)*while first is at it\n")
            self.assertIn("in test_a_second_thread_gets_both_stacks", said)
            self.assertIn("in slow", said)
        finally:
            self.model.go.set()
            thread.join()
        self.assertEqual(self.guarded.quick(), 1)


if __name__ == "__main__":
    unittest.main()
