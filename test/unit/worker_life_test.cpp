// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "policy/worker_life.hpp"

#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <array>
#include <csignal>
#include <functional>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

using namespace skep;
using namespace std::chrono_literals;

namespace {

using enum departure_cause;

constexpr std::array every_fault{lost_channel, protocol_error, lost_heartbeat, failed_start, failed_probes,
                                 overdue_call, error_streak,   fails_alone,    memory_limit};
constexpr std::array all_obstacles{obstacle::not_up, obstacle::degraded, obstacle::doubted,
                                   obstacle::suspended, obstacle::due};

std::string name_of(life_step step) {
    static constexpr std::array names{
        "wait", "cancel_launch", "take_stacks", "keep_stacks", "release_calls", "ask", "terminate",
        "kill", "hear_out",      "reap",        "give_up",     "close",         "done"};
    return names.at(static_cast<std::size_t>(step));
}

pool_config config_of_this_test() {
    pool_config config;
    config.start.timeout = 10s;
    config.stop.shutdown_grace = 3s;
    config.stop.term_grace = 2s;
    config.stop.reap_timeout = 1s;
    config.stop.stack_dump_timeout = 300ms;
    return config;
}

/// A worker's life, and the time.
class life_trial {
public:
    explicit life_trial(const pool_config& of = config_of_this_test()) : config(of), life(config, at()) {}
    life_trial(const life_trial&) = delete;
    life_trial& operator=(const life_trial&) = delete;

    moment at() const { return {now, {}}; }

    /// What is to be done until there is nothing to be done, such as "release_calls terminate wait".
    std::string steps() {
        std::string text;
        for (auto step = life.next(at());; step = life.next(at())) {
            text += (text.empty() ? "" : " ") + name_of(step);
            if (step == life_step::wait || step == life_step::done) {
                return text;
            }
        }
    }

    std::string steps_after(duration span) {
        now += span;
        return steps();
    }

    /// How long from now its deadline is; -1 if it has none.
    std::chrono::milliseconds left() const {
        return life.deadline() == time_point::max()
                   ? -1ms
                   : std::chrono::duration_cast<std::chrono::milliseconds>(life.deadline() - now);
    }

    recovery_action fail(departure_cause cause, errc code = errc::worker_lost) {
        return life.fail({cause, "it failed", code, 1, 3}, at());
    }

    void launch() {
        life.launched(42);
        BOOST_TEST(steps() == "wait");
    }
    void serve(int stack_signal = 0) {
        launch();
        life.greeted(stack_signal);
        life.came_up(at());
        BOOST_TEST(steps() == "wait");
    }

    /// Its process and its channels end at once, and its status is `status`. Returns what was done until the
    /// end.
    std::string exit(exit_status status, std::string_view last_words = {}) {
        life.process_ended(at());
        life.data_ended();
        const auto before = steps();
        BOOST_TEST(before.ends_with("hear_out reap wait"), before);
        life.reaped({status, false, false, last_words}, at());
        return before + " | " + steps();
    }

    /// The stages it went through and when, such as "ask@0 terminate@3000".
    std::string path() const {
        std::string text;
        for (const auto& each : life.ending().stages()) {
            text += (text.empty() ? "" : " ") + std::string(to_string(each.stage)) + "@" +
                    std::to_string(each.after / 1ms);
        }
        return text;
    }

    std::string state() const { return std::string(to_string(life.state())); }
    std::string health() const { return std::string(to_string(life.machine().health())); }
    std::string reason() const { return life.machine().history().back().reason; }

    const pool_config config;
    time_point now{5000s};
    worker_life life;
};

/// Each way to bring a worker into a state in which something can go wrong with it.
struct situation {
    const char* name;
    std::function<void(life_trial&)> enter;
};

void serve(life_trial& of) {
    of.serve();
}

void degrade(life_trial& of) {
    of.serve();
    of.fail(failed_probes);
}

void suspend(life_trial& of) {
    of.serve();
    of.life.suspend();
    of.life.drained(of.at());
}

const std::vector<situation> situations{{"launch", [](life_trial&) {}},
                                        {"handshake", [](life_trial& of) { of.launch(); }},
                                        {"ready", serve},
                                        {"degraded", degrade},
                                        {"suspended", suspend}};

void check_obstacles(const worker_life& life, const std::vector<obstacle>& expected) {
    for (const auto each : all_obstacles) {
        const bool wanted = std::find(expected.begin(), expected.end(), each) != expected.end();
        BOOST_TEST(life.readiness().has(each) == wanted, "obstacle " << static_cast<unsigned>(each));
    }
    BOOST_TEST(life.takes_calls() == (expected.empty() && !life.departure()));
}

} // namespace

BOOST_AUTO_TEST_SUITE(worker_life_test)

BOOST_AUTO_TEST_CASE(the_normal_life) {
    life_trial of;
    BOOST_TEST(of.steps() == "wait");
    BOOST_TEST(of.state() == "starting");
    BOOST_TEST(of.health() == "unknown");
    BOOST_TEST(!of.life.process().exists);
    check_obstacles(of.life, {obstacle::not_up});

    of.now += 1s;
    of.life.launched(42);
    BOOST_TEST(of.steps() == "wait");
    BOOST_TEST(of.life.process().exists);
    BOOST_TEST(of.life.process().pid == 42);
    BOOST_TEST(!of.life.process().has_greeted);
    of.life.greeted(SIGUSR1);
    BOOST_TEST(of.life.process().has_greeted);
    BOOST_TEST(of.life.process().stack_signal == SIGUSR1);
    BOOST_TEST(!of.life.was_up());

    of.now += 1s;
    of.life.came_up(of.at());
    BOOST_TEST(of.steps() == "wait");
    BOOST_TEST(of.state() == "ready");
    BOOST_TEST(of.health() == "healthy");
    BOOST_TEST((of.life.process().up_since == of.now));
    BOOST_TEST(of.life.is_in_service());
    BOOST_TEST(of.left().count() == -1);
    check_obstacles(of.life, {});

    of.life.stop(stop_stage::ask);
    BOOST_TEST(of.steps() == "ask wait");
    BOOST_TEST(of.state() == "stopping");
    BOOST_TEST(of.reason() == "asked to stop");
    BOOST_TEST(of.life.is_stopping());
    BOOST_TEST(!of.life.is_in_service());

    BOOST_TEST(of.exit(exit_status::exited(0)) == "hear_out reap wait | release_calls close done");
    BOOST_TEST(of.state() == "stopped");
    BOOST_TEST(of.reason() == "exit code 0");
    BOOST_TEST(of.life.ending().is_finished());
    BOOST_TEST(of.life.process().has_ended);
    BOOST_TEST(of.path() == "ask@0");
    BOOST_TEST(of.steps() == "done");
}

