// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "wire/answer_messages.hpp"

#include "core/text.hpp"
#include "wire/attachments.hpp"
#include "wire/frame.hpp"
#include "wire/json_writer.hpp"
#include "wire/message_cost.hpp"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>

#include <algorithm>
#include <chrono>
#include <utility>

namespace skep {

namespace json = boost::json;

namespace {

// Bytes of the host's memory: around a value in its message, per attachment size or place, and the most per
// byte of JSON text.
constexpr std::size_t around_value = 1024;
constexpr std::size_t for_attachment = 24;
constexpr std::size_t for_place = 56 + 3 * (40 + 24) + 14; // sealed, at and bytes
constexpr std::size_t most_per_byte = 28;

constexpr std::size_t longest_escape = 6;

void check(std::size_t size, const char* name, std::size_t limit) {
    if (size > limit) {
        throw too_large("it takes " + std::to_string(size) + name + "; the limit is " +
                        std::to_string(limit));
    }
}

/// Checks that the host accepts a message with `value`. `size`: the bytes of the message's JSON.
void check_sizes(std::size_t size, const json::value& value, const placed_attachments& attachments,
                 const worker_limits& limits) {
    check(attachments.all.size(), " attachments", limits.attachments);
    check(size, " bytes of JSON", limits.json_bytes);
    check(size + 4 + size_in_frame(attachments), " bytes in its frame", limits.frame_bytes);
    const auto per_attachment = attachments.places.empty() ? for_attachment : for_place;
    const auto around = around_value + per_attachment * attachments.all.size();
    if (around + size * most_per_byte > limits.tree_bytes) {
        check(around + memory_of(value), " bytes of the host's memory", limits.tree_bytes);
    }
}

/// Returns the nesting left to a value `levels` deep in a message.
std::size_t deepest_within(const worker_limits& limits, std::size_t levels) {
    return std::min(deepest_nesting, limits.json_depth - std::min(limits.json_depth, levels));
}

/// Appends a frame with the output of `write`. All or nothing.
template <class Write>
void append_frame(std::string& out, std::size_t following_bytes, Write write) {
    const auto begin = begin_frame(out);
    try {
        write();
        end_frame(out, begin, out.size(), following_bytes);
    } catch (...) {
        out.resize(begin);
        throw;
    }
}

void append_id(std::string& out, std::string_view type, std::uint64_t id) {
    out += R"({"type":")";
    out += type;
    out += R"(","id":)";
    append_json_number(out, id);
}

void append_member(std::string& out, std::string_view key, std::string_view text) {
    out += key;
    append_json_text(out, text);
}

/// Appends the facts of a node.
void append_node_answer(std::string& out, const node_answer& facts) {
    out += R"(,"node":{"attempts":)";
    append_json_number(out, static_cast<std::uint64_t>(facts.attempts));
    out += R"(,"wait_ms":)";
    const auto wait = std::chrono::duration_cast<std::chrono::milliseconds>(facts.wait);
    append_json_number(out, static_cast<std::uint64_t>(wait.count()));
    const auto worker = facts.worker ? to_string(*facts.worker) : std::string();
    if (!worker.empty() && worker.size() <= longest_worker_id) {
        append_member(out, R"(,"worker":)", worker);
    }
    out += '}';
}

void append_error_frame(std::string& out, const error_message& error, std::string_view data) {
    append_frame(out, 0, [&] {
        append_id(out, "error", error.id);
        if (error.from_node) {
            append_node_answer(out, *error.from_node);
        }
        append_member(out, R"(,"error":{"type":)", error.type);
        append_member(out, R"(,"message":)", error.message);
        if (!error.traceback.empty()) {
            append_member(out, R"(,"traceback":)", error.traceback);
        }
        if (!error.code.empty()) {
            append_member(out, R"(,"code":)", error.code);
        }
        if (!data.empty()) {
            out += R"(,"data":)";
            out += data;
        }
        out += "}}";
    });
}

