// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

// Schedulers of users who err.

#include "support/fake_runtime.hpp"

#include <boost/test/unit_test.hpp>

#include <stdexcept>

namespace skep::test {

using namespace std::chrono_literals;

namespace {

/// Picks what it is told to.
class odd_scheduler final : public scheduler {
public:
    using choice = std::function<std::optional<std::uint32_t>()>;

    explicit odd_scheduler(choice pick, bool throws_always = false)
        : pick_(std::move(pick)), throws_(throws_always) {}

    void offer(std::uint32_t, std::size_t) override { complain(); }
    void withdraw(std::uint32_t) override { complain(); }
    std::optional<std::uint32_t> pick() override {
        complain();
        return pick_();
    }

private:
    void complain() const {
        if (throws_) {
            throw std::runtime_error("no idea");
        }
    }

    choice pick_;
    bool throws_;
};

pool_config config_with(const scheduler_factory& make, std::size_t workers = 2) {
    auto config = fake_config(workers);
    config.custom_scheduler = make;
    return config;
}

/// All that a pool does works with it: calls, the queue, deadlines.
void check_works(const scheduler_factory& make) {
    running_pool pool(config_with(make));
    const auto first = pool.execute(request("first"));
    const auto second = pool.execute(request("second").timeout(1s));
    const auto waiting = pool.execute(request("waiting").queue_timeout(500ms));
    BOOST_TEST(pool.serve(0) == "first");
    BOOST_TEST(first->value.has_value());
    BOOST_TEST(pool.serve(0) == "waiting");
    BOOST_TEST(waiting->value.has_value());
    pool.advance(2s);
    BOOST_TEST(second->code() == errc::timeout);
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

BOOST_AUTO_TEST_SUITE(custom_scheduler)

BOOST_AUTO_TEST_CASE(a_factory_that_makes_none_is_refused) {
    check_mentions(refusal([] { return nullptr; }), "custom_scheduler returned no scheduler");
}

BOOST_AUTO_TEST_CASE(a_factory_that_throws_is_refused) {
    const auto text = refusal([]() -> std::unique_ptr<scheduler> { throw std::runtime_error("no licence"); });
    check_mentions(text, "custom_scheduler threw: no licence");
}

BOOST_AUTO_TEST_CASE(one_that_never_picks_holds_nobody_up) {
    check_works([] { return std::make_unique<odd_scheduler>([] { return std::nullopt; }); });
}

BOOST_AUTO_TEST_CASE(one_that_picks_what_is_not_on_offer_is_overruled) {
    check_works([] { return std::make_unique<odd_scheduler>([] { return std::optional(12345u); }); });
}

BOOST_AUTO_TEST_CASE(one_that_throws_harms_nothing) {
    check_works([] { return std::make_unique<odd_scheduler>([] { return std::nullopt; }, true); });
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace skep::test
