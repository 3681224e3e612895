// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

// Operations that are cancelled at every point where they wait: before each of the handlers that take them
// from their beginning to their end, in turn. However it is met, an operation ends once, and leaves nothing
// behind.

#include "support/allocations.hpp"
#include "support/fake_runtime.hpp"

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_state.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/error.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/test/unit_test.hpp>

#include <array>
#include <csignal>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace skep::test {

BOOST_AUTO_TEST_SUITE(cancelling_everywhere)

namespace {

constexpr int chunks = 2;
constexpr int most_handlers = 1000;

/// Plays the pool's workers, move by move. The command says what becomes of a call: "silent" is answered once
/// it is cancelled or released, "fatal" costs the first worker its life, others are answered; streams get
/// their chunks before.
class far_side {
public:
    explicit far_side(manual_pool& pool) : pool_(pool) {}

    /// Makes the next move; false if there is none to make.
    bool move() {
        check();
        for (auto& each : orders_) {
            if (answer(each)) {
                return true;
            }
        }
        return false;
    }

    void release() { is_released_ = true; }

private:
    struct order {
        std::size_t worker;
        std::uint64_t id;
        std::string command;
        int chunks_due;
        bool is_cancelled = false;
    };

    void check() {
        for (std::size_t i = 0; i < pool_.launched(); ++i) {
            if (pool_.worker(i).has_exited()) {
                continue;
            }
            for (const auto& call : pool_.worker(i).take_calls()) {
                orders_.push_back({i, id_of(call), std::string(call.at("command").as_string()),
                                   call.contains("stream") ? chunks : 0});
            }
            for (const auto& cancel : pool_.worker(i).take_controls("cancel")) {
                const auto is_meant = [&](const order& each) {
                    return each.worker == i && each.id == id_of(cancel);
                };
                for (auto& each : orders_) {
                    each.is_cancelled = each.is_cancelled || is_meant(each);
                }
            }
        }
    }

    bool answer(order& next) {
        auto& worker = pool_.worker(next.worker);
        if (next.command == "fatal" && next.worker == 0) {
            worker.exit(exit_status::signalled(SIGKILL));
            orders_.clear();
        } else if (next.is_cancelled) {
            worker.fail(next.id, "skep.Cancelled", "");
            drop(next.id);
        } else if (next.command == "silent" && !is_released_) {
            return false;
        } else if (next.chunks_due > 0) {
            worker.chunk(next.id, chunks - next.chunks_due--);
        } else {
            worker.reply(next.id, "done");
            drop(next.id);
        }
        return true;
    }

    void drop(std::uint64_t id) {
        std::erase_if(orders_, [&](const order& each) { return each.id == id; });
    }

    manual_pool& pool_;
    std::vector<order> orders_;
    bool is_released_ = false;
};

/// When the workers answer: as soon as they can, or when nothing else can happen.
enum class pace { eager, lazy };

/// Where the caller is: on the pool's io_context, or on another, which is run before that or after it.
enum class home { shared, before, after };

/// A running pool and a caller, one handler at a time.
class stepped_pool : public running_pool {
public:
    explicit stepped_pool(home of_caller) : running_pool(quickly_ended()), of_caller_(of_caller) {
        warm_up(); // a worker that is lost is then replaced without time passing
    }

    asio::io_context& callers_context() { return of_caller_ == home::shared ? context : own_; }

    /// Runs the next handler; false if nothing can run without time passing.
    bool step() {
        switch (of_caller_) {
        case home::before: return step_caller() || step_pool();
        case home::after: return step_pool() || step_caller();
        default: return step_pool();
        }
    }

private:
    static pool_config quickly_ended() {
        auto config = fake_config();
        config.stop.shutdown_grace = {};
        return config;
    }

    bool step_caller() {
        own_.restart();
        return own_.poll_one() > 0;
    }

    bool step_pool() {
        for (int idle = 0; idle < 3;) {
            context.restart();
            if (context.poll_one() == 0) {
                kick();
                ++idle;
            } else if (!std::exchange(was_kicked_, false)) {
                return true;
            }
        }
        return false;
    }

