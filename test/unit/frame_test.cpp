// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "wire/frame.hpp"
#include "wire/protocol_violation.hpp"

#include <boost/test/data/monomorphic.hpp>
#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <array>
#include <cstring>
#include <random>
#include <set>
#include <string>
#include <vector>

using namespace skep;
namespace data = boost::unit_test::data;

BOOST_AUTO_TEST_SUITE(frame_test)

namespace {

constexpr std::size_t kib = 1024;
constexpr std::size_t mib = 1024 * kib;
constexpr frame_limits wide{64 * mib, 64 * mib};

struct content {
    std::string json;
    std::string payload;

    bool operator==(const content&) const = default;
};

std::string big_endian(std::uint64_t number) {
    std::string bytes;
    for (int shift = 24; shift >= 0; shift -= 8) {
        bytes += static_cast<char>(number >> shift & 0xFF);
    }
    return bytes;
}

// Written out anew, so that encoder and decoder cannot agree on a mistake.
std::string to_bytes(const content& frame) {
    return big_endian(4 + frame.json.size() + frame.payload.size()) + big_endian(frame.json.size()) +
           frame.json + frame.payload;
}

std::string to_bytes(const std::vector<content>& frames) {
    std::string bytes;
    for (const auto& frame : frames) {
        bytes += to_bytes(frame);
    }
    return bytes;
}

std::string noise(std::size_t size, unsigned seed) {
    std::mt19937 random(seed);
    std::string bytes(size, '\0');
    for (auto& byte : bytes) {
        byte = static_cast<char>(random());
    }
    return bytes;
}

// Plays the reader of a channel: hands bytes over and takes out whatever frames are whole.
class receiver {
public:
    explicit receiver(const frame_limits& limits = wide) : decoder_(limits) {}

    void feed(std::string_view bytes) {
        while (!bytes.empty()) {
            const auto room = decoder_.prepare();
            BOOST_REQUIRE(!room.empty());
            const auto count = std::min(room.size(), bytes.size());
            std::memcpy(room.data(), bytes.data(), count);
            decoder_.commit(count);
            bytes.remove_prefix(count);
            while (const auto frame = decoder_.next()) {
                frames_.push_back({std::string(frame->json),
                                   std::string(reinterpret_cast<const char*>(frame->payload.data()),
                                               frame->payload.size())});
            }
        }
    }

    const std::vector<content>& frames() const { return frames_; }
    frame_decoder& decoder() { return decoder_; }

private:
    frame_decoder decoder_;
    std::vector<content> frames_;
};

const std::vector<content>& small_frames() {
    static const std::vector<content> frames{{"{}", ""},
                                             {R"({"type":"ready"})", ""},
                                             {"", ""},
                                             {"", "payload only"},
                                             {"{}", std::string(3, '\0')},
                                             {R"({"type":"result","id":1,"value":null})", noise(60, 1)},
                                             {"x", ""}};
    return frames;
}

const std::vector<content>& mixed_frames() {
    static const std::vector<content> frames = [] {
        auto frames = small_frames();
        frames.push_back({R"({"type":"result"})", noise(200 * kib, 2)});
        frames.push_back({std::string(70 * kib, ' '), ""});
        for (int i = 0; i < 5000; ++i) {
            frames.push_back({std::to_string(i), ""});
        }
        frames.push_back({"{}", noise(65 * kib, 3)});
        return frames;
    }();
    return frames;
}

// What the decoder does with a header and nothing else.
std::string complaint(std::uint64_t frame_length, std::uint64_t json_length, const frame_limits& limits) {
    receiver to(limits);
    try {
        to.feed(big_endian(frame_length) + big_endian(json_length));
    } catch (const protocol_violation& violation) {
        return violation.what();
    }
    return {};
}

} // namespace

BOOST_AUTO_TEST_CASE(begin_and_end_write_the_lengths_that_the_protocol_wants) {
    for (const auto& frame : small_frames()) {
        std::string out = "what stood there before";
        const auto begin = begin_frame(out);
        out += frame.json;
        const auto json_end = out.size();
        out += frame.payload;
        end_frame(out, begin, json_end);
        BOOST_TEST(out == "what stood there before" + to_bytes(frame));
    }
}

