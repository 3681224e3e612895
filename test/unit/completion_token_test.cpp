// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

// Each operation with each kind of completion token, and what a handler's associated executor, allocator and
// cancellation slot are used for.

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
#include <functional>
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

/// What a token has seen of one operation.
struct probe {
    tally seen;
    asio::io_context other;
    asio::cancellation_signal signal;
    std::function<void()> finish = [] {}; ///< to be called at the end
};

enum class token_kind { callback, future, deferred, tuple, executor, slot, result };

constexpr std::array every_token{token_kind::callback, token_kind::future,   token_kind::deferred,
                                 token_kind::tuple,    token_kind::executor, token_kind::slot,
                                 token_kind::result};

using any_operation = std::function<void(scene&, token_kind, probe&)>;

template <class Future>
std::function<void()> reading(Future future, tally& seen) {
    return [shared = std::make_shared<Future>(std::move(future)), &seen] {
        seen.calls += shared->wait_for(0s) == std::future_status::ready ? 1 : 0;
        try {
            shared->get();
        } catch (const error&) {
            ++seen.failures;
        }
    };
}

template <class Operation>
asio::awaitable<void> await_tuple(Operation operation, tally& seen) {
    const auto outcome = co_await operation(asio::as_tuple(asio::use_awaitable));
    ++seen.calls;
    seen.failures += std::get<0>(outcome) ? 1 : 0;
}

/// `operation(scene, token)` with a token of any kind.
template <class Operation>
any_operation with_token(Operation operation) {
    return [operation](scene& pool, token_kind kind, probe& record) {
        switch (kind) {
        case token_kind::callback: operation(pool, record.seen.handler()); break;
        case token_kind::future:
            record.finish = reading(operation(pool, asio::use_future), record.seen);
            break;
        case token_kind::deferred: operation(pool, asio::deferred)(record.seen.handler()); break;
        case token_kind::tuple: {
            auto begin = [&pool, operation](auto token) { return operation(pool, token); };
            asio::co_spawn(pool.context, await_tuple(begin, record.seen), asio::detached);
            break;
        }
        case token_kind::executor:
            operation(pool, asio::bind_executor(record.other.get_executor(), record.seen.handler()));
            break;
        case token_kind::slot:
            operation(pool, asio::bind_cancellation_slot(record.signal.slot(), record.seen.handler()));
            break;
        case token_kind::result:
            operation(pool, as_result([&record](const auto& outcome) {
                          ++record.seen.calls;
                          record.seen.failures += outcome.has_error() ? 1 : 0;
                      }));
            break;
        }
    };
}

void check(const std::function<void(scene&)>& prepare, const any_operation& operation, token_kind kind,
           bool fails) {
    probe record; // its signal may outlive the operation and the pool
    {
        scene pool;
        prepare(pool);
        operation(pool, kind, record);
        BOOST_TEST(record.seen.calls == 0); // never from within the initiating function
        pool.play();
        if (kind == token_kind::executor) {
            BOOST_TEST(record.seen.calls == 0);
            record.other.run(); // which the handler keeps at work
        }
        record.finish();
        BOOST_TEST(record.seen.calls == 1);
        BOOST_TEST(record.seen.failures == (fails ? 1 : 0));
        BOOST_TEST(!record.signal.slot().has_handler());
    }
    record.signal.emit(asio::cancellation_type::all);
}

/// Runs `operation(scene, token)` once for each kind of token, each time in a new scene that `prepare` has
/// set. It is to fail if `fails`, else to succeed.
template <class Operation>
void with_every_token(const std::function<void(scene&)>& prepare, Operation operation, bool fails = false) {
    const auto erased = with_token(std::move(operation));
    for (const auto kind : every_token) {
        BOOST_TEST_CONTEXT("token " << static_cast<int>(kind)) {
            check(prepare, erased, kind, fails);
        }
    }
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
        call_interface& calls = pool.facade();
        return calls.stream(request("count"), std::forward<decltype(token)>(token));
    });
}

BOOST_AUTO_TEST_CASE(a_detached_call) {
    scene pool;
    pool.run();
    pool.facade().execute(request("echo"), asio::detached);
    pool.play();
    BOOST_TEST(pool.counters().succeeded == 1u);
}

BOOST_AUTO_TEST_CASE(the_memory_of_a_handler_is_its_allocators) {
    std::ptrdiff_t left = 0;
    std::size_t made = 0;
    {
        scene pool;
        pool.run();
        tally seen;
        const counting_allocator<void*> memory(left, made);
        pool.facade().execute(request("echo"), asio::bind_allocator(memory, seen.handler()));
        pool.play();
        BOOST_TEST(seen.calls == 1);
    }
    BOOST_TEST(made > 0u);
    BOOST_TEST(left == 0);
}

namespace {

using plain_executor = asio::io_context::executor_type;

asio::awaitable<void, plain_executor> use_on_plain_executor(scene& pool, int& done) {
    constexpr asio::use_awaitable_t<plain_executor> token;
    const auto answer = co_await pool.facade().execute(request("echo"), token);
    done += answer.value == 7 ? 1 : 0;
    const auto number = co_await pool.facade().execute<int>(request("echo"), token);
    done += number == 7 ? 1 : 0;
    pool.stream = co_await pool.facade().stream(request("count"), token);
    const auto piece = co_await pool.stream.next(token);
    done += piece && piece->value == 1 ? 1 : 0;
    const auto status = co_await pool.facade().status(token);
    done += status.workers.size() == 2 ? 1 : 0;
}

} // namespace

BOOST_AUTO_TEST_CASE(a_coroutine_on_another_type_of_executor) {
    scene pool;
    pool.run();
    int done = 0;
    asio::co_spawn(pool.context.get_executor(), use_on_plain_executor(pool, done), asio::detached);
    pool.play();
    BOOST_TEST(done == 4);
}

#if BOOST_VERSION >= 108600
BOOST_AUTO_TEST_CASE(a_call_with_a_limit_of_asios) {
    scene pool;
    pool.run();
    tally seen;
    pool.facade().execute(request("echo"), asio::cancel_after(1h, seen.handler()));
    pool.play();
    BOOST_TEST(seen.calls == 1);
    BOOST_TEST(seen.failures == 0);
}
#endif

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
    BOOST_TEST(refused.get().error().kind() == errc::invalid_session);
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
                    target = outcome ? errc() : outcome.error().kind();
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
    BOOST_TEST(second->error().kind() == errc::pool_saturated);
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
