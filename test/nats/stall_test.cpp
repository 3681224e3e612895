// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

// A server that stands still does not hold the program of a client.

#include "support/allocated_bytes.hpp"
#include "support/node_process.hpp"
#include <skep/remote_pool.hpp>

#include <algorithm>
#include <cstdlib>

namespace skep::test {

BOOST_AUTO_TEST_SUITE(nats_stall_test)

namespace {

constexpr std::size_t mib = 1 << 20;
constexpr std::size_t callers = 4;
constexpr std::size_t large = 8 * mib;

/// How long the server stands still; more by hand: SKEP_STALL_SECONDS=5.
std::chrono::seconds time_of_halt() {
    const char* const given = std::getenv("SKEP_STALL_SECONDS");
    return std::chrono::seconds(given != nullptr ? std::atoi(given) : 2);
}

remote_options options_for(const nats_server& server) {
    remote_options options;
    options.nats = server.options();
    options.log_level = log_level::off;
    return options;
}

/// Large calls of several callers.
class traffic {
public:
    explicit traffic(remote_pool& client) : client_(client) {}

    void begin(asio::io_context& context) {
        for (std::size_t i = 0; i < callers; ++i) {
            asio::co_spawn(context, make_calls(), [this](const std::exception_ptr& problem) {
                BOOST_TEST(!problem);
                ++ended_;
            });
        }
    }

    std::size_t calls() const noexcept { return calls_; }

    asio::awaitable<void> wait_for_calls(std::size_t more) const {
        const auto goal = calls_ + more;
        while (calls_ < goal) {
            BOOST_REQUIRE(ended_ == 0u);
            co_await pause(5ms);
        }
    }

    asio::awaitable<void> end() {
        is_over_ = true;
        while (ended_ < callers) {
            co_await pause(5ms);
        }
    }

private:
    asio::awaitable<void> make_calls() {
        const auto bytes = blob::copy_of(std::vector<std::byte>(large));
        while (!is_over_) {
            auto call = request("work").arg("number", 1).arg("ms", 0).attach(bytes);
            co_await client_.execute(std::move(call).timeout(1min));
            ++calls_;
        }
    }

    remote_pool& client_;
    bool is_over_ = false;
    std::size_t ended_ = 0; ///< callers
    std::size_t calls_ = 0;
};

/// Looks at the event loop every millisecond.
class loop_watch {
public:
    explicit loop_watch(asio::io_context& context) {
        asio::co_spawn(context, run(), [this](const std::exception_ptr&) { has_ended_ = true; });
    }

    /// Returns the longest stall since the last call, or since the beginning.
    duration take_longest() { return std::exchange(longest_, duration()); }

    /// Likewise, the most bytes of the heap in use.
    std::size_t take_most_memory() { return std::exchange(most_memory_, 0); }

    asio::awaitable<void> end() {
        is_over_ = true;
        while (!has_ended_) {
            co_await pause(1ms);
        }
    }

private:
    asio::awaitable<void> run() {
        for (auto last = clock::now(); !is_over_;) {
            co_await pause(1ms);
            const auto now = clock::now();
            longest_ = std::max(longest_, now - last - 1ms);
            last = now;
            most_memory_ = std::max(most_memory_, allocated_bytes());
        }
    }

    duration longest_{};
    std::size_t most_memory_ = 0;
    bool is_over_ = false;
    bool has_ended_ = false;
};

std::string in_ms(duration span) {
    return std::to_string(std::chrono::duration_cast<std::chrono::microseconds>(span).count() / 1000.0) +
           " ms";
}

asio::awaitable<void> begin_and_end(asio::io_context& context, const nats_server& server) {
    remote_pool client(context, options_for(server));
    co_await client.start();
    co_await client.shutdown();
}

} // namespace

BOOST_AUTO_TEST_CASE(a_server_that_stands_still_holds_nothing_but_its_calls) {
    run([](asio::io_context& context) -> asio::awaitable<void> {
        const nats_server server;
        const node_process node(server, "node");
        co_await begin_and_end(context, server); // cnats has its threads from now on
        const auto threads_before = threads();
        remote_pool client(context, options_for(server));
        co_await client.start();
        traffic calls(client);
        loop_watch watch(context);
        co_await pause(10ms);
        const auto idle_memory = watch.take_most_memory();
        calls.begin(context);
        co_await calls.wait_for_calls(callers);
        watch.take_longest();

        co_await pause(time_of_halt());
        co_await calls.wait_for_calls(callers);
        const auto usual = watch.take_longest();
        const auto usual_memory = watch.take_most_memory() - idle_memory;

        server.freeze();
        co_await pause(time_of_halt());
        const auto halted = watch.take_longest();
        const auto halted_memory = watch.take_most_memory() - idle_memory;
        server.thaw();
        co_await calls.wait_for_calls(callers);

        co_await calls.end();
        co_await watch.end();
        co_await client.shutdown();
        BOOST_TEST_MESSAGE("longest stall " << in_ms(usual) << ", with the halt " << in_ms(halted)
                                            << "; memory " << usual_memory / mib << " MiB, with the halt "
                                            << halted_memory / mib << " MiB; " << calls.calls() << " calls");
        BOOST_TEST(halted < time_of_halt() / 2);
        const auto window = link_options().window;
        BOOST_TEST(halted_memory <= callers * large + 4 * window);
        auto has_joined = [&] { return threads() == threads_before; };
        const bool are_joined = co_await eventually(has_joined);
        BOOST_TEST(are_joined);
    });
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace skep::test
