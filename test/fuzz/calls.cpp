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

std::string encoded(const request& call, const limit_options& limits) {
    const auto body = encode_call(call, limits);
    send_buffer buffer;
    append_call(buffer, call_id, body, call, {std::chrono::hours(24), std::chrono::hours(24)});
    return test::sent_bytes(buffer);
}

void check_text(const json::value* found, const std::string& text) {
    require(found == nullptr ? text.empty() : *found == json::value(text), "a text arrives as it was");
}

void check_sent(std::string_view bytes, const request& call, const limit_options& limits) {
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
    const auto payload = call.attachments().empty() ? 0 : call.attachments()[0].size();
    require(frame->payload.size() == payload, "the attachments follow");
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) noexcept {
    FuzzedDataProvider input(data, size);
    const auto limits = any_limits(input);
    const auto call = any_call(input);
    std::string bytes;
    try {
        bytes = encoded(call, limits);
    } catch (const error& refusal) {
        const auto code = refusal.kind();
        require(code == errc::invalid_request || code == errc::frame_too_large,
                "it is refused as what it is");
        return 0;
    }
    check_sent(bytes, call, limits);
    return 0;
}

} // namespace skep::fuzz
