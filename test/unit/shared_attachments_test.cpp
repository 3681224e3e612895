// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

// Attachments in memory of the pool: what workers are sent, and what they may release.

#include "server/shared_line.hpp"
#include "support/sharing_pool.hpp"
#include <skep/shared_buffer.hpp>

#include <boost/json/array.hpp>
#include <boost/json/parse.hpp>
#include <boost/test/unit_test.hpp>

#include <optional>
#include <span>
#include <string>
#include <string_view>

using namespace skep;
using namespace skep::test;
namespace json = boost::json;

BOOST_AUTO_TEST_SUITE(shared_attachments_test)

namespace {

constexpr std::size_t large = 64u << 10;

struct no_output final : frame_output {
    bool write(std::span<const std::string_view>) noexcept override { return true; }
    bool has_room() noexcept override { return true; }
};

/// The worker's end of the memory that it shares.
struct worker_end {
    explicit worker_end(fake_worker& owner) : worker(owner), memory(std::move(owner.regions), control) {}

    /// Sends a message with one attachment, which the worker passes on.
    void send(std::string_view type, std::uint64_t id, const blob& attachment) {
        const auto place = memory.pass(attachment, static_cast<std::size_t>(-1));
        BOOST_REQUIRE(place.has_value());
        const json::array attachments{
            {{"sealed", place->region}, {"at", place->begin}, {"bytes", attachment.size()}}};
        worker.send_data({{"type", type}, {"id", id}, {"value", 1}, {"attachments", attachments}});
    }
    void answer(std::uint64_t id, const blob& attachment) { send("result", id, attachment); }

    fake_worker& worker;
    no_output control;
    shared_line memory;
};

request call_with(std::string text) {
    return request("x").attach(std::move(text));
}

region_place place_of(const json::value& item) {
    return {item.at("region").to_number<std::uint64_t>(), item.at("at").to_number<std::size_t>()};
}

json::object release_of(const region_place& place) {
    return {{"type", "release"}, {"region", place.region}, {"at", place.begin}};
}

/// A worker with an attachment breaks a rule.
void check_violation(const std::function<void(fake_worker&, const region_place&)>& break_rule,
                     const std::string& text) {
    sharing_pool pool(sharing_config());
    const auto call = pool.execute(call_with(std::string(large, 'a')));
    const auto place = place_of(pool.take_attachments().at(0));
    break_rule(pool.worker(0), place);
    pool.run_until_idle();
    BOOST_TEST(call->code() == errc::worker_lost);
    check_mentions(call->text(), text);
    BOOST_TEST(pool.counters().workers_lost == 1u);
}

} // namespace

BOOST_AUTO_TEST_CASE(a_worker_that_says_so_gets_places) {
    sharing_pool pool(sharing_config());
    const auto welcome = pool.worker(0).take_controls("welcome");
    BOOST_REQUIRE(welcome.size() == 1u);
    BOOST_TEST(welcome[0].at("shared").at("least").to_number<std::size_t>() == large);
    const auto text = std::string(large, 'a') + "end";
    const auto call = pool.execute(request("x").attach("small").attach(text));
    const auto attachments = pool.take_attachments();
    BOOST_TEST(attachments.at(0) == json::value(5));
    BOOST_TEST(attachments.at(1).at("bytes").to_number<std::size_t>() == text.size());
    no_output control;
    shared_line regions(std::move(pool.worker(0).regions), control);
    BOOST_TEST(regions.open(place_of(attachments.at(1)), text.size()).text() == text);
    pool.worker(0).reply(pool.last_id);
    pool.run_until_idle();
    BOOST_TEST(call->value.has_value());
    BOOST_TEST(pool.counters().attachments_lent == 1u);
    BOOST_TEST(pool.counters().shared_fallbacks == 0u);
    BOOST_TEST((pool.worker_status_of(0).shared_bytes == text.size()));
}

BOOST_AUTO_TEST_CASE(another_worker_gets_frames) {
    sharing_pool pool(sharing_config(), [](fake_worker& fresh) { fresh.shake_hands(); });
    BOOST_TEST(!pool.worker(0).take_controls("welcome").at(0).contains("shared"));
    const auto call = pool.execute(call_with(std::string(large, 'a')));
    BOOST_TEST(pool.take_attachments().at(0) == json::value(large));
    BOOST_TEST(pool.counters().attachments_lent == 0u);
    BOOST_TEST(!pool.worker_status_of(0).shared_bytes.has_value());
}

