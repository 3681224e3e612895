// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

// Each operation with each kind of completion token, and what a handler's associated executor, allocator and cancellation
// slot are used for.

#include "support/fake_runtime.hpp"
#include <skep/event_bus.hpp>
#include <skep/pool_manager.hpp>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/bind_allocator.hpp>
#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/bind_executor.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/deferred.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/use_future.hpp>
#include <boost/test/unit_test.hpp>
#include <boost/version.hpp>
#if BOOST_VERSION >= 108600
#include <boost/asio/cancel_after.hpp>
#endif

#include <array>
#include <chrono>
#include <cstddef>
#include <exception>
#include <future>
#include <memory>
#include <new>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>

namespace skep::test {

using namespace std::chrono_literals;

BOOST_AUTO_TEST_SUITE(completion_tokens)

namespace {

/// A pool, and all that its operations are about. Its workers answer every call.
class scene : public manual_pool {
public:
    explicit scene(pool_config config = fake_config(2)) : manual_pool(std::move(config)) {}

    void run() {
        manual_pool::start();
        advance(10ms);
    }

    /// Lets the workers do what they are asked for, until nothing is left to do.
    void play() {
        for (int round = 0; round < 60; ++round) {
            run_until_idle();
            for (const auto& each : runtime().workers) {
                answer_calls(*each);
            }
            advance(50ms, 50ms);
        }
    }

    lease held;
    reply_stream stream;
    event_stream<events::worker_terminated> ends = facade().events().subscribe<events::worker_terminated>();

private:
    static void answer_calls(fake_worker& from) {
        if (from.has_exited()) {
            return;
        }
        for (const auto& call : from.take_calls()) {
            if (call.contains("stream")) {
                from.chunk(id_of(call), 1);
            }
            from.reply(id_of(call), 7);
        }
    }
};

/// Called with every outcome.
struct tally {
    auto handler() {
        return [this](std::exception_ptr problem, auto&&...) {
            ++calls;
            failures += problem ? 1 : 0;
        };
    }

    int calls = 0;
    int failures = 0;
};

/// Counts what is not given back.
template <class T>
struct counting_allocator {
    using value_type = T;

    explicit counting_allocator(std::ptrdiff_t& balance, std::size_t& total) : left(&balance), made(&total) {}
    template <class U>
    counting_allocator(const counting_allocator<U>& other) noexcept : left(other.left), made(other.made) {}

    T* allocate(std::size_t count) {
        ++*left;
        ++*made;
        return std::allocator<T>().allocate(count);
    }
    void deallocate(T* place, std::size_t count) noexcept {
        --*left;
        std::allocator<T>().deallocate(place, count);
    }

    template <class U>
    bool operator==(const counting_allocator<U>& other) const noexcept {
        return left == other.left;
    }

