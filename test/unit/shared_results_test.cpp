// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

// Attachments that workers send in shared memory: what callers get, and what breaks the protocol.

#include "process/descriptor_passing.hpp"
#include "process/shared_memory.hpp"
#include "support/leak_audit.hpp"
#include "support/sharing_pool.hpp"
#include "wire/memory_packets.hpp"

#include <boost/json/array.hpp>
#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <cstddef>
#include <functional>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <sys/mman.h>
#include <utility>

using namespace skep;
using namespace skep::test;
namespace json = boost::json;

BOOST_AUTO_TEST_SUITE(shared_results_test)

namespace {

constexpr std::size_t region_size = 256u << 10;

pool_config results_config(bool shows = false, std::size_t workers = 1) {
    auto config = sharing_config(workers);
    config.shared.regions = 2;
    config.shared.show_results = shows;
    return config;
}

json::object place(std::uint64_t region, std::size_t begin, std::size_t bytes) {
    return {{"region", region}, {"at", begin}, {"bytes", bytes}};
}

json::object result_with(std::uint64_t id, json::array attachments) {
    return {{"type", "result"}, {"id", id}, {"value", 1}, {"attachments", std::move(attachments)}};
}

/// The places of a region, as messages name them once they are released.
json::array places_of(std::uint64_t region, std::initializer_list<std::size_t> beginnings) {
    json::array places;
    for (const auto each : beginnings) {
        places.push_back(json::array{region, each});
    }
    return places;
}

/// A pool whose first worker writes results into shared memory.
struct writing_pool : sharing_pool {
    explicit writing_pool(pool_config config = results_config()) : sharing_pool(std::move(config)) {}

    void request_region(std::size_t bytes = region_size) {
        worker(0).send_control({{"type", "region"}, {"bytes", bytes}});
        run_until_idle();
    }

    /// The packet that the worker gets.
    std::optional<region_packet> take_packet() {
        message_with_descriptor packet;
        if (receive_descriptor(worker(0).regions.get(), most_packet_bytes, packet) <= 0) {
            return std::nullopt;
        }
        const auto told = decode_region(packet.text);
        if (told && packet.descriptor.get() >= 0) {
            memory = map_result_memory(packet.descriptor.get(), told->bytes);
        }
        return told;
    }

    /// Requests a region, and takes it.
    std::uint64_t get_region(std::size_t bytes = region_size) {
        request_region(bytes);
        const auto told = take_packet();
        BOOST_REQUIRE(told);
        BOOST_REQUIRE(memory.bytes().size() == bytes);
        return told->region;
    }

    void write(std::size_t begin, std::string_view text) {
        std::ranges::copy(std::as_bytes(std::span(text)), memory.bytes().subspan(begin).begin());
    }

    void answer_with(json::array attachments) {
        worker(0).send_data(result_with(last_id, std::move(attachments)));
        run_until_idle();
    }

    memory_mapping memory; ///< the last region
};

/// The worker breaks a rule while it has a call and a region.
void check_results_violation(const std::function<void(writing_pool&, std::uint64_t region)>& break_rule,
                             const std::string& text) {
    writing_pool pool;
    const auto call = pool.execute(request("x"));
    pool.take_call();
    const auto region = pool.get_region();
    break_rule(pool, region);
    pool.run_until_idle();
    BOOST_TEST(call->code() == errc::worker_lost);
    check_mentions(call->text(), text);
    BOOST_TEST(pool.counters().workers_lost == 1u);
}

} // namespace

BOOST_AUTO_TEST_CASE(a_result_is_copied_out_of_shared_memory) {
    writing_pool pool;
    const auto region = pool.get_region();
    const auto call = pool.execute(request("x"));
    pool.take_call();
    pool.write(4096, "hello");
    pool.answer_with({place(region, 4096, 5)});
    pool.write(4096, "other");
    BOOST_REQUIRE(call->value);
    BOOST_TEST(call->value->attachments.at(0).text() == "hello");
    BOOST_TEST(pool.counters().shared_results == 1u);
    BOOST_TEST((pool.worker_status_of(0).shared_bytes == 4101u));
}

