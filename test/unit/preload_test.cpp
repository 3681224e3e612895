// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "core/clock.hpp"
#include "core/with_detail.hpp"
#include "process/preload.hpp"
#include "support/allocations.hpp"

#include <boost/test/unit_test.hpp>

namespace skep::test {

using namespace std::chrono_literals;

namespace {

/// What the next templates do, and what has become of them.
struct template_script {
    bool is_late = false;
    bool ends_early = false;
    bool fails_forks = false;
    std::vector<std::string> objections;
    std::vector<bool> usable; ///< by template: until it ends
    std::size_t alive = 0;
    duration limit{}; ///< that the last one was given
};

class scripted_template final : public template_port {
public:
    explicit scripted_template(template_script& script) : script_(script), number_(script.usable.size()) {
        script_.usable.push_back(true);
        ++script_.alive;
    }
    ~scripted_template() override { --script_.alive; }

    pid_t pid() noexcept override { return static_cast<pid_t>(number_ + 1); }
    bool takes_regions() const noexcept override { return false; }
    bool is_usable() const noexcept override { return script_.usable[number_]; }
    std::optional<std::vector<std::string>> await_ready(duration limit, const launch_abort&) override {
        script_.limit = limit;
        if (script_.ends_early) {
            throw error(errc::spawn_failed, with_detail("exit code 1"));
        }
        return script_.is_late ? std::nullopt : std::optional(script_.objections);
    }
    std::optional<launched_child> fork(const launch_spec&, const std::string&, duration,
                                       const launch_abort&) override {
        if (script_.fails_forks) {
            throw error(errc::spawn_failed, with_detail("no process left"));
        }
        return launched_child(0, unique_fd(), {});
    }

private:
    template_script& script_;
    const std::size_t number_;
};

struct preload_fixture {
    explicit preload_fixture(bool falls_back = true) : templates(config_with(falls_back)) {}

    static pool_config config_with(bool falls_back) {
        pool_config config;
        config.launch.preload = true;
        config.launch.preload_fallback = falls_back;
        config.start.timeout = 10s;
        return config;
    }

    template_maker maker() {
        return
            [this](const worker_id&, launch_abort&) { return std::make_unique<scripted_template>(script); };
    }
    bool prepare() { return templates.prepare(maker(), {"p", 0, 1}, abort); }
    void mend() { templates.mend(maker(), abort); }
    void renew() { templates.renew(maker(), abort); }
    bool start() { return templates.start({}, {"p", 0, 1}, abort).has_value(); }
    template_state state() const { return templates.status().state; }