/// Returns the end of an error's traceback. `most`: bytes for it and its member's name.
std::string traceback_within(const error_message& error, std::size_t most) {
    constexpr std::size_t around = 32; // the name, and the mark of a text that is cut off
    const auto room = std::min(longest_traceback, most);
    return room > around ? end_of(to_utf8(error.traceback), room - around) : std::string();
}

/// Returns an error's data as JSON of at most `room` bytes.
std::string encode_data(const json::value& data, const worker_limits& limits, std::size_t room) {
    std::string text;
    append_json(text, data, deepest_within(limits, 2));
    check(text.size(), " bytes of JSON", room);
    const auto around = 2 * around_value + longest_error_message;
    if (around + text.size() * most_per_byte > limits.tree_bytes) {
        check(around + memory_of(data), " bytes of the host's memory", limits.tree_bytes);
    }
    return text;
}

/// Returns the commands that run in batches, with their limits, as many as fit into a part of a hello. The
/// host sends the calls of the others one by one.
json::object fitting(const batch_commands& batches) {
    constexpr std::size_t for_limits = 64;
    std::size_t room = 32u << 10;
    json::object commands;
    for (const auto& [name, limits] : batches) {
        const auto size = name.size() * longest_escape + for_limits;
        if (size > room) {
            break;
        }
        room -= size;
        const std::chrono::duration<double, std::milli> wait(limits.wait);
        commands.emplace(name, json::object{{"most", limits.most}, {"wait_ms", wait.count()}});
    }
    return commands;
}

/// Returns the first commands, as many as fit into a hello beside `other_text`. The names are informative
/// only.
json::array fitting(const std::vector<std::string>& commands, std::size_t other_text) {
    constexpr std::size_t around = 8u << 10;
    std::size_t room = (longest_message - around - other_text) / longest_escape;
    json::array names;
    for (const auto& each : commands) {
        if (each.size() + 1 > room) {
            break;
        }
        room -= each.size() + 1;
        names.emplace_back(each);
    }
    return names;
}

} // namespace

void append_hello(std::string& out, const hello_message& hello, bool has_control) {
    append_frame(out, 0, [&] {
        out += R"({"type":"hello","protocol":)";
        append_json_number(out, static_cast<std::uint64_t>(hello.protocol));
        append_member(out, R"(,"token":)", hello.token);
        out += R"(,"pid":)";
        append_json_number(out, static_cast<std::uint64_t>(hello.pid));
        append_member(out, R"(,"sdk":)", hello.sdk);
        out += R"(,"capacity":)";
        append_json_number(out, hello.capacity);
        out += has_control ? R"(,"control":true)" : R"(,"control":false)";
        const auto before = out.size();
        if (!hello.batches.empty()) {
            out += R"(,"batches":)";
            append_json(out, fitting(hello.batches));
        }
        out += R"(,"commands":)";
        append_json(out, fitting(hello.commands, out.size() - before));
        append_member(out, R"(,"health_check":)", hello.health_check);
        out += hello.own_health_check ? R"(,"own_health_check":true)" : R"(,"own_health_check":false)";
        if (hello.shared != 0) {
            out += R"(,"shared":)";
            append_json_number(out, hello.shared);
        }
        out += hello.recall ? R"(,"recall":true})" : "}";
    });
}

void append_release(std::string& out, const region_place& place) {
    append_frame(out, 0, [&] {
        out += R"({"type":"release","region":)";
        append_json_number(out, place.region);
        out += R"(,"at":)";
        append_json_number(out, place.begin);
        out += '}';
    });
}

void append_region_request(std::string& out, std::size_t bytes) {
    append_frame(out, 0, [&] {
        out += R"({"type":"region","bytes":)";
        append_json_number(out, bytes);
        out += '}';
    });
}

void append_ready(std::string& out) {
    append_frame(out, 0, [&] { out += R"({"type":"ready"})"; });
}

