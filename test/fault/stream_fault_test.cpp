// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

// Many streams of consumers who are slow, leave and are cancelled, while workers are killed.

#include "support/run.hpp"

#include <algorithm>
#include <csignal>
#include <map>
#include <random>
#include <set>

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define SKEP_HAS_ADDRESS_SANITIZER
#endif
#elif defined(__SANITIZE_ADDRESS__)
#define SKEP_HAS_ADDRESS_SANITIZER
#endif

namespace skep::test {

namespace {

#if defined(SKEP_HAS_ADDRESS_SANITIZER) // which is slow, and keeps what was freed
constexpr int size = 200;
constexpr bool can_measure = false;
#else
constexpr int size = 1000;
constexpr bool can_measure = true;
#endif

// So many streams of so many chunks of so many characters: what is kept too long shows.
constexpr int stream_count = size;
constexpr int chunk_count = size;
constexpr int chunk_size = 1000;

constexpr std::size_t workers_in_all = 4;
constexpr std::size_t mebibyte = 1u << 20;
constexpr std::size_t most_growth = 48 * mebibyte;
constexpr std::size_t largest_worker = 64 * mebibyte;

/// 0 if it is gone.
std::size_t resident_bytes(const std::string& process) {
    std::ifstream file("/proc/" + process + "/statm");
    std::size_t size = 0;
    std::size_t resident = 0;
    file >> size >> resident;
    return resident * 4096;
}

struct consumer {
    enum class end { none, finished, left, cancelled, lost };

    end ended = end::none;
    int times = 0; ///< that it has ended
    int read = 0;
    asio::cancellation_signal cancel;
};

/// Reads a stream at its own pace, and to its end or not.
asio::awaitable<void> consume(pool& workers, consumer& self, unsigned seed) {
    std::mt19937 random(seed);
    const auto pick = [&random](int below) {
        return static_cast<int>(random() % static_cast<unsigned>(below));
    };
    const int habit = pick(8);
    const int stays_for = habit < 2 ? pick(chunk_count) : chunk_count;
    const int pause_after = 20 << pick(6);
    request call("count");
    call.arg("to", chunk_count).arg("size", chunk_size);
    auto stream = co_await workers.stream(std::move(call));
    while (self.read < stays_for) {
        const auto piece = co_await stream.next();
        BOOST_REQUIRE(piece);
        BOOST_REQUIRE(piece->value.at(0).to_number<int>() == self.read);
        if (++self.read % pause_after == 0) {
            co_await pause(std::chrono::milliseconds(1 + pick(3)));
        }
    }
    if (habit == 0) {
        stream.cancel();
    }
    if (stays_for == chunk_count) {
        const auto nothing = co_await stream.next();
        BOOST_TEST(!nothing.has_value());
        BOOST_TEST(stream.result().as<int>() == chunk_count);
    }
    self.ended = stays_for == chunk_count ? consumer::end::finished : consumer::end::left;
}

/// What a consumer has ended with, if not by itself.
consumer::end end_by(const std::exception_ptr& problem) {
    try {
        std::rethrow_exception(problem);
    } catch (const error& failure) {
        if (failure.kind() == errc::cancelled) {
            return consumer::end::cancelled;
        }
        BOOST_TEST(failure.kind() == errc::worker_lost);
        return consumer::end::lost;
    } catch (const boost::system::system_error& failure) { // between two operations
        BOOST_TEST(failure.code() == asio::error::operation_aborted);
        return consumer::end::cancelled;
    }
}

/// A pool in trouble.
class storm {
public:
    storm(asio::io_context& context, pool& workers) : context_(context), workers_(workers) {}

    asio::awaitable<void> rage() {
        before_ = resident_bytes("self");
        for (std::size_t i = 0; i < consumers_.size(); ++i) {
            spawn(consumers_[i], static_cast<unsigned>(i));
        }
        while (!have_all_ended()) {
            co_await pause(20ms);
            cancel_one();
            const auto status = co_await workers_.status();
            measure(status);
            if (++ticks_ % 8 == 0) {
                kill_one(status);
            }
        }
    }