    std::ptrdiff_t* left;
    std::size_t* made;
};

template <class Executor, class Operation>
asio::awaitable<void, Executor> await_on(Operation operation, bool& is_done) {
    try {
        co_await operation(asio::use_awaitable_t<Executor>());
    } catch (const error&) {}
    is_done = true;
}

template <class Operation>
asio::awaitable<void> await_tuple(Operation operation, bool& is_done, bool& has_failed) {
    auto running = operation(asio::as_tuple(asio::use_awaitable));
    const auto outcome = co_await std::move(running);
    has_failed = static_cast<bool>(std::get<0>(outcome));
    is_done = true;
}

template <class Operation>
[[maybe_unused]] asio::awaitable<void> await_deferred(Operation operation, bool& is_done) {
    try {
        co_await operation(asio::deferred);
    } catch (const error&) {}
    is_done = true;
}

/// Runs `operation(scene, token)` once for each kind of token, each time in a new scene that `prepare` has set. It is to
/// fail if `fails`, else to succeed.
template <class Prepare, class Operation>
void with_every_token(Prepare prepare, Operation operation, bool fails = false) {
    const auto expected_failures = fails ? 1 : 0;
    BOOST_TEST_CONTEXT("a callback") {
        scene pool;
        prepare(pool);
        tally seen;
        operation(pool, seen.handler());
        BOOST_TEST(seen.calls == 0); // never from within the initiating function
        pool.play();
        BOOST_TEST(seen.calls == 1);
        BOOST_TEST(seen.failures == expected_failures);
    }
    BOOST_TEST_CONTEXT("use_future") {
        scene pool;
        prepare(pool);
        auto future = operation(pool, asio::use_future);
        pool.play();
        BOOST_REQUIRE((future.wait_for(0s) == std::future_status::ready));
        if (fails) {
            BOOST_CHECK_THROW(future.get(), error);
        } else {
            future.get();
        }
    }
    BOOST_TEST_CONTEXT("deferred") {
        scene pool;
        prepare(pool);
        tally seen;
        auto later = operation(pool, asio::deferred);
        pool.run_until_idle();
        std::move(later)(seen.handler());
        pool.play();
        BOOST_TEST(seen.calls == 1);
        BOOST_TEST(seen.failures == expected_failures);
    }
#if BOOST_VERSION >= 108200 // Boost 1.81 cannot await a deferred operation of void(std::exception_ptr, ...)
    BOOST_TEST_CONTEXT("deferred, awaited") {
        scene pool;
        prepare(pool);
        bool is_done = false;
        auto begin = [&](auto token) { return operation(pool, token); };
        asio::co_spawn(pool.context, await_deferred(begin, is_done), asio::detached);
        pool.play();
        BOOST_TEST(is_done);
    }
#endif
    BOOST_TEST_CONTEXT("as_tuple") {
        scene pool;
        prepare(pool);
        bool is_done = false;
        bool has_failed = false;
        auto begin = [&](auto token) { return operation(pool, token); };
        asio::co_spawn(pool.context, await_tuple(begin, is_done, has_failed), asio::detached);
        pool.play();
        BOOST_TEST(is_done);
        BOOST_TEST(has_failed == fails);
    }
    BOOST_TEST_CONTEXT("detached") {
        scene pool;
        prepare(pool);
        operation(pool, asio::detached);
        pool.play();
    }
    BOOST_TEST_CONTEXT("bind_executor") {
        scene pool;
        prepare(pool);
        asio::io_context other;
        tally seen;
        operation(pool, asio::bind_executor(other.get_executor(), seen.handler()));
        pool.play();
        BOOST_TEST(seen.calls == 0);
        other.run(); // which the handler keeps at work
        BOOST_TEST(seen.calls == 1);
        BOOST_TEST(seen.failures == expected_failures);
    }
    BOOST_TEST_CONTEXT("bind_cancellation_slot") {
        asio::cancellation_signal signal; // may outlive the operation and the pool
        {
            scene pool;
            prepare(pool);
            tally seen;
            operation(pool, asio::bind_cancellation_slot(signal.slot(), seen.handler()));
            pool.play();
            BOOST_TEST(seen.calls == 1);
            BOOST_TEST(seen.failures == expected_failures);
            BOOST_TEST(!signal.slot().has_handler());
        }
        signal.emit(asio::cancellation_type::all);
    }
    BOOST_TEST_CONTEXT("bind_allocator") {
        std::ptrdiff_t left = 0;
        std::size_t made = 0;
        {
            scene pool;
            prepare(pool);
            tally seen;
            const counting_allocator<void*> memory(left, made);
            operation(pool, asio::bind_allocator(memory, seen.handler()));
            pool.play();
            BOOST_TEST(seen.calls == 1);
        }
        BOOST_TEST(made > 0u);
        BOOST_TEST(left == 0);
    }
    BOOST_TEST_CONTEXT("as_result") {
        scene pool;
        prepare(pool);
        int calls = 0;
        int failures = 0;
        operation(pool, as_result([&](const auto& outcome) {
                      ++calls;
                      failures += outcome.has_error() ? 1 : 0;
                  }));
        pool.play();
        BOOST_TEST(calls == 1);
        BOOST_TEST(failures == expected_failures);
    }
    BOOST_TEST_CONTEXT("a coroutine on another type of executor") {
        using executor = asio::io_context::executor_type;
        scene pool;
        prepare(pool);
        bool is_done = false;
        auto begin = [&](auto token) { return operation(pool, token); };
        asio::co_spawn(pool.context.get_executor(), await_on<executor>(begin, is_done), asio::detached);
        pool.play();
        BOOST_TEST(is_done);
    }
#if BOOST_VERSION >= 108600
    BOOST_TEST_CONTEXT("cancel_after") {
        scene pool;
        prepare(pool);
        tally seen;
        operation(pool, asio::cancel_after(1h, seen.handler()));
        pool.play();
        BOOST_TEST(seen.calls == 1);
        BOOST_TEST(seen.failures == expected_failures);
    }
#endif
}

void nothing(scene&) {}

void run(scene& pool) {
    pool.run();
}

void check_out(scene& pool) {
    pool.run();
    auto checked_out = pool.checkout();
    pool.play();
    pool.held = std::move(checked_out->value.value());
}

void open_stream(scene& pool) {
    pool.run();
    auto opened = static_cast<manual_pool&>(pool).manual_pool::stream(request("count"));
    pool.stream = std::move(opened->value.value());
}

worker_id first_of(scene& pool) {
    return pool.status().workers.at(0).id;
}

} // namespace

BOOST_AUTO_TEST_CASE(calls) {
    with_every_token(run, [](scene& pool, auto&& token) {
        return pool.facade().execute(request("echo"), std::forward<decltype(token)>(token));
    });
    with_every_token(run, [](scene& pool, auto&& token) {
        return pool.facade().execute("echo", boost::json::object(), std::forward<decltype(token)>(token));
    });
    with_every_token(run, [](scene& pool, auto&& token) {
        return pool.facade().template execute<int>(request("echo"), std::forward<decltype(token)>(token));
    });
    with_every_token(run, [](scene& pool, auto&& token) {
        return pool.facade().template execute<int>("echo", boost::json::object(),
                                                   std::forward<decltype(token)>(token));
    });
    with_every_token(run, [](scene& pool, auto&& token) {
        return pool.facade().stream(request("count"), std::forward<decltype(token)>(token));
    });
}

BOOST_AUTO_TEST_CASE(calls_that_fail) {
    with_every_token(
        nothing,
        [](scene& pool, auto&& token) {
            return pool.facade().execute(request("echo"), std::forward<decltype(token)>(token));
        },
        true);
    with_every_token(
        run,
        [](scene& pool, auto&& token) { // its arguments are no object
            return pool.facade().execute("echo", 1, std::forward<decltype(token)>(token));
        },
        true);
    with_every_token(
        run,
        [](scene& pool, auto&& token) { // the answer is a number
            return pool.facade().template execute<std::string>(request("echo"),
                                                               std::forward<decltype(token)>(token));
        },
        true);
    with_every_token(
        nothing,
        [](scene& pool, auto&& token) {
            return pool.facade().stream(request("count"), std::forward<decltype(token)>(token));
        },
        true);
}

BOOST_AUTO_TEST_CASE(streams) {
    with_every_token(open_stream, [](scene& pool, auto&& token) {
        return pool.stream.next(std::forward<decltype(token)>(token));
    });
    const auto with_chunk = [](scene& pool) {
        open_stream(pool);
        pool.play();
        const auto first = pool.next(pool.stream);
        BOOST_TEST(first->done);
    };
    with_every_token(with_chunk, [](scene& pool, auto&& token) { // its end, which is known
        return pool.stream.next(std::forward<decltype(token)>(token));
    });
}

BOOST_AUTO_TEST_CASE(objects_without_a_pool) {
    scene pool;
    tally seen;
    const auto handler = [&] { return asio::bind_executor(pool.context.get_executor(), seen.handler()); };
    pool.stream.next(handler());
    pool.held.close(handler());
    pool.held.execute(request("echo"), handler());
    pool.held.stream(request("count"), handler());
    BOOST_TEST(seen.calls == 0);
    pool.play();
    BOOST_TEST(seen.calls == 4);
    BOOST_TEST(seen.failures == 2); // an empty stream has ended, and an empty lease is closed
}

BOOST_AUTO_TEST_CASE(leases) {
    with_every_token(run, [](scene& pool, auto&& token) {
        return pool.facade().checkout(checkout_options(), std::forward<decltype(token)>(token));
    });
    with_every_token(check_out, [](scene& pool, auto&& token) {
        return pool.held.execute(request("echo"), std::forward<decltype(token)>(token));
    });
    with_every_token(check_out, [](scene& pool, auto&& token) {
        return pool.held.stream(request("count"), std::forward<decltype(token)>(token));
    });
    with_every_token(check_out, [](scene& pool, auto&& token) {
        return pool.held.close(std::forward<decltype(token)>(token));
    });
}

BOOST_AUTO_TEST_CASE(lifecycle) {
    with_every_token(nothing, [](scene& pool, auto&& token) {
        return pool.facade().start(std::forward<decltype(token)>(token));
    });
    with_every_token(
        run,
        [](scene& pool, auto&& token) { return pool.facade().start(std::forward<decltype(token)>(token)); },
        true);
    with_every_token(run, [](scene& pool, auto&& token) {
        return pool.facade().ready(2, std::forward<decltype(token)>(token));
    });
    with_every_token(
        run,
        [](scene& pool, auto&& token) {
            return pool.facade().ready(20'000, std::forward<decltype(token)>(token));
        },
        true);
    with_every_token(run, [](scene& pool, auto&& token) {
        return pool.facade().resize(size_limits(1, 3), std::forward<decltype(token)>(token));
    });
    with_every_token(run, [](scene& pool, auto&& token) {
        return pool.facade().shutdown(std::forward<decltype(token)>(token));
    });
}

BOOST_AUTO_TEST_CASE(suspensions) {
    with_every_token(run, [](scene& pool, auto&& token) {
        return pool.facade().suspend(first_of(pool), std::forward<decltype(token)>(token));
    });
    with_every_token(run, [](scene& pool, auto&& token) {
        return pool.facade().suspend(std::forward<decltype(token)>(token));
    });
    with_every_token(run, [](scene& pool, auto&& token) {
        return pool.facade().resume(first_of(pool), std::forward<decltype(token)>(token));
    });
    with_every_token(run, [](scene& pool, auto&& token) {
        return pool.facade().resume(std::forward<decltype(token)>(token));
    });
}

BOOST_AUTO_TEST_CASE(probes) {
    with_every_token(
        run,
        [](scene& pool, auto&& token) { // which has no health check
            return pool.facade().probe(first_of(pool), std::forward<decltype(token)>(token));
        },
        true);
    with_every_token(run, [](scene& pool, auto&& token) {
        return pool.facade().probe(std::forward<decltype(token)>(token));
    });
    with_every_token(run, [](scene& pool, auto&& token) {
        return pool.facade().ping(first_of(pool), std::forward<decltype(token)>(token));
    });
}

BOOST_AUTO_TEST_CASE(ends_and_restarts) {
    with_every_token(run, [](scene& pool, auto&& token) {
        const auto subject = first_of(pool);
        crash_worker(pool, 0);
        return pool.facade().ended(subject, std::forward<decltype(token)>(token));
    });
    with_every_token(run, [](scene& pool, auto&& token) {
        return pool.facade().restart(first_of(pool), std::forward<decltype(token)>(token));
    });
    with_every_token(run, [](scene& pool, auto&& token) {
        return pool.facade().rolling_restart(std::forward<decltype(token)>(token));
    });
}

BOOST_AUTO_TEST_CASE(sessions_and_figures) {
    with_every_token(run, [](scene& pool, auto&& token) {
        return pool.facade().forget_session("s", std::forward<decltype(token)>(token));
    });
    with_every_token(run, [](scene& pool, auto&& token) {
        return pool.facade().session_worker("s", std::forward<decltype(token)>(token));
    });
    with_every_token(run, [](scene& pool, auto&& token) {
        return pool.facade().bind_session("s", first_of(pool), affinity_mode::hint,
                                          std::forward<decltype(token)>(token));
    });
    with_every_token(run, [](scene& pool, auto&& token) {
        return pool.facade().status(std::forward<decltype(token)>(token));
    });
    with_every_token(run, [](scene& pool, auto&& token) {
        return pool.facade().metrics(std::forward<decltype(token)>(token));
    });
}

BOOST_AUTO_TEST_CASE(events) {
    scene pool;
    pool.run();
    std::size_t told = 0;
    const auto executor = pool.context.get_executor();
    pool.ends.next(asio::bind_executor(
        executor, [&](std::exception_ptr problem, const auto& end) { told += !problem && end ? 1 : 0; }));
    crash_worker(pool, 0);
    pool.play();
    BOOST_TEST(told == 1u);
    pool.ends.next(
        as_result(asio::bind_executor(executor, [&](const auto& end) { told += end.has_value() ? 1 : 0; })));
    crash_worker(pool, 1);
    pool.play();
    BOOST_TEST(told == 2u);
}

BOOST_AUTO_TEST_CASE(session_stores) {
    asio::io_context context;
    session_store store;
    std::size_t done = 0;
    const auto handler = [&] {
        return asio::bind_executor(context.get_executor(),
                                   [&](std::exception_ptr problem, auto&&...) { done += problem ? 0 : 1; });
    };
    const auto run = [&] {
        context.run();
        context.restart();
    };
    store.create("s", session_data(), handler());
    run();
    store.update(
        "s", [](session_data& data) { data.metadata("visits", 1); }, handler());
    store.put_program("s", "p", 1, handler());
    run();
    store.get("s", handler());
    store.peek("s", handler());
    store.touch("s", handler());
    store.record_worker("s", worker_id{"p", 0, 1}, handler());
    store.get_program("s", "p", handler());
    run();
    store.delete_program("s", "p", handler());
    store.cleanup_expired(handler());
    store.stats(handler());
    store.remove("s", handler());
    run();
    BOOST_TEST(done == 12u);
    auto found = store.get("s", as_result(asio::use_future)); // on a thread of the system's
    BOOST_TEST(!found.get().value());
    auto refused = store.get("", as_result(asio::use_future));
    BOOST_TEST(refused.get().error().errc() == errc::invalid_session);
}

BOOST_AUTO_TEST_CASE(managers) {
    asio::io_context context;
    pool_manager manager(context);
    std::size_t done = 0;
    std::size_t failed = 0;
    const auto handler = [&] {
        return [&](std::exception_ptr problem, auto&&...) { ++(problem ? failed : done); };
    };
    manager.start(handler());
    manager.ready(1, handler());
    manager.status(handler());
    manager.execute(request("echo"), handler()); // there is no pool
    manager.stream(request("echo"), handler());
    manager.shutdown(handler());
    context.run_for(10s);
    BOOST_TEST(done == 4u);
    BOOST_TEST(failed == 2u);
}

BOOST_AUTO_TEST_CASE(each_type_of_cancellation) {
    for (const auto type : {asio::cancellation_type::total, asio::cancellation_type::partial,
                            asio::cancellation_type::terminal}) {
        BOOST_TEST_CONTEXT("type " << static_cast<unsigned>(type)) {
            scene pool(fake_config(1));
            pool.run();
            asio::cancellation_signal running;
            asio::cancellation_signal queued;
            errc of_running{};
            errc of_queued{};
            const auto record = [](errc& target) {
                return [&target](const result<reply>& outcome) {
                    target = outcome ? errc() : outcome.error().errc();
                };
            };
            pool.facade().execute(
                request("a"), as_result(asio::bind_cancellation_slot(running.slot(), record(of_running))));
            pool.run_until_idle();
            pool.facade().execute(request("b"),
                                  as_result(asio::bind_cancellation_slot(queued.slot(), record(of_queued))));
            pool.run_until_idle();
            queued.emit(type);
            running.emit(type);
            pool.run_until_idle();
            BOOST_TEST(of_queued == errc::cancelled);
            const bool ends =
                type != asio::cancellation_type::total; // the effects of a running call cannot be undone
            BOOST_TEST(of_running == (ends ? errc::cancelled : errc()));
            pool.play();
        }
    }
}

BOOST_AUTO_TEST_CASE(a_failure_as_a_result) {
    auto config = fake_config(1);
    config.queue.limit = 0;
    scene pool(config);
    pool.run();
    const auto first = static_cast<manual_pool&>(pool).execute(request("a"));
    std::optional<result<reply>> second;
    std::optional<result<reply>> third;
    pool.facade().execute(request("b"),
                          as_result([&](result<reply> outcome) { second = std::move(outcome); }));
    pool.run_until_idle();
    pool.play();
    pool.facade().execute(request("c"),
                          as_result([&](result<reply> outcome) { third = std::move(outcome); }));
    pool.play();
    BOOST_REQUIRE(second.has_value());
    BOOST_TEST(second->error().errc() == errc::pool_saturated);
    BOOST_CHECK_THROW(second->value(), error);
    BOOST_REQUIRE(third.has_value());
    BOOST_TEST(third->value().value == 7);
    BOOST_TEST(first->done);
}

BOOST_AUTO_TEST_CASE(a_callback_that_can_only_be_moved_and_that_ends_the_pool) {
    scene pool(fake_config(1));
    pool.run();
    auto owned = std::make_unique<int>(1);
    bool was_called = false;
    pool.facade().execute(request("echo"),
                          [&, owned = std::move(owned)](std::exception_ptr, const reply& answer) {
                              was_called = *owned == 1 && answer.value == 7;
                              pool.destroy_pool();
                          });
    pool.run_until_idle();
    pool.worker(0).answer_call(7);
    pool.run_until_idle();
    BOOST_TEST(was_called);
}

BOOST_AUTO_TEST_CASE(an_operation_that_begins_after_its_pool) {
    scene pool;
    pool.run();
    auto plain = pool.facade().execute(request("echo"), asio::deferred);
    auto named = pool.facade().execute("echo", boost::json::object(), asio::deferred);
    auto typed = pool.facade().execute<int>(request("echo"), asio::deferred);
    pool.destroy_pool();
    tally seen;
    std::move(plain)(seen.handler());
    std::move(named)(seen.handler());
    std::move(typed)(seen.handler());
    pool.run_until_idle();
    BOOST_TEST(seen.calls == 3);
    BOOST_TEST(seen.failures == 3);
}

BOOST_AUTO_TEST_CASE(a_stream_and_a_lease_that_end_with_an_operation_under_way) {
    scene pool;
    check_out(pool);
    auto opened = static_cast<manual_pool&>(pool).manual_pool::stream(request("count"));
    pool.stream = std::move(opened->value.value());
    tally seen;
    pool.stream.next(seen.handler());
    pool.held.execute(request("echo"), seen.handler());
    pool.run_until_idle();
    pool.stream = {};
    pool.held = {};
    pool.play();
    BOOST_TEST(seen.calls == 2);
    BOOST_TEST(seen.failures == 2);
}

BOOST_AUTO_TEST_CASE(no_handler_outlives_its_context) {
    const auto witness = std::make_shared<int>();
    {
        scene pool(fake_config(1));
        pool.run();
        const auto handler = [&] { return [witness](std::exception_ptr, auto&&...) {}; };
        pool.facade().execute(request("running"), handler());
        pool.facade().execute(request("queued"), handler());
        pool.facade().checkout(checkout_options(), handler());
        pool.facade().ready(5, handler());
        pool.ends.next(asio::bind_executor(pool.context.get_executor(), handler()));
        pool.run_until_idle();
        BOOST_TEST(witness.use_count() == 6);
    }
    BOOST_TEST(witness.use_count() == 1);
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace skep::test
