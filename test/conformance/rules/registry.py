"""What a rule is."""

from typing import Callable, NamedTuple


class Rule(NamedTuple):
    """Something that a worker must do. `check` raises Broken or NotApplicable, or it is kept."""

    name: str
    says: str
    check: Callable


RULES = []


def rule(says):
    """Registers a function that checks a rule, under its own name."""

    def register(check):
        RULES.append(Rule(check.__name__, says, check))
        return check

    return register