BOOST_AUTO_TEST_CASE(shared_and_sent_attachments_keep_their_order) {
    writing_pool pool;
    const auto region = pool.get_region();
    const auto call = pool.execute(request("x"));
    pool.take_call();
    pool.write(0, "first");
    pool.write(8192, "third");
    pool.answer_with({place(region, 0, 5), 0, place(region, 8192, 5)});
    BOOST_REQUIRE(call->value);
    const auto& attachments = call->value->attachments;
    BOOST_REQUIRE(attachments.size() == 3u);
    BOOST_TEST(attachments[0].text() == "first");
    BOOST_TEST(attachments[1].empty());
    BOOST_TEST(attachments[2].text() == "third");
}

BOOST_AUTO_TEST_CASE(the_next_call_names_the_released_places) {
    writing_pool pool;
    const auto region = pool.get_region();
    const auto first = pool.execute(request("x"));
    BOOST_TEST(!pool.take_call().contains("released"));
    pool.answer_with({place(region, 0, 5), place(region, 4096, 5)});
    const auto second = pool.execute(request("x"));
    const auto call = pool.take_call();
    BOOST_TEST(call.at("released") == places_of(region, {0, 4096}));
    pool.answer_with({place(region, 0, 5)});
    BOOST_TEST(second->value.has_value());
    const auto third = pool.execute(request("x"));
    BOOST_TEST(pool.take_call().at("released") == places_of(region, {0}));
}

BOOST_AUTO_TEST_CASE(shown_results_are_the_workers_memory_until_the_last_copy) {
    writing_pool pool(results_config(true));
    const auto region = pool.get_region();
    const auto call = pool.execute(request("x"));
    pool.take_call();
    pool.write(0, "hello");
    pool.answer_with({place(region, 0, 5)});
    BOOST_REQUIRE(call->value);
    pool.write(0, "HELLO");
    BOOST_TEST(call->value->attachments.at(0).text() == "HELLO");
    const auto second = pool.execute(request("x"));
    BOOST_TEST(!pool.take_call().contains("released"));
    pool.answer_with({});
    call->value.reset();
    const auto third = pool.execute(request("x"));
    BOOST_TEST(pool.take_call().at("released") == places_of(region, {0}));
}

BOOST_AUTO_TEST_CASE(shown_results_outlive_the_worker_and_the_pool) {
    blob kept;
    {
        writing_pool pool(results_config(true));
        const auto region = pool.get_region();
        const auto call = pool.execute(request("x"));
        pool.take_call();
        pool.write(0, "hello");
        pool.answer_with({place(region, 0, 5)});
        BOOST_REQUIRE(call->value);
        kept = call->value->attachments.at(0);
        crash_worker(pool, 0);
        BOOST_TEST(kept.text() == "hello");
    }
    BOOST_TEST(kept.text() == "hello");
}

BOOST_AUTO_TEST_CASE(pages_that_a_worker_removes_are_read_as_zeros) {
    for (const bool shows : {false, true}) {
        writing_pool pool(results_config(shows));
        const auto region = pool.get_region();
        const auto can_remove = [&] {
            return ::madvise(pool.memory.bytes().data(), region_size, MADV_REMOVE) == 0;
        };
        pool.write(0, "hello");
        BOOST_TEST(can_remove());
        const auto call = pool.execute(request("x"));
        pool.take_call();
        pool.answer_with({place(region, 0, 5)});
        BOOST_REQUIRE(call->value);
        BOOST_TEST(call->value->attachments.at(0).text() == std::string(5, '\0'));
        BOOST_TEST(!can_remove());
    }
}

BOOST_AUTO_TEST_CASE(regions_without_a_use_cost_one_descriptor) {
    auto config = results_config();
    config.shared.regions = 3;
    writing_pool pool(std::move(config));
    const auto before = descriptors().size();
    for (int i = 0; i < 3; ++i) {
        pool.get_region();
        BOOST_TEST(descriptors().size() == before + 1);
    }
}

