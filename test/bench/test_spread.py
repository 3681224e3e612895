"""Medians, spread, and the ratios that say nothing."""

import unittest

from spread import Usage, busy_ticks, noise, ratio_of, spread_of


class Spreads(unittest.TestCase):
    def test_few_rounds_show_the_extremes(self):
        self.assertEqual(spread_of([3, 1, 2]), (2, 1, 3))
        self.assertEqual(spread_of([5]), (5, 5, 5))

    def test_an_outlier_is_not_in_the_middle_half(self):
        self.assertEqual(spread_of([1, 2, 3, 4, 1000]), (3, 2, 4))


class Ratios(unittest.TestCase):
    def test_rounds_that_differ_alike_are_clear(self):
        ratio = ratio_of([10, 20, 30], [20, 40, 60])  # the second side, too, became slower and slower
        self.assertEqual(ratio, (0.5, 0.5, 0.5, True))

    def test_sides_that_differ_by_less_than_the_rounds_are_not_clear(self):
        ratio = ratio_of([10, 12, 10, 13], [11, 11, 11, 11])
        self.assertAlmostEqual(ratio.value, 1.0)
        self.assertFalse(ratio.is_clear)

    def test_a_difference_that_each_round_shows_is_clear(self):
        self.assertTrue(ratio_of([10, 11, 10, 12], [20, 25, 20, 30]).is_clear)
        self.assertTrue(ratio_of([20, 25, 20, 30], [10, 11, 10, 12]).is_clear)

    def test_one_round_in_seven_may_differ(self):
        self.assertTrue(ratio_of([1, 1, 1, 1, 1, 1, 3], [2] * 7).is_clear)
        self.assertFalse(ratio_of([1, 1, 1, 1, 1, 3, 3], [2] * 7).is_clear)
        self.assertFalse(ratio_of([1, 1, 1, 1, 3], [2] * 5).is_clear)

    def test_fewer_than_three_rounds_say_nothing(self):
        self.assertFalse(ratio_of([1, 1], [2, 2]).is_clear)


class Noise(unittest.TestCase):
    def test_idle_waits_are_not_busy(self):
        line = "cpu  1 2 4 1000 2000 8 16 32 64 128"  # user nice system idle iowait irq softirq steal guest guest_nice
        self.assertEqual(sum(busy_ticks(line)), 1 + 2 + 4 + 8 + 16 + 32)

    def test_others_are_what_is_busy_besides_us(self):
        cost = noise(Usage(100, 10, 1000), Usage(115, 20, 1010), processors=2)
        self.assertEqual(cost, {"wall_s": 10, "cpu_s": 10, "others": 0.25})

    def test_rounding_of_the_clocks_gives_no_negative_share(self):
        self.assertEqual(noise(Usage(0, 0, 0), Usage(9, 10, 10), processors=2)["others"], 0)


if __name__ == "__main__":
    unittest.main()
