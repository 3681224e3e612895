// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "support/text.hpp"
#include <skep/call_interface.hpp>
#include <skep/value_as.hpp>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/system_executor.hpp>
#include <boost/asio/use_future.hpp>
#include <boost/describe/class.hpp>
#include <boost/describe/enum.hpp>
#include <boost/json/parse.hpp>
#include <boost/test/unit_test.hpp>

#include <array>
#include <map>
#include <optional>
#include <regex>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace skep::test {

namespace asio = boost::asio;
namespace json = boost::json;

BOOST_AUTO_TEST_SUITE(typed_test)

namespace {

enum class colour { red, green };
BOOST_DESCRIBE_ENUM(colour, red, green)

struct label {
    std::string name;
    double score = 0;
    bool operator==(const label&) const = default;
};
BOOST_DESCRIBE_STRUCT(label, (), (name, score))

struct picture {
    std::vector<label> labels;
    std::map<std::string, std::array<int, 2>> corners;
    std::optional<label> best;
    colour background{};
    std::pair<int, std::string> source;
};
BOOST_DESCRIBE_STRUCT(picture, (), (labels, corners, best, background, source))

struct odd {
    int value = 0;
};

odd tag_invoke(json::value_to_tag<odd>, const json::value& value) {
    const auto number = json::value_to<int>(value);
    if (number % 2 == 0) {
        throw std::range_error("an odd number is needed");
    }
    return {number};
}

constexpr auto good = R"({"labels": [{"name": "cat", "score": 0.5}, {"name": "dog", "score": 1}],
    "corners": {"left": [1, 2], "a/b~c": [3, 4]}, "best": null, "background": "green", "source": [7, "disk"]})";

/// What is wrong with `text`, JSON, as a T. Some versions of Boost say "value is not", some "not".
template <class T>
std::string misfit(const std::string& text) {
    try {
        static_cast<void>(value_as<T>(json::parse(text)));
    } catch (const error& failure) {
        BOOST_TEST((failure.kind() == errc::type_mismatch));
        return std::regex_replace(failure.info().detail, std::regex("value is "), "");
    }
    return "fits";
}

std::string replaced(std::string text, const std::string& old, const std::string& by) {
    return text.replace(text.find(old), old.size(), by);
}

/// Answers every call with its own arguments.
class mirror final : public call_interface {
public:
    asio::any_io_executor get_executor() const noexcept override { return asio::system_executor(); }
    call_operation prepare(request call) override {
        return call_operation([call = std::move(call)](completion<reply> caller) {
            reply answer;
            answer.value = call.args();
            answer.worker = worker_id{"p", 3, 1};
            answer.attempts = 2;
            caller.complete(std::move(answer));
        });
    }
};

template <class T>
T result_of(asio::awaitable<T> operation) {
    asio::io_context context;
    auto result = asio::co_spawn(context, std::move(operation), asio::use_future);
    context.run();
    return result.get();
}

} // namespace

BOOST_AUTO_TEST_CASE(a_value_becomes_a_struct) {
    const auto made = value_as<picture>(json::parse(good));
    BOOST_TEST((made.labels == std::vector<label>{{"cat", 0.5}, {"dog", 1}}));
    BOOST_TEST(made.corners.at("a/b~c")[1] == 4);
    BOOST_TEST(!made.best);
    BOOST_TEST((made.background == colour::green));
    BOOST_TEST(made.source.second == "disk");
    BOOST_TEST(value_as<int>(json::value(3)) == 3);
    BOOST_TEST(value_as<odd>(json::value(3)).value == 3);
}

