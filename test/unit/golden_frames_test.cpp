// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

// The golden frames of test/conformance, as the decoders of both sides read them.

#include "wire/call_messages.hpp"
#include "wire/frame.hpp"
#include "wire/protocol_violation.hpp"
#include "wire/worker_messages.hpp"

#include <boost/json/parse.hpp>
#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <string>

using namespace skep;
namespace json = boost::json;

BOOST_AUTO_TEST_SUITE(golden_frames)

namespace {

const std::string folder = std::string(SKEP_TEST_DIR) + "/conformance/frames/";

std::string content(const std::string& name) {
    std::ifstream file(folder + name, std::ios::binary);
    BOOST_REQUIRE_MESSAGE(file.is_open(), name);
    return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

const json::object& frames_index() {
    static const json::value index = json::parse(content("index.json"));
    return index.get_object();
}

std::size_t limit(std::string_view name) {
    return frames_index().at("limits").at(name).to_number<std::size_t>();
}

/// Has the decoder of whoever is sent it read the frame. Throws protocol_violation.
template <class Decode>
void read(const json::object& entry, Decode decode) {
    const auto bytes = content(std::string(entry.at("file").as_string()));
    frame_decoder frames({limit("frame_bytes"), limit("json_bytes")});
    const auto room = frames.prepare();
    BOOST_REQUIRE(bytes.size() <= room.size());
    std::copy(bytes.begin(), bytes.end(), room.begin());
    frames.commit(bytes.size());
    const auto frame = frames.next();
    BOOST_REQUIRE(frame);
    decode(*frame);
    if (const auto* const message = entry.if_contains("message")) {
        BOOST_TEST(json::parse({frame->json.data(), frame->json.size()}) == *message);
    }
    BOOST_TEST(frames.at_boundary());
}

/// Whether every frame in that direction is read if it is good, and refused if one of `layers` is to refuse
/// it.
template <class Decode>
void check_all(std::string_view direction, std::initializer_list<std::string_view> layers, Decode decode) {
    int good = 0;
    int bad = 0;
    for (const auto& each : frames_index().at("frames").as_array()) {
        const auto& entry = each.as_object();
        BOOST_TEST_CONTEXT(entry.at("file")) {
            const auto* const layer = entry.if_contains("layer");
            if (entry.at("direction") != json::value(direction)) {
                continue;
            }
            if (layer == nullptr) {
                ++good;
                BOOST_CHECK_NO_THROW(read(entry, decode));
            } else if (std::find(layers.begin(), layers.end(), std::string_view(layer->as_string())) !=
                       layers.end()) {
                ++bad;
                BOOST_CHECK_THROW(read(entry, decode), protocol_violation);
            }
        }
    }
    BOOST_TEST(good > 5);
    BOOST_TEST(bad > 5);
}

} // namespace

BOOST_AUTO_TEST_CASE(from_workers) {
    worker_message_decoder decoder({limit("json_depth"), limit("tree_bytes")},
                                   {limit("message_bytes"), limit("tool_call_bytes")});
    check_all("worker_to_host", {"frame", "json", "message"},
              [&](const frame_view& frame) { decoder.decode(frame); });
}

BOOST_AUTO_TEST_CASE(from_hosts) {
    host_message_decoder decoder;
    check_all("host_to_worker", {"frame", "json", "message"},
              [&](const frame_view& frame) { decoder.decode(frame); });
}

BOOST_AUTO_TEST_SUITE_END()
