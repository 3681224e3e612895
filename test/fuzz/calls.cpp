// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

// A request becomes a frame that says the same, and that its own limits allow; or it is refused before it is
// sent.

#include "check.hpp"
#include "support/sent_bytes.hpp"
#include "wire/frame.hpp"
#include "wire/host_messages.hpp"
#include "wire/json_fields.hpp"
#include <skep/error.hpp>

#include <boost/json/parse.hpp>

#include <algorithm>
#include <fuzzer/FuzzedDataProvider.h>
#include <string>
#include <string_view>
#include <vector>

namespace skep::fuzz {

namespace {

namespace json = boost::json;

constexpr std::uint64_t call_id = 4711;

limit_options any_limits(FuzzedDataProvider& input) {
    limit_options limits;
    limits.json_bytes = input.ConsumeIntegralInRange<std::size_t>(1024, 8192);
    limits.frame_bytes = limits.json_bytes + input.ConsumeIntegralInRange<std::size_t>(0, 1024);
    limits.json_depth = input.ConsumeIntegralInRange<std::size_t>(4, 40);
    return limits;
}

/// JSON if it is some, else text that may be none.
json::value any_value(const std::string& bytes) {
    json::parse_options options;
    options.max_depth = 64;
    boost::system::error_code ec;
    auto value = json::parse(bytes, ec, {}, options);
    return ec ? json::value(bytes) : value;
}

request any_call(FuzzedDataProvider& input) {
    const auto number = input.ConsumeFloatingPoint<double>();
    const auto attachment = std::string(input.ConsumeIntegral<std::uint16_t>() % 2048, 'a');
    request call(input.ConsumeRandomLengthString(32));
    call.session(input.ConsumeRandomLengthString(32)).correlation_id(input.ConsumeRandomLengthString(32));
    call.metadata(input.ConsumeRandomLengthString(32), number);
    call.arg("number", number).arg("any", any_value(input.ConsumeRemainingBytesAsString()));
    if (!attachment.empty()) {
        call.attach(attachment).attach(std::string_view());
    }
    return call;
}

/// Puts the first attachment into shared memory, if there is one and the limits allow it.
std::vector<region_place> any_places(const request& call, std::string_view body,
                                     const limit_options& limits) {
    const bool is_possible = !call.attachments().empty() && room_for_places(body, limits) > 0;
    return is_possible && call.attachments()[0].size() % 2 == 1
               ? std::vector<region_place>{{call_id, 1u << 30}, {}}
               : std::vector<region_place>();
}

struct encoded_call {
    std::string bytes;
    bool has_place;
};

encoded_call encoded(const request& call, const limit_options& limits) {
    const auto body = encode_call(call, limits);
    const auto places = any_places(call, body, limits);
    call_dispatch facts{std::chrono::hours(24), std::chrono::hours(24)};
    facts.places = places;
    send_buffer buffer;
    append_call(buffer, call_id, body, call, facts);
    return {test::sent_bytes(buffer), !places.empty()};
}

void check_text(const json::value* found, const std::string& text) {
    require(found == nullptr ? text.empty() : *found == json::value(text), "a text arrives as it was");
}

void check_sent(const encoded_call& sent, const request& call, const limit_options& limits) {
    const auto& bytes = sent.bytes;
    frame_decoder decoder({limits.frame_bytes, limits.json_bytes});
    const auto room = decoder.prepare();
    std::copy(bytes.begin(), bytes.end(), room.begin());
    decoder.commit(bytes.size());
    const auto frame = decoder.next();
    require(frame && decoder.at_boundary(), "it is one whole frame within the limits");

    json_field_reader reader({limits.json_depth, limits.tree_bytes});
    auto& fields = reader.read(frame->json);
    const auto find = [&fields](std::string_view key) -> const json::value* {
        const auto found =
            std::find_if(fields.begin(), fields.end(), [&](auto& each) { return each.key == key; });
        return found == fields.end() ? nullptr : &found->value;
    };
    require(*find("id") == call_id, "the id arrives as it was");
    require(*find("args") == call.args(), "the arguments arrive as they were");
    require(*find("metadata") == json::value(call.metadata()), "the metadata arrives as it was");
    check_text(find("command"), call.command());
    check_text(find("session"), call.session());
    check_text(find("correlation_id"), call.correlation_id());
    const bool has_payload = !call.attachments().empty() && !sent.has_place;
    const auto payload = has_payload ? call.attachments()[0].size() : 0;
    require(frame->payload.size() == payload, "the attachments follow");
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) noexcept {
    FuzzedDataProvider input(data, size);
    const auto limits = any_limits(input);
    const auto call = any_call(input);
    encoded_call sent;
    try {
        sent = encoded(call, limits);
    } catch (const error& refusal) {
        const auto code = refusal.kind();
        require(code == errc::invalid_request || code == errc::frame_too_large,
                "it is refused as what it is");
        return 0;
    }
    check_sent(sent, call, limits);
    return 0;
}

} // namespace skep::fuzz
