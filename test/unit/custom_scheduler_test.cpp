// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

// Schedulers of users: what they see, and when they err.

#include "support/fake_runtime.hpp"

#include <boost/test/unit_test.hpp>

#include <set>
#include <stdexcept>
#include <string>
#include <vector>

namespace skep::test {

using namespace std::chrono_literals;

BOOST_AUTO_TEST_SUITE(custom_scheduler)

namespace {

/// Picks what it is told to.
class odd_scheduler final : public scheduler {
public:
    using choice = std::function<std::optional<std::uint32_t>()>;

    explicit odd_scheduler(choice pick) : pick_(std::move(pick)) {}

    void offer(std::uint32_t, std::size_t) override {}
    void withdraw(std::uint32_t) override {}
    std::optional<std::uint32_t> pick(const claim_view&) override { return pick_(); }

private:
    choice pick_;
};

/// Throws when a worker is offered, once it is broken.
class breaking_scheduler final : public scheduler {
public:
    explicit breaking_scheduler(const bool& is_broken) : is_broken_(is_broken) {}

    void offer(std::uint32_t, std::size_t) override {
        if (is_broken_) {
            throw std::runtime_error("no idea");
        }
    }
    void withdraw(std::uint32_t) override {}
    std::optional<std::uint32_t> pick(const claim_view&) override { return std::nullopt; }

private:
    const bool& is_broken_;
};

/// Keeps slot 2 for training, as far as that can be, and notes what it is asked.
class by_command final : public scheduler {
public:
    explicit by_command(std::vector<std::string>& asked) : asked_(asked) {}

    void offer(std::uint32_t slot, std::size_t) override { free_.insert(slot); }
    void withdraw(std::uint32_t slot) override { free_.erase(slot); }
    std::optional<std::uint32_t> pick(const claim_view& claim) override {
        asked_.push_back(std::string(claim.command) + " of '" + std::string(claim.session) + "' after " +
                         std::to_string(claim.attempts));
        if (free_.empty()) {
            return std::nullopt;
        }
        return claim.command == "train" ? *free_.rbegin() : *free_.begin();
    }

private:
    std::vector<std::string>& asked_;
    std::set<std::uint32_t> free_;
};

pool_config config_with(const scheduler_factory& make, std::size_t workers = 2) {
    auto config = fake_config(workers);
    config.custom_scheduler = make;
    return config;
}

/// The pool fails with the first call, and says why.
void check_fails(const scheduler_factory& make, const std::string& why) {
    running_pool pool(config_with(make));
    const auto call = pool.execute(request("first"));
    BOOST_TEST(call->code() == errc::invalid_config, call->text());
    check_mentions(call->text(), why);
    BOOST_TEST((pool.status().phase == pool_phase::failed));
    BOOST_TEST(pool.worker(0).has_exited());
    BOOST_TEST(pool.worker(1).has_exited());
}

std::string refusal(const scheduler_factory& make) {
    try {
        const manual_pool pool(config_with(make));
    } catch (const error& e) {
        BOOST_TEST(e.code() == errc::invalid_config);
        return e.what();
    }
    BOOST_ERROR("the pool was made");
    return {};
}

} // namespace

BOOST_AUTO_TEST_CASE(may_route_by_command) {
    std::vector<std::string> asked;
    running_pool pool(config_with([&] { return std::make_unique<by_command>(asked); }, 3));
    pool.execute(request("predict").session("s1"));
    pool.execute(request("train"));
    pool.execute(request("predict"));
    BOOST_TEST(pool.serve(0) == "predict");
    BOOST_TEST(pool.serve(2) == "train");
    BOOST_TEST(pool.serve(1) == "predict");
    const std::vector<std::string> expected{"predict of 's1' after 0", "train of '' after 0",
                                            "predict of '' after 0"};
    BOOST_TEST(asked == expected, boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(sees_what_was_lost_with_a_worker_again) {
    std::vector<std::string> asked;
    running_pool pool(config_with([&] { return std::make_unique<by_command>(asked); }));
    const auto call = pool.execute(request("train").session("s1").idempotent(true));
    BOOST_TEST(pool.worker(1).take_calls().size() == 1u);
    pool.worker(1).exit(exit_status::signalled(SIGSEGV));
    pool.run_until_idle();
    BOOST_TEST(pool.serve(0) == "train");
    BOOST_TEST(call->value.has_value(), call->text());
    const std::vector<std::string> expected{"train of 's1' after 0", "train of 's1' after 1"};
    BOOST_TEST(asked == expected, boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(a_factory_that_makes_none_is_refused) {
    check_mentions(refusal([] { return nullptr; }), "custom_scheduler returned no scheduler");
}

BOOST_AUTO_TEST_CASE(a_factory_that_throws_is_refused) {
    const auto text = refusal([]() -> std::unique_ptr<scheduler> { throw std::runtime_error("no licence"); });
    check_mentions(text, "custom_scheduler threw: no licence");
}

BOOST_AUTO_TEST_CASE(one_that_never_picks_lets_calls_wait) {
    running_pool pool(
        config_with([] { return std::make_unique<odd_scheduler>([] { return std::nullopt; }); }));
    const auto call = pool.execute(request("waiting").queue_timeout(500ms));
    pool.advance(1s);
    BOOST_TEST(call->code() == errc::queue_timeout);
}

BOOST_AUTO_TEST_CASE(one_that_picks_what_never_was_ends_its_pool) {
    check_fails([] { return std::make_unique<odd_scheduler>([] { return std::optional(12345u); }); },
                "custom_scheduler picked slot 12345, which is not on offer");
}

BOOST_AUTO_TEST_CASE(one_that_picks_what_was_withdrawn_ends_its_pool) {
    running_pool pool(
        config_with([] { return std::make_unique<odd_scheduler>([] { return std::optional(1u); }); }));
    pool.execute(request("first"));
    const auto second = pool.execute(request("second"));
    BOOST_TEST(second->code() == errc::invalid_config);
    check_mentions(second->text(), "custom_scheduler picked slot 1, which is not on offer");
}

BOOST_AUTO_TEST_CASE(one_that_throws_ends_its_pool) {
    const auto pick = []() -> std::optional<std::uint32_t> { throw std::runtime_error("no idea"); };
    check_fails([pick] { return std::make_unique<odd_scheduler>(pick); }, "custom_scheduler threw: no idea");
}

BOOST_AUTO_TEST_CASE(one_that_throws_hides_no_end_of_a_worker) {
    bool is_broken = false;
    running_pool pool(config_with([&] { return std::make_unique<breaking_scheduler>(is_broken); }));
    std::set<std::string> ended;
    const auto listening = pool.facade().events().listen<events::worker_terminated>(
        pool.context.get_executor(),
        [&](const events::worker_terminated& end) { ended.insert(to_string(end.worker)); });
    pool.begin(pool.facade().suspend());
    is_broken = true;
    pool.begin(pool.facade().resume()); // the first worker is offered while the second one's facts wait
    pool.advance(1s);
    BOOST_TEST((ended == std::set<std::string>{"default/0#1", "default/1#1"}));
    BOOST_TEST((pool.status().phase == pool_phase::failed));
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace skep::test
