"""What commands can have of whoever has called them, beside their arguments."""

from typing import Any, Mapping, Optional

from .call import Call, current


class Host:
    """The other end of a call. Its methods may be called on any thread."""

    welcomed = 0.0  # when it said welcome, on the monotonic clock
    correlation = ""  # what the ids of calls begin with for which the caller has none

    def call_tool(self, call: Call, name: str, timeout: Optional[float], args: Mapping[str, Any]) -> Any:
        """What call_host() does for a call."""
        raise NotImplementedError

    async def call_tool_async(self, call: Call, name: str, timeout: Optional[float], args: Mapping[str, Any]) -> Any:
        """What call_host_async() does for a call."""
        raise NotImplementedError

    def report(self, call: Call, fraction: float, text: str) -> None:
        """What progress() does for a call."""


def call_host(name: str, timeout: Optional[float] = None, /, **args: Any) -> Any:
    """Asks the host for something while a command runs: calls the tool that it has registered under that name.

        user = skep.call_host("lookup_user", id=42)

    Arguments are converted like the result of a command; `bytes` in them become attachments. Returns what the tool
    returns, with a read-only memoryview where its value stands for an attachment; where its value is null and it has
    attachments, a list of these.
    Waits for at most `timeout` seconds (more than 0, None: no limit of its own), and in no case beyond the deadline
    of the call. May be used by the thread that runs the command, and by threads that work for it. Of more requests than
    the host takes of one call at a time (16 by default), the later ones wait until an earlier one is answered.
    Raises skep.HostError if the tool fails or there is none of that name, TimeoutError, ValueError if the arguments
    cannot be sent or are too large, RuntimeError outside of a call, after its end, in a forked child, and on an event
    loop that the SDK runs (use call_host_async() there). skep.Cancelled if the call is, or was, cancelled.
    """
    call = current()
    return call.host.call_tool(call, name, timeout, args)


async def call_host_async(name: str, timeout: Optional[float] = None, /, **args: Any) -> Any:
    """call_host() for `async def` commands: the loop goes on meanwhile. A cancelled call shows as CancelledError."""
    call = current()
    return await call.host.call_tool_async(call, name, timeout, args)


def progress(fraction: float, text: str = "") -> None:
    """Tells the caller how far the command is: a fraction from 0 to 1 (what is beyond is cut), and perhaps a text.

    The newest counts. The first is sent at once, the ones after it at most every 20 ms, the last before the answer in
    any case: so a loop may report as often as it likes. Of a text, the first 1024 characters are sent.
    Waits for nobody, on any thread, and does nothing once the call has been answered. Raises ValueError for NaN,
    TypeError for what is no number or no text, RuntimeError outside of a call.
    """
    fraction = float(fraction)
    if fraction != fraction:
        raise ValueError("progress is a number from 0 to 1, not NaN")
    if not isinstance(text, str):
        raise TypeError(f"the text of a progress is a str, not {text!r}")
    call = current()
    call.host.report(call, min(max(fraction, 0.0), 1.0), text)
