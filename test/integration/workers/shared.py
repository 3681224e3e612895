"""A worker that looks at where its attachments lie, and keeps some."""

import hashlib
import os
import threading

import skep

worker = skep.Worker(thread_safe=True)
kept = {}


def is_shared(view):
    return hasattr(view.obj, "place")


def describe(view):
    return {"sha256": hashlib.sha256(view).hexdigest(), "is_shared": is_shared(view), "bytes": len(view)}


@worker.command
def look():
    """What each attachment is like."""
    return [describe(view) for view in skep.attachments()]


@worker.command
def reverse():
    return [bytes(view)[::-1] for view in skep.attachments()]


@worker.command
def keep(name, begin=0):
    """Keeps the first attachment, or its end, after the answer."""
    view = skep.attachments()[0]
    kept[name] = view[begin:]
    return is_shared(view)


@worker.command
def look_at(name):
    return describe(kept[name]) if len(kept[name]) else None


@worker.command
def drop(name):
    del kept[name]


@worker.command
def drop_on_thread(name):
    """Drops a view after the answer, while the worker waits for calls."""
    view = kept.pop(name)
    dropped = threading.Event()

    def run(view):
        dropped.wait(0.2)
        view.release()

    threading.Thread(target=run, args=(view,)).start()


@worker.command
def write():
    """Writes to copies: the first bytes of each attachment, before and after, and the last byte."""
    texts = []
    for view, copy in zip(skep.attachments(), skep.attachments(writable=True)):
        copy[0:3] = b"new"
        texts.append([bytes(view[:3]).decode(), bytes(copy[:3]).decode(), copy[-1] == view[-1], view.readonly])
    return texts


@worker.command
def keep_copy(name):
    """Keeps a writable copy, and nothing else."""
    kept[name] = skep.attachments(writable=True)[0]
    kept[name][0:1] = b"!"
    return is_shared(skep.attachments()[0])


@worker.command
def fork_and_drop():
    """A child drops what it has, and ends."""
    views = skep.attachments()
    pid = os.fork()
    if pid == 0:
        del views
        kept.clear()
        os._exit(0)
    os.waitpid(pid, 0)
    return describe(views[0])


@worker.command
def descriptors():
    return sorted(int(name) for name in os.listdir("/proc/self/fd"))


@worker.command
def mappings():
    """The number of mappings of regions."""
    with open("/proc/self/maps") as lines:
        return sum("skep-region" in line for line in lines)


@worker.command
def fail():
    raise ValueError("no")


worker.run()
