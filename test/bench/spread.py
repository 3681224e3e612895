"""What the rounds of a comparison say: medians, their spread, and whether a ratio says anything."""

import statistics
from typing import Dict, List, NamedTuple, Sequence


class Spread(NamedTuple):
    """The median of some values, and their middle half."""

    median: float
    low: float
    high: float


def spread_of(values: Sequence[float]) -> Spread:
    """Returns median and quartiles; of fewer than four values, the least and the greatest instead of quartiles."""
    if len(values) < 4:
        return Spread(statistics.median(values), min(values), max(values))
    low, median, high = statistics.quantiles(values, n=4, method="inclusive")
    return Spread(median, low, high)


class Ratio(NamedTuple):
    """A figure divided by its counterpart's: of the medians, and the middle half of the rounds' own ratios."""

    value: float
    low: float
    high: float
    is_clear: bool  # otherwise the rounds differ by more than the two sides: which side is ahead may be chance


def agree(ratios: Sequence[float]) -> bool:
    """Returns true if at least three rounds have the same side ahead, and no more than one in seven the other."""
    ahead = max(sum(ratio > 1 for ratio in ratios), sum(ratio < 1 for ratio in ratios))
    return ahead >= 3 and len(ratios) - ahead <= len(ratios) // 7


def ratio_of(values: Sequence[float], others: Sequence[float]) -> Ratio:
    """Compares the values of two sides, round by round: the sides took turns, so a round has the same noise for both.

    Precondition: no other value is 0.
    """
    ratios = [value / other for value, other in zip(values, others)]
    rounds = spread_of(ratios)
    return Ratio(statistics.median(values) / statistics.median(others), rounds.low, rounds.high, agree(ratios))


class Usage(NamedTuple):
    """Use of the machine's processors until now, in seconds of one processor."""

    busy: float  # by all processes, and by other machines on the same processors ("steal")
    own: float  # by the processes of this benchmark that have ended, and by itself
    wall: float


def noise(begin: Usage, end: Usage, processors: int) -> Dict[str, float]:
    """Returns the time of a measurement, its CPU time, and the share of the processors that others used meanwhile."""
    wall, own = end.wall - begin.wall, end.own - begin.own
    others = max(0.0, end.busy - begin.busy - own)
    return {"wall_s": wall, "cpu_s": own, "others": others / (wall * processors) if wall else 0.0}


def busy_ticks(line: str) -> List[int]:
    """Parses the first line of /proc/stat: the ticks that count as busy: user, nice, system, irq, softirq, steal."""
    fields = [int(field) for field in line.split()[1:9]]
    return fields[:3] + fields[5:8]