BOOST_AUTO_TEST_CASE(results_that_no_caller_waits_for_are_released) {
    writing_pool pool;
    const auto region = pool.get_region();
    const auto call = pool.execute(request("x"));
    pool.take_call();
    call->cancel.emit(asio::cancellation_type::terminal);
    pool.run_until_idle();
    BOOST_TEST(call->code() == errc::cancelled);
    pool.answer_with({place(region, 0, 5)});
    BOOST_TEST(pool.counters().workers_lost == 0u);
    const auto next = pool.execute(request("x"));
    BOOST_TEST(pool.take_call().at("released") == places_of(region, {0}));
}

BOOST_AUTO_TEST_CASE(chunks_use_credit_for_shared_bytes_and_credit_names_released_places) {
    auto config = results_config();
    config.stream.window = 2;
    config.stream.window_bytes = 200'000;
    writing_pool pool(std::move(config));
    const auto region = pool.get_region();
    const auto opened = pool.stream(request("x"));
    const auto id = id_of(pool.take_call());
    BOOST_REQUIRE(opened->value);
    auto& stream = *opened->value;
    const auto send = [&](std::size_t begin) {
        pool.worker(0).send_data({{"type", "chunk"},
                                  {"id", id},
                                  {"value", 1},
                                  {"attachments", json::array{place(region, begin, 100'000)}}});
        pool.run_until_idle();
    };
    pool.write(99'999, "a");
    send(0);
    const auto first = pool.next(stream);
    BOOST_REQUIRE((first->value && *first->value));
    BOOST_TEST((*first->value)->attachments.at(0).size() == 100'000u);
    BOOST_TEST((*first->value)->attachments.at(0).text().back() == 'a');
    const auto second = pool.next(stream); // the first is taken
    const auto credits = pool.worker(0).take_controls("credit");
    BOOST_REQUIRE(credits.size() == 1u);
    BOOST_TEST(credits[0].at("credit").at("bytes").to_number<std::size_t>() > 100'000u);
    BOOST_TEST(credits[0].at("released") == places_of(region, {0}));
    send(0);
    BOOST_TEST((second->value && *second->value));
}

BOOST_AUTO_TEST_CASE(a_chunk_whose_shared_bytes_have_no_credit_breaks_the_protocol) {
    auto config = results_config();
    config.stream.window_bytes = 10'000;
    writing_pool pool(std::move(config));
    const auto region = pool.get_region();
    const auto opened = pool.stream(request("x"));
    const auto id = id_of(pool.take_call());
    for (const std::size_t begin : {0, 20'000}) {
        pool.worker(0).send_data({{"type", "chunk"},
                                  {"id", id},
                                  {"value", 1},
                                  {"attachments", json::array{place(region, begin, 10'000)}}});
    }
    pool.run_until_idle();
    BOOST_TEST(pool.counters().workers_lost == 1u);
    check_mentions(pool.status().workers.at(0).last_failure, "without credit");
}

BOOST_AUTO_TEST_CASE(tool_calls_have_attachments_in_shared_memory) {
    writing_pool pool;
    std::string seen;
    pool.facade().register_tool("look", [&](tool_call asked) -> asio::awaitable<tool_reply> {
        seen = asked.attachments.at(0).text();
        co_return tool_reply();
    });
    const auto region = pool.get_region();
    const auto call = pool.execute(request("x"));
    pool.take_call();
    pool.write(0, "hello");
    pool.worker(0).send_data({{"type", "tool_call"},
                              {"id", pool.last_id},
                              {"tool_call", 1},
                              {"name", "look"},
                              {"args", json::object()},
                              {"attachments", json::array{place(region, 0, 5)}}});
    pool.run_until_idle();
    BOOST_TEST(seen == "hello");
    BOOST_TEST(pool.counters().shared_results == 1u);
    const auto credits = pool.worker(0).take_controls("credit"); // the call may go on for long
    BOOST_REQUIRE(credits.size() == 1u);
    BOOST_TEST(credits[0].at("id").to_number<std::uint64_t>() == pool.last_id);
    BOOST_TEST((credits[0].at("credit") == json::object{{"chunks", 0}, {"bytes", 0}}));
    BOOST_TEST(credits[0].at("released") == places_of(region, {0}));
    BOOST_TEST(pool.worker(0).take_controls("tool_result").size() == 1u);
}

BOOST_AUTO_TEST_CASE(a_lost_worker_keeps_its_figures_of_results) {
    writing_pool pool;
    const auto region = pool.get_region();
    const auto call = pool.execute(request("x"));
    pool.take_call();
    pool.answer_with({place(region, 0, 5)});
    crash_worker(pool, 0);
    BOOST_TEST(pool.counters().shared_results == 1u);
}

BOOST_AUTO_TEST_CASE(regions_for_results_and_lent_regions_have_common_numbers) {
    writing_pool pool;
    BOOST_TEST(pool.get_region() == 1u);
    const auto call = pool.execute(request("x").attach(std::string(64u << 10, 'a')));
    BOOST_TEST(pool.take_attachments().at(0).at("region") == json::value(2));
    BOOST_TEST(!pool.take_packet()->is_for_results);
    BOOST_TEST(pool.get_region() == 3u);
}

BOOST_AUTO_TEST_CASE(places_outside_of_regions_for_results_break_the_protocol) {
    check_results_violation(
        [](writing_pool& pool, std::uint64_t region) { pool.answer_with({place(region + 1, 0, 5)}); },
        "none of its regions for results");
    check_results_violation(
        [](writing_pool& pool, std::uint64_t region) { pool.answer_with({place(region, region_size, 1)}); },
        "is outside of that region");
    check_results_violation(
        [](writing_pool& pool, std::uint64_t region) { pool.answer_with({place(region, 0, 0)}); },
        "is outside of that region");
    check_results_violation(
        [](writing_pool& pool, std::uint64_t) {
            const auto other = pool.execute(request("y").attach(std::string(64u << 10, 'a')));
            pool.answer_with({place(2, 0, 5)}); // a lent region
        },
        "none of its regions for results");
}

BOOST_AUTO_TEST_CASE(places_that_are_not_released_break_the_protocol) {
    check_results_violation(
        [](writing_pool& pool, std::uint64_t region) {
            pool.answer_with({place(region, 0, 5), place(region, 0, 5)});
        },
        "overlaps one whose place is not released");
    check_results_violation(
        [](writing_pool& pool, std::uint64_t region) {
            pool.answer_with({place(region, 0, 5), place(region, 4, 5)});
        },
        "overlaps one whose place is not released");
}

BOOST_AUTO_TEST_CASE(requests_beyond_the_rules_break_the_protocol) {
    check_results_violation([](writing_pool& pool, std::uint64_t) { pool.request_region(0); },
                            "a region of 0 bytes");
    check_results_violation([](writing_pool& pool, std::uint64_t) { pool.request_region(1u << 20); },
                            "the limit, shared.bytes, is 1048576");
    check_results_violation(
        [](writing_pool& pool, std::uint64_t) {
            pool.request_region();
            pool.request_region();
        },
        "as many regions as shared.regions allows");
    check_results_violation(
        [](writing_pool& pool, std::uint64_t) {
            pool.worker(0).send_data({{"type", "region"}, {"bytes", 4096}});
        },
        "may come over the control channel only");
    check_results_violation(
        [](writing_pool& pool, std::uint64_t) {
            pool.worker(0).send_control({{"type", "region"}});
        },
        "field 'bytes' of a 'region' message is missing");
}

BOOST_AUTO_TEST_CASE(a_request_without_an_answer_is_the_last) {
    writing_pool pool;
    pool.worker(0).regions.reset();
    pool.request_region();
    BOOST_TEST(pool.counters().workers_lost == 0u);
    pool.request_region();
    BOOST_TEST(pool.counters().workers_lost == 1u);
    check_mentions(pool.status().workers.at(0).last_failure, "before the answer to its last request");
}

BOOST_AUTO_TEST_CASE(a_worker_that_shares_no_memory_gets_none) {
    running_pool pool(fake_config());
    pool.worker(0).send_control({{"type", "region"}, {"bytes", 4096}});
    pool.run_until_idle();
    BOOST_TEST(pool.counters().workers_lost == 1u);
    check_mentions(pool.status().workers.at(0).last_failure, "shares none");
}

BOOST_AUTO_TEST_SUITE_END()
