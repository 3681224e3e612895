// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

// Calls of a pool_manager that run on this machine or elsewhere.

#include "policy/overflow_choice.hpp"
#include "pool/pool_maker.hpp"
#include <skep/errc.hpp>
#include <skep/pool_manager.hpp>
#include <skep/testing.hpp>

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/test/unit_test.hpp>

#include <chrono>
#include <deque>
#include <exception>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace skep::test {

using namespace std::chrono_literals;

BOOST_AUTO_TEST_SUITE(overflow_test)

namespace {

constexpr load_view idle{0, 0, 4, true};
constexpr load_view full{4, 0, 4, true};
constexpr load_view crowded{4, 8, 4, true};
constexpr load_view gone{0, 0, 0, false};

/// Makes pools of fake workers, which answer with their own name.
class fake_maker final : public pool_maker {
public:
    pool make(const asio::any_io_executor& executor, pool_config config, pool_membership) override {
        config.log_level = log_level::off;
        const auto name = config.name;
        auto& made = fakes.emplace_back(executor, std::move(config));
        made.on("where", [name](worker_call&) { return name; });
        made.on("wait", [](worker_call&) -> asio::awaitable<int> {
            co_await testing::sleep_for(10s);
            co_return 0;
        });
        return std::move(made.pool());
    }

    std::deque<testing::fake_pool> fakes;
};

/// A place elsewhere.
class stand_in final : public call_interface {
public:
    explicit stand_in(asio::io_context& own_context) : context(own_context) {}

    asio::any_io_executor get_executor() const noexcept override { return context.get_executor(); }

    call_operation prepare(request call) override {
        pools.push_back(call.pool());
        return call_operation([this](completion<reply> caller) {
            ++calls;
            if (failure != errc()) {
                caller.fail(lazy_error(failure, {}));
                return;
            }
            reply answer;
            answer.value = "elsewhere";
            caller.complete(std::move(answer));
        });
    }

    load_view load() const noexcept { return told; }

    asio::io_context& context;
    load_view told = idle;
    errc failure{};
    int calls = 0;
    std::vector<std::string> pools;
};

/// A manager with the pool "here", of one worker, and the places "here" and "there" elsewhere.
struct two_places {
    explicit two_places(overflow mode = overflow::local_first) {
        manager_config config;
        auto& here = config.pools.emplace_back();
        here.launch.program = "none";
        here.name = "here";
        here.workers = 1;
        here.queue.limit = 1;
        config.default_pool = "here";
        manager = pool_maker::make_manager(context.get_executor(), std::move(config), maker);
        manager->add("here", other, mode);
        manager->add("there", other);
    }
    ~two_places() { time.run(manager->shutdown()); }

    std::string where(const std::string& pool = {}) {
        return time.run(manager->execute(request("where").pool(pool))).as<std::string>();
    }

    /// Begins calls that fill the worker and the queue of one.
    void fill(int calls) {
        for (int i = 0; i < calls; ++i) {
            asio::co_spawn(context, manager->execute(request("wait")), asio::detached);
        }
        time.advance(1ms);
    }

    asio::io_context context;
    testing::virtual_time time{context};
    std::shared_ptr<fake_maker> maker = std::make_shared<fake_maker>();
    std::shared_ptr<stand_in> other = std::make_shared<stand_in>(context);
    std::unique_ptr<pool_manager> manager;
};

} // namespace

BOOST_AUTO_TEST_CASE(the_local_pool_is_first_while_it_has_room) {
    for (const auto& elsewhere : {idle, full, gone}) {
        BOOST_TEST(!goes_elsewhere(overflow::local_first, idle, elsewhere));
    }
    BOOST_TEST(goes_elsewhere(overflow::local_first, full, idle));
    BOOST_TEST(!goes_elsewhere(overflow::local_first, full, full)); // the way counts
    BOOST_TEST(goes_elsewhere(overflow::local_first, crowded, full));
    BOOST_TEST(!goes_elsewhere(overflow::local_first, crowded, gone));
    BOOST_TEST(goes_elsewhere(overflow::local_first, gone, crowded));
    BOOST_TEST(!goes_elsewhere(overflow::local_first, gone, gone));
}

