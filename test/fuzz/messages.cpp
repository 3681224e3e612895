// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

// Whatever a worker sends in a frame is a message within the limits, or refused as a breach of the protocol;
// and what came before makes no difference.

#include "check.hpp"
#include "core/failure_json.hpp"
#include "wire/attachments.hpp"
#include "wire/json_writer.hpp"
#include "wire/protocol_violation.hpp"
#include "wire/worker_messages.hpp"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>

#include <algorithm>
#include <cstddef>
#include <fuzzer/FuzzedDataProvider.h>
#include <span>
#include <string>
#include <vector>

namespace skep::fuzz {

namespace {

namespace json = boost::json;

/// What the protocol says that a value counts for.
std::size_t tree_bytes(const json::value& value) {
    if (!value.is_structured()) {
        return 24 + (value.is_string() ? value.get_string().size() : 0);
    }
    std::size_t bytes = 56;
    if (value.is_array()) {
        for (const auto& element : value.get_array()) {
            bytes += tree_bytes(element);
        }
    } else {
        for (const auto& [key, member] : value.get_object()) {
            bytes += 40 + key.size() + tree_bytes(member);
        }
    }
    return bytes;
}

std::size_t depth(const json::value& value) {
    std::size_t deepest = 0;
    if (value.is_array()) {
        for (const auto& element : value.get_array()) {
            deepest = std::max(deepest, depth(element));
        }
    } else if (value.is_object()) {
        for (const auto& [key, member] : value.get_object()) {
            deepest = std::max(deepest, depth(member));
        }
    }
    return deepest + (value.is_structured() ? 1 : 0);
}

/// What is read can be sent, and is then the same.
void check_written(const json::value& value, const json_limits& limits) {
    std::string text = R"({"value":)";
    append_json(text, value);
    text += '}';
    json_field_reader reader({limits.depth + 1, std::size_t(-1)});
    require(reader.read(text).at(0).value == value, "what is written reads back as the same");
}

/// Any value may stand for the facts of a node's failure.
void check_failure(const json::value& value) {
    const auto info = failure_from_json(value);
    require(info.attempts >= 0 && info.pid >= 0 && info.wait_time >= duration::zero() &&
                info.oldest_run_time >= duration::zero(),
            "a failure has facts within their limits");
    const auto facts = failure_to_json(info);
    require(failure_to_json(failure_from_json(facts)) == facts, "a failure stays the same");
}

void check_refused(std::string_view text, const json_limits& limits) {
    json_field_reader reader(limits);
    try {
        reader.read(text);
        require(false, "a tree beyond the limit is refused");
    } catch (const protocol_violation&) {}
}

void check_fields(std::string_view text, const json_limits& limits) {
    json_field_reader reader(limits);
    std::size_t bytes = 0;
    for (const auto& [key, value] : reader.read(text)) {
        bytes += 40 + key.size() + tree_bytes(value);
        require(depth(value) < limits.depth, "nothing is deeper than the limit");
        check_written(value, limits);
        check_failure(value);
    }
    require(bytes <= limits.tree_bytes, "the tree is within its limit");
    if (bytes > 0) {
        check_refused(text, {limits.depth, bytes - 1});
    }
}

/// In steps, the first of which ends at byte `cut` of the text, it is the same.
void check_steps(const std::string& text, std::size_t cut, const json_limits& limits) {
    constexpr std::size_t first_step = 1024;
    const auto shifted = std::string(first_step - std::min(cut, first_step), ' ') + text;
    json_field_reader whole(limits);
    json_field_reader reader(limits);
    const auto* const read = [&]() -> std::vector<json_field>* {
        try {
            return &whole.read(text);
        } catch (const protocol_violation&) {
            return nullptr;
        }
    }();
    try {
        reader.begin(shifted);
        while (!reader.read_on(1)) {}
        const auto& fields = reader.fields();
        require(read != nullptr, "what is refused at once is refused in steps");
        require(fields.size() == read->size(), "steps make no difference to the members");
        for (std::size_t i = 0; i < fields.size(); ++i) {
            require(fields[i].key == (*read)[i].key && fields[i].value == (*read)[i].value,
                    "steps make no difference to a member");
        }
        require(reader.tree_bytes() == whole.tree_bytes(), "steps make no difference to the cost");
    } catch (const protocol_violation&) {
        require(read == nullptr, "what is taken at once is taken in steps");
    }
}

/// Memory that has every place within the limit.
struct any_memory final : memory_source {
    static constexpr std::size_t limit = 1u << 20;

    blob open(const region_place&, std::size_t bytes) override {
        require(bytes <= limit - opened, "the attachments of a message have no more than the limit");
        opened += bytes;
        return blob(std::vector<std::byte>(bytes));
    }
    std::size_t begin_message() noexcept override {
        opened = 0;
        return limit;
    }

    std::size_t opened = 0; ///< bytes of the message
};

/// The text of the breach, or none. `memory`: of the decoder, if it has any.
std::string outcome(worker_message_decoder& decoder, const frame_view& frame,
                    const any_memory* memory = nullptr) {
    try {
        const auto message = decoder.decode(frame);
        if (const auto* const result = std::get_if<result_message>(&message)) {
            const auto shared = memory != nullptr ? memory->opened : 0;
            require(total_size(result->attachments) == frame.payload.size() + shared,
                    "the attachments are the payload and the places");
        }
    } catch (const protocol_violation& breach) {
        return breach.what();
    }
    return {};
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) noexcept {
    FuzzedDataProvider input(data, size);
    const auto payload_size = input.ConsumeIntegral<std::uint8_t>();
    const json_limits limits{input.ConsumeIntegralInRange<std::size_t>(1, 64),
                             input.ConsumeIntegralInRange<std::size_t>(1, 1u << 16)};
    const auto payload = input.ConsumeBytes<std::uint8_t>(payload_size);
    const auto cut = input.ConsumeIntegralInRange<std::size_t>(0, 1024);
    const auto text = input.ConsumeRemainingBytesAsString();
    check_steps(text, cut, limits);
    const frame_view frame{text, std::as_bytes(std::span(payload))};

    worker_message_decoder decoder(limits);
    const auto first = outcome(decoder, frame);
    outcome(decoder, {R"({"type":"result","id":1,"value":[{"a":"b"}]})", {}});
    require(outcome(decoder, frame) == first, "a message means the same whatever came before");
    any_memory memory;
    worker_message_decoder sharing(limits);
    sharing.share(memory);
    const auto shared = outcome(sharing, frame, &memory);
    require(!first.empty() || shared.empty(), "a message without places may come from a worker that shares");
    try {
        check_fields(text, limits);
    } catch (const protocol_violation&) {
        require(!first.empty(), "what is no JSON of ours is no message");
    }
    return 0;
}

} // namespace skep::fuzz
