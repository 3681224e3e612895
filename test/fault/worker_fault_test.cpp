// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

// Every way in which a worker can spoil a call: what the caller gets, how soon, and that the pool is whole
// again.

#include "support/run.hpp"

#include <boost/test/data/monomorphic.hpp>
#include <boost/test/data/test_case.hpp>

#include <csignal>

namespace skep::test {

namespace {

namespace data = boost::unit_test::data;

/// What becomes of the call that meets the fault. No code: it succeeds.
struct call_fault {
    const char* name;
    std::optional<errc> code;
    const char* says; ///< somewhere in the error's text
    bool replaces;    ///< the worker does not survive it
    duration timeout = patience;
};

std::ostream& operator<<(std::ostream& out, const call_fault& fault) {
    return out << fault.name;
}

const std::vector<call_fault> call_faults{
    {"die_on_call", errc::worker_lost, "signal 9 (Killed)", true},
    {"reply_then_exit", {}, "", true},
    {"segv", errc::worker_lost, "signal 11", true},
    {"abort", errc::worker_lost, "signal 6", true},
    {"exit3", errc::worker_lost, "exit code 3", true},
    {"partial_reply_then_die", errc::worker_lost, "signal 9 (Killed)", true},
    {"two_replies", {}, "", true},
    {"unknown_id", errc::worker_lost, "which it does not have", true},
    {"foreign_type", errc::worker_lost, "may not send a message of that type", true},
    {"bad_json", errc::worker_lost, "JSON", true},
    {"bad_utf8", errc::worker_lost, "JSON", true},
    {"nan", errc::worker_lost, "number", true},
    {"nan_literal", errc::worker_lost, "JSON", true},
    {"dup_id_key", errc::worker_lost, "twice", true},
    {"deep", errc::worker_lost, "deep", true},
    {"huge_number", errc::worker_lost, "number", true},
    {"big_tree", errc::worker_lost, "limits.tree_bytes", true},
    {"length_zero", errc::worker_lost, "frame", true},
    {"length_max_plus_1", errc::worker_lost, "limit", true},
    {"length_2_32_1", errc::worker_lost, "limit", true},
    {"json_length_lies", errc::worker_lost, "frame", true},
    {"attachments_lie", errc::worker_lost, "attachments", true},
    {"garbage", errc::worker_lost, "frame", true},
    {"no_reply", errc::timeout, "timeout", true, 200ms},
    {"dribble", {}, "", false},
    {"late_reply", errc::timeout, "timeout", true, 100ms},
    {"close_data", errc::worker_lost, "closed its data channel", true},
    {"half_close", errc::worker_lost, "closed its data channel", true},
    {"stop_reading", {}, "", true},
    {"sigstop_self", errc::worker_lost, "no answer to 3 pings", true},
    {"freeze", errc::worker_lost, "no answer to 3 pings", true},
    {"print_stdout", {}, "", false},
    {"flood_stderr", {}, "", false},
    {"hold_channels", errc::worker_lost, "signal 9 (Killed)", true},
};

request echo(json::value value, duration timeout) {
    return request("echo").arg("value", std::move(value)).timeout(timeout);
}

/// A pool whose first process misbehaves on its second call; all that come after are good.
pool_config spoiled_pool(const std::string& fault, const scratch_folder& folder, std::size_t count = 1) {
    auto config = quick(evil_pool(fault + "@2", count));
    config.launch.args.push_back("--once=" + folder / "spoiled");
    config.heartbeat.interval = 100ms;
    config.heartbeat.timeout = 300ms;
    config.limits.tree_bytes = 64u << 20;
    return config;
}

/// Calls until one is answered, as a patient user would; a worker may still be on its way out.
asio::awaitable<bool> answers_again(pool& workers) {
    auto answered = [&workers]() -> asio::awaitable<bool> {
        auto call = echo("healed", 500ms);
        bool good = false;
        try {
            const auto answer = co_await workers.execute(std::move(call));
            good = answer.value == "healed";
        } catch (const error& e) {
            BOOST_TEST_MESSAGE("on the way: " << e.what());
        }
        co_return good;
    };
    const bool healed = co_await eventually(answered);
    co_return healed;
}

void meet(const call_fault& fault) {
    const scratch_folder folder;
    auto config = spoiled_pool(fault.name, folder);
    config.launch.args.push_back("--delay=0.4");
    if (!contains(fault.says, "pings")) {
        config.heartbeat.timeout = 2s; // 30 MiB of JSON keep a slow machine for longer than 300 ms
    }
    with_pool(config, [&](pool& workers) -> asio::awaitable<void> {
        const auto before = co_await pid_of(workers);
        const auto began = std::chrono::steady_clock::now();
        auto spoiled = echo("spoiled", fault.timeout);
        std::optional<errc> code;
        try {
            const auto answer = co_await workers.execute(std::move(spoiled));
            BOOST_TEST(answer.value == "spoiled");
        } catch (const error& e) {
            code = static_cast<errc>(e.code().value());
            BOOST_TEST_MESSAGE(e.what());
            BOOST_TEST(contains(e.what(), fault.says), e.what());
        }
        const auto took = std::chrono::steady_clock::now() - began;
        BOOST_TEST((code == fault.code));
        BOOST_TEST((took < fault.timeout + patience), "took " << took.count() / 1'000'000 << " ms");
        const bool answers = co_await answers_again(workers);
        BOOST_TEST(answers);
        auto as_expected = [&]() -> asio::awaitable<bool> {
            const auto status = co_await workers.status();
            co_return status.workers.size() == 1 && status.workers[0].state == worker_state::ready &&
                (status.workers[0].pid != before) == fault.replaces;
        };
        const bool healed = co_await eventually(as_expected);
        BOOST_TEST(healed);
        const auto last = co_await answers_again(workers);
        BOOST_TEST(last);
    });
}

} // namespace

BOOST_AUTO_TEST_SUITE(worker_fault)

BOOST_DATA_TEST_CASE(hits_one_call_at_most_and_the_pool_heals, data::make(call_faults), fault) {
    meet(fault);
}

BOOST_AUTO_TEST_CASE(is_repaired_for_the_caller_if_the_call_is_idempotent) {
    for (const auto* name : {"die_on_call", "bad_json", "half_close", "freeze", "exit3"}) {
        const scratch_folder folder;
        with_pool(spoiled_pool(name, folder), [&](pool& workers) -> asio::awaitable<void> {
            const auto before = co_await pid_of(workers);
            auto call = echo("moved", patience).idempotent(true);
            const auto answer = co_await workers.execute(std::move(call));
            BOOST_TEST(answer.value == "moved", name);
            BOOST_TEST(answer.attempts == 2, name);
            const auto after = co_await pid_of(workers);
            BOOST_TEST(after != before, name);
        });
    }
}

BOOST_AUTO_TEST_CASE(of_a_late_answer_is_dropped_and_counted) {
    const scratch_folder folder;
    auto config = spoiled_pool("late_reply", folder);
    config.launch.args.push_back("--delay=1");
    config.cancel_grace = patience;
    with_pool(config, [](pool& workers) -> asio::awaitable<void> {
        const auto before = co_await pid_of(workers);
        auto call = echo("late", 100ms);
        auto overdue = workers.execute(std::move(call));
        const auto e = co_await failure_of(std::move(overdue));
        BOOST_TEST(e.code() == errc::timeout);
        auto next = echo("mine", patience);
        const auto answer = co_await workers.execute(std::move(next));
        BOOST_TEST(answer.value == "mine");
        const auto after = co_await pid_of(workers);
        BOOST_TEST(after == before);
        const auto status = co_await workers.status();
        BOOST_TEST(status.counters.late_answers == 1u);
        BOOST_TEST(status.counters.timeouts == 1u);
    });
}

BOOST_AUTO_TEST_CASE(of_one_worker_leaves_the_others_alone) {
    for (const auto* name : {"garbage", "freeze", "flood_stderr", "big_tree", "die_on_call"}) {
        const scratch_folder folder;
        run([&](asio::io_context& context) -> asio::awaitable<void> {
            pool workers(context.get_executor(), spoiled_pool(name, folder, 2));
            co_await workers.start();
            int good = 0;
            int bad = 0;
            std::vector<std::shared_ptr<background_call>> calls;
            for (int i = 0; i < 40; ++i) {
                calls.push_back(begin_call(context, workers, echo(i, patience)));
            }
            for (int i = 0; i < 40; ++i) {
                const bool ended = co_await is_ended(calls[i]);
                BOOST_TEST(ended);
                const bool right = calls[i]->answer && calls[i]->answer->value == i;
                ++(right ? good : bad);
            }
            BOOST_TEST(good >= 39, name);
            BOOST_TEST(bad <= 1, name);
            const bool healed = co_await is_healed(workers, 2);
            BOOST_TEST(healed);
            const auto report = co_await workers.shutdown();
            BOOST_TEST(report.clean());
        });
    }
}

BOOST_AUTO_TEST_CASE(of_not_reading_holds_up_a_large_call_no_longer_than_its_timeout) {
    const scratch_folder folder;
    auto config = spoiled_pool("stop_reading", folder);
    with_pool(config, [](pool& workers) -> asio::awaitable<void> {
        const auto before = co_await pid_of(workers);
        auto last_heard = echo(1, patience);
        co_await workers.execute(std::move(last_heard));
        request large = echo(2, 300ms).attach(std::vector<std::byte>(8u << 20));
        const auto began = std::chrono::steady_clock::now();
        auto stuck = workers.execute(std::move(large));
        const auto e = co_await failure_of(std::move(stuck));
        BOOST_TEST(e.code() == errc::timeout);
        BOOST_TEST((std::chrono::steady_clock::now() - began < patience));
        const bool answers = co_await answers_again(workers);
        BOOST_TEST(answers);
        const auto after = co_await pid_of(workers);
        BOOST_TEST(after != before);
    });
}

BOOST_AUTO_TEST_CASE(of_flooding_stderr_is_dropped_and_counted) {
    auto config = quick(evil_pool("flood_stderr"));
    config.launch.args.push_back("--delay=0.5");
    config.output.lines_per_second = 100;
    with_pool(config, [](pool& workers) -> asio::awaitable<void> {
        auto longest = duration::zero();
        const auto end = std::chrono::steady_clock::now() + 500ms;
        while (std::chrono::steady_clock::now() < end) {
            auto call = echo(1, patience);
            const auto answer = co_await workers.execute(std::move(call));
            longest = std::max(longest, answer.run_time);
        }
        BOOST_TEST((longest < patience), "a call took " << longest.count() / 1'000'000 << " ms");
        const auto status = co_await workers.status();
        BOOST_TEST(status.counters.output_lines_dropped > 0u);
        BOOST_TEST(status.counters.workers_lost == 0u);
    });
}

BOOST_AUTO_TEST_CASE(of_printing_onto_stdout_stays_out_of_the_protocol) {
    auto config = evil_pool("print_stdout");
    std::string heard;
    config.output.handler = [&heard](const output_line& line) { heard.append(line.text).append("|"); };
    with_pool(config, [&](pool& workers) -> asio::awaitable<void> {
        auto call = echo("clean", patience);
        const auto answer = co_await workers.execute(std::move(call));
        BOOST_TEST(answer.value == "clean");
    });
    BOOST_TEST(contains(heard, "evil_worker: line 1|evil_worker: line 2|evil_worker: line 3|"));
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace skep::test
