// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "async/condition_variable.hpp"
#include "async/task_group.hpp"
#include "core/clock.hpp"
#include "core/text.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/test/unit_test.hpp>

#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

using namespace skep;
using namespace std::chrono_literals;

namespace {

/// A group whose time the test moves by hand, and what its tasks tell.
class group_trial {
public:
    group_trial() = default;
    group_trial(const group_trial&) = delete;
    group_trial& operator=(const group_trial&) = delete;

    /// Runs everything that can run without time passing.
    void run_until_idle() {
        // A timer that is due at once makes the reactor look at the clock.
        using probe = asio::basic_waitable_timer<skep::clock>;
        for (int idle = 0; idle < 3;) {
            probe kick(context, time_point::min());
            kick.async_wait([](const boost::system::error_code&) {});
            context.restart();
            idle = context.poll() <= 1 ? idle + 1 : 0;
        }
    }

    void advance(duration span) {
        time.advance(span);
        run_until_idle();
    }

    task_group::task_handle spawn(asio::awaitable<void> task) {
        auto handle = tasks.spawn(nullptr, std::move(task));
        run_until_idle();
        return handle;
    }

    void cancel() {
        tasks.cancel();
        run_until_idle();
    }

    /// Whether the join has returned.
    std::shared_ptr<bool> join(time_point deadline = time_point::max()) {
        auto joined = std::make_shared<bool>(false);
        asio::co_spawn(executor, tasks.join(deadline),
                       [joined](const std::exception_ptr& problem) { *joined = !problem; });
        run_until_idle();
        return joined;
    }

    std::string told() { return std::exchange(log, {}); }

    manual_time time;
    asio::io_context context{1};
    strand executor = asio::make_strand(asio::any_io_executor(context.get_executor()));
    latch door{executor};
    condition_variable news{executor};
    std::string log;
    std::vector<std::string> errors;
    task_group tasks{executor,
                     [this](const std::exception_ptr& problem) { errors.push_back(text_of(problem)); }};
};

asio::awaitable<void> nothing() {
    co_return;
}

asio::awaitable<void> wait_until(group_trial& of, time_point deadline) {
    const bool opened = co_await of.door.wait_until(deadline);
    of.log += opened ? "open " : "closed ";
}

asio::awaitable<void> wait(group_trial& of) {
    return wait_until(of, time_point::max());
}

asio::awaitable<void> hear(group_trial& of, std::string name) {
    co_await of.news.wait();
    of.log += name + " ";
}

/// Waits for ever, on nothing that another waits on.
asio::awaitable<void> idle(group_trial& of) {
    latch never(of.executor);
    co_await never.wait();
    of.log += "idle ended ";
}

/// Waits again and again, whatever ends its waits.
asio::awaitable<void> persist(group_trial& of) {
    latch never(of.executor);
    for (int i = 0; i < 3; ++i) {
        try {
            co_await never.wait();
            of.log += "passed ";
        } catch (const boost::system::system_error&) {
            of.log += "thrown ";
        }
    }
}

asio::awaitable<void> fail(std::string why) {
    throw std::runtime_error(why);
    co_return;
}

asio::awaitable<void> abort_by_itself() {
    throw boost::system::system_error(asio::error::operation_aborted);
    co_return;
}

asio::awaitable<void> fail_when_cancelled(group_trial& of) {
    latch never(of.executor);
    try {
        co_await never.wait();
    } catch (const boost::system::system_error&) {
        throw std::runtime_error("it would not end");
    }
}

} // namespace

BOOST_AUTO_TEST_SUITE(task_group_test)

BOOST_AUTO_TEST_SUITE(tasks)

BOOST_AUTO_TEST_CASE(it_counts_those_that_run) {
    group_trial of;
    BOOST_TEST(of.tasks.running() == 0u);
    of.spawn(wait(of));
    of.spawn(idle(of));
    BOOST_TEST(of.tasks.running() == 2u);
    of.door.open();
    of.run_until_idle();
    BOOST_TEST(of.told() == "open ");
    BOOST_TEST(of.tasks.running() == 1u);
    of.cancel();
    BOOST_TEST(of.tasks.running() == 0u);
}