BOOST_AUTO_TEST_CASE(a_stream_in_one_piece) {
    receiver to;
    BOOST_TEST(to.decoder().at_boundary());
    to.feed(to_bytes(mixed_frames()));
    BOOST_TEST((to.frames() == mixed_frames()));
    BOOST_TEST(to.decoder().at_boundary());
}

BOOST_AUTO_TEST_CASE(a_small_stream_cut_in_two_at_every_byte) {
    const auto bytes = to_bytes(small_frames());
    for (std::size_t cut = 0; cut <= bytes.size(); ++cut) {
        receiver to;
        to.feed(std::string_view(bytes).substr(0, cut));
        to.feed(std::string_view(bytes).substr(cut));
        BOOST_TEST((to.frames() == small_frames()), "cut at " << cut);
        BOOST_TEST(to.decoder().at_boundary());
    }
}

BOOST_AUTO_TEST_CASE(a_small_stream_cut_in_three_everywhere) {
    const std::vector<content> frames{{"{}", "ab"}, {"", ""}, {"[1]", "c"}};
    const auto bytes = to_bytes(frames);
    for (std::size_t one = 0; one <= bytes.size(); ++one) {
        for (std::size_t two = one; two <= bytes.size(); ++two) {
            receiver to;
            to.feed(std::string_view(bytes).substr(0, one));
            to.feed(std::string_view(bytes).substr(one, two - one));
            to.feed(std::string_view(bytes).substr(two));
            BOOST_TEST((to.frames() == frames), "cut at " << one << " and " << two);
        }
    }
}

BOOST_AUTO_TEST_CASE(a_large_stream_cut_in_two_around_every_boundary) {
    const std::vector<content> frames{
        {"{}", noise(200 * kib, 4)}, {"{}", ""}, {std::string(90 * kib, ' '), "x"}};
    const auto bytes = to_bytes(frames);
    std::set<std::size_t> cuts;
    for (std::size_t at = 0, i = 0; i <= frames.size(); ++i) {
        for (std::size_t offset = 0; offset < 24; ++offset) {
            cuts.insert(std::min(at + offset, bytes.size()));
            cuts.insert(at - std::min(at, offset));
        }
        at += i < frames.size() ? to_bytes(frames[i]).size() : 0;
    }
    for (std::size_t at = 0; at <= bytes.size(); at += 4093) {
        cuts.insert(at);
    }
    for (const auto cut : cuts) {
        receiver to;
        to.feed(std::string_view(bytes).substr(0, cut));
        to.feed(std::string_view(bytes).substr(cut));
        BOOST_TEST((to.frames() == frames), "cut at " << cut);
    }
}

BOOST_AUTO_TEST_CASE(a_stream_byte_by_byte) {
    receiver to;
    const auto bytes = to_bytes(mixed_frames());
    for (const char byte : bytes) {
        to.feed({&byte, 1});
    }
    BOOST_TEST((to.frames() == mixed_frames()));
    BOOST_TEST(to.decoder().at_boundary());
}

BOOST_DATA_TEST_CASE(a_stream_in_random_pieces, data::xrange(40), seed) {
    std::mt19937 random(static_cast<unsigned>(seed));
    constexpr std::array<std::size_t, 6> sizes{7, 60, 1000, 16 * kib, 64 * kib, 300 * kib};
    std::uniform_int_distribution<std::size_t> size(1,
                                                    sizes.at(static_cast<std::size_t>(seed) % sizes.size()));
    receiver to;
    const auto bytes = to_bytes(mixed_frames());
    for (std::string_view rest = bytes; !rest.empty();) {
        const auto piece = std::min(size(random), rest.size());
        to.feed(rest.substr(0, piece));
        rest.remove_prefix(piece);
    }
    BOOST_TEST((to.frames() == mixed_frames()));
    BOOST_TEST(to.decoder().at_boundary());
}

