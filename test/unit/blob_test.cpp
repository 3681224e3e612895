// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "support/allocations.hpp"
#include "wire/worker_messages.hpp"
#include <skep/blob.hpp>
#include <skep/request.hpp>

#include <boost/test/unit_test.hpp>

#include <array>
#include <concepts>
#include <ranges>
#include <string>
#include <thread>
#include <type_traits>

using namespace skep;
using skep::test::allocations_in;

static_assert(std::regular<blob>);
static_assert(std::is_nothrow_move_constructible_v<blob> && std::is_nothrow_copy_constructible_v<blob>);
static_assert(std::ranges::contiguous_range<const blob> && std::ranges::sized_range<const blob>);
static_assert(std::is_same_v<std::ranges::range_reference_t<blob>, const std::byte&>); // immutable
static_assert(std::convertible_to<blob&, std::span<const std::byte>>);
static_assert(std::convertible_to<const blob&, std::span<const std::byte>>);
static_assert(!std::convertible_to<blob&, std::span<std::byte>>);
static_assert(!std::convertible_to<std::vector<std::byte>, blob>); // a hidden copy, were it of a named one

BOOST_AUTO_TEST_SUITE(blobs)

namespace {

std::span<const std::byte> bytes_of(std::string_view text) {
    return std::as_bytes(std::span(text));
}

std::vector<std::byte> vector_of(std::string_view text) {
    const auto bytes = bytes_of(text);
    return {bytes.begin(), bytes.end()};
}

/// Keeps a text alive, as a mapping would its pages, and says when it no longer does.
struct mapping {
    explicit mapping(bool& gone) : gone_(gone) {}
    ~mapping() { gone_ = true; }
    mapping(const mapping&) = delete;
    mapping& operator=(const mapping&) = delete;

    std::string text = "0123456789";

private:
    bool& gone_;
};

} // namespace

BOOST_AUTO_TEST_CASE(without_bytes) {
    const auto owner = std::make_shared<int>(1);
    for (const auto& none : {blob(), blob(std::vector<std::byte>()), blob::copy_of({}), blob(owner, {})}) {
        BOOST_TEST(none.empty());
        BOOST_TEST(none.size() == 0u);
        BOOST_TEST((none.begin() == none.end()));
        BOOST_TEST(none.text().empty());
        BOOST_TEST((none == blob()));
    }
    const auto made = allocations_in([] {
        blob(std::vector<std::byte>());
        blob::copy_of({});
    });
    BOOST_TEST(made == 0u);
}

BOOST_AUTO_TEST_CASE(a_vector_is_taken_over) {
    auto bytes = vector_of("a\0b");
    const auto* const where = bytes.data();
    blob taken;
    BOOST_TEST(allocations_in([&] { taken = blob(std::move(bytes)); }) == 1u);
    BOOST_TEST((taken.data() == where));
    BOOST_TEST(bytes.empty());
}

BOOST_AUTO_TEST_CASE(a_copy_takes_one_allocation_and_is_a_copy) {
    auto bytes = vector_of("abc");
    blob copy;
    BOOST_TEST(allocations_in([&] { copy = blob::copy_of(bytes); }) == 1u);
    BOOST_TEST((copy.data() != bytes.data()));
    bytes[0] = std::byte{'x'};
    BOOST_TEST(copy.text() == "abc");
}

BOOST_AUTO_TEST_CASE(what_it_shows_is_kept_as_long_as_one_is_left) {
    bool gone = false;
    blob last;
    const std::byte* where = nullptr;
    {
        auto owner = std::make_shared<mapping>(gone);
        where = bytes_of(owner->text).data() + 2;
        blob shown(owner, bytes_of(owner->text).subspan(2, 3));
        owner.reset();
        last = shown;
    }
    BOOST_TEST(!gone);
    BOOST_TEST((last.data() == where));
    BOOST_TEST(last.text() == "234");
    last = blob();
    BOOST_TEST(gone);
}

BOOST_AUTO_TEST_CASE(a_part_of_another) {
    blob part;
    {
        const auto whole = std::make_shared<blob>(blob::copy_of(bytes_of("0123456789")));
        part = blob(whole, std::span(*whole).last(4));
    }
    BOOST_TEST(part.text() == "6789");
}

BOOST_AUTO_TEST_CASE(bytes_for_ever_need_no_owner) {
    static constexpr std::array letters{std::byte{'x'}, std::byte{'y'}};
    const blob forever(nullptr, letters);
    BOOST_TEST((forever.data() == letters.data()));
    BOOST_TEST(forever.text() == "xy");
}

