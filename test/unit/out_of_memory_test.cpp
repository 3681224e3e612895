// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

// Allocations that fail while the library works: what a caller or a worker has made large fails alone, and
// all else ends the pool, with every call in it.

#include "async/task_group.hpp"
#include "process/launcher.hpp"
#include "process/local_context.hpp"
#include "process/memory_line.hpp"
#include "server/answer_memory.hpp"
#include "session/session_table.hpp"
#include "support/allocations.hpp"
#include "support/fake_runtime.hpp"
#include "support/start_time.hpp"
#include "worker/call_table.hpp"
#include <skep/lazy_error.hpp>

#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <new>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace {

// Allocations of that size fail, but for so many that come first; 0: none does.
thread_local std::size_t doomed_size = 0;
thread_local int spared = 0;

// Those of that size and above fail; 0: none does.
thread_local std::size_t doomed_above = 0;

} // namespace

thread_local std::size_t skep::test::allocations_made = 0;
thread_local std::ptrdiff_t skep::test::allocations_left = 0;
thread_local std::size_t skep::test::allocations_to_failure = 0;

void* operator new(std::size_t size) {
    ++skep::test::allocations_made;
    const bool is_too_large = doomed_above != 0 && size >= doomed_above;
    const bool is_chosen =
        skep::test::allocations_to_failure > 0 && --skep::test::allocations_to_failure == 0;
    const bool fails =
        is_too_large || is_chosen || (doomed_size != 0 && size == doomed_size && spared-- <= 0);
    void* const block = fails ? nullptr : std::malloc(size == 0 ? 1 : size);
    if (block == nullptr) {
        doomed_size = 0;
        throw std::bad_alloc();
    }
    ++skep::test::allocations_left;
    return block;
}

void operator delete(void* block) noexcept {
    skep::test::allocations_left -= block != nullptr ? 1 : 0;
    std::free(block);
}

void operator delete(void* block, std::size_t) noexcept {
    operator delete(block);
}

namespace skep::test {

using namespace std::chrono_literals;

namespace {

/// Makes the next text of this length that is copied the one that there is no memory for.
class no_memory_for {
public:
    explicit no_memory_for(std::size_t length, int but_for = 0) {
        doomed_size = length + 1;
        spared = but_for;
    }
    ~no_memory_for() { doomed_size = 0; }
    no_memory_for(const no_memory_for&) = delete;
    no_memory_for& operator=(const no_memory_for&) = delete;

