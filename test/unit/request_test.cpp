// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "core/request_check.hpp"
#include <skep/error.hpp>
#include <skep/request.hpp>

#include <boost/json/monotonic_resource.hpp>
#include <boost/test/unit_test.hpp>

#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

using namespace skep;
using namespace std::chrono_literals;
namespace json = boost::json;

BOOST_AUTO_TEST_SUITE(request_test)

namespace {

template <class Value>
concept argument_value = requires(request call, Value value) {
    call.arg("key", value);
};

} // namespace

BOOST_AUTO_TEST_CASE(a_request_takes_json_objects_only) {
    for (const auto& bad :
         {json::value(), json::value(1), json::value("x"), json::value(json::array{1, 2})}) {
        BOOST_CHECK_THROW(request("f", bad), error);
    }
    BOOST_TEST((request("f", {{"a", 1}}).arg("a", 2).arg("b", 3).args() == json::object{{"a", 2}, {"b", 3}}));
}

BOOST_AUTO_TEST_CASE(a_request_takes_the_everyday_types_as_arguments) {
    BOOST_TEST(argument_value<int>);
    BOOST_TEST(argument_value<double>);
    BOOST_TEST(argument_value<bool>);
    BOOST_TEST(argument_value<const char*>);
    BOOST_TEST(argument_value<json::array>);
    BOOST_TEST(argument_value<std::string_view>);
    BOOST_TEST(argument_value<std::string>); // so that .arg("text", text) works
}

BOOST_AUTO_TEST_CASE(a_request_outlives_the_memory_that_its_arguments_came_from) {
    const auto text_in = [](json::storage_ptr arena) {
        return json::value({{"text", std::string(1000, 'x')}}, std::move(arena));
    };
    std::optional<request> made;
    std::optional<request> changed;
    {
        json::monotonic_resource arena;
        made.emplace("x", text_in(&arena));
        changed.emplace("x");
        changed->args(text_in(&arena)).arg("more", text_in(&arena));
    }
    BOOST_TEST(made->args().at("text").as_string().size() == 1000u);
    BOOST_TEST(changed->args().at("text").as_string().size() == 1000u);
    BOOST_TEST(changed->args().at("more").at("text").as_string().size() == 1000u);
    BOOST_TEST(made->args().storage()->is_equal(*json::storage_ptr()));
}

BOOST_AUTO_TEST_CASE(every_setter_works_on_a_named_request_and_in_a_chain) {
    const auto moment = time_point(5s);
    request named("f");
    named.session("s").timeout(1s).deadline(moment).queue_timeout(2s).idempotent(true).correlation_id("c");
    named.metadata("m", 1).attach(std::string_view("x")).arg("a", 1);
    const auto chained = request("f")
                             .session("s")
                             .timeout(1s)
                             .deadline(moment)
                             .queue_timeout(2s)
                             .idempotent(true)
                             .correlation_id("c")
                             .metadata("m", 1)
                             .attach(std::string_view("x"))
                             .arg("a", 1);
    for (const auto* const call : std::initializer_list<const request*>{&named, &chained}) {
        BOOST_TEST(call->command() == "f");
        BOOST_TEST(call->session() == "s");
        BOOST_TEST((call->timeout() == 1s));
        BOOST_TEST((call->deadline() == moment));
        BOOST_TEST((call->queue_timeout() == 2s));
        BOOST_TEST(call->idempotent());
        BOOST_TEST(call->correlation_id() == "c");
        BOOST_TEST((call->metadata() == json::object{{"m", 1}}));
        BOOST_TEST((call->args() == json::object{{"a", 1}}));
        BOOST_TEST(call->attachments().size() == 1u);
    }
    const request bare("f");
    BOOST_TEST((!bare.timeout() && !bare.deadline() && !bare.queue_timeout() && !bare.idempotent()));
    BOOST_TEST(bare.args().as_object().empty());
}

BOOST_AUTO_TEST_CASE(a_copy_is_changed_alone) {
    const auto named = [](const char* name) {
        return request("f")
            .session(name)
            .pool(name)
            .correlation_id(name)
            .metadata("name", name)
            .idle_timeout(2s);
    };
    const auto first = named("first");
    request second = first;
    second.session("second").metadata("name", "second");
    BOOST_TEST(first.session() == "first");
    BOOST_TEST((first.metadata() == json::object{{"name", "first"}}));
    BOOST_TEST(second.session() == "second");
    BOOST_TEST(second.pool() == "first");
    BOOST_TEST(second.correlation_id() == "first");
    BOOST_TEST((second.metadata() == json::object{{"name", "second"}}));
    BOOST_TEST((second.idle_timeout() == 2s));
    request third("g");
    third = second;
    third.pool("third");
    BOOST_TEST(second.pool() == "first");
    BOOST_TEST(third.session() == "second");
    third = std::move(second);
    BOOST_TEST(third.pool() == "first");
    third = request("h");
    BOOST_TEST(third.session().empty());
}

BOOST_AUTO_TEST_CASE(what_a_request_was_not_told_is_empty) {
    const request bare("f");
    BOOST_TEST(bare.session().empty());
    BOOST_TEST(bare.pool().empty());
    BOOST_TEST(bare.correlation_id().empty());
    BOOST_TEST(bare.metadata().empty());
    BOOST_TEST(!bare.affinity());
    BOOST_TEST(!bare.idle_timeout());
    BOOST_TEST(std::is_nothrow_move_constructible_v<request>);
}

BOOST_AUTO_TEST_CASE(an_option_without_effect_is_refused_by_name) {
    const auto refusal = [](const request& call, call_kind kind) -> std::string {
        try {
            refuse_options_without_effect(call, "blue", kind);
            return {};
        } catch (const error& failure) {
            BOOST_TEST((failure.kind() == errc::invalid_request));
            BOOST_TEST(failure.info().command == "f");
            return failure.info().detail;
        }
    };
    const request plain("f");
    for (const auto kind : {call_kind::plain, call_kind::streamed}) {
        BOOST_TEST(refusal(plain, kind) == "");
        BOOST_TEST(refusal(request(plain).pool("blue"), kind) == "");
        BOOST_TEST(refusal(request(plain).pool("red"), kind) ==
                   R"(the request is for pool "red", and this is pool "blue")");
        BOOST_TEST(refusal(request(plain).affinity(affinity_mode::hint).session("s"), kind) == "");
        BOOST_TEST(refusal(request(plain).affinity(affinity_mode::hint), kind)
                       .starts_with("affinity has no effect"));
    }
    BOOST_TEST(refusal(request(plain).idle_timeout(1s), call_kind::streamed) == "");
    BOOST_TEST(
        refusal(request(plain).idle_timeout(1s), call_kind::plain).starts_with("idle_timeout has an effect"));
}

BOOST_AUTO_TEST_SUITE_END()