BOOST_AUTO_TEST_CASE(one_may_end_at_once) {
    group_trial of;
    of.spawn(nothing());
    BOOST_TEST(of.tasks.running() == 0u);
    asio::post(of.executor, [&of] { // where a task begins at once
        of.tasks.spawn(nullptr, nothing()).cancel();
        of.tasks.spawn(nullptr, fail("at once"));
    });
    of.run_until_idle();
    BOOST_TEST(of.tasks.running() == 0u);
    BOOST_TEST(of.errors == std::vector<std::string>{"at once"}, boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(its_owner_lives_until_it_has_ended) {
    group_trial of;
    auto owner = std::make_shared<int>();
    const std::weak_ptr<int> watch = owner;
    of.tasks.spawn(std::move(owner), wait(of));
    of.run_until_idle();
    BOOST_TEST(!watch.expired());
    of.door.open();
    of.run_until_idle();
    BOOST_TEST(watch.expired());
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE(cancel)

BOOST_AUTO_TEST_CASE(it_ends_every_wait) {
    group_trial of;
    of.spawn(wait(of));
    of.spawn(hear(of, "a"));
    of.spawn(idle(of));
    of.cancel();
    BOOST_TEST(of.tasks.running() == 0u);
    BOOST_TEST(of.told() == "");
    BOOST_TEST(of.errors.empty());
}

BOOST_AUTO_TEST_CASE(it_ends_the_waits_to_come_too) {
    group_trial of;
    of.spawn(persist(of));
    of.cancel();
    BOOST_TEST(of.told() == "thrown thrown thrown ");
    BOOST_TEST(of.tasks.running() == 0u);
}

BOOST_AUTO_TEST_CASE(it_does_not_concern_tasks_to_come) {
    group_trial of;
    of.cancel();
    of.spawn(wait(of));
    BOOST_TEST(of.tasks.running() == 1u);
    of.door.open();
    of.run_until_idle();
    BOOST_TEST(of.told() == "open ");
}

BOOST_AUTO_TEST_CASE(a_wait_that_was_over_when_it_came_throws_all_the_same) {
    for (const bool cancels_first : {false, true}) {
        BOOST_TEST_CONTEXT("cancels first " << cancels_first) {
            group_trial of;
            of.spawn(wait(of));
            of.spawn(hear(of, "a"));
            if (cancels_first) {
                of.tasks.cancel();
            }
            of.door.open();
            of.news.notify_all();
            of.cancel();
            BOOST_TEST(of.told() == "");
            BOOST_TEST(of.tasks.running() == 0u);
            BOOST_TEST(of.errors.empty());
        }
    }
}

BOOST_AUTO_TEST_CASE(so_does_one_whose_time_was_over) {
    group_trial of;
    of.spawn(wait_until(of, clock::now() + 1s));
    of.time.advance(1s);
    of.cancel();
    BOOST_TEST(of.told() == "");
    BOOST_TEST(of.tasks.running() == 0u);
}

BOOST_AUTO_TEST_CASE(one_task_alone_can_be_cancelled) {
    group_trial of;
    auto handle = of.spawn(idle(of));
    of.spawn(wait(of));
    handle.cancel();
    of.run_until_idle();
    BOOST_TEST(of.tasks.running() == 1u);
    BOOST_TEST(of.errors.empty());
    of.door.open();
    of.run_until_idle();
    BOOST_TEST(of.told() == "open ");
}

BOOST_AUTO_TEST_CASE(a_handle_may_outlive_its_task_and_name_none) {
    task_group::task_handle handle;
    handle.cancel();
    {
        group_trial of;
        handle = of.spawn(nothing());
        handle.cancel();
        of.spawn(wait(of));
        of.run_until_idle();
        BOOST_TEST(of.tasks.running() == 1u);
        of.cancel();
    }
    handle.cancel();
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE(errors)

BOOST_AUTO_TEST_CASE(what_leaves_a_task_is_told) {
    group_trial of;
    of.spawn(fail("one"));
    of.spawn(fail("two"));
    const std::vector<std::string> expected{"one", "two"};
    BOOST_TEST(of.errors == expected, boost::test_tools::per_element());
    BOOST_TEST(of.tasks.running() == 0u);
}

BOOST_AUTO_TEST_CASE(an_abort_that_nobody_asked_for_is_an_error) {
    group_trial of;
    of.spawn(abort_by_itself());
    BOOST_TEST(of.errors.size() == 1u);
}

BOOST_AUTO_TEST_CASE(another_error_after_a_cancel_is_one_too) {
    group_trial of;
    of.spawn(fail_when_cancelled(of));
    of.cancel();
    BOOST_TEST(of.errors == std::vector<std::string>{"it would not end"}, boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(others_go_on) {
    group_trial of;
    of.spawn(wait(of));
    of.spawn(fail("one"));
    of.door.open();
    of.run_until_idle();
    BOOST_TEST(of.told() == "open ");
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE(join)

BOOST_AUTO_TEST_CASE(of_no_tasks_it_returns_at_once) {
    group_trial of;
    BOOST_TEST(*of.join());
}

BOOST_AUTO_TEST_CASE(it_waits_for_every_task) {
    group_trial of;
    auto first = of.spawn(idle(of));
    of.spawn(wait(of));
    const auto joined = of.join();
    BOOST_TEST(!*joined);
    first.cancel();
    of.run_until_idle();
    BOOST_TEST(!*joined);
    of.spawn(idle(of)); // while it waits
    of.door.open();
    of.run_until_idle();
    BOOST_TEST(!*joined);
    of.cancel();
    BOOST_TEST(*joined);
}

BOOST_AUTO_TEST_CASE(it_waits_no_longer_than_its_deadline) {
    group_trial of;
    of.spawn(idle(of));
    const auto joined = of.join(clock::now() + 1s);
    of.advance(1s - 1ns);
    BOOST_TEST(!*joined);
    of.advance(1ns);
    BOOST_TEST(*joined);
    BOOST_TEST(of.tasks.running() == 1u);
    BOOST_TEST(*of.join(clock::now())); // it has passed already
    const auto again = of.join(clock::now() + 1h);
    of.cancel();
    BOOST_TEST(*again);
}

BOOST_AUTO_TEST_CASE(several_may_wait_each_with_a_deadline_of_its_own) {
    group_trial of;
    of.spawn(idle(of));
    const auto long_wait = of.join();
    const auto short_wait = of.join(clock::now() + 1s);
    of.advance(1s);
    BOOST_TEST(*short_wait);
    BOOST_TEST(!*long_wait);
    const auto another = of.join(clock::now() + 1h);
    of.cancel();
    BOOST_TEST(*long_wait);
    BOOST_TEST(*another);
}

BOOST_AUTO_TEST_CASE(a_task_that_failed_has_ended) {
    group_trial of;
    of.spawn(fail_when_cancelled(of));
    const auto joined = of.join();
    of.cancel();
    BOOST_TEST(*joined);
    BOOST_TEST(of.errors.size() == 1u);
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE(gates)

BOOST_AUTO_TEST_CASE(an_open_one_lets_through_at_once) {
    group_trial of;
    of.door.open();
    of.spawn(wait(of));
    of.spawn(wait_until(of, clock::now() - 1s)); // however late
    BOOST_TEST(of.told() == "open open ");
}

BOOST_AUTO_TEST_CASE(a_closed_one_does_until_the_deadline) {
    group_trial of;
    of.spawn(wait_until(of, clock::now() + 1s));
    of.advance(1s - 1ns);
    BOOST_TEST(of.told() == "");
    of.advance(1ns);
    BOOST_TEST(of.told() == "closed ");
    of.spawn(wait_until(of, clock::now()));
    BOOST_TEST(of.told() == "closed ");
}

BOOST_AUTO_TEST_CASE(one_opened_in_time_is_open) {
    group_trial of;
    of.spawn(wait_until(of, clock::now() + 1s));
    of.advance(999ms);
    of.door.open();
    of.run_until_idle();
    BOOST_TEST(of.told() == "open ");
}

BOOST_AUTO_TEST_CASE(one_closed_again_before_anybody_came_through_is_closed) {
    group_trial of;
    of.spawn(wait(of));
    of.door.open();
    BOOST_TEST(of.door.is_open());
    of.door.close();
    BOOST_TEST(!of.door.is_open());
    of.run_until_idle();
    BOOST_TEST(of.told() == "");
    of.door.open();
    of.run_until_idle();
    BOOST_TEST(of.told() == "open ");
}

BOOST_AUTO_TEST_CASE(a_host_that_slept_waits_anew_once) {
    group_trial of;
    patient_deadline deadline(clock::now() + 10s, 10s);
    const auto wait_patiently = [](group_trial& on, patient_deadline& until) -> asio::awaitable<void> {
        const bool opened = co_await on.door.wait_until(until);
        on.log += opened ? "open " : "closed ";
    };
    of.spawn(wait_patiently(of, deadline));
    of.advance(20s);
    BOOST_TEST(of.told() == "");
    of.advance(10s - 1ns);
    BOOST_TEST(of.told() == "");
    of.advance(1ns);
    BOOST_TEST(of.told() == "closed ");
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE(conditions)

BOOST_AUTO_TEST_CASE(news_wake_all_who_wait_once) {
    group_trial of;
    of.spawn(hear(of, "a"));
    of.spawn(hear(of, "b"));
    of.advance(24h);
    BOOST_TEST(of.told() == "");
    of.news.notify_all();
    of.run_until_idle();
    BOOST_TEST(of.told() == "a b ");
    of.spawn(hear(of, "c"));
    BOOST_TEST(of.told() == ""); // old news
    of.news.notify_all();
    of.run_until_idle();
    BOOST_TEST(of.told() == "c ");
}

BOOST_AUTO_TEST_CASE(a_cancel_is_no_news) {
    group_trial of;
    auto first = of.spawn(hear(of, "a"));
    of.spawn(hear(of, "b"));
    first.cancel();
    of.run_until_idle();
    BOOST_TEST(of.tasks.running() == 1u);
    BOOST_TEST(of.told() == "");
    of.news.notify_all();
    of.run_until_idle();
    BOOST_TEST(of.told() == "b ");
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE_END()
