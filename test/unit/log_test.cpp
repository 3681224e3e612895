// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "support/text.hpp"
#include "telemetry/log.hpp"

#include <boost/test/unit_test.hpp>

#include <cstdio>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <string>
#include <unistd.h>

using namespace skep;
using namespace std::chrono_literals;

namespace {

/// What is written to standard error while `body` runs.
template <class Body>
std::string standard_error_of(Body body) {
    char name[] = "/tmp/skep_log_XXXXXX";
    const int file = ::mkstemp(name);
    const int kept = ::dup(STDERR_FILENO);
    ::dup2(file, STDERR_FILENO);
    body();
    ::dup2(kept, STDERR_FILENO);
    ::close(kept);
    ::close(file);
    std::ifstream in(name);
    const std::string text{std::istreambuf_iterator<char>(in), {}};
    std::remove(name);
    return text;
}

} // namespace

BOOST_AUTO_TEST_SUITE(log_test)

BOOST_AUTO_TEST_CASE(a_line_has_time_level_pool_and_text) {
    const std::chrono::system_clock::time_point moment(1'780'000'000s + 7ms);
    BOOST_TEST(log_line(moment, log_level::warning, "blue", "a worker was lost") ==
               "2026-05-28T20:26:40.007Z warning skep pool blue: a worker was lost\n");
    BOOST_TEST(log_line(moment, log_level::info, "blue", "one\ntwo") ==
               "2026-05-28T20:26:40.007Z info skep pool blue: one\\ntwo\n");
}

BOOST_AUTO_TEST_CASE(without_a_set_up_it_goes_to_standard_error) {
    pool_config config;
    config.name = "blue";
    const auto text = standard_error_of([&] {
        const pool_log log(config);
        log(log_level::info, "not wanted");
        log(log_level::warning, "first");
        log(log_level::error, "second", std::make_exception_ptr(std::runtime_error("why")));
    });
    BOOST_TEST(!skep::test::contains(text, "not wanted"), text);
    BOOST_TEST(skep::test::contains(text, "Z warning skep pool blue: first\n"), text);
    BOOST_TEST(skep::test::contains(text, "Z error skep pool blue: second: why\n"), text);
}

BOOST_AUTO_TEST_SUITE_END()