BOOST_AUTO_TEST_CASE(a_worker_without_a_line_gets_frames) {
    manual_pool pool(sharing_config());
    pool.runtime().on_start = greet_as_sharer;
    pool.start();
    BOOST_TEST(!pool.worker(0).take_controls("welcome").at(0).contains("shared"));
    const auto call = pool.execute(call_with(std::string(large, 'a')));
    BOOST_TEST(pool.worker(0).take_calls().at(0).at("attachments").at(0) == json::value(large));
}

BOOST_AUTO_TEST_CASE(a_released_place_is_used_again_and_without_room_frames_are) {
    sharing_pool pool(sharing_config());
    const std::string most(1u << 20, 'a');
    const auto first = pool.execute(call_with(most));
    const auto place = place_of(pool.take_attachments().at(0));
    pool.worker(0).reply(pool.last_id);
    pool.run_until_idle();
    const auto second = pool.execute(call_with(std::string(large, 'b'))); // the place is still in use
    BOOST_TEST(pool.take_attachments().at(0) == json::value(large));
    BOOST_TEST(pool.counters().shared_fallbacks == 1u);
    pool.worker(0).reply(pool.last_id);
    pool.worker(0).send_control(release_of(place));
    pool.run_until_idle();
    const auto third = pool.execute(call_with(most));
    BOOST_TEST((place_of(pool.take_attachments().at(0)) == place));
    pool.worker(0).reply(pool.last_id);
    pool.run_until_idle();
    BOOST_TEST(pool.counters().attachments_lent == 2u);
}

BOOST_AUTO_TEST_CASE(a_call_that_is_sent_again_is_lent_again) {
    sharing_pool pool(sharing_config(2));
    const std::string text(large, 'b');
    auto repeatable = call_with(text);
    repeatable.idempotent(true);
    const auto call = pool.execute(std::move(repeatable));
    const std::size_t first = pool.worker(0).take_calls().empty() ? 1 : 0;
    crash_worker(pool, first);
    const auto place = place_of(pool.take_attachments(1 - first).at(0));
    no_output control;
    shared_line regions(std::move(pool.worker(1 - first).regions), control);
    BOOST_TEST(regions.open(place, text.size()).text() == text);
    pool.worker(1 - first).reply(pool.last_id);
    pool.run_until_idle();
    BOOST_TEST(call->value.has_value());
    BOOST_TEST(pool.counters().attachments_lent == 2u);
}

BOOST_AUTO_TEST_CASE(a_lost_worker_keeps_its_figures) {
    sharing_pool pool(sharing_config());
    const auto call = pool.execute(call_with(std::string(large, 'a')));
    crash_worker(pool, 0);
    BOOST_TEST(pool.counters().attachments_lent == 1u);
}

BOOST_AUTO_TEST_CASE(a_place_that_is_not_lent_is_not_released) {
    check_violation(
        [](fake_worker& worker, const region_place& place) {
            worker.send_control(release_of({place.region, place.begin + 4096}));
        },
        "which is not lent to it");
    check_violation(
        [](fake_worker& worker, const region_place&) {
            worker.send_control(release_of({7, 0}));
        },
        "releases the place at 0 of region 7");
}

BOOST_AUTO_TEST_CASE(a_place_is_released_once) {
    check_violation(
        [](fake_worker& worker, const region_place& place) {
            worker.send_control(release_of(place));
            worker.send_control(release_of(place));
        },
        "which is not lent to it");
}

BOOST_AUTO_TEST_CASE(a_release_comes_over_the_control_channel) {
    check_violation(
        [](fake_worker& worker, const region_place& place) { worker.send_data(release_of(place)); },
        "may come over the control channel only");
}

BOOST_AUTO_TEST_CASE(a_result_has_no_attachments_in_lent_memory) {
    check_violation(
        [](fake_worker& worker, const region_place& place) {
            const json::array attachments{{{"region", place.region}, {"at", place.begin}, {"bytes", large}}};
            worker.send_data({{"type", "result"}, {"id", 1}, {"value", 1}, {"attachments", attachments}});
        },
        "none of its regions for results");
}

