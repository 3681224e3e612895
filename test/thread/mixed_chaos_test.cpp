// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

// Streams, tools, strict sessions and leases, mixed, of a pool whose workers die all the time: of SIGKILL,
// and of what some visitors have left in their memory.

#include "support/run.hpp"

#include <atomic>
#include <csignal>

namespace skep::test {

namespace {

struct mixed_tally {
    std::atomic<int> begun{0};
    std::atomic<int> ended{0};
    std::atomic<int> lost{0};     ///< with a worker, or as that of the session was gone
    std::atomic<int> refused{0};  ///< of a doomed session, as poison
    std::atomic<int> foreign{0};  ///< a strict session met a memory that is not its own
    std::atomic<int> wrong{0};    ///< anything else that may not be
    std::atomic<int> visitors{0}; ///< that are still there
    std::atomic<int> killed{0};

    void note_wrong(const std::string& what) {
        ++wrong;
        std::fprintf(stderr, "mixed chaos: %s\n", what.c_str());
    }
};

/// Kills a worker each time that so many operations have ended: however slow the machine is, as many come
/// through.
void end_operation(mixed_tally& tally) {
    constexpr int ends_per_kill = 12;
    if (++tally.ended % ends_per_kill != 0) {
        return;
    }
    const auto targets = children();
    if (!targets.empty()) {
        ::kill(targets[static_cast<std::size_t>(tally.ended * 7) % targets.size()], SIGKILL);
        ++tally.killed;
    }
}

/// Somebody with a strict session, who does one thing after the other.
class visitor {
public:
    visitor(pool& workers, mixed_tally& tally, std::string session)
        : pool_(workers), tally_(tally), session_(std::move(session)) {}

    asio::awaitable<void> stay(int operations) {
        using operation = asio::awaitable<void> (visitor::*)();
        constexpr operation all[] = {&visitor::visit, &visitor::stream, &visitor::visit,
                                     &visitor::ask,   &visitor::step,   &visitor::lease_one};
        for (int i = 0; i < operations; ++i) {
            auto one = attempt(all[static_cast<std::size_t>(i) % std::size(all)]);
            co_await std::move(one);
        }
        --tally_.visitors;
    }

    /// One whose every step is the end of a worker, until it is refused, and some time longer.
    asio::awaitable<void> stay_doomed() {
        constexpr int refusals = 5;
        constexpr int most = 100;
        for (int i = 0; i < most && refusals_ < refusals; ++i) {
            auto one = attempt(&visitor::step);
            co_await std::move(one);
        }
        --tally_.visitors;
    }

private:
    request about(const char* command) const { return request(command).session(session_); }

    /// The operation ends once, with what it may end with. Whose memory is lost begins anew.
    asio::awaitable<void> attempt(asio::awaitable<void> (visitor::*what)()) {
        ++tally_.begun;
        bool is_lost = false;
        try {
            auto running = (this->*what)();
            co_await std::move(running);
        } catch (const error& failure) {
            is_lost = note(failure);
        }
        end_operation(tally_);
        if (is_lost) {
            home_.reset();
            auto forgetting = pool_.forget_session(session_);
            co_await std::move(forgetting);
        }
    }

    /// Whether the memory of its session is lost.
    bool note(const error& failure) {
        const auto code = failure.kind();
        const bool is_doomed = session_.starts_with("doomed");
        if (code == errc::poisonous_request && is_doomed) {
            ++tally_.refused;
            ++refusals_;
            return true; // of the crash that made it so, at least
        }
        const bool is_lost = code == errc::worker_lost || code == errc::session_worker_unavailable;
        tally_.lost += is_lost ? 1 : 0;
        if (!is_lost) {
            tally_.note_wrong(session_ + ": " + failure.what());
        }
        return is_lost;
    }

    void meet(const json::value& pid) {
        const auto at = pid.to_number<std::int64_t>();
        if (home_.value_or(at) != at) {
            ++tally_.foreign;
        }
        if (!home_) {
            home_ = at;
            visits_.reset();
        }
    }

    void take_visit(const json::value& answer) {
        const auto& seen = answer.as_array();
        meet(seen.at(0));
        const auto count = seen.at(1).to_number<int>();
        if (visits_ && count != *visits_ + 1) {
            ++tally_.foreign;
        }
        visits_ = count;
    }

    asio::awaitable<void> visit() {
        auto answer = value_of(pool_, about("visit"));
        const auto value = co_await std::move(answer);
        take_visit(value);
    }

    asio::awaitable<void> step() {
        auto answer = value_of(pool_, about("step"));
        const auto value = co_await std::move(answer);
        meet(value);
    }

    asio::awaitable<void> ask() {
        auto answer = value_of(pool_, about("ask").arg("number", 21));
        const auto value = co_await std::move(answer);
        meet(value.at(0));
        if (value.at(1) != 42) {
            tally_.note_wrong("a tool's answer is another one's");
        }
    }