    void check() const {
        std::map<consumer::end, int> ends;
        std::size_t chunks = 0;
        for (const auto& each : consumers_) {
            BOOST_TEST(each.times == 1);
            ++ends[each.ended];
            chunks += static_cast<std::size_t>(each.read);
        }
        BOOST_TEST_MESSAGE(stream_count << " streams: " << ends[consumer::end::finished]
                                        << " read to their end, " << ends[consumer::end::left] << " left, "
                                        << ends[consumer::end::cancelled] << " cancelled, "
                                        << ends[consumer::end::lost] << " lost with " << killed_.size()
                                        << " workers; " << chunks << " chunks");
        BOOST_TEST_MESSAGE("host: " << before_ / mebibyte << " MiB before, " << peak_ / mebibyte
                                    << " MiB at most; largest worker: " << largest_worker_ / mebibyte
                                    << " MiB");
        for (const auto kind : {consumer::end::finished, consumer::end::left, consumer::end::cancelled}) {
            BOOST_TEST(ends[kind] > 0);
        }
        BOOST_TEST((!can_measure || peak_ < before_ + most_growth));
        BOOST_TEST(largest_worker_ < largest_worker);
    }

    /// A worker writes a letter for each generator that it begins, and one for each that it cleans up.
    void check_tally(const scratch_folder& folder) const {
        for (const auto& file : std::filesystem::directory_iterator(folder.path())) {
            const auto text = contents_of(file.path());
            const auto begun = std::count(text.begin(), text.end(), 'b');
            const auto cleaned = std::count(text.begin(), text.end(), 'c');
            const bool was_killed = killed_.count(std::stoi(file.path().filename())) > 0;
            BOOST_TEST(begun - cleaned >= 0);
            BOOST_TEST(begun - cleaned <= (was_killed ? 1 : 0), "a generator was not cleaned up");
        }
    }

private:
    void spawn(consumer& one, unsigned seed) {
        auto ended = [&one](std::exception_ptr problem) {
            ++one.times;
            if (problem) {
                one.ended = end_by(problem);
            }
        };
        asio::co_spawn(context_, consume(workers_, one, seed),
                       asio::bind_cancellation_slot(one.cancel.slot(), ended));
    }

    bool have_all_ended() const {
        return std::all_of(consumers_.begin(), consumers_.end(),
                           [](const auto& each) { return each.times > 0; });
    }

    void cancel_one() {
        auto& one = consumers_[random_() % consumers_.size()];
        if (one.times == 0) {
            one.cancel.emit(asio::cancellation_type::terminal);
        }
    }

    void kill_one(const pool_status& status) {
        const auto& one = status.workers[random_() % status.workers.size()];
        if (one.state == worker_state::busy) {
            killed_.insert(one.pid);
            ::kill(one.pid, SIGKILL);
        }
    }

    void measure(const pool_status& status) {
        peak_ = std::max(peak_, resident_bytes("self"));
        for (const auto& each : status.workers) {
            if (each.state == worker_state::busy) {
                largest_worker_ = std::max(largest_worker_, resident_bytes(std::to_string(each.pid)));
            }
        }
    }

    static std::string contents_of(const std::filesystem::path& file) {
        std::ifstream in(file);
        return {std::istreambuf_iterator<char>(in), {}};
    }

    asio::io_context& context_;
    pool& workers_;
    std::vector<consumer> consumers_{stream_count};
    std::set<pid_t> killed_;
    std::mt19937 random_{4711};
    int ticks_ = 0;
    std::size_t before_ = 0;
    std::size_t peak_ = 0;
    std::size_t largest_worker_ = 0;
};

} // namespace

BOOST_AUTO_TEST_SUITE(streams)

BOOST_AUTO_TEST_CASE(in_a_storm_each_ends_once_and_is_cleaned_up) {
    const scratch_folder tally;
    auto config = quick(python_pool("fault/tallied_worker.py", workers_in_all));
    config.launch.environment = {{"TALLY", tally.path().string()}};
    config.queue.limit = stream_count;
    config.queue.timeout = 0s;
    config.cancel_grace = 30s; // a worker that is slow to let go, on a busy machine, is not to be replaced
    config.restart.limit = 1000;
    run([&](asio::io_context& context) -> asio::awaitable<void> {
        pool workers(context.get_executor(), config);
        co_await workers.start();
        storm weather(context, workers);
        co_await weather.rage();
        const bool healed = co_await is_healed(workers, workers_in_all);
        BOOST_TEST(healed);
        const auto status = co_await workers.status();
        BOOST_TEST(status.in_flight + status.queued == 0u);
        BOOST_TEST(status.counters.succeeded + status.counters.failed == status.counters.submitted);
        BOOST_TEST(status.counters.workers_replaced == 0u);
        const auto report = co_await workers.shutdown();
        BOOST_TEST(report.clean());
        weather.check();
        weather.check_tally(tally);
    });
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace skep::test
