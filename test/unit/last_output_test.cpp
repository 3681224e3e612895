// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "policy/last_output.hpp"
#include "support/text.hpp"

#include <boost/test/unit_test.hpp>

#include <string>
#include <string_view>

using namespace skep;
using test::contains;

BOOST_AUTO_TEST_SUITE(last_output_test)

namespace {

/// A stack as faulthandler prints it.
std::string stack(const std::string& thread, const std::string& function, int frames) {
    std::string text = thread + " 0x00007f0a (most recent call first):\n";
    for (int i = 0; i < frames; ++i) {
        text += "  File \"/srv/worker.py\", line " + std::to_string(i) + " in " +
                (i == 0            ? "innermost_of_"
                 : i == frames - 1 ? "outermost_of_"
                                   : "middle_of_") +
                function + "\n";
    }
    return text;
}

std::string account(const std::string& stacks) {
    return "Fatal Python error: Segmentation fault\n\n" + stacks;
}

std::string lines(std::size_t bytes, const std::string& line = "just output") {
    std::string text;
    while (text.size() < bytes) {
        text += line + "\n";
    }
    return text;
}

/// The tail of an output that arrives in pieces, as a capture keeps it.
std::string kept(std::string_view output, std::size_t limit, std::size_t piece = 100) {
    std::string tail;
    for (std::size_t at = 0; at < output.size(); at += piece) {
        tail += output.substr(at, piece);
        tail.erase(0, surplus_of(tail, limit));
    }
    return tail;
}

const std::string modules =
    "Extension modules: numpy.core._multiarray_umath, sklearn.tree._tree (total: 2)\n";

} // namespace

BOOST_AUTO_TEST_CASE(of_usual_output_the_last_bytes_are_kept_and_quoted) {
    const auto output = lines(10'000);
    BOOST_TEST(kept(output, 4096) == output.substr(output.size() - 4096));
    BOOST_TEST(kept("short\n", 4096) == "short\n");
    BOOST_TEST(kept(output, 0).empty());
    BOOST_TEST(quoted_output("short\n") == "short\n");
    BOOST_TEST(fatal_error_in(output).empty());
}

BOOST_AUTO_TEST_CASE(an_account_of_a_fatal_error_is_kept_whole_with_little_before_it) {
    const auto before = lines(10'000);
    const auto fatal = account(stack("Current thread", "crash", 200));
    const auto tail = kept(before + fatal, 4096);
    BOOST_TEST(fatal.size() > 4096u);
    BOOST_TEST(tail.ends_with(fatal));
    BOOST_TEST(tail.size() == fatal.size() + most_before_account);
    const auto quoted = quoted_output(tail);
    BOOST_TEST(quoted.ends_with(fatal));
    BOOST_TEST(quoted.starts_with("just output\n")); // whole lines
    BOOST_TEST(quoted.size() <= fatal.size() + most_before_account);
    BOOST_TEST(fatal_error_in(tail) == fatal);
}

BOOST_AUTO_TEST_CASE(an_account_is_found_behind_other_text_on_its_line) {
    const auto fatal = account(stack("Current thread", "crash", 3));
    BOOST_TEST(fatal_error_in(" 30%" + fatal) == fatal);
    BOOST_TEST(quoted_output(" 30%" + fatal) == " 30%" + fatal);
}

BOOST_AUTO_TEST_CASE(output_long_after_an_account_drops_it) {
    const auto fatal = account(stack("Current thread", "crash", 3));
    const auto after = lines(most_account_kept);
    BOOST_TEST(kept(fatal + after, 4096) == after.substr(after.size() - 4096));
    const auto both = kept(fatal + after + fatal, 4096);
    BOOST_TEST(both.ends_with(fatal));
    BOOST_TEST(both.size() == 4096u);
}

BOOST_AUTO_TEST_CASE(nothing_is_kept_beyond_the_limits) {
    const auto endless = account(lines(10 * most_account_kept));
    BOOST_TEST(kept(endless, 4096).size() == 4096u);
    BOOST_TEST(kept(endless, 0).empty());
    const auto many = lines(10 * most_account_kept, "Fatal Python error: again");
    BOOST_TEST(kept(many, 4096).size() <= most_account_kept + most_before_account);
    BOOST_TEST(quoted_output(many).size() <= most_account_quoted + most_before_account);
}

BOOST_AUTO_TEST_CASE(of_several_accounts_the_last_counts) {
    const auto first = account(stack("Current thread", "first", 3));
    const auto second = account(stack("Current thread", "second", 3));
    BOOST_TEST(fatal_error_in(first + second) == second);
    BOOST_TEST(quoted_output(first + second) == first + second);
}

BOOST_AUTO_TEST_CASE(the_thread_that_crashed_comes_first) {
    const auto idle = stack("Thread", "idle", 3) + "\n" + stack("Thread", "waiting", 3);
    const auto crashed = stack("Current thread", "crash", 3);
    BOOST_TEST(fatal_error_in(account(idle + "\n" + crashed)) == account(crashed + "\n" + idle));
    BOOST_TEST(fatal_error_in(account(idle + "\n" + crashed + "\n" + modules)) ==
               account(crashed + "\n" + idle + "\n" + modules));
    BOOST_TEST(fatal_error_in(account(idle)) == account(idle)); // a thread without Python crashed
}

BOOST_AUTO_TEST_CASE(without_room_for_all_the_crashed_thread_is_whole_and_modules_go_first) {
    std::string stacks;
    for (int i = 0; i < 5; ++i) {
        stacks += stack("Thread", "idle" + std::to_string(i), 60) + "\n";
    }
    stacks += stack("Current thread", "crash", 100) + "\n";
    const auto fatal = account(stacks + lines(3000, modules));
    BOOST_TEST(fatal.size() > most_account_quoted);
    const auto quoted = fatal_error_in(fatal);
    BOOST_TEST(quoted.size() <= most_account_quoted);
    BOOST_TEST(quoted.starts_with("Fatal Python error: Segmentation fault\n\nCurrent thread 0x"));
    BOOST_TEST(contains(quoted, "innermost_of_crash"));
    BOOST_TEST(contains(quoted, "outermost_of_crash"));
    BOOST_TEST(contains(quoted, "outermost_of_idle0"));
    BOOST_TEST(!contains(quoted, "outermost_of_idle4"));
    BOOST_TEST(!contains(quoted, "Extension modules"));
    BOOST_TEST(contains(quoted, "\n  (...)\n"));
    BOOST_TEST(fatal_error_in(quoted) == quoted);
}

BOOST_AUTO_TEST_CASE(of_a_stack_without_room_the_innermost_calls_stay) {
    const auto fatal = account(stack("Thread", "idle", 3) + "\n" + stack("Current thread", "crash", 1000));
    const auto quoted = fatal_error_in(fatal);
    BOOST_TEST(quoted.size() <= most_account_quoted);
    BOOST_TEST(quoted.size() > most_account_quoted - 200);
    BOOST_TEST(contains(quoted, "innermost_of_crash"));
    BOOST_TEST(!contains(quoted, "outermost_of_crash"));
    BOOST_TEST(!contains(quoted, "idle"));
    BOOST_TEST(quoted.ends_with("in middle_of_crash\n  (...)\n"));
}

BOOST_AUTO_TEST_CASE(a_line_without_end_is_cut) {
    const auto quoted = fatal_error_in("Fatal Python error: " + std::string(100'000, 'x'));
    BOOST_TEST(quoted.size() <= most_account_quoted);
    BOOST_TEST(quoted.starts_with("Fatal Python error: xxx"));
}

BOOST_AUTO_TEST_SUITE_END()
