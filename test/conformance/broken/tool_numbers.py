"""Gives all tool calls the same number."""

from honest import Worker


class Broken(Worker):
    def next_tool_call(self):
        return 1


Broken().serve()