void append_recalled(std::string& out, std::uint64_t id) {
    append_frame(out, 0, [&] {
        out += R"({"type":"recalled","id":)";
        append_json_number(out, id);
        out += '}';
    });
}

void append_pong(std::string& out, const pong_message& pong) {
    append_frame(out, 0, [&] {
        out += R"({"type":"pong","seq":)";
        append_json_number(out, pong.sequence);
        out += R"(,"in_flight":)";
        append_json_number(out, pong.in_flight);
        out += R"(,"completed":)";
        append_json_number(out, pong.completed);
        out += '}';
    });
}

void append_progress(std::string& out, std::uint64_t id, double fraction, std::string_view text) {
    append_frame(out, 0, [&] {
        append_id(out, "progress", id);
        out += R"(,"fraction":)";
        append_json(out, json::value(fraction));
        if (!text.empty()) {
            append_member(out, R"(,"text":)", beginning_of(to_utf8(text), longest_progress_text));
        }
        out += '}';
    });
}

std::size_t append_answer(std::string& out, answer_kind kind, std::uint64_t id, const json::value& value,
                          const placed_attachments& attachments, const worker_limits& limits,
                          const node_answer* from_node) {
    const auto begin = out.size() + frame_header_size;
    std::size_t size = 0;
    append_frame(out, size_in_frame(attachments), [&] {
        append_id(out, kind == answer_kind::result ? "result" : "chunk", id);
        if (!attachments.all.empty()) {
            append_attachment_sizes(out, attachments);
        }
        if (from_node != nullptr) {
            append_node_answer(out, *from_node);
        }
        out += R"(,"value":)";
        append_json(out, value, deepest_within(limits, 1));
        out += '}';
        size = out.size() - begin;
        check_sizes(size, value, attachments, limits);
    });
    return size;
}

void append_tool_call(std::string& out, std::uint64_t id, std::uint64_t tool_call, std::string_view name,
                      const json::value& args, const placed_attachments& attachments,
                      const worker_limits& limits) {
    const auto begin = out.size() + frame_header_size;
    const auto following = size_in_frame(attachments);
    append_frame(out, following, [&] {
        append_id(out, "tool_call", id);
        out += R"(,"tool_call":)";
        append_json_number(out, tool_call);
        append_member(out, R"(,"name":)", name);
        if (!attachments.all.empty()) {
            append_attachment_sizes(out, attachments);
        }
        out += R"(,"args":)";
        append_json(out, args, deepest_within(limits, 1));
        out += '}';
        const auto size = out.size() - begin;
        check_sizes(size, args, attachments, limits);
        check(size + 4 + following, " bytes in the frame of a tool call", limits.tool_call_bytes);
    });
}

void append_error(std::string& out, const error_message& error, const worker_limits& limits) {
    const auto longest = std::min({limits.json_bytes, limits.frame_bytes - 4,
                                   std::max(limits.tree_bytes, around_value) - around_value});
    error_message fitting;
    fitting.id = error.id;
    fitting.from_node = error.from_node;
    fitting.type = beginning_of(to_utf8(error.type), std::min(longest_name, longest / 8));
    fitting.code = beginning_of(to_utf8(error.code), longest_name);
    std::string bare;
    append_error_frame(bare, fitting, {});
    auto room = longest - std::min(longest, bare.size());
    std::string data;
    std::string remark;
    if (!fitting.code.empty() && !error.data.is_null()) {
        try {
            data = encode_data(error.data, limits, room / 2);
            room -= data.size();
        } catch (const std::logic_error& problem) { // unsendable or too_large
            remark = std::string(" (its data is left out: ") + problem.what() + ")";
        }
    }
    const auto most = std::min(longest_error_message, room / longest_escape);
    fitting.message = beginning_of(to_utf8(error.message), most - std::min(most, remark.size())) + remark;
    if (data.empty()) {
        const auto left = room / longest_escape;
        fitting.traceback = traceback_within(error, left - std::min(left, fitting.message.size()));
    }
    append_error_frame(out, fitting, data);
}

} // namespace skep
