// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

// What workers report on the way.

#include "support/asking_pool.hpp"

#include <boost/test/unit_test.hpp>

#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace skep::test {

BOOST_AUTO_TEST_SUITE(progress_reports)

namespace {

constexpr auto every_type = asio::cancellation_type::all;

/// A handler that counts its copies, and, once it is to, throws what is no exception as it is copied.
class delicate_handler {
public:
    struct state {
        int copies = 0;
        bool is_to_throw = false;
    };

    explicit delicate_handler(std::shared_ptr<state> shared) : shared_(std::move(shared)) {}
    delicate_handler(const delicate_handler& other) : shared_(other.shared_) {
        ++shared_->copies;
        if (shared_->is_to_throw) {
            throw 17;
        }
    }
    delicate_handler(delicate_handler&&) noexcept = default;

    void operator()(const progress&) const {}

private:
    std::shared_ptr<state> shared_;
};

} // namespace

BOOST_AUTO_TEST_CASE(progress_comes_to_who_asked_for_it) {
    asking pool;
    std::vector<std::string> seen;
    const auto outer = pool.execute(request("train").on_progress([&](const progress& report) {
        seen.push_back(std::to_string(int(report.fraction * 100)) + report.text);
    }));
    const auto id = pool.worker(0).take_call();
    pool.report(id, 0.25, "a");
    pool.report(id, 0.5, "b");
    pool.worker(0).reply(id);
    pool.run_until_idle();
    BOOST_TEST((seen == std::vector<std::string>{"25a", "50b"}));
    BOOST_TEST(outer->done);
    pool.execute(request("train")); // without anybody who asks for it
    pool.report(pool.worker(0).take_call(), 1, "c");
    BOOST_TEST(seen.size() == 2u);
}

BOOST_AUTO_TEST_CASE(only_the_newest_progress_counts) {
    asking pool;
    std::vector<double> seen;
    pool.execute(
        request("train").on_progress([&](const progress& report) { seen.push_back(report.fraction); }));
    const auto id = pool.worker(0).take_call();
    for (const double fraction : {0.0, 0.25, 0.5, 1.0}) { // in one go
        pool.worker(0).send_data({{"type", "progress"}, {"id", id}, {"fraction", fraction}});
    }
    pool.run_until_idle();
    BOOST_TEST(seen.size() < 4u);
    BOOST_TEST(seen.back() == 1.0);
}

BOOST_AUTO_TEST_CASE(no_progress_comes_after_the_call) {
    asking pool;
    int seen = 0;
    const auto outer = pool.execute(request("train").on_progress([&](const progress&) {
        ++seen;
        throw std::runtime_error("of no concern");
    }));
    const auto id = pool.worker(0).take_call();
    pool.report(id, 0.1, "");
    BOOST_TEST(seen == 1);
    outer->cancel.emit(every_type);
    pool.run_until_idle();
    pool.report(id, 0.2, "");
    BOOST_TEST(seen == 1);
}

BOOST_AUTO_TEST_CASE(requests_that_are_copied_share_their_handler) {
    const auto shared = std::make_shared<delicate_handler::state>();
    const request first = request("train").on_progress(delicate_handler(shared));
    const int before = shared->copies;
    const request second(first);
    const request third = request(second).session("s");
    BOOST_TEST(shared->copies == before);
}

BOOST_AUTO_TEST_CASE(a_call_whose_handler_cannot_be_copied_is_refused) {
    asking pool;
    const auto shared = std::make_shared<delicate_handler::state>();
    request what = request("train").on_progress(delicate_handler(shared));
    shared->is_to_throw = true;
    const auto refused = pool.execute(std::move(what));
    BOOST_TEST((refused->code() == errc::invalid_request));
    pool.execute(request("train"));
    pool.worker(0).reply(pool.worker(0).take_call());
    pool.run_until_idle();
    BOOST_TEST(pool.counters().succeeded == 1u);
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace skep::test
