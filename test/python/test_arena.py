"""The places in a region."""

import random
import unittest

from skep._wire.arena import STEP, Arena, whole_steps


class ArenaTest(unittest.TestCase):
    def test_a_place_takes_whole_steps(self):
        arena = Arena(3 * STEP)
        self.assertEqual([arena.reserve(1), arena.reserve(STEP), arena.reserve(STEP - 1)], [0, STEP, 2 * STEP])
        self.assertIsNone(arena.reserve(1))

    def test_an_incomplete_step_is_not_used(self):
        arena = Arena(2 * STEP - 1)
        self.assertIsNone(arena.reserve(STEP + 1))
        self.assertEqual(arena.reserve(STEP), 0)
        self.assertIsNone(arena.reserve(1))

    def test_the_first_place_that_is_large_enough(self):
        arena = Arena(6 * STEP)
        places = [arena.reserve(size * STEP) for size in (1, 1, 2, 2)]
        arena.release(places[0])
        arena.release(places[2])
        self.assertEqual(arena.reserve(2 * STEP), places[2])
        self.assertEqual(arena.reserve(STEP), places[0])

    def test_released_neighbours_become_one(self):
        for order in ([0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]):
            with self.subTest(order=order):
                arena = Arena(3 * STEP)
                places = [arena.reserve(STEP) for _ in range(3)]
                for index in order:
                    arena.release(places[index])
                self.assertEqual(arena.reserve(3 * STEP), 0)

    def test_a_place_that_is_not_reserved(self):
        arena = Arena(2 * STEP)
        arena.reserve(2 * STEP)
        self.assertRaises(KeyError, arena.release, STEP)
        arena.release(0)
        self.assertRaises(KeyError, arena.release, 0)

    def test_an_empty_arena(self):
        self.assertIsNone(Arena(0).reserve(1))

    def test_places_never_overlap_and_all_come_back(self):
        dice = random.Random(1)
        steps = 64
        arena, places = Arena(steps * STEP), {}
        for _ in range(5000):
            size = dice.randrange(1, 12 * STEP)
            begin = arena.reserve(size) if dice.random() < 0.6 else None
            if begin is not None:
                places[begin] = whole_steps(size)
            elif places:
                begin = dice.choice(sorted(places))
                arena.release(begin)
                del places[begin]
            end = 0
            for begin, size in sorted(places.items()):
                self.assertGreaterEqual(begin, end)
                end = begin + size
            self.assertLessEqual(end, steps * STEP)
        for begin in places:
            arena.release(begin)
        self.assertEqual(arena.reserve(steps * STEP), 0)


if __name__ == "__main__":
    unittest.main()
