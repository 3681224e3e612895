// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

// The memory for results of a worker in C++, with its host behind a real line.

#include "process/launcher.hpp"
#include "process/memory_line.hpp"
#include "server/answer_memory.hpp"
#include "support/in_a_child.hpp"
#include "wire/protocol_violation.hpp"
#include "worker/result_memory.hpp"

#include <boost/json/parse.hpp>
#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

using namespace skep;

BOOST_AUTO_TEST_SUITE(answer_memory_test)

namespace {

constexpr std::size_t step = region_arena::step;
constexpr std::size_t mebibyte = 1u << 20;

/// Takes the requests of the worker.
struct request_log final : frame_output {
    bool write(std::span<const std::string_view> pieces) noexcept override {
        std::string frame;
        for (const auto& each : pieces) {
            frame += each;
        }
        const auto message = boost::json::parse(frame.substr(8));
        if (message.at("type") == boost::json::value("region")) { // else the release of a lent place
            sizes.push_back(message.at("bytes").to_number<std::size_t>());
        }
        return true;
    }
    bool has_room() noexcept override { return true; }

    std::vector<std::size_t> sizes;
};

blob bytes_of(std::size_t size, char letter) {
    return blob(std::vector<std::byte>(size, static_cast<std::byte>(letter)));
}

shared_options options_of_results() {
    shared_options options;
    options.least_result = step;
    options.bytes = 4 * mebibyte;
    options.regions = 3;
    return options;
}

struct fixture {
    fixture() { host.begin(*line); }

    /// The host answers the last request.
    void answer_request() {
        BOOST_REQUIRE(!control.sizes.empty());
        host.request(control.sizes.back());
    }

    /// Puts an attachment into memory for which a region is there, or comes now.
    region_place put(const blob& attachment) {
        auto places = worker.put({attachment});
        if (places.empty()) {
            answer_request();
            places = worker.put({attachment});
        }
        BOOST_REQUIRE(places.size() == 1u);
        return places[0];
    }

    /// The host tells the worker of all releases.
    void tell_releases() {
        const auto released = host.released(1000);
        worker.release(released);
        host.keep_released();
    }

    const shared_options options = options_of_results();
    fd_pair ends = make_packet_pair(launcher());
    std::unique_ptr<memory_line> line = make_memory_line(std::move(ends.here));
    result_memory host{options};
    request_log control;
    shared_line regions{std::move(ends.there), control};
    answer_memory worker{shared_limits{options.least_result, options.bytes, options.regions}, regions,
                         control};
};

} // namespace

BOOST_FIXTURE_TEST_CASE(attachments_are_sent_until_a_region_has_come, fixture) {
    const auto attachment = bytes_of(step, 'a');
    BOOST_TEST(worker.put({attachment}).empty());
    BOOST_TEST(worker.put({attachment}).empty());
    BOOST_TEST((control.sizes == std::vector<std::size_t>{mebibyte})); // once
    answer_request();
    const auto places = worker.put({attachment});
    BOOST_REQUIRE(places.size() == 1u);
    BOOST_TEST((host.open(places[0], step) == attachment));
    BOOST_TEST(control.sizes.size() == 1u);
}

BOOST_FIXTURE_TEST_CASE(small_attachments_request_nothing, fixture) {
    BOOST_TEST(worker.put({bytes_of(step - 1, 'a'), blob()}).empty());
    BOOST_TEST(worker.put({}).empty());
    BOOST_TEST(control.sizes.empty());
}

BOOST_FIXTURE_TEST_CASE(large_attachments_get_places_of_their_own, fixture) {
    put(bytes_of(step, 'x'));
    const std::vector<blob> attachments{bytes_of(step, 'a'), bytes_of(3, 'b'), bytes_of(3 * step + 1, 'c')};
    const auto places = worker.put(attachments);
    BOOST_REQUIRE(places.size() == 3u);
    BOOST_TEST(places[1].region == 0u);
    for (const std::size_t i : {0, 2}) {
        BOOST_TEST((host.open(places[i], attachments[i].size()) == attachments[i]));
    }
}

BOOST_FIXTURE_TEST_CASE(a_place_is_used_again_once_it_is_released, fixture) {
    const auto first = put(bytes_of(mebibyte, 'a'));
    host.open(first, mebibyte);
    BOOST_TEST(worker.put({bytes_of(mebibyte, 'b')}).empty()); // the host has not told
    tell_releases();
    BOOST_TEST((put(bytes_of(mebibyte, 'c')) == first));
    BOOST_TEST((host.open(first, mebibyte) == bytes_of(mebibyte, 'c')));
}

BOOST_FIXTURE_TEST_CASE(a_place_of_an_unsent_message_is_taken_back, fixture) {
    const auto first = put(bytes_of(mebibyte, 'a'));
    worker.take_back(std::vector<region_place>{{}, first});
    BOOST_TEST((put(bytes_of(mebibyte, 'b')) == first));
}

BOOST_FIXTURE_TEST_CASE(the_memory_doubles_up_to_its_limits, fixture) {
    for (int i = 0; i < 4; ++i) {
        put(bytes_of(mebibyte, 'a'));
    }
    BOOST_TEST((control.sizes == std::vector<std::size_t>{mebibyte, mebibyte, 2 * mebibyte}));
    BOOST_TEST(worker.put({bytes_of(mebibyte, 'a')}).empty());
    BOOST_TEST(worker.put({bytes_of(5 * mebibyte, 'a')}).empty());
    BOOST_TEST(control.sizes.size() == 3u);
}

BOOST_FIXTURE_TEST_CASE(a_refused_request_is_not_repeated_at_once, fixture) {
    BOOST_TEST(worker.put({bytes_of(step, 'a')}).empty());
    BOOST_TEST(line->refuse_for_results(mebibyte));
    BOOST_TEST(worker.put({bytes_of(step, 'a')}).empty());
    BOOST_TEST(worker.put({bytes_of(step, 'a')}).empty());
    BOOST_TEST(control.sizes.size() == 1u);
}

BOOST_FIXTURE_TEST_CASE(lent_regions_come_on_the_same_line, fixture) {
    BOOST_TEST(worker.put({bytes_of(step, 'a')}).empty());
    BOOST_TEST(line->make(line->next_number(), step));
    answer_request();
    BOOST_TEST(line->make(line->next_number(), step));
    const auto target = line->open({3, 0}, 5);
    std::ranges::copy(std::as_bytes(std::span(std::string_view("hello"))), target.begin());
    BOOST_TEST(regions.open({3, 0}, 5).text() == "hello"); // takes all three
    BOOST_TEST(worker.put({bytes_of(step, 'a')}).at(0).region == 2u);
    BOOST_CHECK_THROW(regions.open({2, 0}, 5), protocol_violation);
}

BOOST_FIXTURE_TEST_CASE(a_release_of_a_place_that_is_not_in_use_breaks_the_protocol, fixture) {
    const auto place = put(bytes_of(step, 'a'));
    BOOST_CHECK_THROW(worker.release(std::vector<region_place>{{place.region, step}}), protocol_violation);
    worker.release(std::vector{place});
    BOOST_CHECK_THROW(worker.release(std::vector{place}), protocol_violation);
}

BOOST_FIXTURE_TEST_CASE(a_forked_child_writes_nothing, fixture) {
    put(bytes_of(step, 'a'));
    const auto status = test::in_a_child([&] { return worker.put({bytes_of(step, 'b')}).empty() ? 0 : 1; });
    BOOST_TEST(status == 0);
}

BOOST_AUTO_TEST_SUITE_END()