BOOST_AUTO_TEST_CASE(elsewhere_may_be_first) {
    BOOST_TEST(goes_elsewhere(overflow::elsewhere_first, idle, crowded));
    BOOST_TEST(!goes_elsewhere(overflow::elsewhere_first, idle, gone));
    BOOST_TEST(goes_elsewhere(overflow::elsewhere_first, gone, crowded));
}

BOOST_AUTO_TEST_CASE(a_call_that_may_have_run_does_not_run_elsewhere) {
    for (const auto code :
         {errc::timeout, errc::worker_lost, errc::node_lost, errc::cancelled, errc::remote_error,
          errc::queue_timeout, errc::shutting_down, errc::invalid_arguments, errc()}) {
        BOOST_TEST(!may_run_at_other_place(code), to_string(code));
    }
    for (const auto code : {errc::pool_saturated, errc::unavailable, errc::no_worker, errc::no_node,
                            errc::not_started, errc::start_failed}) {
        BOOST_TEST(may_run_at_other_place(code), to_string(code));
    }
}

BOOST_AUTO_TEST_CASE(calls_go_elsewhere_when_the_local_pool_is_full) {
    two_places both;
    BOOST_TEST(both.where() == "elsewhere"); // not started
    both.time.run(both.manager->start());
    BOOST_TEST(both.where() == "here");
    both.fill(1);
    BOOST_TEST(both.where() == "elsewhere");
    both.other->told = gone;
    both.fill(1);
    both.other->failure = errc::unavailable;
    BOOST_CHECK_EXCEPTION(both.where(), error,
                          [](const error& failure) { return failure.kind() == errc::unavailable; });
    both.other->failure = {};
    BOOST_TEST(both.where() == "elsewhere"); // as the local pool is saturated
}

BOOST_AUTO_TEST_CASE(a_call_without_room_elsewhere_runs_here) {
    two_places both(overflow::elsewhere_first);
    both.time.run(both.manager->start());
    BOOST_TEST(both.where() == "elsewhere");
    both.other->failure = errc::pool_saturated;
    BOOST_TEST(both.where() == "here");
    BOOST_TEST(both.other->calls == 2);
    both.other->failure = errc::worker_lost;
    BOOST_CHECK_EXCEPTION(both.where(), error,
                          [](const error& failure) { return failure.kind() == errc::worker_lost; });
}

BOOST_AUTO_TEST_CASE(calls_of_a_session_stay_here) {
    two_places both(overflow::elsewhere_first);
    both.time.run(both.manager->start());
    const auto answer = both.time.run(both.manager->execute(request("where").session("s")));
    BOOST_TEST(answer.as<std::string>() == "here");
    BOOST_TEST(both.other->calls == 0);
}

BOOST_AUTO_TEST_CASE(a_pool_may_be_elsewhere_only) {
    two_places both;
    BOOST_TEST(both.where("there") == "elsewhere");
    BOOST_CHECK_EXCEPTION(both.where("nowhere"), error, [](const error& failure) {
        return failure.kind() == errc::pool_not_found &&
               failure.info().detail == "\"nowhere\"; there are: here there (elsewhere)";
    });
}

BOOST_AUTO_TEST_CASE(a_place_has_a_name_of_its_own) {
    two_places both;
    BOOST_CHECK_THROW(both.manager->add("there", both.other), error);
    BOOST_CHECK_THROW(both.manager->add("", both.other), error);
}

BOOST_AUTO_TEST_CASE(a_waiting_call_can_be_cancelled_at_its_second_place) {
    two_places both(overflow::elsewhere_first);
    both.time.run(both.manager->start());
    both.other->failure = errc::pool_saturated;
    asio::cancellation_signal signal;
    std::exception_ptr outcome;
    asio::co_spawn(
        both.context, both.manager->execute(request("wait")),
        asio::bind_cancellation_slot(signal.slot(), [&outcome](const std::exception_ptr& problem,
                                                               const reply&) { outcome = problem; }));
    both.time.advance(1s);
    BOOST_TEST(!outcome);
    signal.emit(asio::cancellation_type::terminal);
    both.time.advance(1s);
    BOOST_REQUIRE(outcome);
    BOOST_CHECK_EXCEPTION(std::rethrow_exception(outcome), error,
                          [](const error& failure) { return failure.kind() == errc::cancelled; });
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace skep::test