    asio::awaitable<void> stream() {
        constexpr int length = 20;
        auto opening = pool_.stream(about("count").arg("to", length));
        auto numbers = co_await std::move(opening);
        int got = 0;
        for (;;) {
            auto waiting = numbers.next();
            const auto piece = co_await std::move(waiting);
            if (!piece) {
                break;
            }
            meet(piece->value);
            ++got;
        }
        if (got != length) {
            tally_.note_wrong("a stream has ended with " + std::to_string(got) + " chunks");
        }
    }

    /// The lease may be of the session's worker, or of another one, which is not to be met.
    asio::awaitable<void> lease_one() {
        auto checking_out = pool_.checkout();
        auto held = co_await std::move(checking_out);
        bool is_refused = false;
        try {
            auto running = held.execute(about("visit"));
            const auto answer = co_await std::move(running);
            take_visit(answer.value);
        } catch (const error& failure) {
            is_refused = failure.kind() == errc::invalid_request;
            if (!is_refused) {
                throw;
            }
        }
        if (is_refused && !home_) {
            tally_.note_wrong(session_ + " was kept from a worker though it had none");
        }
        auto closing = held.close();
        co_await std::move(closing);
    }

    pool& pool_;
    mixed_tally& tally_;
    std::string session_;
    std::optional<std::int64_t> home_; ///< pid
    std::optional<int> visits_;
    int refusals_ = 0;
};

/// Calls without a session, or of one that may go anywhere. Each succeeds, as it may be sent again; one of
/// them is what others crash workers with.
asio::awaitable<void> pass_by(pool& workers, mixed_tally& tally, int operations) {
    for (int i = 0; i < operations; ++i) {
        ++tally.begun;
        request call(i % 2 == 0 ? "step" : "visit");
        call.idempotent(true);
        if (i % 2 == 1) {
            call.session("passer-by " + std::to_string(i)).affinity(affinity_mode::hint);
        }
        try {
            auto running = workers.execute(std::move(call));
            co_await std::move(running);
        } catch (const error& failure) {
            tally.note_wrong(std::string("a passer-by: ") + failure.what());
        }
        end_operation(tally);
    }
    --tally.visitors;
}

asio::awaitable<tool_reply> twice(tool_call asked) {
    co_return tool_reply(2 * asked.args.at("number").to_number<int>());
}

pool_config mixed_pool() {
    auto config = quick(python_pool("integration/workers/visited.py", 4));
    config.affinity.mode = affinity_mode::strict_queue;
    config.affinity.limit = 16;
    config.queue.timeout = 0s;
    config.request_timeout = 0s;
    config.stream.idle_timeout = 0s;
    config.retry.attempts = 100;
    config.retry.budget = 0;
    config.restart.limit = 1'000'000; // so many kills are no sign of a broken script
    return config;
}

void mixed_chaos(int thread_count) {
    mixed_tally tally;
    run(
        [&](asio::io_context& context) -> asio::awaitable<void> {
            pool workers(context.get_executor(), mixed_pool());
            workers.register_tool("twice", twice);
            co_await workers.start();
            std::vector<std::unique_ptr<visitor>> visitors;
            const auto enter = [&](asio::awaitable<void> whole) {
                ++tally.visitors;
                asio::co_spawn(context, std::move(whole), [&](std::exception_ptr problem) {
                    if (problem) {
                        tally.note_wrong("a visitor has ended with an exception");
                        --tally.visitors;
                    }
                });
            };
            for (int i = 0; i < 8; ++i) {
                const bool is_doomed = i >= 6;
                const auto name = (is_doomed ? "doomed " : "visitor ") + std::to_string(i);
                visitors.push_back(std::make_unique<visitor>(workers, tally, name));
                enter(is_doomed ? visitors.back()->stay_doomed() : visitors.back()->stay(30));
            }
            for (int i = 0; i < 2; ++i) {
                enter(pass_by(workers, tally, 60));
            }
            while (tally.visitors > 0) {
                co_await pause(10ms);
                const auto status = co_await workers.status();
                if (status.sessions > 16) {
                    tally.note_wrong("the pool remembers " + std::to_string(status.sessions) + " sessions");
                }
            }
            const auto status = co_await workers.status();
            const auto& counters = status.counters;
            BOOST_TEST(counters.submitted == counters.succeeded + counters.failed);
            BOOST_TEST(status.leases == 0u);
            const auto report = co_await workers.shutdown();
            BOOST_TEST(report.clean());
        },
        thread_count);
    BOOST_TEST_MESSAGE(tally.begun << " operations, " << tally.killed << " workers killed, " << tally.lost
                                   << " operations lost, " << tally.refused << " refused");
    BOOST_TEST(tally.begun == tally.ended);
    BOOST_TEST(tally.killed > 0);
    BOOST_TEST(tally.foreign == 0);
    BOOST_TEST(tally.wrong == 0);
    BOOST_TEST(tally.refused == 10); // five for each that is to blame
}

} // namespace

BOOST_AUTO_TEST_SUITE(mixed_chaos_suite)

BOOST_AUTO_TEST_CASE(on_one_thread) {
    mixed_chaos(1);
}

BOOST_AUTO_TEST_CASE(on_four_threads) {
    mixed_chaos(4);
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace skep::test
