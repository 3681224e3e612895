// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

// Attachments in memory of the pool: what workers are sent, and what they may release.

#include "server/shared_regions.hpp"
#include "support/fake_runtime.hpp"

#include <boost/json/array.hpp>
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

pool_config sharing_config(std::size_t workers = 1) {
    auto config = fake_config(workers);
    config.shared.enabled = true;
    config.shared.least = large;
    config.shared.bytes = 1u << 20;
    return config;
}

void greet_as_sharer(fake_worker& worker) {
    auto hello = worker.hello();
    hello["shared"] = 1;
    worker.send_data(hello);
    worker.send_data({{"type", "ready"}});
}

/// A pool whose workers can share memory, unless `greet` says that they cannot.
struct sharing_pool : manual_pool {
    explicit sharing_pool(pool_config config, std::function<void(fake_worker&)> greet = greet_as_sharer)
        : manual_pool(std::move(config)) {
        runtime().with_regions = true;
        runtime().on_start = std::move(greet);
        start();
    }

    /// The attachments of the one call that a worker has received since the last look.
    json::array take_attachments(std::size_t index = 0) {
        const auto calls = worker(index).take_calls();
        BOOST_REQUIRE(calls.size() == 1u);
        last_id = id_of(calls[0]);
        return calls[0].at("attachments").as_array();
    }

    std::uint64_t last_id = 0;
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
    shared_regions regions(std::move(pool.worker(0).regions), control);
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
    shared_regions regions(std::move(pool.worker(1 - first).regions), control);
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

BOOST_AUTO_TEST_CASE(a_result_has_no_attachments_in_memory) {
    check_violation(
        [](fake_worker& worker, const region_place& place) {
            const json::array attachments{{{"region", place.region}, {"at", place.begin}, {"bytes", large}}};
            worker.send_data({{"type", "result"}, {"id", 1}, {"value", 1}, {"attachments", attachments}});
        },
        "is in shared memory");
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
