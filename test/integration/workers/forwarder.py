"""Starts a program and forwards its stdin and stdout, as ssh does: none of our environment, no signals, its exit code.

    forwarder.py [OPTION VALUE]... -- WORD...

Trouble on request: --print TEXT before anything else; --dies-at and --hangs-at MARK, in the middle of what the program
sends. With --shell yes the words go through a shell.
"""

import os
import select
import subprocess
import sys


def options_and_words(arguments):
    split = arguments.index("--")
    named = arguments[:split]
    return dict(zip(named[::2], named[1::2])), arguments[split + 1 :]


def write_all(fd, data):
    while data:
        data = data[os.write(fd, data) :]


def forward(program, options):
    """Until the program closes its stdout."""
    there, back = program.stdin.fileno(), program.stdout.fileno()
    poll = select.poll()
    poll.register(0, select.POLLIN)
    poll.register(back, select.POLLIN)
    while True:
        for fd, _ in poll.poll():
            data = os.read(fd, 65536)
            if fd == back:
                if not data:
                    return
                make_trouble(data, options)
                write_all(1, data)
            elif data:
                write_all(there, data)
            else:
                poll.unregister(0)
                program.stdin.close()


def make_trouble(data, options):
    for option in ("--dies-at", "--hangs-at"):
        before, mark, _ = data.partition(options.get(option, "\0").encode())
        if mark and option in options:
            write_all(1, before)
            if option == "--dies-at":
                os._exit(255)
            select.poll().poll()


def main():
    options, words = options_and_words(sys.argv[1:])
    write_all(1, options.get("--print", "").encode())
    program = subprocess.Popen(
        ["sh", "-c", " ".join(words)] if "--shell" in options else words,
        env={"PATH": os.environ["PATH"]},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        start_new_session=True,
        bufsize=0,
    )
    forward(program, options)
    code = program.wait()
    sys.exit(255 if code < 0 else code)


main()
