// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "core/failure_json.hpp"

#include "core/node_call.hpp"
#include "core/text.hpp"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <limits>
#include <string>

namespace skep {

namespace json = boost::json;

namespace {

constexpr std::int64_t longest_ms = std::int64_t(365) * 24 * 3600 * 1000;

std::int64_t whole_milliseconds(duration span) {
    return std::chrono::duration_cast<std::chrono::milliseconds>(span).count();
}

json::object status_to_json(const exit_status& status) {
    if (status.by_signal()) {
        return {{"signal", status.signal()}};
    }
    return status.known() ? json::object{{"code", status.code()}} : json::object();
}

/// Reads the members of an object that another program has written.
class fact_reader {
public:
    explicit fact_reader(const json::object& members) : members_(members) {}

    std::string text(std::string_view key) const {
        const auto* const found = members_.if_contains(key);
        return found != nullptr && found->is_string() ? std::string(found->get_string()) : std::string();
    }

    bool has_number(std::string_view key) const noexcept {
        const auto* const found = members_.if_contains(key);
        return found != nullptr && found->is_number();
    }

    std::int64_t number(std::string_view key, std::int64_t most) const {
        boost::system::error_code problem;
        const auto* const found = members_.if_contains(key);
        const auto number = found != nullptr ? found->to_number<std::int64_t>(problem) : 0;
        return problem ? 0 : std::clamp<std::int64_t>(number, 0, most);
    }

    duration span(std::string_view key) const { return std::chrono::milliseconds(number(key, longest_ms)); }

    exit_status status(std::string_view key) const {
        const auto* const found = members_.if_contains(key);
        if (found == nullptr || !found->is_object()) {
            return {};
        }
        const fact_reader inner(found->get_object());
        const auto signal = static_cast<int>(inner.number("signal", 64));
        if (signal > 0) {
            return exit_status::signalled(signal);
        }
        return inner.has_number("code") ? exit_status::exited(static_cast<int>(inner.number("code", 255)))
                                        : exit_status();
    }

private:
    const json::object& members_;
};

} // namespace

json::object failure_to_json(const error_info& info) {
    json::object facts{{"detail", to_utf8(info.detail)},
                       {"pid", info.pid},
                       {"status", status_to_json(info.status)},
                       {"exit_kind", to_string(info.exit_kind)},
                       {"exit_evidence", to_utf8(info.exit_evidence)},
                       {"stacks", to_utf8(info.stacks)},
                       {"output_tail", to_utf8(info.output_tail)},
                       {"attempts", info.attempts},
                       {"wait_ms", whole_milliseconds(info.wait_time)},
                       {"queue_depth", info.queue_depth},
                       {"running_calls", info.running_calls},
                       {"oldest_command", to_utf8(info.oldest_command)},
                       {"oldest_run_ms", whole_milliseconds(info.oldest_run_time)}};
    if (info.worker) {
        facts["worker"] = to_string(*info.worker);
    }
    return facts;
}

error_info failure_from_json(const json::value& facts) {
    error_info info;
    if (!facts.is_object()) {
        return info;
    }
    const fact_reader from(facts.get_object());
    info.detail = from.text("detail");
    info.worker = to_worker_id(from.text("worker"));
    info.pid = static_cast<pid_t>(from.number("pid", std::numeric_limits<pid_t>::max()));
    info.status = from.status("status");
    info.exit_kind = exit_class_of(from.text("exit_kind")).value_or(exit_class::unknown);
    info.exit_evidence = from.text("exit_evidence");
    info.stacks = from.text("stacks");
    info.output_tail = from.text("output_tail");
    info.attempts = static_cast<int>(from.number("attempts", most_attempts_at_node));
    info.wait_time = from.span("wait_ms");
    info.queue_depth =
        static_cast<std::size_t>(from.number("queue_depth", std::numeric_limits<std::int32_t>::max()));
    info.running_calls =
        static_cast<std::size_t>(from.number("running_calls", std::numeric_limits<std::int32_t>::max()));
    info.oldest_command = from.text("oldest_command");
    info.oldest_run_time = from.span("oldest_run_ms");
    return info;
}

std::optional<errc> errc_of(std::string_view name) noexcept {
    for (int number = 1; !to_string(static_cast<errc>(number)).empty(); ++number) {
        if (to_string(static_cast<errc>(number)) == name) {
            return static_cast<errc>(number);
        }
    }
    return std::nullopt;
}

} // namespace skep
