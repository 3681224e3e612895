"""Says a token that nobody has given it."""

from honest import Worker


class Broken(Worker):
    def hello(self):
        return {**super().hello(), "token": "guessed"}


Broken().serve()
