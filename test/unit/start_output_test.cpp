// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "policy/start_output.hpp"

#include <boost/test/unit_test.hpp>

#include <chrono>
#include <string>
#include <vector>

using namespace skep;
using namespace std::chrono_literals;

BOOST_AUTO_TEST_SUITE(start_output_test)

namespace {

/// The log of a pool about its starting workers.
class printed {
public:
    void print(std::uint32_t slot, const std::string& text, bool is_stderr = true) {
        log(slot, output.take(id(slot), {is_stderr, text}, now));
    }
    void print_all(std::uint32_t slot, const std::vector<std::string>& texts) {
        for (const auto& each : texts) {
            print(slot, each);
        }
    }
    void come_up(std::uint32_t slot) { log(slot, output.release(id(slot))); }

    /// Returns what the line about the worker's end adds.
    std::string fail(std::uint32_t slot) {
        const auto repeated = output.drop(id(slot));
        ++generation[slot];
        return repeated ? std::to_string(repeated->lines) + " of " + to_string(repeated->first) : "";
    }

    worker_id id(std::uint32_t slot) { return {"p", slot, 1 + generation[slot]}; }

    start_output output;
    time_point now{};
    std::map<std::uint32_t, std::uint64_t> generation;
    std::vector<std::string> logged;

private:
    void log(std::uint32_t slot, const std::vector<start_output::line>& due) {
        for (const auto& each : due) {
            logged.push_back(std::to_string(slot) + (each.is_stderr ? " " : " out ") + each.text);
        }
    }
};

using texts = std::vector<std::string>;
const texts traceback = {"Traceback", "import", "Error"};

} // namespace

#define CHECK_LOGGED(what, ...)                                                                              \
    BOOST_TEST(what.logged == (texts{__VA_ARGS__}), boost::test_tools::per_element())

BOOST_AUTO_TEST_CASE(of_many_workers_with_one_text_the_first_is_logged) {
    printed log;
    log.print_all(0, traceback);
    BOOST_TEST(log.fail(0) == "");
    for (std::uint32_t slot = 1; slot < 16; ++slot) {
        log.print_all(slot, traceback);
        BOOST_TEST(log.fail(slot) == "3 of p/0#1");
    }
    CHECK_LOGGED(log, "0 Traceback", "0 import", "0 Error");
}

BOOST_AUTO_TEST_CASE(a_next_worker_of_the_slot_repeats_it_too) {
    printed log;
    for (int i = 0; i < 16; ++i) {
        log.print_all(0, traceback);
        BOOST_TEST(log.fail(0) == (i == 0 ? "" : "3 of p/0#1"));
    }
    CHECK_LOGGED(log, "0 Traceback", "0 import", "0 Error");
}

BOOST_AUTO_TEST_CASE(workers_that_print_at_the_same_time_print_each_line_once) {
    printed log;
    for (const auto& each : traceback) {
        for (const std::uint32_t slot : {0, 1, 2}) {
            log.print(slot, each);
        }
    }
    BOOST_TEST(log.fail(0) == "");
    BOOST_TEST(log.fail(1) == "3 of p/0#1");
    CHECK_LOGGED(log, "0 Traceback", "0 import", "0 Error");
}

BOOST_AUTO_TEST_CASE(a_worker_that_overtakes_the_first_prints_the_next_line) {
    printed log;
    log.print(0, "Traceback");
    log.print_all(1, traceback);
    log.print_all(0, {"import", "Error", "more"});
    CHECK_LOGGED(log, "0 Traceback", "1 import", "1 Error", "0 more");
    BOOST_TEST(log.fail(0) == "2 of p/1#1");
    BOOST_TEST(log.fail(1) == "1 of p/0#1");
}

BOOST_AUTO_TEST_CASE(a_text_that_takes_another_course_is_logged_from_its_beginning) {
    printed log;
    log.print_all(0, traceback);
    log.print_all(1, {"Traceback", "open", "Error"});
    CHECK_LOGGED(log, "0 Traceback", "0 import", "0 Error", "1 Traceback", "1 open", "1 Error");
    BOOST_TEST(log.fail(1) == "");
}

BOOST_AUTO_TEST_CASE(a_longer_text_is_logged_from_its_beginning_if_the_first_has_ended) {
    printed log;
    log.print(0, "Traceback");
    log.fail(0);
    log.print_all(1, {"Traceback", "import"});
    CHECK_LOGGED(log, "0 Traceback", "1 Traceback", "1 import");
}

BOOST_AUTO_TEST_CASE(a_worker_that_comes_up_has_all_its_lines_logged) {
    printed log;
    log.print(0, "loaded");
    log.print(1, "loaded");
    CHECK_LOGGED(log, "0 loaded");
    log.come_up(1);
    log.come_up(0);
    CHECK_LOGGED(log, "0 loaded", "1 loaded");
}

BOOST_AUTO_TEST_CASE(stdout_and_stderr_are_different_lines) {
    printed log;
    log.print(0, "x");
    log.print(1, "x", false);
    CHECK_LOGGED(log, "0 x", "1 out x");
}

BOOST_AUTO_TEST_CASE(a_text_is_logged_again_after_ten_minutes) {
    printed log;
    log.print_all(0, traceback);
    log.fail(0);
    log.now += 10min - 1s;
    log.print_all(1, traceback);
    BOOST_TEST(log.fail(1) == "3 of p/0#1");
    log.now += 1s;
    log.print_all(2, traceback);
    BOOST_TEST(log.fail(2) == "");
    log.print_all(3, traceback);
    BOOST_TEST(log.fail(3) == "3 of p/2#1");
    BOOST_TEST(log.logged.size() == 6);
}

BOOST_AUTO_TEST_CASE(a_worker_in_the_middle_of_its_text_is_logged_when_the_text_is_forgotten) {
    printed log;
    log.print_all(0, traceback);
    log.print(1, "Traceback");
    log.now += 10min;
    log.print(1, "import");
    log.print(1, "Error");
    CHECK_LOGGED(log, "0 Traceback", "0 import", "0 Error", "1 Traceback", "1 import", "1 Error");
    BOOST_TEST(log.fail(1) == "");
}

BOOST_AUTO_TEST_CASE(withheld_lines_are_bounded) {
    printed log;
    for (int i = 0; i < 200; ++i) {
        log.print(0, std::to_string(i));
    }
    for (int i = 0; i < 100; ++i) {
        log.print(1, std::to_string(i));
    }
    BOOST_TEST(log.logged.size() == 200);
    log.print(1, "100");
    BOOST_TEST(log.logged.size() == 301);
    log.print(1, "101");
    BOOST_TEST(log.logged.size() == 302);
    BOOST_TEST(log.fail(1) == "");
}

BOOST_AUTO_TEST_CASE(withheld_bytes_are_bounded) {
    printed log;
    const std::string half(8u << 10, 'x');
    log.print_all(0, {half, half, "y"});
    log.print_all(1, {half, half});
    BOOST_TEST(log.logged.size() == 3);
    log.print(1, "y");
    BOOST_TEST(log.logged.size() == 6);
}

BOOST_AUTO_TEST_CASE(the_memory_is_bounded) {
    printed log;
    log.print_all(0, traceback);
    log.fail(0);
    log.print(1, std::string(256u << 10, 'x'));
    log.fail(1);
    log.print_all(2, traceback);
    BOOST_TEST(log.fail(2) == "");
}

BOOST_AUTO_TEST_SUITE_END()