BOOST_AUTO_TEST_CASE(no_truncation_yields_a_frame) {
    for (const auto& frame : small_frames()) {
        const auto bytes = to_bytes(frame);
        for (std::size_t length = 1; length < bytes.size(); ++length) {
            receiver to;
            to.feed(std::string_view(bytes).substr(0, length));
            BOOST_TEST(to.frames().empty(), "after " << length << " bytes");
            BOOST_TEST(!to.decoder().at_boundary(), "after " << length << " bytes");
        }
    }
}

BOOST_AUTO_TEST_CASE(frames_of_one_piece_stay_valid_until_prepare) {
    const auto bytes = to_bytes(small_frames());
    frame_decoder decoder(wide);
    const auto room = decoder.prepare();
    BOOST_REQUIRE(room.size() >= bytes.size());
    std::memcpy(room.data(), bytes.data(), bytes.size());
    decoder.commit(bytes.size());
    std::vector<frame_view> views;
    while (const auto frame = decoder.next()) {
        views.push_back(*frame);
    }
    BOOST_REQUIRE(views.size() == small_frames().size());
    for (std::size_t i = 0; i < views.size(); ++i) {
        BOOST_TEST(std::string(views[i].json) == small_frames()[i].json);
        BOOST_TEST(views[i].payload.size() == small_frames()[i].payload.size());
    }
}

BOOST_AUTO_TEST_CASE(a_large_payload_can_be_kept_where_it_was_read_to) {
    const content large{"{}", noise(200 * kib, 6)};
    const auto bytes = to_bytes(large) + to_bytes(small_frames());
    frame_decoder decoder(wide);
    std::vector<frame_view> kept;
    std::size_t count = 0;
    for (std::string_view rest = bytes; !rest.empty();) {
        const auto room = decoder.prepare();
        const auto size = std::min(room.size(), rest.size());
        std::memcpy(room.data(), rest.data(), size);
        decoder.commit(size);
        rest.remove_prefix(size);
        while (const auto frame = decoder.next()) {
            ++count;
            if (frame->memory) {
                kept.push_back(*frame);
            }
        }
    }
    decoder.prepare();
    BOOST_TEST(count == 1 + small_frames().size());
    BOOST_REQUIRE(kept.size() == 1u);
    BOOST_TEST(kept[0].json == large.json);
    BOOST_TEST(std::memcmp(kept[0].payload.data(), large.payload.data(), large.payload.size()) == 0);
}

BOOST_DATA_TEST_CASE(a_frame_without_room_for_its_header_is_refused, data::xrange(4), length) {
    BOOST_TEST(!complaint(static_cast<std::uint64_t>(length), 0, wide).empty());
}

BOOST_AUTO_TEST_CASE(the_smallest_frame) {
    receiver to;
    to.feed(big_endian(4) + big_endian(0));
    BOOST_REQUIRE(to.frames().size() == 1u);
    BOOST_TEST((to.frames()[0] == content{}));
}

BOOST_AUTO_TEST_CASE(the_frame_limit_is_inclusive) {
    constexpr frame_limits limits{1000, 500};
    receiver to(limits);
    const content largest{std::string(500, ' '), std::string(496, 'x')};
    to.feed(to_bytes(largest));
    BOOST_REQUIRE(to.frames().size() == 1u);
    BOOST_TEST((to.frames()[0] == largest));
    BOOST_CHECK_THROW(to.feed(to_bytes({std::string(500, ' '), std::string(497, 'x')})), protocol_violation);
    for (const std::uint64_t length : {1001ull, 1ull << 31, (1ull << 32) - 1}) {
        BOOST_TEST(!complaint(length, 0, limits).empty(), "length " << length);
        BOOST_TEST(!complaint(length, length - 4, limits).empty(), "length " << length);
    }
}

BOOST_AUTO_TEST_CASE(lengths_beyond_the_default_limit_are_refused_by_their_first_four_bytes) {
    for (const std::uint64_t length : {64 * mib + 1, std::size_t(1) << 31, (std::size_t(1) << 32) - 1}) {
        receiver to;
        BOOST_CHECK_THROW(to.feed(big_endian(length)), protocol_violation);
    }
    BOOST_TEST(complaint(64 * mib, 0, wide).empty());
}

