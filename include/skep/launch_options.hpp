// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace skep {

/// The connection between a worker and its host.
enum class transport {
    socket, ///< two socket pairs: for workers on this machine
    stdio   ///< stdin and stdout: for workers behind a program that forwards both, on any machine
};

/// Start of a worker process. No shell is involved: `args` reach the program unchanged.
///
/// The pool's constructor reads the host's environment, PATH, working directory, limits and the like. A later
/// change does not reach any worker. For the whole list, see lib/process/README.md.
struct launch_options {
    /// Program name (looked up in PATH) or path. Required. A relative path counts from the host's working
    /// directory. Behind a prefix, the prefix looks the program up. argv[0] is the absolute path of the
    /// program, with symbolic links unresolved, so that the interpreter of a virtual environment finds its
    /// environment.
    std::string program;
    std::vector<std::string> args; ///< arguments of the program, one word each

    /// Over stdio the worker's process may be on another machine, so the pool does not inspect the process
    /// that it starts: it does not request the stacks of a frozen worker, counts the worker's memory as 0,
    /// and rejects recycle.soft_memory and hard_memory. A worker gets no pings during a call. The worker must
    /// read its stdin during a call, as workers of both SDKs do; otherwise it misses the cancellation of the
    /// call and is replaced after cancel_grace. The worker must write only frames to stdout; the Python SDK
    /// takes care of that.
    skep::transport transport = skep::transport::socket;

    /// Words put before `program`: a program that starts the worker, such as {"nice", "-n", "10"}, or, over
    /// stdio, {"ssh", "-T", "-o", "BatchMode=yes", "host"} or {"docker", "run", "--rm", "-i", "image"}. Pids,
    /// signals and exit statuses belong to the prefix. Over sockets, the measured memory is the worker's, as
    /// long as the worker stays in the process group or session of the prefix. The prefix must forward stdin
    /// and stdout, including EOF. With the socket transport it must also inherit descriptors 3 and 4, so
    /// remote launchers need stdio.
    ///
    /// Over stdio the prefix need not forward the environment: the variables set by skep, `environment` and
    /// `slot_environment` follow the prefix as words (`env NAME=VALUE ... program args`). Other users of both
    /// machines can read these words, so keep secrets out of them. The Python package is not shipped: install
    /// it on the other machine.
    std::vector<std::string> prefix;

    /// True: the prefix passes the words after it to a POSIX shell, as ssh does, and each word is quoted for
    /// the shell. Only with a prefix over stdio.
    bool remote_shell = false;

    /// Added to `args`, per slot: the worker in slot n gets list n modulo the number of lists.
    std::vector<std::vector<std::string>> slot_args;

    /// Added to the worker's environment. Overrides inherited and automatic variables. std::nullopt removes a
    /// variable. A name must not be empty or contain '=' or NUL; names that begin with SKEP_ are reserved.
    /// Variables of systemd for the host alone (NOTIFY_SOCKET, FDSTORE, WATCHDOG_PID, WATCHDOG_USEC,
    /// LISTEN_PID, LISTEN_PIDFDID, LISTEN_FDS, LISTEN_FDNAMES) are not inherited.
    std::map<std::string, std::optional<std::string>> environment;

    /// Variables that differ per slot: the worker in slot n gets value n modulo the number of values. For
    /// example, {"CUDA_VISIBLE_DEVICES", {"0", "1"}} spreads any number of workers over two devices.
    /// Overrides `environment`; the same rules for names.
    std::map<std::string, std::vector<std::string>> slot_environment;

    /// False: the worker's environment has only `environment`, PATH, HOME, LANG and the variables set by
    /// skep.
    bool inherit_environment = true;

    /// Working directory of the program, or of the prefix. Must exist. Empty: the host's working directory
    /// when the pool is made. A relative path counts from there.
    std::filesystem::path working_directory;

    /// True: the script is loaded once, by a template, and each worker is forked from the template. Workers
    /// start in milliseconds, and share the memory of models that the script has loaded: see
    /// lib/process/README.md. A changed script takes effect with rolling_restart(). Not over stdio; a prefix
    /// must start its words by exec: nice, ionice, chrt, taskset or numactl.
    bool preload = false;

    /// True: a worker whose template cannot be made, or must not be forked (it has threads, or a GPU open),
    /// starts without the template, and template_refused tells why. False: the start of the worker fails.
    bool preload_fallback = true;
};

} // namespace skep