BOOST_AUTO_TEST_CASE(copies_share_and_moves_leave_nothing) {
    auto first = blob::copy_of(bytes_of("abc"));
    const auto* const where = first.data();
    const auto made = allocations_in([&] {
        blob second = first;
        BOOST_TEST((second.data() == where));
        blob third = std::move(second);
        BOOST_TEST((third.data() == where));
        BOOST_TEST(second.size() == 0u); // NOLINT(bugprone-use-after-move): that is what is tested
        BOOST_TEST((second.data() == nullptr));
        second = std::move(third);
        BOOST_TEST(third.empty()); // NOLINT(bugprone-use-after-move)
        auto& same = second;
        second = std::move(same);
        BOOST_TEST(second.text() == "abc");
    });
    BOOST_TEST(made == 0u);
    BOOST_TEST(first.text() == "abc");
}

BOOST_AUTO_TEST_CASE(is_read_as_a_range_as_a_span_and_as_text) {
    const auto which = blob::copy_of(bytes_of(std::string_view("\0\xFFz", 3)));
    BOOST_TEST(which.size() == 3u);
    BOOST_TEST((which[0] == std::byte{0} && which[1] == std::byte{255} && which[2] == std::byte{'z'}));
    std::vector<std::byte> seen;
    for (const auto each : which) {
        seen.push_back(each);
    }
    BOOST_TEST((seen == vector_of(std::string_view("\0\xFFz", 3))));
    const std::span<const std::byte> span = which;
    BOOST_TEST((span.data() == which.data() && span.size() == which.size()));
    BOOST_TEST((which.text() == std::string_view("\0\xFFz", 3)));
}

BOOST_AUTO_TEST_CASE(are_equal_by_their_bytes) {
    const auto abc = blob::copy_of(bytes_of("abc"));
    BOOST_TEST((abc == blob(abc)));
    BOOST_TEST((abc == blob(vector_of("abc"))));
    BOOST_TEST((abc != blob(vector_of("abd"))));
    BOOST_TEST((abc != blob(vector_of("ab"))));
    BOOST_TEST((abc != blob()));
}

BOOST_AUTO_TEST_CASE(several_threads_may_share_the_bytes) {
    auto shared = blob::copy_of(bytes_of("abc"));
    std::vector<std::jthread> readers;
    for (int i = 0; i < 4; ++i) {
        readers.emplace_back([mine = shared] {
            for (int round = 0; round < 1000; ++round) {
                const auto copy = mine;
                if (copy.text() != "abc") {
                    std::abort();
                }
            }
        });
    }
    shared = blob();
}

BOOST_AUTO_TEST_CASE(what_a_request_attaches_is_copied_once_or_not_at_all) {
    const auto attached = [](auto&&... bytes) {
        request call("f");
        // One for the request's list of attachments.
        const auto made = allocations_in([&] { call.attach(std::forward<decltype(bytes)>(bytes)...); }) - 1;
        BOOST_TEST(call.attachments().at(0).text() == "abc");
        return std::pair(made, call.attachments()[0].data());
    };
    const std::string text = "abc";
    const auto bytes = vector_of(text);
    const std::vector<unsigned char> octets(text.begin(), text.end());
    BOOST_TEST(attached(text).first == 1u);
    BOOST_TEST(attached("abc").first == 1u);
    BOOST_TEST(attached(bytes).first == 1u);
    BOOST_TEST(attached(octets).first == 1u);
    BOOST_TEST(attached(std::span(bytes)).first == 1u);

    const auto shared = blob::copy_of(bytes);
    const auto [made, where] = attached(shared);
    BOOST_TEST(made == 0u);
    BOOST_TEST((where == shared.data()));

    auto given = bytes;
    const auto* const was = given.data();
    const auto [made_for_vector, is] = attached(std::move(given));
    BOOST_TEST(made_for_vector == 1u); // to share it by
    BOOST_TEST((is == was));
    BOOST_TEST((request("f").attach(vector_of("abc")).attachments()[0] == shared));
}

BOOST_AUTO_TEST_CASE(what_a_worker_sends_is_cut_from_its_frame_by_one_allocation_each) {
    worker_message_decoder decoder({100, 1u << 20});
    const auto decode = [&](std::string_view attachments, std::string_view payload) {
        const auto json =
            R"({"type":"result","id":1,"value":null,"attachments":)" + std::string(attachments) + "}";
        return allocations_in([&] { decoder.decode({json, bytes_of(payload)}); });
    };
    decode("[0]", "");
    const auto without = decode("[0]", ""); // the list of attachments, and the JSON's own
    BOOST_TEST(decode("[3]", "abc") == without + 1);
    BOOST_TEST(decode("[9]", "123456789") == without + 1);
}

BOOST_AUTO_TEST_SUITE_END()