BOOST_AUTO_TEST_SUITE(start)

BOOST_AUTO_TEST_CASE(a_launch_has_its_time) {
    life_trial of;
    BOOST_TEST(of.left().count() == 10'000);
    BOOST_TEST(of.steps_after(10s - 1ns) == "wait");
    BOOST_TEST(of.steps_after(1ns) == "cancel_launch wait");
    BOOST_TEST((of.life.departure()->code == errc::startup_timeout));
    BOOST_TEST(of.life.departure()->detail.starts_with("its process could not be created in time"));
    BOOST_TEST(of.left().count() == -1);
    BOOST_TEST(of.steps_after(1h) == "wait"); // it is cancelled once
    of.life.launch_failed(errc::spawn_failed, "cancelled", of.at());
    BOOST_TEST(of.steps() == "done");
    BOOST_TEST(of.state() == "failed");
    BOOST_TEST(of.reason().starts_with("its process could not be created in time"));
}

BOOST_AUTO_TEST_CASE(a_launch_that_ends_too_late_leaves_a_process_to_be_ended) {
    life_trial of;
    BOOST_TEST(of.steps_after(10s) == "cancel_launch wait");
    of.life.launched(42);
    BOOST_TEST(of.steps() == "release_calls terminate wait");
    of.exit(exit_status::signalled(SIGTERM));
    BOOST_TEST(of.state() == "failed");
}

BOOST_AUTO_TEST_CASE(a_handshake_has_what_the_launch_has_left) {
    life_trial of;
    of.now += 4s;
    of.launch();
    BOOST_TEST(of.left().count() == 6000);
    BOOST_TEST(of.steps_after(6s - 1ns) == "wait");
    BOOST_TEST(of.steps_after(1ns) == "release_calls terminate wait");
    BOOST_TEST((of.life.departure()->code == errc::startup_timeout));
    BOOST_TEST(of.reason() == of.life.departure()->detail);
    BOOST_TEST(of.reason().starts_with("it did not say hello in time"));
}

BOOST_AUTO_TEST_CASE(one_that_said_hello_is_told_from_one_that_did_not) {
    life_trial of;
    of.launch();
    of.life.greeted(SIGUSR1);
    BOOST_TEST(of.steps_after(10s) == "release_calls terminate wait"); // no stacks of one that never was up
    BOOST_TEST(of.reason().starts_with("it said hello but its on_start did not end in time"));
}

BOOST_AUTO_TEST_CASE(no_time_limit_of_start_means_for_ever) {
    auto config = config_of_this_test();
    config.start.timeout = 0s;
    life_trial of(config);
    BOOST_TEST(of.left().count() == -1);
    of.launch();
    BOOST_TEST(of.steps_after(24h * 365) == "wait");
}

BOOST_AUTO_TEST_CASE(a_host_that_slept_gives_it_its_time_anew_once) {
    for (const bool is_launched : {false, true}) {
        BOOST_TEST_CONTEXT("launched " << is_launched) {
            life_trial of;
            if (is_launched) {
                of.launch();
            }
            BOOST_TEST(of.steps_after(12s) == "wait");
            BOOST_TEST(of.left().count() == 10'000);
            BOOST_TEST(of.steps_after(12s) != "wait");
            BOOST_TEST((of.life.departure()->code == errc::startup_timeout));
        }
    }
}

BOOST_AUTO_TEST_CASE(a_launch_that_fails_ends_it_at_once) {
    life_trial of;
    of.life.launch_failed(errc::spawn_failed, "no such file", of.at());
    BOOST_TEST(of.steps() == "done");
    BOOST_TEST(of.state() == "failed");
    BOOST_TEST(of.reason() == "no such file");
    BOOST_TEST(of.life.leaves_for(departure_cause::failed_start));
    BOOST_TEST((of.life.departure()->code == errc::spawn_failed));
    BOOST_TEST(of.life.ending().stages().empty());
    check_obstacles(of.life, {obstacle::not_up});
}

BOOST_AUTO_TEST_CASE(one_that_ends_before_it_is_ready_has_failed_to_start) {
    for (const auto status :
         {exit_status::exited(0), exit_status::exited(1), exit_status::signalled(SIGTERM)}) {
        life_trial of;
        of.launch();
        BOOST_TEST(of.exit(status) == "hear_out reap wait | release_calls close done");
        BOOST_TEST(of.state() == "failed");
        BOOST_TEST(of.reason() == "its process ended before it was ready");
        BOOST_TEST(of.life.leaves_for(departure_cause::process_exit));
        BOOST_TEST((of.life.departure()->code == errc::handshake_failed));
    }
}

BOOST_AUTO_TEST_CASE(a_missing_package_is_explained) {
    life_trial of;
    of.launch();
    of.exit(exit_status::exited(1), "ModuleNotFoundError: No module named 'skep'\n");
    BOOST_TEST(of.reason().find("SKEP_PYTHON_SDK") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(one_that_is_over_does_not_come_up) {
    for (const bool fails : {false, true}) {
        life_trial of;
        of.launch();
        if (fails) {
            of.fail(protocol_error);
        } else {
            of.life.stop(stop_stage::ask);
        }
        of.life.came_up(of.at());
        BOOST_TEST(!of.life.was_up());
        BOOST_TEST(of.state() == "starting");
        BOOST_TEST(!of.life.takes_calls());
    }
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE(failures)

/// n(one), d(egrade), p(robe), (re)c(ycle), r(eplace), t(erminate), a(bandon), for each of every_fault.
std::string actions(const std::function<void(life_trial&)>& enter) {
    std::string letters;
    for (const auto cause : every_fault) {
        life_trial of;
        enter(of);
        letters += "ndpcrta"[static_cast<int>(of.fail(cause))];
    }
    return letters;
}

BOOST_AUTO_TEST_CASE(each_cause_in_each_state) {
    // lost_channel, protocol_error, lost_heartbeat, failed_start, failed_probes, overdue_call, error_streak,
    // fails_alone, memory_limit
    const std::vector<std::string> expected{"aaaanrpct", "aaaanrpct", "aaaadrpct", "aaaadrpct", "aaaanrpct"};
    for (std::size_t i = 0; i < situations.size(); ++i) {
        BOOST_TEST(actions(situations[i].enter) == expected[i], situations[i].name);
    }
}

BOOST_AUTO_TEST_CASE(what_each_action_does) {
    for (const auto& [name, enter] : situations) {
        for (const auto cause : every_fault) {
            life_trial of;
            enter(of);
            const auto state = of.state();
            const bool was_doubted = of.life.readiness().has(obstacle::doubted);
            const auto action = of.fail(cause);
            using enum recovery_action;
            BOOST_TEST_CONTEXT(name << ", cause " << static_cast<int>(cause)) {
                BOOST_TEST(of.life.is_over() == (action == abandon || action == terminate));
                BOOST_TEST(of.life.is_lost() == (action == abandon));
                BOOST_TEST(of.life.is_stopping() == (action == terminate));
                BOOST_TEST(of.life.is_draining() == (action == replace));
                BOOST_TEST(of.life.departure().has_value() ==
                           (action == abandon || action == replace || action == terminate));
                BOOST_TEST(of.life.readiness().has(obstacle::doubted) == (was_doubted || action == probe));
                BOOST_TEST(of.state() == (action == degrade ? "degraded" : state));
                if (of.life.departure()) {
                    BOOST_TEST((of.life.departure()->cause == cause));
                    BOOST_TEST(!of.life.departure()->planned);
                }
                if (action != none && action != probe && action != recycle) {
                    BOOST_TEST(of.health() == "unhealthy");
                }
            }
        }
    }
}

BOOST_AUTO_TEST_CASE(so_many_failed_probes_are_too_many) {
    life_trial of;
    of.serve();
    of.life.fail({failed_probes, "no answer", errc::worker_lost, 3, 3}, of.at());
    BOOST_REQUIRE(of.life.departure());
    BOOST_TEST(of.life.departure()->detail == "unhealthy_worker_terminated: no answer");
    BOOST_TEST(of.steps() == "wait"); // it may end its calls
    BOOST_TEST(of.state() == "ready");
}

BOOST_AUTO_TEST_CASE(of_one_that_leaves_only_what_ends_it_counts) {
    const auto leave = [](life_trial& of) {
        of.serve();
        of.life.retire(departure_cause::recycling, "old", of.at());
    };
    BOOST_TEST(actions(leave) == "aaaannnnt");
    life_trial of;
    leave(of);
    of.fail(failed_probes);
    of.fail(error_streak);
    of.fail(overdue_call);
    BOOST_TEST(of.state() == "ready");
    check_obstacles(of.life, {});
    BOOST_TEST(of.life.departure()->detail == "old");
}

BOOST_AUTO_TEST_CASE(one_that_is_over_fails_no_more) {
    const std::string nothing(every_fault.size(), 'n');
    BOOST_TEST(actions([](life_trial& of) {
                   of.serve();
                   of.life.stop(stop_stage::ask);
               }) == nothing);
    BOOST_TEST(actions([](life_trial& of) {
                   of.serve();
                   of.fail(lost_heartbeat);
               }) == nothing);
    BOOST_TEST(actions([](life_trial& of) {
                   of.serve();
                   of.life.process_ended(of.at());
               }) == nothing);
    BOOST_TEST(actions([](life_trial& of) {
                   of.serve();
                   of.exit(exit_status::exited(0));
               }) == nothing);
}

BOOST_AUTO_TEST_CASE(the_first_failure_is_the_reason) {
    life_trial of;
    of.serve();
    of.life.fail({protocol_error, "garbage", errc::protocol_error}, of.at());
    of.life.fail({lost_channel, "it closed its data channel"}, of.at());
    BOOST_TEST(of.steps() == "release_calls terminate wait");
    BOOST_TEST(of.reason() == "garbage");
    BOOST_TEST(of.life.leaves_for(departure_cause::protocol_error));
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE(obstacles)

BOOST_AUTO_TEST_CASE(degraded_until_it_is_restored) {
    life_trial of;
    of.serve();
    of.fail(failed_probes);
    check_obstacles(of.life, {obstacle::degraded});
    BOOST_TEST(of.life.readiness().awaits_probe());
    BOOST_TEST(of.life.is_in_service());
    BOOST_TEST(of.reason() == "it failed");
    const auto transitions = of.life.machine().history().size();
    of.fail(failed_probes);
    BOOST_TEST(of.life.machine().history().size() == transitions);
    of.life.restore(of.at());
    check_obstacles(of.life, {});
    BOOST_TEST(!of.life.readiness().awaits_probe());
    BOOST_TEST(of.state() == "ready");
    BOOST_TEST(of.health() == "healthy");
    of.life.restore(of.at());
    BOOST_TEST(of.state() == "ready");
}

BOOST_AUTO_TEST_CASE(one_that_is_due_for_a_probe_takes_no_calls_and_is_no_less_well_for_it) {
    life_trial of;
    of.serve();
    of.life.expect_probe(true);
    check_obstacles(of.life, {obstacle::due});
    BOOST_TEST(!of.life.takes_calls());
    BOOST_TEST(!of.life.readiness().awaits_probe());
    BOOST_TEST(of.life.is_in_service());
    of.life.expect_probe(false);
    check_obstacles(of.life, {});
}

BOOST_AUTO_TEST_CASE(doubted_until_it_is_probed) {
    life_trial of;
    of.serve();
    of.fail(error_streak);
    check_obstacles(of.life, {obstacle::doubted});
    BOOST_TEST(of.life.readiness().awaits_probe());
    BOOST_TEST(of.state() == "ready");
    of.life.dispel_doubt();
    check_obstacles(of.life, {});
}

BOOST_AUTO_TEST_CASE(suspended_at_once_but_in_name_only_when_drained) {
    life_trial of;
    of.serve();
    of.life.suspend();
    check_obstacles(of.life, {obstacle::suspended});
    BOOST_TEST((of.life.state() != worker_state::suspended));
    BOOST_TEST(of.state() == "ready");
    BOOST_TEST(of.life.drained(of.at()));
    BOOST_TEST((of.life.state() == worker_state::suspended));
    BOOST_TEST(!of.life.drained(of.at())); // no news
    of.life.resume(true, of.at());
    check_obstacles(of.life, {});
    BOOST_TEST(of.state() == "ready");
    BOOST_TEST(of.reason() == "resumed");
}

/// The edges that some sequence of happenings leads through are those that the guide draws, but for those of
/// a slot that waits: see worker_transitions.
BOOST_AUTO_TEST_CASE(what_can_happen_is_what_is_legal) {
    using enum worker_state;
    std::set<std::pair<worker_state, worker_state>> passed;
    std::minstd_rand random(1);
    const auto chance = [&](unsigned of) { return random() % of == 0; };
    for (int life = 0; life < 30'000; ++life) {
        life_trial of;
        auto last = of.life.state();
        const auto check = [&] {
            if (of.life.state() != last) {
                passed.emplace(last, of.life.state());
                last = of.life.state();
            }
        };
        const auto go_on = [&] {
            for (auto step = of.life.next(of.at()); step != life_step::wait && step != life_step::done;
                 step = of.life.next(of.at())) {
                check();
                if (step == life_step::cancel_launch) {
                    of.life.launch_failed(errc::spawn_failed, "cancelled", of.at());
                }
                if (step == life_step::reap) {
                    static constexpr std::array signals{SIGTERM, SIGKILL, SIGSEGV};
                    const auto status = chance(2)
                                            ? exit_status::exited(chance(2) ? 0 : 1)
                                            : exit_status::signalled(signals[random() % signals.size()]);
                    of.life.reaped({status, false, false, {}}, of.at());
                }
                check();
            }
            check();
        };
        if (!chance(20)) {
            of.life.launched(42);
        }
        for (int i = 0; i < 12 && !of.life.ending().is_finished(); ++i) {
            switch (random() % 16) {
            case 0: of.life.suspend(); break;
            case 1: of.life.drained(of.at()); break;
            case 2: of.life.resume(chance(2), of.at()); break;
            case 3: of.life.restore(of.at()); break;
            case 4: of.fail(failed_probes); break;
            case 5:
                if (chance(4)) {
                    of.life.process_ended(of.at());
                } else {
                    of.life.suspend();
                }
                break;
            case 6:
                if (chance(6)) {
                    of.fail(every_fault[random() % every_fault.size()]);
                }
                break;
            case 7:
                if (chance(6)) {
                    of.life.stop(stop_stage(1 + random() % 3));
                }
                break;
            case 8: of.life.drained(of.at()); break;
            case 9: of.now += chance(3) ? 20s : 100ms; break;
            case 10:
            case 11:
                if (!of.life.was_up() && of.life.process().exists) {
                    of.life.came_up(of.at());
                }
                break;
            default: of.life.set_full(chance(2), of.now); break;
            }
            check();
            go_on();
        }
        if (of.life.process().exists && !of.life.ending().is_finished()) {
            of.life.process_ended(of.at());
            of.life.data_ended();
            go_on();
        }
    }
    for (std::size_t i = 0; i < worker_state_count; ++i) {
        for (std::size_t j = 0; j < worker_state_count; ++j) {
            const auto from = static_cast<worker_state>(i);
            const auto to = static_cast<worker_state>(j);
            if (from != created && from != pending) {
                BOOST_TEST(passed.contains({from, to}) == is_legal(from, to), to_string(from)
                                                                                  << " -> " << to_string(to));
            }
        }
    }
}

BOOST_AUTO_TEST_CASE(drained_means_nothing_without_a_suspension) {
    life_trial of;
    BOOST_TEST(!of.life.drained(of.at()));
    of.serve();
    BOOST_TEST(!of.life.drained(of.at()));
    of.life.suspend();
    of.life.retire(departure_cause::recycling, "old", of.at());
    BOOST_TEST(!of.life.drained(of.at()));
    BOOST_TEST(of.state() == "ready");
}

BOOST_AUTO_TEST_CASE(resumed_before_it_was_drained) {
    life_trial of;
    of.serve();
    of.life.suspend();
    of.life.resume(true, of.at());
    check_obstacles(of.life, {});
    BOOST_TEST(of.reason() == "handshake complete");
}

BOOST_AUTO_TEST_CASE(one_that_was_unwell_is_so_when_it_is_resumed) {
    life_trial of;
    degrade(of);
    of.life.suspend();
    BOOST_TEST(of.life.drained(of.at()));
    check_obstacles(of.life, {obstacle::degraded, obstacle::suspended});
    BOOST_TEST(of.state() == "suspended");
    of.life.resume(false, of.at());
    check_obstacles(of.life, {obstacle::degraded});
    BOOST_TEST(of.state() == "degraded");
    BOOST_TEST(of.health() == "unhealthy");
}

BOOST_AUTO_TEST_CASE(one_that_becomes_unwell_before_it_is_drained_is_suspended_later) {
    life_trial of;
    of.serve();
    of.life.suspend();
    of.fail(failed_probes);
    BOOST_TEST(of.state() == "degraded");
    BOOST_TEST(of.life.drained(of.at()));
    BOOST_TEST(of.state() == "suspended");
}

BOOST_AUTO_TEST_CASE(degraded_and_resumed_before_it_was_drained_it_stays_degraded) {
    life_trial of;
    degrade(of);
    const auto transitions = of.life.machine().history().size();
    of.life.suspend();
    of.life.resume(false, of.at());
    check_obstacles(of.life, {obstacle::degraded});
    BOOST_TEST(of.state() == "degraded");
    BOOST_TEST(of.life.machine().history().size() == transitions);
}

BOOST_AUTO_TEST_CASE(one_restored_while_suspended_is_ready_when_it_is_resumed) {
    life_trial of;
    degrade(of);
    of.life.suspend();
    of.life.drained(of.at());
    of.life.restore(of.at());
    BOOST_TEST(of.state() == "suspended");
    of.life.resume(true, of.at());
    check_obstacles(of.life, {});
    BOOST_TEST(of.state() == "ready");
}

BOOST_AUTO_TEST_CASE(one_not_in_service_is_not_suspended) {
    life_trial of;
    of.life.suspend();
    check_obstacles(of.life, {obstacle::not_up});
    of.serve();
    of.life.retire(departure_cause::surplus, "too many", of.at());
    of.life.suspend();
    check_obstacles(of.life, {});
}

BOOST_AUTO_TEST_CASE(obstacles_add_up) {
    life_trial of;
    of.fail(error_streak); // as it came up
    check_obstacles(of.life, {obstacle::not_up, obstacle::doubted});
    of.serve();
    of.fail(failed_probes);
    of.life.suspend();
    of.life.retire(departure_cause::recycling, "old", of.at());
    check_obstacles(of.life, {obstacle::degraded, obstacle::doubted, obstacle::suspended});
    of.life.dispel_doubt();
    of.life.restore(of.at());
    of.life.resume(true, of.at());
    check_obstacles(of.life, {});
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE(retirements)

BOOST_AUTO_TEST_CASE(a_retired_worker_goes_on_until_it_is_stopped) {
    life_trial of;
    of.serve();
    of.life.retire(departure_cause::recycling, "old", of.at());
    BOOST_TEST(of.steps_after(1h) == "wait");
    BOOST_TEST(of.state() == "ready");
    BOOST_TEST(!of.life.is_over());
    BOOST_TEST(!of.life.is_in_service());
    of.life.stop(stop_stage::ask);
    BOOST_TEST(of.steps() == "ask wait");
    BOOST_TEST(of.reason() == "old");
}

BOOST_AUTO_TEST_CASE(only_one_to_blame_is_unhealthy) {
    for (const auto what : {failed_probes, overdue_call, failed_reset, recycling, surplus}) {
        life_trial of;
        of.serve();
        of.life.retire(what, "why", of.at());
        const bool is_to_blame = what != recycling && what != surplus;
        BOOST_TEST(of.health() == (is_to_blame ? "unhealthy" : "healthy"));
    }
}

BOOST_AUTO_TEST_CASE(the_first_reason_counts) {
    life_trial of;
    of.serve();
    of.life.retire(departure_cause::recycling, "old", of.at());
    of.life.retire(departure_cause::failed_reset, "sick", of.at());
    BOOST_TEST(of.life.departure()->detail == "old");
    BOOST_TEST(of.health() == "healthy");
}

BOOST_AUTO_TEST_CASE(but_for_the_one_that_ends_it_at_once) {
    for (const auto first : {failed_reset, recycling, surplus}) {
        life_trial of;
        of.serve();
        of.life.retire(first, "before", of.at());
        of.fail(memory_limit);
        BOOST_TEST(of.life.leaves_for(memory_limit));
        BOOST_TEST(of.life.departure()->detail == "it failed");
        BOOST_TEST(of.life.departure()->planned == (first != failed_reset));
        BOOST_TEST(of.health() == "unhealthy");
        of.life.retire(first, "after", of.at());
        BOOST_TEST(of.steps() == "terminate wait");
        BOOST_TEST(of.reason() == "it failed");
    }
}

BOOST_AUTO_TEST_CASE(one_that_failed_or_ended_is_not_retired) {
    life_trial failed;
    failed.serve();
    failed.fail(protocol_error);
    failed.life.retire(departure_cause::recycling, "old", failed.at());
    BOOST_TEST(failed.life.leaves_for(departure_cause::protocol_error));
    life_trial ended;
    ended.serve();
    ended.life.process_ended(ended.at());
    ended.life.retire(departure_cause::recycling, "old", ended.at());
    BOOST_TEST(ended.life.leaves_for(departure_cause::process_exit));
}

BOOST_AUTO_TEST_CASE(a_stop_does_not_change_why_a_worker_is_retired) {
    life_trial of;
    of.serve();
    of.life.stop(stop_stage::ask);
    of.life.retire(departure_cause::surplus, "too many", of.at());
    BOOST_TEST(of.life.leaves_for(departure_cause::shutdown));
    life_trial retired;
    retired.serve();
    retired.life.retire(departure_cause::surplus, "too many", retired.at());
    retired.life.stop(stop_stage::ask);
    BOOST_TEST(retired.life.leaves_for(departure_cause::surplus));
    BOOST_TEST(retired.life.is_stopping());
}

BOOST_AUTO_TEST_CASE(what_ends_it_is_told_and_not_that_its_channel_broke_before) {
    life_trial of;
    of.serve();
    of.fail(lost_channel);
    BOOST_TEST(of.life.leaves_for(departure_cause::lost_channel));
    of.life.process_ended(of.at());
    BOOST_TEST(of.life.leaves_for(departure_cause::process_exit));
    life_trial terminated;
    terminated.serve();
    terminated.fail(lost_channel);
    BOOST_TEST(terminated.steps() == "wait");
    BOOST_TEST(terminated.steps_after(250ms) == "release_calls terminate wait");
    terminated.life.process_ended(terminated.at());
    BOOST_TEST(terminated.life.leaves_for(departure_cause::lost_channel));
}

BOOST_AUTO_TEST_CASE(one_that_ends_while_retired_is_lost_all_the_same) {
    life_trial of;
    of.serve();
    of.life.retire(departure_cause::recycling, "old", of.at());
    of.exit(exit_status::signalled(SIGSEGV));
    BOOST_TEST(of.state() == "failed");
    BOOST_TEST(of.life.leaves_for(departure_cause::process_exit));
    BOOST_TEST(of.life.departure()->detail == "its process ended");
    BOOST_TEST(of.life.departure()->planned);
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE(stops)

BOOST_AUTO_TEST_CASE(stopped_before_it_is_launched) {
    life_trial of;
    of.life.stop(stop_stage::ask);
    BOOST_TEST(of.steps() == "cancel_launch wait");
    BOOST_TEST(of.left().count() == -1);
    of.life.launch_failed(errc::spawn_failed, "cancelled", of.at());
    BOOST_TEST(of.steps() == "done");
    BOOST_TEST(of.state() == "stopped");
    BOOST_TEST(of.life.leaves_for(departure_cause::shutdown));
}

BOOST_AUTO_TEST_CASE(stopped_too_late_to_prevent_its_launch) {
    life_trial of;
    of.life.stop(stop_stage::ask);
    BOOST_TEST(of.steps() == "cancel_launch wait");
    of.life.launched(42);
    BOOST_TEST(of.steps() == "terminate wait");
    of.exit(exit_status::signalled(SIGTERM));
    BOOST_TEST(of.state() == "stopped");
}

BOOST_AUTO_TEST_CASE(in_its_handshake_it_is_not_asked) {
    life_trial of;
    of.launch();
    of.life.greeted(SIGUSR1);
    of.life.stop(stop_stage::ask);
    BOOST_TEST(of.steps() == "terminate wait");
    BOOST_TEST(of.left().count() == 2000);
    BOOST_TEST(of.steps_after(2s) == "kill wait");
    BOOST_TEST(of.path() == "terminate@0 kill@2000");
}

BOOST_AUTO_TEST_CASE(stages_follow_until_it_is_lost) {
    life_trial of;
    of.serve();
    of.life.stop(stop_stage::ask);
    BOOST_TEST(of.steps() == "ask wait");
    BOOST_TEST(of.left().count() == 3000);
    BOOST_TEST(of.steps_after(3s - 1ns) == "wait");
    BOOST_TEST(of.steps_after(1ns) == "terminate wait");
    BOOST_TEST(of.left().count() == 2000);
    BOOST_TEST(of.steps_after(2s) == "kill wait");
    BOOST_TEST(of.left().count() == 1000);
    BOOST_TEST(of.steps_after(1s) == "release_calls give_up close done");
    BOOST_TEST(of.path() == "ask@0 terminate@3000 kill@5000 lost@6000");
    BOOST_TEST(of.state() == "killed");
    BOOST_TEST(!of.life.process().has_ended);
    BOOST_TEST(of.life.ending().is_finished());
    of.life.process_ended(of.at());
    BOOST_TEST(of.steps() == "done");
}

BOOST_AUTO_TEST_CASE(it_may_begin_further_on) {
    struct row {
        stop_stage first;
        const char* steps;
    };
    for (const auto& [first, steps] : {row{stop_stage::ask, "ask wait"},
                                       {stop_stage::terminate, "terminate wait"},
                                       {stop_stage::kill, "kill wait"}}) {
        life_trial of;
        of.serve();
        of.life.stop(first);
        BOOST_TEST(of.steps() == steps);
    }
}

BOOST_AUTO_TEST_CASE(a_later_stop_can_only_hasten) {
    life_trial of;
    of.serve();
    of.life.stop(stop_stage::ask);
    BOOST_TEST(of.steps() == "ask wait");
    of.life.stop(stop_stage::ask);
    BOOST_TEST(of.steps_after(1s) == "wait");
    of.life.stop(stop_stage::kill);
    BOOST_TEST(of.steps_after(1s) == "terminate kill wait");
    of.life.stop(stop_stage::ask);
    BOOST_TEST(of.steps() == "wait");
    BOOST_TEST(of.path() == "ask@0 terminate@2000 kill@2000");
    BOOST_TEST(of.left().count() == 1000);
}

BOOST_AUTO_TEST_CASE(a_stop_before_the_first_step_counts_as_one) {
    life_trial of;
    of.serve();
    of.life.stop(stop_stage::ask);
    of.life.stop(stop_stage::terminate);
    BOOST_TEST(of.steps() == "terminate wait");
}

BOOST_AUTO_TEST_CASE(a_milder_stop_takes_nothing_back) {
    life_trial of;
    of.serve();
    of.life.stop(stop_stage::kill);
    of.life.stop(stop_stage::ask);
    BOOST_TEST(of.steps() == "kill wait");
}

BOOST_AUTO_TEST_CASE(one_that_failed_is_not_asked_and_its_callers_do_not_wait) {
    life_trial of;
    of.serve();
    of.fail(protocol_error, errc::protocol_error);
    of.life.stop(stop_stage::ask);
    BOOST_TEST(!of.life.is_stopping());
    BOOST_TEST(of.steps() == "release_calls terminate wait");
    BOOST_TEST(of.state() == "stopping");
}

BOOST_AUTO_TEST_CASE(an_oversized_one_is_ended_at_once) {
    life_trial of;
    of.serve(SIGUSR1);
    of.fail(memory_limit);
    BOOST_TEST(of.steps() == "terminate wait"); // and no stacks
    BOOST_TEST(of.reason() == "it failed");
}

BOOST_AUTO_TEST_CASE(so_is_an_unwell_one_that_outgrows_its_limit_as_it_leaves) {
    life_trial of;
    of.serve(SIGUSR1);
    of.fail(overdue_call);
    of.fail(memory_limit);
    BOOST_TEST(of.steps() == "terminate wait");
}

BOOST_AUTO_TEST_CASE(a_host_that_slept_lets_a_stage_have_its_time_anew_once) {
    life_trial of;
    of.serve();
    of.life.stop(stop_stage::ask);
    of.steps();
    BOOST_TEST(of.steps_after(5s) == "wait");
    BOOST_TEST(of.left().count() == 3000);
    BOOST_TEST(of.steps_after(3s) == "terminate wait");
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE(stacks)

std::string steps_of_frozen(int stack_signal) {
    life_trial of;
    of.serve(stack_signal);
    of.fail(lost_heartbeat, errc::heartbeat_lost);
    return of.steps();
}

BOOST_AUTO_TEST_CASE(a_frozen_one_says_where_it_is) {
    life_trial of;
    of.serve(SIGUSR1);
    of.fail(lost_heartbeat, errc::heartbeat_lost);
    BOOST_TEST(of.steps() == "take_stacks wait");
    BOOST_TEST(of.left().count() == 300);
    BOOST_TEST(of.steps_after(299ms) == "wait");
    BOOST_TEST(of.steps_after(1ms) == "keep_stacks release_calls terminate wait");
    BOOST_TEST(of.path() == "terminate@0");
}

BOOST_AUTO_TEST_CASE(so_does_one_that_is_unwell_for_no_visible_reason) {
    life_trial of;
    of.serve(SIGUSR1);
    of.life.retire(departure_cause::failed_reset, "sick", of.at());
    of.life.stop(stop_stage::terminate);
    BOOST_TEST(of.steps() == "take_stacks wait");
    BOOST_TEST(of.steps_after(300ms) == "keep_stacks terminate wait");
    BOOST_TEST(of.reason() == "sick");
}

BOOST_AUTO_TEST_CASE(no_other_does) {
    BOOST_TEST(steps_of_frozen(0) == "release_calls terminate wait");
    for (const auto cause : {lost_channel, protocol_error, failed_start}) {
        life_trial of;
        of.serve(SIGUSR1);
        of.fail(cause, errc::protocol_error);
        BOOST_TEST((of.steps() == "wait") == (cause == lost_channel)); // its process may be about to end
        BOOST_TEST(of.steps_after(cause == lost_channel ? 250ms : 0ms) ==
                   (cause == lost_channel ? "release_calls terminate wait" : "wait"));
        BOOST_TEST(of.path() == "terminate@0");
    }
    for (const auto kind :
         {departure_cause::memory_limit, departure_cause::recycling, departure_cause::surplus}) {
        life_trial of;
        of.serve(SIGUSR1);
        of.life.retire(kind, "why", of.at());
        of.life.stop(stop_stage::terminate);
        BOOST_TEST(of.steps() == "terminate wait");
    }
    life_trial asked;
    asked.serve(SIGUSR1);
    asked.life.stop(stop_stage::ask);
    BOOST_TEST(asked.steps() == "ask wait");
}

BOOST_AUTO_TEST_CASE(nor_does_any_that_never_was_up) {
    life_trial of;
    of.launch();
    of.life.greeted(SIGUSR1);
    of.fail(overdue_call);
    of.life.stop(stop_stage::terminate);
    BOOST_TEST(of.steps() == "terminate wait");
}

BOOST_AUTO_TEST_CASE(nor_does_any_without_time_for_it) {
    auto config = config_of_this_test();
    config.stop.stack_dump_timeout = 0s;
    life_trial of(config);
    of.serve(SIGUSR1);
    of.fail(lost_heartbeat, errc::heartbeat_lost);
    BOOST_TEST(of.steps() == "release_calls terminate wait");
}

BOOST_AUTO_TEST_CASE(only_a_kill_is_in_such_a_hurry) {
    life_trial of;
    of.serve(SIGUSR1);
    of.fail(lost_heartbeat, errc::heartbeat_lost);
    BOOST_TEST(of.steps() == "take_stacks wait");
    of.life.stop(stop_stage::terminate);
    BOOST_TEST(of.steps() == "wait");
    of.life.stop(stop_stage::kill);
    BOOST_TEST(of.steps() == "keep_stacks release_calls kill wait");
}

BOOST_AUTO_TEST_CASE(what_it_printed_before_it_died_of_it_is_kept) {
    life_trial of;
    of.serve(SIGUSR1);
    of.fail(lost_heartbeat, errc::heartbeat_lost);
    BOOST_TEST(of.steps() == "take_stacks wait");
    BOOST_TEST(of.exit(exit_status::signalled(SIGUSR1)) ==
               "keep_stacks hear_out reap wait | release_calls close done");
    BOOST_TEST(of.state() == "failed");
    BOOST_TEST(of.reason() == "it failed");
    BOOST_TEST(of.life.ending().stages().empty());
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE(aftermath)

BOOST_AUTO_TEST_CASE(its_process_ends_some_time_after_its_channel) {
    life_trial of;
    of.serve();
    of.fail(lost_channel);
    of.life.data_ended();
    BOOST_TEST(of.steps() == "wait");
    BOOST_TEST(of.left().count() == 250);
    BOOST_TEST(of.steps_after(200ms) == "wait");
    of.life.process_ended(of.at());
    BOOST_TEST(of.steps() == "hear_out reap wait");
    of.life.reaped({exit_status::signalled(SIGSEGV), false, false, {}}, of.at());
    BOOST_TEST(of.steps() == "release_calls close done");
    BOOST_TEST(of.reason() == "its process ended");
    BOOST_TEST(of.life.ending().stages().empty());
    BOOST_TEST((of.life.process().verdict.kind == exit_class::segfault));
}

BOOST_AUTO_TEST_CASE(what_else_came_over_its_channel_is_told) {
    life_trial of;
    of.serve();
    of.life.process_ended(of.at());
    of.life.data_ended("it printed 'hi'");
    of.steps();
    of.life.reaped({exit_status::exited(1), false, false, {}}, of.at());
    BOOST_TEST(of.steps() == "release_calls close done");
    BOOST_TEST(of.reason() == "its process ended; it printed 'hi'");
}

BOOST_AUTO_TEST_CASE(its_channel_ends_some_time_after_its_process) {
    life_trial of;
    of.serve();
    of.life.process_ended(of.at());
    check_obstacles(of.life, {});
    BOOST_TEST(of.health() == "unhealthy");
    BOOST_TEST(of.steps() == "hear_out wait");
    BOOST_TEST(of.left().count() == 250);
    BOOST_TEST(of.steps_after(100ms) == "wait");
    of.life.data_ended();
    BOOST_TEST(of.steps() == "reap wait");
    BOOST_TEST(of.left().count() == -1);
}

BOOST_AUTO_TEST_CASE(a_process_that_outlives_its_channel_is_ended) {
    life_trial of;
    of.serve();
    of.fail(lost_channel);
    of.life.data_ended();
    of.steps();
    BOOST_TEST(of.steps_after(250ms) == "release_calls terminate wait");
    BOOST_TEST(of.reason() == "it failed");
    of.exit(exit_status::signalled(SIGTERM));
    BOOST_TEST(of.state() == "failed");
    BOOST_TEST((of.life.departure()->detail == "it failed"));
}

BOOST_AUTO_TEST_CASE(a_channel_that_outlives_its_process_is_not_waited_for) {
    life_trial of;
    of.serve();
    of.life.process_ended(of.at());
    BOOST_TEST(of.steps() == "hear_out wait");
    BOOST_TEST(of.steps_after(249ms) == "wait");
    BOOST_TEST(of.steps_after(1ms) == "reap wait");
}

BOOST_AUTO_TEST_CASE(one_that_broke_the_protocol_is_ended_at_once) {
    life_trial of;
    of.serve();
    of.fail(protocol_error, errc::protocol_error);
    BOOST_TEST(of.steps() == "release_calls terminate wait");
}

BOOST_AUTO_TEST_CASE(one_that_ends_as_it_is_stopped_is_heard_out_too) {
    life_trial of;
    of.serve();
    of.life.stop(stop_stage::ask);
    BOOST_TEST(of.steps() == "ask wait");
    of.life.process_ended(of.at());
    BOOST_TEST(of.steps() == "hear_out wait");
    BOOST_TEST(of.left().count() == 250);
    of.life.data_ended();
    BOOST_TEST(of.steps() == "reap wait");
}

BOOST_AUTO_TEST_CASE(it_is_reaped_once_and_then_waited_for) {
    life_trial of;
    of.serve();
    of.life.process_ended(of.at());
    of.life.data_ended();
    BOOST_TEST(of.steps() == "hear_out reap wait");
    BOOST_TEST(of.steps_after(1h) == "wait");
    BOOST_TEST(!of.life.ending().is_finished());
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE(ends)

const auto ok = exit_status::exited(0);
const auto bad = exit_status::exited(3);
const auto crash = exit_status::signalled(SIGSEGV);
const auto term = exit_status::signalled(SIGTERM);
const auto sigkill = exit_status::signalled(SIGKILL);

struct end_row {
    exit_status status;
    const char* state;
    exit_class kind;
};

void check_ends(const std::function<void(life_trial&)>& enter, const std::vector<end_row>& rows) {
    for (const auto& [status, state, kind] : rows) {
        life_trial of;
        of.serve();
        enter(of);
        of.exit(status);
        BOOST_TEST_CONTEXT(to_string(status)) {
            BOOST_TEST(of.state() == state);
            BOOST_TEST(to_string(of.life.process().verdict.kind) == to_string(kind));
            BOOST_TEST((of.life.process().status == status));
        }
    }
}

BOOST_AUTO_TEST_CASE(by_itself) {
    check_ends([](life_trial&) {}, {{ok, "finished", exit_class::clean},
                                    {bad, "failed", exit_class::error},
                                    {crash, "failed", exit_class::segfault},
                                    {term, "stopped", exit_class::killed_by_someone},
                                    {sigkill, "failed", exit_class::killed_by_someone},
                                    {exit_status::taken(), "failed", exit_class::unknown}});
}

BOOST_AUTO_TEST_CASE(by_itself_channel_first) {
    check_ends(
        [](life_trial& of) {
            of.fail(lost_channel);
            BOOST_TEST(of.steps() == "wait");
        },
        {{ok, "finished", exit_class::clean},
         {bad, "failed", exit_class::error},
         {term, "stopped", exit_class::killed_by_someone}});
}

BOOST_AUTO_TEST_CASE(asked) {
    check_ends(
        [](life_trial& of) {
            of.life.stop(stop_stage::ask);
            of.steps();
        },
        {{ok, "stopped", exit_class::clean},
         {bad, "failed", exit_class::error},
         {crash, "failed", exit_class::segfault},
         {term, "stopped", exit_class::killed_by_someone},
         {sigkill, "failed", exit_class::killed_by_someone}});
}

BOOST_AUTO_TEST_CASE(about_to_be_asked) {
    check_ends([](life_trial& of) { of.life.stop(stop_stage::ask); },
               {{ok, "stopped", exit_class::clean},
                {bad, "failed", exit_class::error},
                {term, "stopped", exit_class::killed_by_someone}});
}

BOOST_AUTO_TEST_CASE(terminated_though_well) {
    check_ends(
        [](life_trial& of) {
            of.life.stop(stop_stage::terminate);
            of.steps();
        },
        {{ok, "stopped", exit_class::clean},
         {bad, "failed", exit_class::killed_by_us},
         {crash, "failed", exit_class::segfault},
         {term, "stopped", exit_class::killed_by_us},
         {sigkill, "failed", exit_class::killed_by_us}});
}

BOOST_AUTO_TEST_CASE(terminated_for_a_failure) {
    check_ends(
        [](life_trial& of) {
            of.fail(protocol_error, errc::protocol_error);
            of.steps();
        },
        {{ok, "failed", exit_class::clean},
         {bad, "failed", exit_class::killed_by_us},
         {crash, "failed", exit_class::segfault},
         {term, "failed", exit_class::killed_by_us},
         {sigkill, "failed", exit_class::killed_by_us}});
}

BOOST_AUTO_TEST_CASE(killed) {
    check_ends(
        [](life_trial& of) {
            of.life.stop(stop_stage::kill);
            of.steps();
        },
        {{ok, "stopped", exit_class::clean},
         {bad, "failed", exit_class::killed_by_us},
         {sigkill, "killed", exit_class::killed_by_us},
         {exit_status::taken(), "killed", exit_class::killed_by_us}});
}

BOOST_AUTO_TEST_CASE(killed_for_a_failure) {
    check_ends(
        [](life_trial& of) {
            of.fail(protocol_error, errc::protocol_error);
            of.steps();
            of.steps_after(2s);
        },
        {{ok, "failed", exit_class::clean},
         {term, "failed", exit_class::killed_by_us},
         {sigkill, "killed", exit_class::killed_by_us}});
}

BOOST_AUTO_TEST_CASE(the_reason_is_the_failure_or_else_the_status) {
    life_trial failed;
    failed.serve();
    failed.fail(protocol_error, errc::protocol_error);
    failed.exit(term);
    BOOST_TEST(failed.reason() == "it failed");
    life_trial asked;
    asked.serve();
    asked.life.stop(stop_stage::ask);
    asked.exit(bad);
    BOOST_TEST(asked.reason() == "exit code 3");
}

BOOST_AUTO_TEST_CASE(broken_off_it_is_over_at_once) {
    for (const auto& [name, enter] : situations) {
        life_trial of;
        enter(of);
        of.life.break_off("out of memory", of.at());
        BOOST_TEST_CONTEXT(name) {
            BOOST_TEST(of.life.ending().is_finished());
            BOOST_TEST(of.steps() == "done");
            BOOST_TEST(of.state() == "failed");
            BOOST_TEST(of.reason() == "out of memory");
            BOOST_TEST(of.life.leaves_for(departure_cause::host_memory));
            BOOST_TEST((of.life.departure()->code == errc::worker_lost));
        }
    }
}

BOOST_AUTO_TEST_CASE(broken_off_it_leaves_what_was_to_be_done) {
    life_trial of;
    of.serve();
    of.fail(protocol_error, errc::protocol_error);
    BOOST_TEST(name_of(of.life.next(of.at())) == "release_calls"); // and then to terminate it
    of.life.break_off("out of memory", of.at());
    BOOST_TEST(of.steps() == "done");
    BOOST_TEST(of.reason() == "it failed");
    BOOST_TEST(of.life.leaves_for(departure_cause::protocol_error));
}

BOOST_AUTO_TEST_CASE(broken_off_as_it_is_stopped_it_ends_for_that) {
    life_trial of;
    of.serve();
    of.life.stop(stop_stage::ask);
    BOOST_TEST(of.steps() == "ask wait");
    of.life.break_off("out of memory", of.at());
    BOOST_TEST(of.state() == "failed");
    BOOST_TEST(of.reason() == "out of memory");
    BOOST_TEST(of.life.departure()->planned);
}

BOOST_AUTO_TEST_CASE(broken_off_after_its_end_it_stays_as_it_is) {
    life_trial of;
    of.serve();
    of.exit(ok);
    const auto transitions = of.life.machine().history().size();
    of.life.break_off("out of memory", of.at());
    BOOST_TEST(of.state() == "finished");
    BOOST_TEST(of.life.machine().history().size() == transitions);
    BOOST_TEST(of.steps() == "done");
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE_END()
