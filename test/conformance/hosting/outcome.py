"""What a rule may come to, besides being kept."""


class Broken(Exception):
    """The worker has broken a rule; the text says what was seen."""


class NotApplicable(Exception):
    """The rule cannot be tried on this worker; the text says why."""
