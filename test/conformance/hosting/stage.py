"""Where one rule is tried."""

import os

from .host import Host
from .outcome import NotApplicable


class Stage:
    """Starts the workers that a rule asks for, and ends them."""

    def __init__(self, command, transport, patience):
        self.is_stdio = transport == "stdio"
        self._how = (command, transport, patience)
        self._hosts = []

    def start(self, **options):
        """A worker that has just been started."""
        host = Host(*self._how, **options)
        self._hosts.append(host)
        return host

    def ready(self, **limits):
        """A worker that is ready, whose host has these limits."""
        return self.start(limits=limits).greet()

    def offering(self):
        """A worker that asks for shared memory; it has said no more than its hello."""
        if self.is_stdio:
            raise NotApplicable("over stdio no memory is shared")
        if not hasattr(os, "memfd_create"):
            raise NotApplicable("this Python cannot make memory to share")
        host = self.start(shares=True)
        host.wait_for(lambda: host.referee.hello, "hello")
        if host.referee.hello.get("shared") != 1:
            raise NotApplicable("it does not ask for shared memory")
        return host

    def sharing(self):
        """A worker that is ready and shares memory with its host."""
        host = self.offering()
        return host.greet(shared=host.share_memory())

    def need_control_channel(self):
        """For what a worker may leave undone while it is busy, if it has one channel only."""
        if self.is_stdio:
            raise NotApplicable("over stdio a worker need not listen while it is busy")

    def output_tail(self):
        """The last of what the last worker has printed."""
        return self._hosts[-1].program.output_tail() if self._hosts else ""

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for host in self._hosts:
            host.program.end()
            if host.memory:
                host.memory.close()