    static bool was_needed() { return doomed_size == 0; }
};

/// Makes memory short for whatever is so large.
class no_memory_above {
public:
    explicit no_memory_above(std::size_t size) { doomed_above = size; }
    ~no_memory_above() { doomed_above = 0; }
    no_memory_above(const no_memory_above&) = delete;
    no_memory_above& operator=(const no_memory_above&) = delete;
};

constexpr std::size_t large_size = 100'000;
constexpr std::size_t odd_length = 1377;
const std::string odd_text(odd_length, 'x');
constexpr std::size_t odd_name_length = 243; // a name has at most 256 bytes
const std::string odd_name(odd_name_length, 'n');

pool_config quick_config(std::size_t workers = 1) {
    auto config = fake_config(workers);
    config.log_level = log_level::off;
    return config;
}

void check_serves(manual_pool& pool, std::size_t worker) {
    const auto next = pool.execute(request("next"));
    BOOST_TEST(pool.serve(worker) == "next");
    BOOST_TEST(next->value.has_value(), next->text());
}

/// Its only worker is busy, and the time of a call that waits is over.
void fail_by_deadline(manual_pool& pool) {
    const auto call = pool.execute(request(odd_name).queue_timeout(1s));
    const no_memory_for error(odd_name_length);
    pool.advance(1050ms);
    BOOST_TEST(error.was_needed());
    BOOST_TEST(call->code() == errc::out_of_memory, call->text());
}

void check_has_failed(manual_pool& pool, std::size_t workers) {
    BOOST_TEST((pool.status().phase == pool_phase::failed));
    BOOST_TEST(pool.status().in_flight == 0u);
    BOOST_TEST(pool.status().queued == 0u);
    for (std::size_t index = 0; index < workers; ++index) {
        BOOST_TEST(pool.worker(index).has_exited());
    }
    const auto later = pool.execute(request("later"));
    BOOST_TEST(later->code() == errc::out_of_memory, later->text());
    const auto ready = pool.begin(pool.facade().ready(1));
    BOOST_TEST(ready->code() == errc::out_of_memory, ready->text());
}

} // namespace

BOOST_AUTO_TEST_SUITE(out_of_memory)

BOOST_AUTO_TEST_CASE(as_an_answer_is_handed_on_ends_the_pool) {
    running_pool pool(quick_config(2));
    const auto call = pool.execute(request("work").correlation_id(odd_name));
    const auto other = pool.execute(request("other"));
    const auto waiting = pool.execute(request("waiting"));
    const auto lease = pool.checkout();
    pool.worker(0).reply(pool.worker(0).take_call());
    {
        const no_memory_for answer(odd_name_length);
        pool.run_until_idle();
        BOOST_TEST(answer.was_needed());
    }
    for (const auto& each : {call, other, waiting}) {
        BOOST_TEST(each->code() == errc::out_of_memory, each->text());
    }
    BOOST_TEST(lease->code() == errc::out_of_memory, lease->text());
    check_has_failed(pool, 2);
}

BOOST_AUTO_TEST_CASE(a_pool_that_has_failed_may_be_started_again) {
    running_pool pool(quick_config());
    pool.execute(request("busy"));
    fail_by_deadline(pool);
    check_has_failed(pool, 1);
    const auto started = pool.start();
    pool.advance(1s);
    BOOST_TEST(started->value.has_value(), started->text());
    BOOST_TEST((pool.status().phase == pool_phase::running));
    check_serves(pool, 1);
}

BOOST_AUTO_TEST_CASE(a_suspended_pool_that_has_failed_is_suspended_when_started_again) {
    running_pool pool(quick_config());
    pool.execute(request("busy"));
    pool.begin(pool.facade().suspend());
    fail_by_deadline(pool);
    pool.start();
    pool.advance(1s);
    BOOST_TEST(pool.status().suspended);
    pool.begin(pool.facade().resume());
    check_serves(pool, 1);
}

BOOST_AUTO_TEST_CASE(a_pool_that_has_failed_uses_no_session_any_more) {
    running_pool pool(quick_config());
    pool.execute(request("busy").session("s"));
    fail_by_deadline(pool);
    pool.start();
    pool.advance(1s);
    std::optional<session_binding> shown;
    auto asking = [&]() -> asio::awaitable<void> {
        auto running = pool.facade().session_worker("s");
        shown = co_await std::move(running);
    };
    BOOST_REQUIRE(pool.begin(asking())->done);
    BOOST_REQUIRE(shown.has_value());
    BOOST_TEST(shown->is_lost);
    BOOST_TEST(shown->calls == 0u);
}

BOOST_AUTO_TEST_CASE(a_worker_that_leaves_as_the_pool_fails_is_counted_once) {
    auto config = quick_config();
    config.affinity.mode = affinity_mode::strict_queue;
    running_pool pool(config);
    pool.execute(request("busy").session("s"));
    const auto waiting = pool.execute(request("waiting").session("s").correlation_id(odd_name));
    const no_memory_for refusal(odd_name_length);
    pool.worker(0).exit(exit_status::signalled(SIGSEGV));
    pool.advance(1s);
    BOOST_TEST(refusal.was_needed());
    BOOST_TEST(waiting->code() == errc::out_of_memory, waiting->text());
    check_has_failed(pool, 1);
    const auto& counters = pool.counters();
    BOOST_TEST(counters.workers_started == 1u);
    BOOST_TEST(counters.workers_lost + counters.workers_replaced + counters.workers_removed == 1u);
    BOOST_TEST((pool.status().live + pool.status().retiring) == 0u);
    pool.shutdown();
    BOOST_TEST(pool.counters().workers_lost + pool.counters().workers_removed == 1u);
}

BOOST_AUTO_TEST_CASE(a_call_that_is_on_its_way_as_the_pool_fails_is_completed_without_a_cancellation_slot) {
    auto config = quick_config();
    config.affinity.mode = affinity_mode::strict_queue;
    running_pool pool(config);
    pool.execute(request("busy").session("s"));
    errc code{};
    auto waiting = request("waiting").session("s").correlation_id(odd_name);
    pool.facade().execute(std::move(waiting), as_result([&](const result<reply>& outcome) {
                              code = outcome ? errc() : outcome.error().kind();
                          }));
    pool.run_until_idle();
    const no_memory_for refusal(odd_name_length);
    pool.worker(0).exit(exit_status::signalled(SIGSEGV));
    pool.advance(1s);
    BOOST_TEST(refusal.was_needed());
    BOOST_TEST(code == errc::out_of_memory);
    check_has_failed(pool, 1);
}

BOOST_AUTO_TEST_CASE(a_pool_that_has_failed_shuts_down) {
    running_pool pool(quick_config());
    pool.execute(request("busy"));
    fail_by_deadline(pool);
    const auto ended = pool.shutdown();
    pool.advance(1s);
    BOOST_TEST(ended->value.has_value(), ended->text());
    BOOST_TEST((pool.status().phase == pool_phase::stopped));
    BOOST_TEST(pool.execute(request("late"))->code() == errc::shutting_down);
}

BOOST_AUTO_TEST_CASE(a_pool_that_fails_as_it_shuts_down_has_shut_down) {
    running_pool pool(quick_config());
    pool.execute(request("busy"));
    const auto waiting = pool.execute(request(odd_name).queue_timeout(1s));
    const auto ended = pool.shutdown();
    const no_memory_for error(odd_name_length);
    pool.advance(1050ms);
    BOOST_TEST(error.was_needed());
    BOOST_TEST(waiting->code() == errc::out_of_memory);
    BOOST_TEST(ended->value.has_value(), ended->text());
    BOOST_TEST((pool.status().phase == pool_phase::stopped));
    BOOST_TEST(pool.worker(0).has_exited());
}

BOOST_AUTO_TEST_CASE(a_pool_that_fails_as_it_shuts_down_releases_what_others_share) {
    const auto budget = std::make_shared<worker_budget>(3);
    pool_membership of_manager;
    of_manager.share = worker_share(budget);
    manual_pool pool(quick_config(), std::move(of_manager));
    pool.start();
    BOOST_TEST(budget->left() == 2u);
    bool has_read_all = false;
    auto read = [&]() -> asio::awaitable<void> {
        auto stream = pool.facade().events().subscribe<>();
        bool has_more = true;
        while (has_more) {
            auto reading = stream.next();
            const auto next = co_await std::move(reading);
            has_more = next.has_value();
        }
        has_read_all = true;
    };
    pool.begin(read());
    pool.execute(request("busy"));
    pool.execute(request(odd_name).queue_timeout(1s));
    pool.shutdown();
    const no_memory_for error(odd_name_length);
    pool.advance(1050ms);
    BOOST_TEST(error.was_needed());
    BOOST_TEST(budget->left() == 3u);
    BOOST_TEST(has_read_all);
}

BOOST_AUTO_TEST_CASE(a_pool_that_has_failed_is_started_again_by_its_manager) {
    pool_membership of_manager;
    of_manager.starts_again = true;
    manual_pool pool(quick_config(), std::move(of_manager));
    pool.start();
    pool.run_until_idle();
    pool.execute(request("busy"));
    fail_by_deadline(pool);
    pool.advance(10s);
    BOOST_TEST((pool.status().phase == pool_phase::running));
    check_serves(pool, 1);
}

/// What a caller decides the size of fails that call.
BOOST_AUTO_TEST_CASE(for_what_a_caller_sends_fails_the_call) {
    running_pool pool(quick_config());
    request large("work");
    large.args({{"text", std::string(large_size, 'x')}});
    {
        const no_memory_above limit(large_size / 2);
        const auto call = pool.execute(std::move(large));
        BOOST_TEST(call->code() == errc::out_of_memory, call->text());
    }
    BOOST_TEST((pool.status().phase == pool_phase::running));
    check_serves(pool, 0);
}

BOOST_AUTO_TEST_CASE(for_a_place_in_a_workers_table_fails_the_call_before_it_is_sent) {
    running_pool pool(quick_config());
    {
        constexpr auto first_places = 16 * sizeof(call_table::entry);
        const no_memory_for table(first_places - 1);
        const auto call = pool.execute(request("work"));
        BOOST_TEST(table.was_needed());
        BOOST_TEST(call->code() == errc::out_of_memory, call->text());
    }
    BOOST_TEST(pool.worker(0).take_calls().empty());
    BOOST_TEST((pool.status().phase == pool_phase::running));
    check_serves(pool, 0);
}

/// A worker in C++ loses no place of its memory for results.
BOOST_AUTO_TEST_CASE(for_a_place_in_shared_memory_leaves_the_other_places) {
    struct ignored_output final : frame_output {
        bool write(std::span<const std::string_view>) noexcept override { return true; }
        bool has_room() noexcept override { return true; }
    };
    constexpr std::size_t step = region_arena::step;
    constexpr shared_limits limits{step, 1 << 20, 1};
    auto ends = make_packet_pair(launcher());
    const auto host = make_memory_line(std::move(ends.here));
    ignored_output control;
    shared_line line(std::move(ends.there), control);
    answer_memory worker(limits, line, control);
    const std::vector<blob> whole{blob(std::vector<std::byte>(limits.bytes))};
    const std::vector<blob> parts(8, blob(std::vector<std::byte>(step)));
    BOOST_TEST(worker.put(whole).empty());
    const auto region = host->make_for_results(1, limits.bytes);
    worker.take_back(worker.put(whole));

    bool is_any_partly_placed = false;
    for (std::size_t size = 1; size < 100; ++size) { // one is that of what the worker notes of a place
        std::vector<region_place> places;
        try {
            const no_memory_for place(size, 3);
            places = worker.put(parts);
        } catch (const std::bad_alloc&) {}
        const auto placed = std::ranges::count_if(places, [](const auto& each) { return each.region != 0; });
        is_any_partly_placed = is_any_partly_placed || (placed > 0 && placed < 8);
        worker.take_back(places);
        places = worker.put(whole);
        BOOST_REQUIRE(places.size() == 1u);
        worker.take_back(places);
    }
    BOOST_TEST(is_any_partly_placed);
}

/// What a worker decides the size of ends that worker.
BOOST_AUTO_TEST_CASE(for_what_a_worker_sends_ends_the_worker) {
    running_pool pool(quick_config());
    const auto call = pool.execute(request("work"));
    pool.worker(0).reply(pool.worker(0).take_call(), boost::json::string(large_size, 'x'));
    {
        const no_memory_above limit(large_size / 2);
        pool.run_until_idle();
        pool.advance(1s);
    }
    BOOST_TEST(call->code() == errc::worker_lost, call->text());
    pool.advance(5s);
    BOOST_TEST((pool.status().phase == pool_phase::running));
    check_serves(pool, 1);
}

BOOST_AUTO_TEST_CASE(as_calls_are_given_back_completes_them) {
    for (int copy = 0; copy < 4; ++copy) {
        auto config = quick_config();
        config.capacity = 3;
        running_pool pool(config);
        std::vector<std::shared_ptr<manual_pool::outcome<reply>>> calls;
        for (int i = 0; i < 3; ++i) {
            calls.push_back(pool.execute(request("work").timeout(1h)));
        }
        pool.worker(0).last_words = odd_text;
        pool.worker(0).exit(exit_status::signalled(11));
        const no_memory_for words(odd_length, copy);
        pool.run_until_idle();
        BOOST_TEST(words.was_needed());
        pool.advance(5s);
        for (const auto& each : calls) {
            const bool was_lost = each->code() == errc::worker_lost; // before
            BOOST_TEST((was_lost || each->code() == errc::out_of_memory),
                       "copy " << copy << ": " << each->text());
        }
        const bool has_failed =
            calls.front()->code() == errc::out_of_memory; // else it was for words of a history
        BOOST_TEST((has_failed || copy > 0));
        BOOST_TEST((pool.status().phase == (has_failed ? pool_phase::failed : pool_phase::running)));
        BOOST_TEST(pool.status().in_flight == 0u);
    }
}

BOOST_AUTO_TEST_CASE(as_a_worker_ends_fails_the_start) {
    const auto length = std::string("its token is not the one it was started with").size();
    int needed = 0;
    for (int copy = 0; copy < 5; ++copy) { // as it is noticed, as it is told to stop, as that is noted ...
        manual_pool pool(quick_config());
        pool.runtime().on_start = [](fake_worker& fresh) {
            auto hello = fresh.hello();
            hello["token"] = "wrong";
            fresh.send_data(hello);
        };
        const no_memory_for reason(length, copy);
        const auto started = pool.start();
        pool.advance(1s);
        needed += reason.was_needed() ? 1 : 0;
        const bool has_failed =
            started->code() == errc::start_failed || started->code() == errc::out_of_memory;
        BOOST_TEST(has_failed, "copy " << copy << ": " << started->text());
    }
    BOOST_TEST(needed >= 4);
}

BOOST_AUTO_TEST_CASE(as_a_launch_starts_a_worker_leaves_no_slot_unseen) {
    int needed = 0;
    for (int copy = 0; copy < 12; ++copy) {
        auto config = quick_config(2);
        config.name = odd_name;
        manual_pool pool(config);
        {
            const no_memory_for name(odd_name_length, copy);
            pool.start();
            needed += no_memory_for::was_needed() ? 1 : 0;
        }
        pool.advance(1min, 1s);
        const auto seen = pool.status();
        BOOST_TEST((seen.phase != pool_phase::running || seen.live == 2u), "copy " << copy);
    }
    BOOST_TEST(needed > 0);
}

/// Found by the simulation, with failing allocations: seed 200274.
BOOST_AUTO_TEST_CASE(as_a_checkout_is_refused_fails_it) {
    auto config = quick_config();
    config.restart.limit = 1;
    config.restart.open_time = 1h;
    running_pool pool(config);
    pool.runtime().on_start = [](fake_worker& fresh) {
        fresh.last_words = odd_text;
        fresh.exit(exit_status::exited(3));
    };
    pool.worker(0).last_words = odd_text;
    pool.worker(0).exit(exit_status::exited(3));
    pool.advance(5s);
    const no_memory_for cause(odd_length);
    const auto refused = pool.checkout();
    BOOST_TEST(cause.was_needed());
    BOOST_TEST(refused->code() == errc::out_of_memory);
}

BOOST_AUTO_TEST_CASE(as_a_line_of_output_is_logged_loses_the_line) {
    const manual_time time;
    asio::io_context context;
    output_handler sink;
    const auto make = [&](const pool_context& found, const pool_config&, output_handler its) {
        sink = std::move(its);
        return std::make_unique<fake_runtime>(found.executor);
    };
    auto config = fake_config();
    config.output.handler = nullptr;
    config.log_level = log_level::info;
    const auto core = std::make_shared<pool_core>(make_local_context(context.get_executor()), config, make);
    const worker_id worker{"default", 0, 1};
    const no_memory_for line(odd_length);
    sink({worker, false, odd_text});
    BOOST_TEST(line.was_needed());
}

BOOST_AUTO_TEST_CASE(as_an_error_is_made_leaves_its_code) {
    error_info info;
    info.detail = odd_text;
    const lazy_error failure(errc::timeout, std::move(info));
    std::optional<error> told;
    try {
        const no_memory_above limit(odd_length / 2);
        told.emplace(failure.to_error());
    } catch (const std::bad_alloc&) {}
    BOOST_REQUIRE(told);
    BOOST_TEST(told->kind() == errc::timeout);
    BOOST_TEST(failure.to_error().info().detail == odd_text);
}

BOOST_AUTO_TEST_CASE(as_sessions_are_filed_leaves_them_as_they_were) {
    constexpr int count = 100;
    session_table table(0);
    session_entry_ptr dropped;
    int refused = 0;
    for (int i = 0; i < count; ++i) {
        const auto id = "session " + std::to_string(i);
        const session_entry_ptr added(new session_entry(id, session_data().ttl(1min), {}));
        try {
            const no_memory_above limit(1);
            table.insert(added, start);
            continue;
        } catch (const std::bad_alloc&) {}
        ++refused;
        BOOST_TEST(table.find(session_key(id), start, dropped) == nullptr);
        BOOST_TEST(table.usage().count == static_cast<std::size_t>(i));
        table.insert(added, start);
    }
    BOOST_TEST(refused >= 2); // the first, and those that the table grows for
    auto& one = *table.find(session_key("session 7"), start, dropped);
    bool is_filed = true;
    try {
        const no_memory_above limit(1);
        table.touch(one, start + 30s);
    } catch (const std::bad_alloc&) {
        is_filed = false;
    }
    BOOST_TEST(!is_filed);
    BOOST_TEST((one.last_accessed == start));
    int swept = 0;
    for (session_entry_ptr each; table.sweep_one(start + 61s, each); each.reset()) {
        swept += each ? 1 : 0;
    }
    BOOST_TEST(swept == count);
    BOOST_TEST(table.usage().count == 0u);
}

BOOST_AUTO_TEST_CASE(as_a_task_is_spawned_leaves_nothing_to_wait_for) {
    asio::io_context context;
    const strand executor(context.get_executor());
    task_group tasks(executor, [](std::exception_ptr) {});
    const auto nothing = []() -> asio::awaitable<void> { co_return; };
    int failures = 0;
    for (std::size_t size = 8; size < 1024; ++size) { // whatever it is that it allocates
        auto task = nothing();
        auto owner = std::make_shared<int>(1);
        doomed_size = size;
        try {
            tasks.spawn(std::move(owner), std::move(task));
        } catch (const std::bad_alloc&) {
            ++failures;
        }
        doomed_size = 0;
        context.restart();
        context.run();
        BOOST_REQUIRE_EQUAL(tasks.running(), 0u);
    }
    BOOST_TEST(failures > 0);
}

BOOST_AUTO_TEST_CASE(room_for_what_workers_tell_does_not_grow_with_those_that_have_ended) {
    running_pool pool(quick_config());
    for (int i = 0; i < 200; ++i) {
        pool.begin(pool.facade().rolling_restart());
        pool.advance(1s);
    }
    BOOST_TEST(pool.launched() == 201u);
    {
        const no_memory_above limit(large_size);
        pool.begin(pool.facade().rolling_restart());
        pool.advance(1s);
    }
    BOOST_TEST(pool.launched() == 202u);
    check_serves(pool, 201);
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace skep::test
