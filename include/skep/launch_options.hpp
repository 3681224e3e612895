// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace skep {

/// What a worker and its host talk over.
enum class transport {
    socket, ///< two socket pairs of their own: for workers on this machine
    stdio   ///< stdin and stdout: for workers behind a program that forwards these, wherever they are
};

/// How a worker process is started. No shell is involved: `args` reach the program as they are.
///
/// The host's environment, its PATH, its working directory, its limits and the like are those of the moment when the pool is
/// made: a later change of them reaches no worker. lib/process/README.md has the whole list.
struct launch_options {
    /// Program name (looked up in PATH) or path. Required. Relative paths count from the host's directory; behind a
    /// prefix it is the prefix that looks for it. The program sees its absolute path as its name (argv[0]), with symbolic
    /// links as they are, so that the interpreter of a virtual environment finds it.
    std::string program;
    std::vector<std::string> args; ///< what the program is given, word by word

    /// Over stdio, the worker's process may be on another machine, so what skep starts here is not looked into: a
    /// worker that hangs is not asked for its stacks, its memory counts as 0, and recycle.soft_memory and hard_memory
    /// are refused. While it is at a call it gets no pings; one that does not listen meanwhile, as those of the two
    /// SDKs do, misses that the call is cancelled, and is replaced after cancel_grace. What it prints to stdout has to be frames; the Python SDK sees to that.
    skep::transport transport = skep::transport::socket;

    /// Put before `program`: the words of a program that starts it, such as {"nice", "-n", "10"}, or, over stdio,
    /// {"ssh", "-T", "-o", "BatchMode=yes", "host"} or {"docker", "run", "--rm", "-i", "image"}. Pids, signals and exit
    /// statuses are those of this program; over sockets, memory is that of the worker, as long as the worker stays in the
    /// group or session of this program. It has to pass on stdin, stdout and the end of both; over sockets, the
    /// descriptors 3 and 4, which nothing does that leaves the machine.
    ///
    /// Over stdio it need not pass on the environment: the variables that skep sets and those in `environment` and
    /// `slot_environment` follow it as words (`env NAME=VALUE ... program args`), which others on both machines can
    /// read. So keep secrets out of them. The Python package is not shipped either: it has to be installed over there.
    std::vector<std::string> prefix;

    /// The prefix hands what follows it to a POSIX shell, as ssh does: each word is quoted for that. Only with a prefix
    /// over stdio.
    bool remote_shell = false;

    /// Added to `args`, slot by slot: the worker in slot n gets the list n, counted round if there are fewer.
    std::vector<std::vector<std::string>> slot_args;

    /// Added to the worker's environment; wins over inherited and automatic variables. std::nullopt removes a variable.
    /// Names must be non-empty and hold neither '=' nor NUL; names starting with SKEP_ are reserved. systemd's variables for
    /// the host alone (NOTIFY_SOCKET, FDSTORE, WATCHDOG_PID, WATCHDOG_USEC, LISTEN_PID, LISTEN_PIDFDID, LISTEN_FDS,
    /// LISTEN_FDNAMES) are not inherited.
    std::map<std::string, std::optional<std::string>> environment;

    /// Variables that differ from slot to slot: the worker in slot n gets value n of each, counted round if there are
    /// fewer, so that {"CUDA_VISIBLE_DEVICES", {"0", "1"}} deals two devices out among any number of workers. Wins over
    /// `environment`; the same rules for names.
    std::map<std::string, std::vector<std::string>> slot_environment;

    /// False: the worker sees only `environment`, PATH, HOME, LANG and what skep sets.
    bool inherit_environment = true;

    /// Empty: the host's, as it is when the pool is made. A relative path counts from that. Must exist. Behind a prefix, it
    /// is the directory that this starts in.
    std::filesystem::path working_directory;
};

} // namespace skep
