// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

// The program `skep`, for tasks with pools in a shell.

#include "command/admin_actions.hpp"
#include "command/admin_client.hpp"
#include "command/check.hpp"
#include "command/describe.hpp"
#include "command/dev.hpp"
#if SKEP_HAS_REMOTE
#include "command/nodes.hpp"
#include "command/serve.hpp"
#endif
#include "command/usage_error.hpp"
#include "command/words.hpp"

#include <algorithm>
#include <exception>
#include <iostream>
#include <string>
#include <string_view>
#include <vector>

namespace skep {

namespace {

constexpr int failed = 1;
constexpr int wrong_usage = 2;
constexpr int unreachable = 3;

/// An action of the program: the first word of the command line.
struct verb {
    std::string_view name;
    std::string_view usage; ///< the words behind the name
    std::string_view summary;
    int (*run)(const std::vector<std::string>& words);
};

constexpr verb verbs[] = {
    {"check", "[-C DIR] [--json] CONFIG",
     "checks a JSON configuration of one pool or several, and that a worker of each comes up and is well,\n"
     "    and, with a \"node\" or \"remote\", that a NATS server can be reached, and which nodes there are;\n"
     "    -C DIR: runs in that folder",
     check},
    {"dev", "CONFIG",
     "runs the pools of a configuration for their developer: one worker each, without timeouts; replaces "
     "workers\n"
     "    when files of their scripts' folders change; reads calls from stdin: COMMAND {JSON}",
     develop},
#if SKEP_HAS_REMOTE
    {"serve", "CONFIG",
     "runs the pools of a configuration with a \"node\" for clients on other machines; SIGTERM lets calls "
     "finish,\n"
     "    a second one does not; SIGHUP replaces all workers",
     serve},
    {"nodes", "[--json] [--wait TIME] CONFIG, or [--timeout TIME] CONFIG drain|undrain|restart NODE",
     "lists the nodes that the configuration of a \"node\" or of a client reaches, with their pools;\n"
     "    --wait: for their answers, 300ms by default\n"
     "    drain: sends new calls to other nodes, while running calls finish; undrain: ends that; restart: "
     "replaces\n"
     "    the workers of the node; --timeout: for the answer, 10s by default, 10min for restart",
     use_nodes},
#endif
    {"describe", "[--python PROGRAM] [--json | --cpp] [--namespace NAME] SCRIPT",
     "prints the commands of a worker in Python with their types, as text, JSON or a C++ header", describe},
    {"status", "[--json] URL", "shows the pools and workers of a running service", show_status},
    {"top", "[--interval TIME] [--count N] URL", "the same, again every second", show_top},
    {"call", "[--json] [--timeout TIME] URL POOL COMMAND [NAME=VALUE ... | JSON]",
     "runs a command and prints its result; a VALUE that is JSON is passed as JSON, anything else as text",
     make_call},
    {"restart", "URL TARGET...", "replaces workers; calls in flight finish", restart},
    {"suspend", "URL TARGET...", "takes workers out of service; returns when their calls are answered",
     suspend},
    {"resume", "URL TARGET...", "undoes suspend", resume},
    {"stacks", "URL WORKER...", "prints what the threads of a worker are doing", show_stacks},
};

constexpr std::string_view notes = "URL is the admin port of the service, such as http://127.0.0.1:8090. A "
                                   "TARGET is POOL or a WORKER: POOL/SLOT\n"
                                   "or POOL/SLOT#GENERATION, such as default/0. All but status and top need "
                                   "the token of the admin port in the\n"
                                   "environment variable SKEP_ADMIN_TOKEN.\n"
                                   "Exit status: 0; 1 if the check, the call or the change fails; 2 if the "
                                   "usage is wrong; 3 if the service\n"
                                   "or the NATS server cannot be reached, or the service does not accept the "
                                   "token.\n";

void explain(std::ostream& out, const verb& one) {
    out << "skep " << one.name << ' ' << one.usage << "\n    " << one.summary << '\n';
}

void explain_all(std::ostream& out) {
    out << "usage: skep --version, or skep ACTION ...\n\n";
    for (const auto& each : verbs) {
        explain(out, each);
    }
    out << '\n' << notes;
}

const verb* find_verb(std::string_view name) {
    const auto* const found =
        std::find_if(std::begin(verbs), std::end(verbs), [&](const verb& each) { return each.name == name; });
    return found == std::end(verbs) ? nullptr : found;
}

int fail(const std::exception& problem, int status) {
    std::cerr << "skep: " << problem.what() << '\n';
    return status;
}

int run_action(const verb& action, const std::vector<std::string>& words) {
    if (std::find(words.begin(), words.end(), "--help") != words.end()) {
        explain(std::cout, action);
        return 0;
    }
    try {
        return action.run(words);
    } catch (const usage_error& problem) {
        fail(problem, wrong_usage);
        std::cerr << "usage: skep " << action.name << ' ' << action.usage << '\n';
        return wrong_usage;
    } catch (const service_unreachable& problem) {
        return fail(problem, unreachable);
    } catch (const std::exception& problem) {
        return fail(problem, failed);
    }
}

int run_program(const std::vector<std::string>& words) {
    const auto name = words.empty() ? std::string() : words.front();
    if (name == "--version") {
        std::cout << "skep " SKEP_VERSION "\n";
        return 0;
    }
    if (name == "--help") {
        explain_all(std::cout);
        return 0;
    }
    const auto* const action = find_verb(name);
    if (action != nullptr) {
        return run_action(*action, {words.begin() + 1, words.end()});
    }
    if (!name.empty()) {
        std::cerr << "skep: there is no action " << name << '\n';
    }
    explain_all(std::cerr);
    return wrong_usage;
}

} // namespace

} // namespace skep

int main(int argc, char** argv) {
    return skep::run_program(std::vector<std::string>(argv + std::min(argc, 1), argv + argc));
}