    /// A timer that is due at once makes the reactor look at the clock; see run_until_idle().
    void kick() {
        kick_.async_wait([this](const boost::system::error_code&) { was_kicked_ = true; });
    }

    home of_caller_;
    asio::io_context own_{1};
    asio::basic_waitable_timer<skep::clock> kick_{context, time_point::min()};
    bool was_kicked_ = false;
};

/// What a test cancels.
struct scenario {
    const char* name;
    asio::awaitable<void> (*operation)(stepped_pool& pool, request call);
    const char* command = "plain";
    bool is_busy = false; ///< the worker is at another call
};

asio::awaitable<void> execute(stepped_pool& pool, request call) {
    const auto answer = co_await pool.facade().execute(std::move(call));
    BOOST_TEST(answer.value == boost::json::value("done"));
}

asio::awaitable<void> open_and_leave(stepped_pool& pool, request call) {
    co_await pool.facade().stream(std::move(call));
}

asio::awaitable<void> read_all(stepped_pool& pool, request call) {
    auto stream = co_await pool.facade().stream(std::move(call));
    int expected = 0;
    while (const auto piece = co_await stream.next()) {
        BOOST_TEST(piece->as<int>() == expected++);
    }
    BOOST_TEST(expected == chunks);
    BOOST_TEST(stream.result().value == boost::json::value("done"));
}

/// A wait that was cancelled has lost no chunk. What met the opening of the stream has ended that.
asio::awaitable<void> read_on(stepped_pool& pool, request call) {
    auto stream = co_await pool.facade().stream(std::move(call));
    const auto every_type = asio::enable_total_cancellation();
    int failures = 0;
    int expected = 0;
    for (bool is_over = false; !is_over;) {
        co_await asio::this_coro::reset_cancellation_state(every_type);
        try {
            const auto piece = co_await stream.next();
            BOOST_TEST((!piece || piece->as<int>() == expected++));
            is_over = !piece;
        } catch (const boost::system::system_error&) {
            if (++failures == 2) {
                BOOST_TEST(expected == 0);
                throw;
            }
        }
    }
    BOOST_TEST(expected == chunks);
    BOOST_TEST(stream.result().value == boost::json::value("done"));
}

constexpr std::array scenarios{
    scenario{"execute", execute},
    scenario{"execute, of a worker that does not answer", execute, "silent"},
    scenario{"execute, again after a worker was lost", execute, "fatal"},
    scenario{"execute, in the queue", execute, "plain", true},
    scenario{"stream, which is left at once", open_and_leave},
    scenario{"stream, in the queue", open_and_leave, "plain", true},
    scenario{"stream and next", read_all},
    scenario{"stream and next, and on", read_on},
    scenario{"stream and next, of a worker that sends nothing", read_all, "silent"},
    scenario{"stream and next, again after a worker was lost", read_all, "fatal"},
};

/// One operation and its cancellation.
class attempt {
public:
    attempt(const scenario& what, home of_caller) : what_(what), pool_(of_caller) {
        if (what.is_busy) {
            pool_.execute(request("plain"));
        }
    }

    /// Cancels it before the handler of that number, and lets it come to its end. False if it has ended
    /// before.
    bool run(asio::cancellation_type type, pace workers, int handler) {
        auto call = request(what_.command).idempotent(true).attach(blob(witness_, bytes_));
        begin(what_.operation(pool_, std::move(call)));
        pool_.step(); // a coroutine that has not begun cannot be cancelled
        int run = 0;
        while (!ended_ && run < handler && advance(workers)) {
            ++run;
        }
        const bool was_in_time = !ended_;
        cancel_.emit(type);
        while (advance(workers)) {}
        players_.release(); // what total cancellation leaves alone
        while (advance(workers)) {}
        check();
        if (what_.command == std::string_view("silent") && was_in_time &&
            type != asio::cancellation_type::total) {
            BOOST_TEST((problem_ != nullptr), "nothing but the cancellation can have ended it");
        }
        return was_in_time && run == handler;
    }

private:
    void begin(asio::awaitable<void> operation) {
        asio::co_spawn(pool_.callers_context(), cancellable(std::move(operation)),
                       asio::bind_cancellation_slot(cancel_.slot(), [this](std::exception_ptr problem) {
                           ++ended_;
                           problem_ = problem;
                       }));
    }