BOOST_AUTO_TEST_CASE(a_shared_buffer_goes_there_and_back_untouched) {
    sharing_pool pool(sharing_config());
    shared_buffer buffer(large);
    buffer.span()[large - 1] = std::byte('z');
    const auto call = pool.execute(request("x").attach(std::move(buffer)));
    const auto attachments = pool.take_attachments();
    BOOST_TEST(attachments.at(0) == json::parse(R"({"sealed":1,"at":0,"bytes":65536})"));
    worker_end worker(pool.worker(0));
    worker.answer(pool.last_id, worker.memory.open({1, 0, true}, large));
    pool.run_until_idle();
    BOOST_REQUIRE(call->value.has_value());
    const auto& back = call->value->attachments.at(0);
    BOOST_TEST(back.is_shared());
    BOOST_TEST(back.text().back() == 'z');
    BOOST_TEST(pool.counters().attachments_passed == 1u);
    BOOST_TEST(pool.counters().attachments_received == 1u);
    BOOST_TEST(pool.counters().attachments_lent == 0u);
    BOOST_TEST(pool.counters().shared_fallbacks == 0u);
    BOOST_TEST((pool.worker_status_of(0).shared_bytes == 0u));

    const auto next = pool.execute(request("x").attach(back.part(1, large - 1)).attach(back));
    const auto again = pool.take_attachments();
    BOOST_TEST(again.at(0) == json::value(large - 1)); // too small
    BOOST_TEST(again.at(1) == json::parse(R"({"sealed":2,"at":0,"bytes":65536})"));
    crash_worker(pool, 0);
    BOOST_TEST(pool.counters().attachments_passed == 2u); // a lost worker keeps its figures
    BOOST_TEST(pool.counters().attachments_received == 1u);
}

BOOST_AUTO_TEST_CASE(a_worker_that_cannot_share_gets_a_copy_of_a_shared_buffer) {
    sharing_pool pool(sharing_config(), [](fake_worker& fresh) { fresh.shake_hands(); });
    const auto call = pool.execute(request("x").attach(shared_buffer(large)));
    BOOST_TEST(pool.take_attachments().at(0) == json::value(large));
    BOOST_TEST(pool.counters().attachments_passed == 0u);
}

