// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include <skep/worker_state.hpp>

#include <boost/test/data/monomorphic.hpp>
#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <array>
#include <csignal>
#include <fstream>
#include <iterator>
#include <set>
#include <string>
#include <vector>

using namespace skep;
using namespace std::chrono_literals;
namespace data = boost::unit_test::data;

BOOST_AUTO_TEST_SUITE(worker_state_test)

namespace {

using wall_time = std::chrono::system_clock::time_point;

constexpr time_point start{1000s};
constexpr wall_time wall_start{1'700'000'000s};

constexpr std::array all_states{worker_state::created,   worker_state::pending,  worker_state::starting,
                                worker_state::ready,     worker_state::busy,     worker_state::degraded,
                                worker_state::suspended, worker_state::stopping, worker_state::stopped,
                                worker_state::finished,  worker_state::failed,   worker_state::killed};
static_assert(all_states.size() == worker_state_count);

// Rows: from; columns: to, both in the order of all_states.
constexpr std::array<std::string_view, worker_state_count> lifecycle{
    //        cr pe st re bu de su sg sd fi fa ki
    /* cr */ " .  x  x  .  .  .  .  .  .  .  .  . ",
    /* pe */ " .  .  x  .  .  .  .  .  x  .  .  . ",
    /* st */ " .  .  .  x  .  .  .  x  x  .  x  . ",
    /* re */ " .  .  .  .  x  x  x  x  x  x  x  . ",
    /* bu */ " .  .  .  x  .  x  x  x  x  x  x  . ",
    /* de */ " .  .  .  x  x  .  x  x  x  x  x  . ",
    /* su */ " .  .  .  x  x  x  .  x  x  x  x  . ",
    /* sg */ " .  .  .  .  .  .  .  .  x  .  x  x ",
    /* sd */ " .  .  .  .  .  .  .  .  .  .  .  . ",
    /* fi */ " .  .  .  .  .  .  .  .  .  .  .  . ",
    /* fa */ " .  .  .  .  .  .  .  .  .  .  .  . ",
    /* ki */ " .  .  .  .  .  .  .  .  .  .  .  . "};

bool expected_legal(std::size_t from, std::size_t to) {
    return lifecycle[from].at(3 * to + 1) == 'x';
}

std::vector<worker_state> path_to(worker_state state) {
    using enum worker_state;
    switch (state) {
    case created: return {};
    case pending: return {pending};
    case starting: return {starting};
    case ready: return {starting, ready};
    case busy: return {starting, ready, busy};
    case degraded: return {starting, ready, degraded};
    case suspended: return {starting, ready, suspended};
    case stopping: return {starting, stopping};
    case stopped: return {pending, stopped};
    case finished: return {starting, ready, finished};
    case failed: return {starting, failed};
    case killed: return {starting, stopping, killed};
    }
    return {};
}

worker_state_machine machine_in(worker_state state) {
    worker_state_machine machine(start, wall_start);
    for (const auto next : path_to(state)) {
        BOOST_REQUIRE(!machine.move_to(next, transition_reason::launch, "on the way", start, wall_start));
    }
    BOOST_REQUIRE((machine.state() == state));
    return machine;
}

std::string name(worker_state state) {
    return std::string(to_string(state));
}

} // namespace

BOOST_AUTO_TEST_CASE(every_pair_of_states_is_legal_exactly_if_the_design_says_so) {
    for (std::size_t from = 0; from < worker_state_count; ++from) {
        for (std::size_t to = 0; to < worker_state_count; ++to) {
            BOOST_TEST_CONTEXT(name(all_states[from]) << " -> " << name(all_states[to])) {
                BOOST_TEST(is_legal(all_states[from], all_states[to]) == expected_legal(from, to));
            }
        }
    }
}

BOOST_AUTO_TEST_CASE(the_machine_makes_every_legal_move_and_refuses_every_other) {
    for (std::size_t from = 0; from < worker_state_count; ++from) {
        for (std::size_t to = 0; to < worker_state_count; ++to) {
            BOOST_TEST_CONTEXT(name(all_states[from]) << " -> " << name(all_states[to])) {
                auto machine = machine_in(all_states[from]);
                machine.set_health(worker_health::healthy, wall_start + 1s);
                machine.set_tainted(true, wall_start + 2s);
                const auto before = machine;
                const auto ec = machine.move_to(all_states[to], transition_reason::launch, "why", start + 7s,
                                                wall_start + 9s, {{"k", 1}});
                if (expected_legal(from, to)) {
                    BOOST_TEST(!ec);
                    BOOST_TEST(name(machine.state()) == name(all_states[to]));
                    BOOST_TEST((machine.entered_at() == start + 7s));
                    BOOST_TEST((machine.updated_at() == wall_start + 9s));
                    BOOST_TEST(machine.history().size() == before.history().size() + 1);
                } else {
                    BOOST_TEST((ec == errc::illegal_transition));
                    BOOST_TEST(name(machine.state()) == name(before.state()));
                    BOOST_TEST((machine.entered_at() == before.entered_at()));
                    BOOST_TEST((machine.updated_at() == before.updated_at()));
                    BOOST_TEST((machine.started_at() == before.started_at()));
                    BOOST_TEST(machine.history().size() == before.history().size());
                }
                BOOST_TEST((machine.health() == worker_health::healthy));
                BOOST_TEST(machine.tainted());
            }
        }
    }
}

BOOST_AUTO_TEST_CASE(a_new_machine_knows_nothing) {
    const worker_state_machine machine(start, wall_start);
    BOOST_TEST(name(machine.state()) == "created");
    BOOST_TEST((machine.health() == worker_health::unknown));
    BOOST_TEST(!machine.tainted());
    BOOST_TEST(!machine.accepts_work());
    BOOST_TEST(!machine.started_at().has_value());
    BOOST_TEST((machine.entered_at() == start));
    BOOST_TEST((machine.updated_at() == wall_start));
    BOOST_TEST(machine.history().empty());
}

BOOST_AUTO_TEST_CASE(terminal_and_running_states) {
    const std::set<std::string> terminal{"stopped", "finished", "failed", "killed"};
    const std::set<std::string> running{"ready", "busy", "degraded"};
    for (std::size_t i = 0; i < worker_state_count; ++i) {
        const auto state = all_states[i];
        BOOST_TEST_CONTEXT(name(state)) {
            BOOST_TEST(is_terminal(state) == (terminal.count(name(state)) == 1));
            BOOST_TEST(is_running(state) == (running.count(name(state)) == 1));
            BOOST_TEST(is_terminal(state) == (lifecycle[i].find('x') == std::string_view::npos));
        }
    }
}

BOOST_AUTO_TEST_CASE(every_name_is_its_own) {
    std::set<std::string> names;
    for (const auto state : all_states) {
        names.insert(name(state));
    }
    const std::set<std::string> expected{"created", "pending",  "starting",  "ready",
                                         "busy",    "degraded", "suspended", "stopping",
                                         "stopped", "finished", "failed",    "killed"};
    BOOST_TEST(names == expected, boost::test_tools::per_element());
    BOOST_TEST(to_string(worker_health::unknown) == "unknown");
    BOOST_TEST(to_string(worker_health::healthy) == "healthy");
    BOOST_TEST(to_string(worker_health::unhealthy) == "unhealthy");
}

// One row per combination of flags, one column per status; each letter is what the worker shall have been.
// Intent, first match wins: killed > stopped > failed > finished. Two refinements: a SIGKILL that came too
// late to end the process forced nothing, and after a lost channel a SIGTERM is the one we sent ourselves.
BOOST_AUTO_TEST_CASE(terminal_state_over_the_full_product) {
    struct row {
        bool forced, stop_requested, channel_lost;
        std::string_view expected;
    };
    const std::array statuses{exit_status::exited(0),
                              exit_status::exited(3),
                              exit_status::signalled(SIGKILL),
                              exit_status::signalled(SIGTERM),
                              exit_status::signalled(SIGINT),
                              exit_status::signalled(SIGSEGV),
                              exit_status()};
    constexpr bool no = false;
    constexpr bool yes = true;
    //                            exit 0, exit 3, KILL, TERM, INT, SEGV, unknown
    constexpr std::array<row, 8> rows{{{no, no, no, "nffssff"},
                                       {no, yes, no, "sffssff"},
                                       {no, no, yes, "fffffff"},
                                       {no, yes, yes, "sffffff"},
                                       {yes, no, no, "nfkssfk"},
                                       {yes, yes, no, "sfkssfk"},
                                       {yes, no, yes, "ffkfffk"},
                                       {yes, yes, yes, "sfkfffk"}}};
    for (const auto& row : rows) {
        for (std::size_t i = 0; i < statuses.size(); ++i) {
            const auto letter = row.expected.at(i);
            const auto expected = letter == 'n'   ? worker_state::finished
                                  : letter == 's' ? worker_state::stopped
                                  : letter == 'f' ? worker_state::failed
                                                  : worker_state::killed;
            worker_outcome outcome;
            outcome.forced = row.forced;
            outcome.stop_requested = row.stop_requested;
            outcome.channel_lost = row.channel_lost;
            outcome.status = statuses.at(i);
            BOOST_TEST_CONTEXT("forced " << row.forced << ", stop requested " << row.stop_requested
                                         << ", channel lost " << row.channel_lost << ", "
                                         << to_string(outcome.status)) {
                BOOST_TEST(name(terminal_state(outcome)) == name(expected));
            }
        }
    }
}

BOOST_AUTO_TEST_CASE(every_outcome_has_an_edge_from_the_state_it_arises_in) {
    for (const auto& status :
         {exit_status::exited(0), exit_status::exited(1), exit_status::signalled(SIGKILL),
          exit_status::signalled(SIGTERM), exit_status()}) {
        for (int bits = 0; bits < 8; ++bits) {
            worker_outcome outcome;
            outcome.forced = (bits & 1) != 0;
            outcome.stop_requested = (bits & 2) != 0;
            outcome.channel_lost = (bits & 4) != 0;
            outcome.status = status;
            const auto end = terminal_state(outcome);
            BOOST_TEST(is_terminal(end));
            if (outcome.stop_requested || outcome.channel_lost) {
                BOOST_TEST(is_legal(worker_state::stopping, end), "stopping -> " << name(end));
            } else if (!outcome.forced) {
                for (const auto from : {worker_state::ready, worker_state::busy, worker_state::degraded,
                                        worker_state::suspended}) {
                    BOOST_TEST(is_legal(from, end), name(from) << " -> " << name(end));
                }
            }
        }
    }
}

BOOST_AUTO_TEST_CASE(a_transition_tells_everything) {
    worker_state_machine machine(start, wall_start);
    BOOST_TEST(!machine.move_to(worker_state::starting, transition_reason::launch, "pool started", start + 3s,
                                wall_start + 4s));
    BOOST_TEST(!machine.move_to(worker_state::ready, transition_reason::launch, "handshake done",
                                start + 3s + 5ms, wall_start - 1h, {{"pid", 4711}}));
    BOOST_REQUIRE(machine.history().size() == 2u);
    const auto& first = machine.history()[0];
    BOOST_TEST(name(first.from) == "created");
    BOOST_TEST(name(first.to) == "starting");
    BOOST_TEST(first.reason == "pool started");
    BOOST_TEST((first.time_in_state == 3s));
    BOOST_TEST((first.at == wall_start + 4s));
    BOOST_TEST(first.metadata.empty());
    const auto& second = machine.history()[1];
    BOOST_TEST(name(second.from) == "starting");
    BOOST_TEST(name(second.to) == "ready");
    BOOST_TEST((second.time_in_state == 5ms)); // by the monotonic clock, whatever the wall clock did
    BOOST_TEST((second.at == wall_start - 1h));
    BOOST_TEST(second.metadata.at("pid").as_int64() == 4711);
}

BOOST_AUTO_TEST_CASE(history_is_bounded_and_ordered) {
    auto machine = machine_in(worker_state::ready);
    constexpr int moves = 100;
    for (int i = 1; i <= moves; ++i) {
        const auto to = i % 2 != 0 ? worker_state::busy : worker_state::ready;
        BOOST_REQUIRE(!machine.move_to(to, transition_reason::launch, std::to_string(i), start + i * 1s,
                                       wall_start + i * 2s));
        BOOST_TEST(machine.history().size() <= worker_state_machine::history_limit);
    }
    BOOST_REQUIRE(machine.history().size() == worker_state_machine::history_limit);
    int expected = moves - static_cast<int>(worker_state_machine::history_limit) + 1;
    for (const auto& entry : machine.history()) {
        BOOST_TEST(entry.reason == std::to_string(expected));
        BOOST_TEST((entry.time_in_state == 1s));
        BOOST_TEST((entry.at == wall_start + expected * 2s));
        ++expected;
    }
    for (std::size_t i = 1; i < machine.history().size(); ++i) {
        BOOST_TEST(name(machine.history()[i].from) == name(machine.history()[i - 1].to));
    }
}

BOOST_AUTO_TEST_CASE(changes_with_every_call_share_one_entry) {
    auto machine = machine_in(worker_state::ready);
    const auto before = machine.history().size();
    BOOST_TEST(!machine.set_busy(false, start));
    BOOST_TEST(!machine.flips(start, wall_start));
    for (int i = 1; i <= 101; ++i) {
        BOOST_TEST(machine.set_busy(i % 2 != 0, start + i * 1s));
        BOOST_TEST(!machine.set_busy(i % 2 != 0, start + i * 1s));
    }
    BOOST_TEST(name(machine.state()) == "busy");
    BOOST_TEST(machine.history().size() == before);
    const auto flips = machine.flips(start + 111s, wall_start + 111s);
    BOOST_REQUIRE(flips);
    BOOST_TEST(flips->count == 101u);
    BOOST_TEST((flips->at == wall_start + 101s));
    BOOST_TEST((flips->time_in_state == 1s));
    BOOST_TEST((flips->code == transition_reason::checkout));
    BOOST_TEST((machine.updated_at(start + 111s, wall_start + 111s) == wall_start + 101s));
    BOOST_TEST(!machine.move_to(worker_state::degraded, transition_reason::health_check_failed, "sick",
                                start + 111s, wall_start + 111s));
    BOOST_REQUIRE(machine.history().size() == before + 2);
    BOOST_TEST(machine.history()[before].count == 101u);
    BOOST_TEST((machine.history().back().time_in_state == 10s));
    BOOST_TEST(!machine.flips(start + 112s, wall_start + 112s));
    BOOST_TEST(!machine.set_busy(true, start + 112s)); // nor in any other state
    BOOST_TEST(name(machine.state()) == "degraded");
}

BOOST_AUTO_TEST_CASE(what_calls_change_pushes_nothing_out) {
    auto machine = machine_in(worker_state::ready);
    for (std::size_t i = 0; i < 2 * worker_state_machine::history_limit; ++i) {
        machine.set_busy(true, start);
        BOOST_REQUIRE(!machine.move_to(worker_state::degraded, transition_reason::health_check_failed, "",
                                       start, wall_start));
        BOOST_REQUIRE(!machine.move_to(worker_state::ready, transition_reason::health_check_passed, "", start,
                                       wall_start));
    }
    const auto& history = machine.history();
    const auto flips = std::count_if(history.begin(), history.end(), [](const transition& each) {
        return each.code == transition_reason::checkout;
    });
    BOOST_TEST(history.size() - static_cast<std::size_t>(flips) == worker_state_machine::history_limit);
}

BOOST_AUTO_TEST_CASE(started_at_is_the_first_time_it_became_ready) {
    worker_state_machine machine(start, wall_start);
    BOOST_TEST(
        !machine.move_to(worker_state::starting, transition_reason::launch, "", start, wall_start + 1s));
    BOOST_TEST(!machine.started_at().has_value());
    BOOST_TEST(!machine.move_to(worker_state::ready, transition_reason::launch, "", start, wall_start + 2s));
    BOOST_TEST((machine.started_at() == wall_start + 2s));
    BOOST_TEST(!machine.move_to(worker_state::busy, transition_reason::launch, "", start, wall_start + 3s));
    BOOST_TEST(!machine.move_to(worker_state::ready, transition_reason::launch, "", start, wall_start + 4s));
    BOOST_TEST((machine.started_at() == wall_start + 2s));
    BOOST_TEST((machine.updated_at() == wall_start + 4s));
}

BOOST_AUTO_TEST_CASE(health_and_taint_are_updates_but_no_transitions) {
    auto machine = machine_in(worker_state::ready);
    const auto entries = machine.history().size();
    machine.set_health(worker_health::unhealthy, wall_start + 5s);
    BOOST_TEST((machine.updated_at() == wall_start + 5s));
    BOOST_TEST((machine.health() == worker_health::unhealthy));
    machine.set_tainted(true, wall_start + 6s);
    BOOST_TEST((machine.updated_at() == wall_start + 6s));
    BOOST_TEST(machine.tainted());
    BOOST_TEST((machine.entered_at() == start));
    BOOST_TEST(machine.history().size() == entries);
}

BOOST_AUTO_TEST_CASE(it_takes_work_only_if_ready_healthy_and_not_tainted) {
    for (const auto state : all_states) {
        for (const auto health : {worker_health::unknown, worker_health::healthy, worker_health::unhealthy}) {
            for (const bool tainted : {false, true}) {
                auto machine = machine_in(state);
                machine.set_health(health, wall_start);
                machine.set_tainted(tainted, wall_start);
                const bool expected =
                    state == worker_state::ready && health == worker_health::healthy && !tainted;
                BOOST_TEST_CONTEXT(name(state) << ", " << to_string(health) << ", tainted " << tainted) {
                    BOOST_TEST(machine.accepts_work() == expected);
                }
            }
        }
    }
}

BOOST_AUTO_TEST_CASE(views_are_derived_from_the_state) {
    struct row {
        std::string_view lifecycle, availability;
    };
    constexpr std::array<row, worker_state_count> expected{{{"initializing", "recovering"},
                                                            {"initializing", "recovering"},
                                                            {"initializing", "recovering"},
                                                            {"ready", "available"},
                                                            {"busy", "busy"},
                                                            {"degraded", "busy"},
                                                            {"degraded", "busy"},
                                                            {"terminating", "busy"},
                                                            {"terminated", "dead"},
                                                            {"terminated", "dead"},
                                                            {"terminated", "dead"},
                                                            {"terminated", "dead"}}};
    for (std::size_t i = 0; i < worker_state_count; ++i) {
        BOOST_TEST_CONTEXT(name(all_states[i])) {
            auto machine = machine_in(all_states[i]);
            BOOST_TEST(to_string(machine.lifecycle()) == expected[i].lifecycle);
            BOOST_TEST(to_string(machine.availability()) == expected[i].availability);
            machine.set_tainted(true, wall_start);
            BOOST_TEST(to_string(machine.lifecycle()) == expected[i].lifecycle);
            BOOST_TEST(to_string(machine.availability()) ==
                       (is_terminal(all_states[i]) ? std::string_view("dead") : std::string_view("tainted")));
        }
    }
}

BOOST_DATA_TEST_CASE(exit_status_says_how_a_process_ended, data::xrange(0, 256, 17), code) {
    const auto status = exit_status::exited(code);
    BOOST_TEST(status.known());
    BOOST_TEST(!status.by_signal());
    BOOST_TEST(status.success() == (code == 0));
    BOOST_TEST(status.code() == code);
    BOOST_TEST(status.signal() == 0);
    BOOST_TEST(to_string(status) == "exit code " + std::to_string(code));
}

BOOST_AUTO_TEST_CASE(exit_status_never_takes_a_signal_for_an_exit_code) {
    const auto nine = exit_status::signalled(SIGKILL);
    BOOST_TEST((nine != exit_status::exited(SIGKILL)));
    BOOST_TEST(nine.by_signal());
    BOOST_TEST(nine.known());
    BOOST_TEST(!nine.success());
    BOOST_TEST(nine.code() == -1);
    BOOST_TEST(nine.signal() == SIGKILL);
    BOOST_TEST(to_string(nine) == "signal 9 (Killed)");
    BOOST_TEST(to_string(exit_status::signalled(SIGSEGV)) == "signal 11 (Segmentation fault)");

    const exit_status unknown;
    BOOST_TEST(!unknown.known());
    BOOST_TEST(!unknown.success());
    BOOST_TEST(!unknown.by_signal());
    BOOST_TEST(unknown.code() == -1);
    BOOST_TEST(unknown.signal() == 0);
    BOOST_TEST(to_string(unknown) == "unknown exit status");
    BOOST_TEST((unknown == exit_status()));
}

BOOST_AUTO_TEST_CASE(the_guide_draws_every_legal_transition_and_no_other) {
    std::string drawing = "```mermaid\nstateDiagram-v2\n";
    for (std::size_t from = 0; from < worker_state_count; ++from) {
        for (std::size_t to = 0; to < worker_state_count; ++to) {
            const auto before = static_cast<worker_state>(from);
            const auto after = static_cast<worker_state>(to);
            if (is_legal(before, after)) {
                drawing +=
                    "  " + std::string(to_string(before)) + " --> " + std::string(to_string(after)) + '\n';
            }
        }
    }
    drawing += "```\n";
    std::ifstream file(std::string(SKEP_TEST_DIR) + "/../lib/README.md");
    const std::string guide{std::istreambuf_iterator<char>(file), {}};
    BOOST_TEST(guide.find(drawing) != std::string::npos, "this is to be its drawing:\n" << drawing);
}

BOOST_AUTO_TEST_CASE(likely_causes) {
    BOOST_TEST(likely_cause(exit_status::exited(0)).empty());
    BOOST_TEST(likely_cause(exit_status::exited(1)).empty());
    BOOST_TEST(likely_cause(exit_status::signalled(SIGTERM)).empty());
    for (const int signal : {SIGKILL, SIGSEGV, SIGBUS, SIGABRT, SIGILL, SIGFPE, SIGXCPU}) {
        BOOST_TEST(!likely_cause(exit_status::signalled(signal)).empty(), "signal " << signal);
        BOOST_TEST(likely_cause(exit_status::exited(signal)).empty(), "exit code " << signal);
    }
    for (const int code : {70, 76, 126, 127}) {
        BOOST_TEST(!likely_cause(exit_status::exited(code)).empty(), "exit code " << code);
    }
    BOOST_TEST(likely_cause(exit_status()).empty()); // it has not ended
    BOOST_TEST(!likely_cause(exit_status::taken()).empty());
}

BOOST_AUTO_TEST_SUITE_END()