    static asio::awaitable<void> cancellable(asio::awaitable<void> operation) {
        const auto every_type = asio::enable_total_cancellation();
        co_await asio::this_coro::reset_cancellation_state(every_type);
        co_await std::move(operation);
    }

    /// One handler, or if there is none, a move of the workers; false at a standstill.
    bool advance(pace workers) {
        if (workers == pace::eager) {
            players_.move();
        }
        return pool_.step() || players_.move();
    }

    void check() {
        BOOST_TEST(ended_ == 1);
        check_outcome();
        const auto status = pool_.status();
        const auto& counters = status.counters;
        BOOST_TEST(status.in_flight == 0u);
        BOOST_TEST(status.queued == 0u);
        BOOST_TEST(counters.succeeded + counters.failed == counters.submitted);
        for (const auto& each : status.workers) {
            BOOST_TEST(each.load == 0u);
        }
        BOOST_TEST(counters.workers_replaced == 0u);
        BOOST_TEST(witness_.use_count() == 1, "the call is still there");
        const auto next = pool_.execute(request("plain"));
        while (advance(pace::lazy)) {}
        BOOST_TEST(next->value.has_value());
    }

    void check_outcome() {
        try {
            if (problem_) {
                std::rethrow_exception(problem_);
            }
        } catch (const error& failure) {
            BOOST_TEST(failure.kind() == errc::cancelled);
        } catch (const boost::system::system_error&
                     failure) { // between two operations: the caller's own coroutine
            BOOST_TEST(failure.code() == asio::error::operation_aborted);
            BOOST_TEST((what_.operation == read_all));
        }
    }

    const scenario& what_;
    stepped_pool pool_;
    far_side players_{pool_};
    std::shared_ptr<int> witness_ = std::make_shared<int>();
    std::array<std::byte, 1> bytes_{};
    asio::cancellation_signal cancel_;
    int ended_ = 0;
    std::exception_ptr problem_;
};

} // namespace

namespace {

/// How many points there were.
int cancel_at_each_point(const scenario& what, asio::cancellation_type type, pace workers, home of_caller) {
    for (int handler = 0; handler < most_handlers; ++handler) {
        BOOST_TEST_CONTEXT(what.name << ", cancellation of type " << static_cast<int>(type) << ", workers "
                                     << static_cast<int>(workers) << ", caller "
                                     << static_cast<int>(of_caller) << ", before handler " << handler) {
            const auto before = allocations_left;
            bool was_in_time = false;
            {
                attempt once(what, of_caller);
                was_in_time = once.run(type, workers, handler);
            }
            BOOST_TEST(allocations_left == before);
            if (!was_in_time) {
                return handler;
            }
        }
    }
    BOOST_ERROR(what.name << " does not end");
    return most_handlers;
}

} // namespace

BOOST_AUTO_TEST_CASE(every_operation_ends_once_and_leaves_nothing) {
    for (const auto& what : scenarios) {
        int points = 0;
        for (const auto type : {asio::cancellation_type::terminal, asio::cancellation_type::partial,
                                asio::cancellation_type::total}) {
            for (const auto workers : {pace::eager, pace::lazy}) {
                for (const auto of_caller : {home::shared, home::before, home::after}) {
                    points += cancel_at_each_point(what, type, workers, of_caller);
                }
            }
        }
        BOOST_TEST_MESSAGE(what.name << ": cancelled at " << points << " points");
        BOOST_TEST(points >= 3 * 2 * 3);
    }
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace skep::test