BOOST_AUTO_TEST_CASE(a_shared_buffer_is_copied_while_the_line_is_full) {
    sharing_pool pool(sharing_config());
    const blob shared = shared_buffer(large);
    const auto first = pool.execute(call_with(std::string(large, 'a'))); // makes a region
    pool.take_attachments();
    pool.worker(0).reply(pool.last_id);
    pool.run_until_idle();
    std::size_t passed = 0;
    while (passed < 10'000) {
        const auto call = pool.execute(request("x").attach(shared));
        const auto item = pool.take_attachments().at(0).as_object();
        pool.worker(0).reply(pool.last_id);
        pool.run_until_idle();
        if (item.contains("region")) {
            break;
        }
        ++passed;
    }
    BOOST_TEST(passed > 0u);
    BOOST_TEST(passed < 10'000u);
    BOOST_TEST(pool.counters().attachments_lent == 2u);
    BOOST_TEST(pool.counters().shared_fallbacks == 0u);
    worker_end worker(pool.worker(0));
    worker.memory.open({passed, 0, true}, large);
    const auto call = pool.execute(request("x").attach(shared));
    BOOST_TEST(pool.take_attachments().at(0).as_object().contains("sealed"));
}

BOOST_AUTO_TEST_CASE(a_shared_call_that_is_sent_again_is_passed_again) {
    sharing_pool pool(sharing_config(2));
    auto repeatable = request("x").attach(shared_buffer(large)).idempotent(true);
    const auto call = pool.execute(std::move(repeatable));
    const std::size_t first = pool.worker(0).take_calls().empty() ? 1 : 0;
    crash_worker(pool, first);
    const auto attachments = pool.take_attachments(1 - first);
    BOOST_TEST(attachments.at(0) == json::parse(R"({"sealed":1,"at":0,"bytes":65536})"));
    worker_end worker(pool.worker(1 - first));
    BOOST_TEST(worker.memory.open({1, 0, true}, large).size() == large);
    pool.worker(1 - first).reply(pool.last_id);
    pool.run_until_idle();
    BOOST_TEST(call->value.has_value());
    BOOST_TEST(pool.counters().attachments_passed == 2u);
}

BOOST_AUTO_TEST_CASE(a_reply_in_shared_memory_outlives_its_worker) {
    sharing_pool pool(sharing_config());
    const auto call = pool.execute(request("x"));
    worker_end worker(pool.worker(0));
    worker.answer(pool.worker(0).take_call(), shared_buffer(large));
    crash_worker(pool, 0); // before the host has read the reply
    BOOST_REQUIRE(call->value.has_value());
    BOOST_TEST(call->value->attachments.at(0).text() == std::string(large, '\0'));
}

BOOST_AUTO_TEST_CASE(sealed_memory_that_breaks_a_rule_ends_the_worker) {
    const auto answer_with = [](const char* attachments) {
        return [attachments](fake_worker& worker, const region_place&) {
            worker.send_data(
                {{"type", "result"}, {"id", 1}, {"value", 1}, {"attachments", json::parse(attachments)}});
        };
    };
    check_violation(answer_with(R"([{"sealed":1,"at":0,"bytes":65536}])"), "which has not come");
    check_violation(answer_with(R"([{"sealed":0,"at":0,"bytes":1}])"), "is not there");
    check_violation(answer_with(R"([{"sealed":1,"at":0,"bytes":1048577}])"), "limit shared.bytes");
    check_violation(answer_with(R"([{"sealed":1,"at":0}])"), "has a place without");
    check_violation(
        [](fake_worker& worker, const region_place&) {
            worker_end end(worker);
            end.answer(1, blob(shared_buffer((1u << 20) + 1)).part(0, large));
        },
        "has more bytes than the limit");
    check_violation(
        [](fake_worker& worker, const region_place&) {
            worker_end end(worker);
            const auto place = end.memory.pass(shared_buffer(large), large);
            const auto item = json::object{{"sealed", place->region}, {"at", 0}, {"bytes", large}};
            const json::array twice{item, item};
            worker.send_data({{"type", "result"}, {"id", 1}, {"value", 1}, {"attachments", twice}});
        },
        "was used before");
}

BOOST_AUTO_TEST_CASE(sealed_memory_of_a_worker_that_shares_none_breaks_the_protocol) {
    running_pool pool(fake_config());
    const auto call = pool.execute(request("x"));
    const auto id = pool.worker(0).take_call();
    const auto attachments = json::parse(R"([{"sealed":1,"at":0,"bytes":5}])");
    pool.worker(0).send_data({{"type", "result"}, {"id", id}, {"value", 1}, {"attachments", attachments}});
    pool.run_until_idle();
    BOOST_TEST(call->code() == errc::worker_lost);
    check_mentions(call->text(), "is in shared memory");
}

BOOST_AUTO_TEST_CASE(the_credit_of_a_stream_counts_bytes_in_shared_memory) {
    auto config = sharing_config();
    config.stream.window_bytes = large;
    sharing_pool pool(config);
    const auto opened = pool.stream(request("x"));
    const auto id = pool.worker(0).take_call();
    worker_end worker(pool.worker(0));
    worker.send("chunk", id, shared_buffer(large));
    pool.run_until_idle();
    BOOST_REQUIRE(opened->value.has_value());
    const auto first = pool.next(*opened->value);
    BOOST_REQUIRE((first->value.has_value() && first->value->has_value()));
    BOOST_TEST((*first->value)->attachments.at(0).is_shared());
    worker.send("chunk", id, shared_buffer(large));
    worker.send("chunk", id, shared_buffer(large));
    pool.run_until_idle();
    const auto second = pool.next(*opened->value);
    const auto third = pool.next(*opened->value);
    BOOST_TEST(pool.counters().workers_lost == 1u);
}

BOOST_AUTO_TEST_CASE(a_worker_without_shared_memory_releases_nothing) {
    running_pool pool(fake_config());
    const auto call = pool.execute(request("x"));
    pool.worker(0).take_call();
    pool.worker(0).send_control(release_of({1, 0}));
    pool.run_until_idle();
    BOOST_TEST(call->code() == errc::worker_lost);
    check_mentions(call->text(), "which is not lent to it");
}

BOOST_AUTO_TEST_SUITE_END()