    manual_time time;
    template_script script;
    launch_abort abort;
    preload templates;
};

struct without_fallback : preload_fixture {
    without_fallback() : preload_fixture(false) {}
};

} // namespace

BOOST_AUTO_TEST_SUITE(preload_test)

BOOST_FIXTURE_TEST_CASE(one_template_serves_all_starts, preload_fixture) {
    for (int i = 0; i < 3; ++i) {
        BOOST_TEST(prepare());
        BOOST_TEST(start());
    }
    BOOST_TEST(templates.status().templates == 1u);
    BOOST_TEST(templates.status().forks == 3u);
}

BOOST_FIXTURE_TEST_CASE(a_late_template_leaves_its_worker_time_to_start_without_it, preload_fixture) {
    script.is_late = true;
    BOOST_TEST(!prepare());
    BOOST_TEST((script.limit == 5s));
    BOOST_TEST(script.alive == 0u);
    BOOST_TEST((state() == template_state::refused));
}

BOOST_FIXTURE_TEST_CASE(a_late_template_is_not_waited_for_twice, preload_fixture) {
    script.is_late = true;
    prepare();
    BOOST_TEST(!prepare());
    BOOST_TEST(script.usable.size() == 1u);
    time.advance(preload_fixture::config_with(true).restart.window);
    script.is_late = false;
    BOOST_TEST(prepare());
}

BOOST_FIXTURE_TEST_CASE(without_a_fallback_a_template_has_all_the_time_of_a_start, without_fallback) {
    script.is_late = true;
    BOOST_CHECK_THROW(prepare(), error);
    BOOST_TEST((script.limit == 10s));
}

BOOST_FIXTURE_TEST_CASE(a_template_that_fails_to_fork_twice_in_a_row_is_replaced, preload_fixture) {
    prepare();
    script.fails_forks = true;
    BOOST_CHECK_THROW(start(), error);
    BOOST_TEST(script.alive == 1u);
    BOOST_CHECK_THROW(start(), error);
    BOOST_TEST(script.alive == 0u);
    script.fails_forks = false;
    BOOST_TEST(prepare());
    BOOST_TEST(start());
    BOOST_TEST(templates.status().templates == 2u);
}

BOOST_FIXTURE_TEST_CASE(after_two_templates_that_cannot_fork_workers_start_without_one, preload_fixture) {
    script.fails_forks = true;
    for (int i = 0; i < 2; ++i) {
        BOOST_TEST(prepare());
        BOOST_CHECK_THROW(start(), error);
        BOOST_CHECK_THROW(start(), error);
    }
    BOOST_TEST(!prepare());
    BOOST_TEST((state() == template_state::refused));
}

BOOST_FIXTURE_TEST_CASE(a_template_that_has_ended_is_replaced_before_a_start, preload_fixture) {
    prepare();
    script.usable[0] = false;
    mend();
    BOOST_TEST(templates.status().templates == 2u);
    BOOST_TEST((state() == template_state::ready));
    BOOST_TEST(templates.take_events().size() == 3u);
}

BOOST_FIXTURE_TEST_CASE(a_template_that_could_not_fork_is_replaced_before_a_start, preload_fixture) {
    prepare();
    script.fails_forks = true;
    BOOST_CHECK_THROW(start(), error);
    mend();
    BOOST_TEST((state() == template_state::ready));
}

BOOST_FIXTURE_TEST_CASE(a_template_that_has_never_been_ready_is_left_to_the_next_start, preload_fixture) {
    script.ends_early = true;
    BOOST_TEST(!prepare());
    mend();
    BOOST_TEST(script.usable.size() == 1u);
}

BOOST_FIXTURE_TEST_CASE(a_template_in_use_is_not_replaced, preload_fixture) {
    prepare();
    mend();
    BOOST_TEST(templates.status().templates == 1u);
}

BOOST_FIXTURE_TEST_CASE(a_template_that_ends_again_and_again_is_not_replaced, preload_fixture) {
    prepare();
    script.usable[0] = false;
    script.ends_early = true;
    mend();
    mend();
    BOOST_TEST(script.usable.size() == 2u);
    BOOST_TEST((state() == template_state::refused));
}

BOOST_FIXTURE_TEST_CASE(workers_of_a_new_script_never_come_from_the_old_template, preload_fixture) {
    prepare();
    script.ends_early = true;
    renew();
    BOOST_TEST(script.alive == 0u);
    BOOST_TEST((state() == template_state::absent));
}

BOOST_FIXTURE_TEST_CASE(without_a_fallback_the_old_template_stays_if_the_new_one_ends, without_fallback) {
    prepare();
    script.ends_early = true;
    BOOST_CHECK_THROW(renew(), error);
    BOOST_TEST((state() == template_state::ready));
    BOOST_TEST(prepare());
    BOOST_TEST(start());
}

BOOST_FIXTURE_TEST_CASE(without_a_fallback_the_old_template_stays_if_the_new_one_objects, without_fallback) {
    prepare();
    script.objections = {"3 threads"};
    BOOST_CHECK_THROW(renew(), error);
    BOOST_TEST(script.alive == 1u);
    BOOST_TEST(templates.status().pid == 1);
}

BOOST_FIXTURE_TEST_CASE(without_a_fallback_no_template_that_has_ended_stays, without_fallback) {
    prepare();
    script.usable[0] = false;
    script.objections = {"3 threads"};
    BOOST_CHECK_THROW(renew(), error);
    BOOST_TEST(script.alive == 0u);
    BOOST_TEST((state() == template_state::refused));
    BOOST_CHECK_THROW(prepare(), error);
    BOOST_TEST(script.usable.size() == 2u); // no third is made
}

BOOST_FIXTURE_TEST_CASE(a_renewal_of_a_template_that_has_ended_begins_anew, preload_fixture) {
    for (const std::size_t number : {0u, 1u}) { // twice within the window
        prepare();
        script.usable[number] = false;
        templates.take_events();
        renew();
        const auto told = templates.take_events();
        BOOST_REQUIRE(told.size() == 2u);
        BOOST_TEST(std::holds_alternative<events::template_ended>(told[0]));
        BOOST_TEST(std::holds_alternative<events::template_started>(told[1]));
    }
}

BOOST_FIXTURE_TEST_CASE(a_renewal_that_fails_leaves_a_template_that_has_ended_to_be_replaced,
                        preload_fixture) {
    prepare();
    script.usable[0] = false;
    script.ends_early = true;
    renew();
    BOOST_TEST(script.alive == 0u);
    script.ends_early = false;
    mend();
    BOOST_TEST(script.alive == 1u);
}

BOOST_FIXTURE_TEST_CASE(objections_to_a_new_script_end_the_old_template, preload_fixture) {
    prepare();
    script.objections = {"3 threads"};
    renew();
    BOOST_TEST(script.alive == 0u);
    BOOST_TEST((state() == template_state::refused));
    script.objections.clear();
    renew();
    BOOST_TEST((state() == template_state::ready));
    BOOST_TEST(templates.status().objections.empty());
}

BOOST_FIXTURE_TEST_CASE(the_end_of_the_pool_is_told_as_planned, preload_fixture) {
    prepare();
    templates.take_events();
    templates.end();
    BOOST_TEST(script.alive == 0u);
    const auto told = templates.take_events();
    BOOST_REQUIRE(told.size() == 1u);
    BOOST_TEST(std::get<events::template_ended>(told.front()).is_planned);
}

/// Tries each allocation of a step: afterwards there is a template, and no second one.
template <class Step>
void fail_each_allocation_of(bool falls_back, Step step) {
    std::size_t nth = 1;
    for (bool has_failed = true; has_failed; ++nth) {
        preload_fixture one(falls_back);
        one.prepare();
        has_failed = fails_at(nth, [&] { step(one); });
        one.script.objections.clear();
        one.script.ends_early = false;
        BOOST_TEST(one.prepare(), "allocation " << nth);
        BOOST_TEST(one.start(), "allocation " << nth);
        BOOST_TEST(one.script.alive == 1u, "allocation " << nth);
        BOOST_TEST((one.state() == template_state::ready), "allocation " << nth);
    }
    BOOST_TEST(nth > 2u);
}

BOOST_AUTO_TEST_CASE(a_template_may_lack_memory_at_any_step) {
    for (const bool falls_back : {true, false}) {
        fail_each_allocation_of(falls_back, [](preload_fixture& one) { one.renew(); });
        fail_each_allocation_of(falls_back, [](preload_fixture& one) {
            one.script.ends_early = true;
            one.renew();
        });
        fail_each_allocation_of(falls_back, [](preload_fixture& one) {
            one.script.usable[0] = false;
            one.mend();
        });
        fail_each_allocation_of(falls_back, [](preload_fixture& one) {
            one.script.usable[0] = false;
            one.prepare();
        });
    }
}

BOOST_FIXTURE_TEST_CASE(a_cancelled_load_says_nothing_about_the_template, preload_fixture) {
    script.ends_early = true;
    abort.request();
    BOOST_CHECK_THROW(prepare(), error);
    BOOST_TEST(templates.take_events().empty());
    BOOST_TEST((state() == template_state::absent));
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace skep::test