BOOST_AUTO_TEST_CASE(a_json_length_that_lies_is_refused) {
    for (const std::uint64_t json_length :
         {97ull, 100ull, 1000ull, 1ull << 31, (1ull << 32) - 1, (1ull << 32) - 4}) {
        BOOST_TEST(!complaint(100, json_length, wide).empty(), "JSON length " << json_length);
    }
    BOOST_TEST(complaint(100, 96, wide).empty());
    BOOST_TEST(!complaint(4, 1, wide).empty());
}

BOOST_AUTO_TEST_CASE(the_json_limit_is_inclusive) {
    constexpr frame_limits limits{1000, 500};
    BOOST_TEST(complaint(1000, 500, limits).empty());
    BOOST_TEST(!complaint(1000, 501, limits).empty());
}

BOOST_AUTO_TEST_CASE(a_complaint_is_short_and_names_no_data) {
    const auto text = complaint((1ull << 32) - 1, 0, wide);
    BOOST_TEST(text.find("4294967295") != std::string::npos);
    BOOST_TEST(text.find(std::to_string(64 * mib)) != std::string::npos);
    BOOST_TEST(text.size() < 200u);
}

BOOST_AUTO_TEST_CASE(good_frames_before_a_bad_one_are_delivered) {
    receiver to;
    BOOST_CHECK_THROW(to.feed(to_bytes(small_frames()) + big_endian(0)), protocol_violation);
    BOOST_TEST((to.frames() == small_frames()));
}

BOOST_AUTO_TEST_CASE(no_memory_is_taken_for_an_announcement) {
    receiver to;
    to.feed(big_endian(64 * mib) + big_endian(32 * mib) + "a few bytes");
    BOOST_TEST(to.frames().empty());
    BOOST_TEST(to.decoder().prepare().size() <= 128 * kib);
    const auto piece = noise(32 * kib, 5);
    for (std::size_t sent = piece.size(); sent <= 4 * mib; sent += piece.size()) {
        to.feed(piece);
        BOOST_TEST(to.decoder().prepare().size() <= std::max(128 * kib, 2 * sent),
                   "after " << sent << " bytes");
    }
}

// A buffer that is moved for every piece makes a large frame cost the square of its size.
BOOST_AUTO_TEST_CASE(a_large_frame_in_small_pieces_moves_the_buffer_a_few_times_only) {
    receiver to;
    const auto bytes = to_bytes({"{}", std::string(4 * mib, 'x')});
    const char* end = nullptr;
    int moves = 0;
    for (std::string_view rest = bytes; !rest.empty();) {
        const auto piece = rest.substr(0, 4 * kib);
        to.feed(piece);
        rest.remove_prefix(piece.size());
        if (!rest.empty()) {
            const auto room = to.decoder().prepare();
            const char* const new_end = room.data() + room.size();
            moves += new_end != end ? 1 : 0;
            end = new_end;
        }
    }
    BOOST_TEST(to.frames().size() == 1u);
    BOOST_TEST(moves <= 20);
}

BOOST_AUTO_TEST_CASE(the_buffer_shrinks_after_a_huge_frame) {
    receiver to;
    to.feed(to_bytes({"{}", std::string(8 * mib, 'x')}));
    BOOST_REQUIRE(to.frames().size() == 1u);
    BOOST_TEST(to.decoder().at_boundary());
    BOOST_TEST(to.decoder().prepare().size() <= 128 * kib);
    to.feed(to_bytes(small_frames()));
    BOOST_TEST(to.frames().size() == 1 + small_frames().size());
}

BOOST_AUTO_TEST_CASE(there_is_always_room_to_read_into) {
    receiver to;
    const auto bytes = to_bytes(mixed_frames());
    for (std::string_view rest = bytes; !rest.empty();) {
        BOOST_TEST(to.decoder().prepare().size() >= 4 * kib);
        const auto piece = rest.substr(0, 1021);
        to.feed(piece);
        rest.remove_prefix(piece.size());
    }
    BOOST_TEST((to.frames() == mixed_frames()));
}

BOOST_AUTO_TEST_SUITE_END()