BOOST_AUTO_TEST_CASE(the_error_names_the_innermost_place) {
    const auto bad = [](const char* old, const char* by) { return misfit<picture>(replaced(good, old, by)); };
    BOOST_TEST(bad("0.5", "\"half\"") == "at /labels/0/score: not a number (it is of kind string)");
    BOOST_TEST(bad("[3, 4]", "[3, 4.5]").starts_with("at /corners/a~1b~0c/1: not exact"));
    BOOST_TEST(bad("[3, 4]", "[3]").starts_with("at /corners/a~1b~0c: "));
    BOOST_TEST(bad("null", "{\"name\": 1, \"score\": 1}") ==
               "at /best/name: not a string (it is of kind int64)");
    BOOST_TEST(bad("\"green\"", "\"blue\"") == "at /background: unknown name (it is of kind string)");
    BOOST_TEST(bad("\"disk\"", "[]") == "at /source/1: not a string (it is of kind array)");
    BOOST_TEST(bad("\"source\"", "\"sauce\"") == "at /source: missing");
    BOOST_TEST(bad("{\"name\": \"dog\", \"score\": 1}", "7") ==
               "at /labels/1: not an object (it is of kind int64)");
}

BOOST_AUTO_TEST_CASE(a_whole_value_may_not_fit) {
    BOOST_TEST(misfit<int>("\"1\"") == "not a number (it is of kind string)");
    BOOST_TEST(misfit<std::vector<int>>("{}") == "not an array (it is of kind object)");
    BOOST_TEST(misfit<odd>("4") == "an odd number is needed (it is of kind int64)");
    BOOST_TEST(misfit<std::vector<odd>>("[1, 3, 4]") ==
               "at /2: an odd number is needed (it is of kind int64)");
}

BOOST_AUTO_TEST_CASE(the_values_themselves_are_not_told) {
    BOOST_TEST(!contains(misfit<std::vector<int>>("[1, \"secret\"]"), "secret"));
}

BOOST_AUTO_TEST_CASE(arguments_can_be_a_struct) {
    const auto call = request("classify").args(label{"cat", 0.5});
    BOOST_TEST(call.args() == json::parse(R"({"name": "cat", "score": 0.5})"));
    request replaced("classify", json::object{{"other", 1}});
    replaced.args(label{"dog", 1}).arg("top", 3);
    BOOST_TEST(replaced.args() == json::parse(R"({"name": "dog", "score": 1.0, "top": 3})"));
}

BOOST_AUTO_TEST_CASE(arguments_that_are_no_object_are_refused_and_nothing_is_changed) {
    request call = request("classify").arg("top", 3);
    try {
        call.args(std::vector<int>{1, 2});
        BOOST_ERROR("it was taken");
    } catch (const error& failure) {
        BOOST_TEST((failure.kind() == errc::invalid_request));
        BOOST_TEST(failure.info().command == "classify");
    }
    BOOST_TEST(call.args() == json::parse(R"({"top": 3})"));
}

BOOST_AUTO_TEST_CASE(an_answer_is_converted) {
    mirror calls;
    const label cat{"cat", 0.5};
    BOOST_TEST((result_of(calls.execute<label>(request("x").args(cat))) == cat));
    BOOST_TEST((result_of(calls.execute<label>("x", cat)) == cat));
    BOOST_TEST(result_of(calls.execute<json::object>("x")).empty());
}

BOOST_AUTO_TEST_CASE(an_answer_that_does_not_fit_is_told_with_call_and_worker) {
    mirror calls;
    try {
        result_of(calls.execute<label>(request("classify").arg("name", "cat").arg("score", true)));
        BOOST_ERROR("it fits");
    } catch (const error& failure) {
        BOOST_TEST(failure.what() ==
                   std::string("the value does not fit the type it was to become: at /score: not a "
                               "number (it is of kind bool) [command 'classify', worker p/3#1, "
                               "attempt 2]"));
        BOOST_TEST(!retryable(failure.kind()));
        BOOST_TEST(!is_callers_fault(failure));
    }
}

BOOST_AUTO_TEST_CASE(what_execute_throws_comes_through) {
    struct refusing final : call_interface {
        asio::any_io_executor get_executor() const noexcept override { return asio::system_executor(); }
        call_operation prepare(request) override {
            return call_operation(
                [](completion<reply> caller) { caller.fail(error(errc::pool_saturated, {})); });
        }
    } calls;
    BOOST_CHECK_EXCEPTION(result_of(calls.execute<int>("x")), error,
                          [](const error& failure) { return failure.kind() == errc::pool_saturated; });
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace skep::test
