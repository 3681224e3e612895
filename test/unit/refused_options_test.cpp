// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

// Options of a request without effect on the call are refused, whoever makes the call.

#include "core/text.hpp"
#include "support/fake_runtime.hpp"
#include <skep/call_interface.hpp>

#include <boost/asio/bind_executor.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/system_executor.hpp>
#include <boost/test/unit_test.hpp>

#include <exception>
#include <string>

namespace skep::test {

using namespace std::chrono_literals;

BOOST_AUTO_TEST_SUITE(refused_options)

namespace {

const std::string no_stream = "idle_timeout has an effect on streams only";
const std::string other_pool = R"(the request is for pool "other", and this is pool "default")";

request with_idle_timeout() {
    return request("work").idle_timeout(1s);
}

template <class Outcome>
void check_refused(const Outcome& ended, const std::string& reason) {
    BOOST_TEST(ended->code() == errc::invalid_request);
    check_mentions(ended->text(), reason);
}

/// Makes plain calls, and no streams.
class plain_calls final : public call_interface {
public:
    asio::any_io_executor get_executor() const noexcept override { return asio::system_executor(); }
    call_operation prepare(request) override { return call_operation::failing(nullptr); }
};

} // namespace

BOOST_AUTO_TEST_CASE(by_a_pool) {
    running_pool pool(fake_config(2));
    check_refused(pool.execute(with_idle_timeout()), no_stream);
    check_refused(pool.execute(request("work").affinity(affinity_mode::hint)), "affinity has no effect");
    check_refused(pool.execute(request("work").pool("other")), other_pool);
    check_refused(pool.stream(request("work").pool("other")), other_pool);
    BOOST_TEST(pool.worker(0).take_calls().empty());
    const auto stream = pool.stream(with_idle_timeout());
    BOOST_TEST(pool.worker(0).take_calls().size() == 1u);
    BOOST_TEST(pool.execute(request("work").pool("default"))->code() == errc());
    BOOST_TEST(pool.counters().failed == 4u);
}

BOOST_AUTO_TEST_CASE(by_a_lease_and_its_reset) {
    running_pool pool(fake_config(1));
    auto held = pool.checkout();
    check_refused(pool.execute(*held->value, with_idle_timeout()), no_stream);
    check_refused(pool.stream(*held->value, request("work").pool("other")), other_pool);
    check_refused(pool.checkout(checkout_options().reset(with_idle_timeout())), no_stream);
}

BOOST_AUTO_TEST_CASE(streams_by_what_makes_none) {
    plain_calls calls;
    asio::io_context context;
    std::string problem;
    calls.stream(request("work"), asio::bind_executor(context.get_executor(),
                                                      [&](std::exception_ptr failure, const reply_stream&) {
                                                          problem = text_of(failure);
                                                      }));
    context.run();
    check_mentions(problem, "no calls are streamed here");
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace skep::test
