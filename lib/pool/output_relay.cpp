// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "pool/output_relay.hpp"

#include "core/text.hpp"

#include <span>

namespace skep {

namespace {

constexpr log_level level_of(bool is_stderr) noexcept {
    return is_stderr ? log_level::warning : log_level::info;
}

} // namespace

template <class Forward>
void output_relay::forward(Forward forward_line) const noexcept {
    try {
        forward_line();
    } catch (...) {
        parts_.log(log_level::error, "a line of output was lost as it was handed on",
                   std::current_exception());
    }
}

void output_relay::on_printed(const output_line& output) noexcept {
    const bool is_told = parts_.context.events->wants<events::worker_printed>();
    if (!parts_.config.output.handler && !parts_.log.wants(level_of(output.is_stderr)) && !is_told) {
        return;
    }
    forward([&] {
        const auto* const by = parts_.workers.find_anywhere(output.worker);
        const auto ids = by != nullptr ? by->calls().correlation_ids() : std::vector<std::string>();
        const output_line line{output.worker, output.is_stderr, output.text, ids};
        publish(line);
        if (parts_.config.output.handler) {
            parts_.config.output.handler(line);
        } else if (by != nullptr && !by->life().was_up() && ids.empty()) {
            log_of_start(line, *by);
        } else {
            if (by != nullptr) {
                log_due(starts_.release(by->id()), *by); // it has come up just now
            }
            log_printed(line, by);
        }
    });
}

void output_relay::log_of_start(const output_line& line, const worker& source) {
    log_due(starts_.take(line.worker, {line.is_stderr, std::string(line.text)}, parts_.context.now()),
            source);
}

void output_relay::log_due(const std::vector<start_output::line>& lines, const worker& source) const {
    for (const auto& each : lines) {
        log_printed({source.id(), each.is_stderr, each.text}, &source);
    }
}

void output_relay::on_up(const worker& new_worker) noexcept {
    forward([&] { log_due(starts_.release(new_worker.id()), new_worker); });
}

std::string output_relay::on_ended(const worker& ended_worker) noexcept {
    std::string note;
    forward([&] {
        if (const auto repeated = starts_.drop(ended_worker.id())) {
            note = "; lines of output not logged again: " + std::to_string(repeated->lines) +
                   ", as printed by " + to_string(repeated->first);
        }
    });
    return note;
}

void output_relay::on_logged(const worker& sender, const log_message& record) const noexcept {
    forward([&] {
        const auto text = record.logger.empty() ? record.text : record.logger + ": " + record.text;
        const std::span ids(&record.correlation_id, record.correlation_id.empty() ? 0 : 1);
        const output_line line{sender.id(), true, text, ids};
        publish(line);
        if (parts_.config.output.handler) {
            parts_.config.output.handler(line);
        } else {
            log_logged(sender, record);
        }
    });
}

void output_relay::publish(const output_line& line) const noexcept {
    parts_.context.publish<events::worker_printed>([&] {
        return events::worker_printed{line.worker, line.is_stderr, to_utf8(line.text),
                                      line.correlation_ids.size() == 1 ? line.correlation_ids.front() : ""};
    });
}

void output_relay::log_printed(const output_line& line, const worker* source) const {
    log_subject about;
    about.source = log_source::worker;
    about.worker = &line.worker;
    about.pid = source != nullptr ? source->life().process().pid : 0;
    if (line.correlation_ids.size() == 1) {
        about.correlation_id = line.correlation_ids.front();
    } else {
        about.concurrent_ids = line.correlation_ids;
    }
    const auto session = source != nullptr ? source->calls().session_of(about.correlation_id) : std::string();
    about.session = session;
    about.logger = line.is_stderr ? "stderr" : "stdout";
    parts_.log(level_of(line.is_stderr), line.text, about);
}

void output_relay::log_logged(const worker& source, const log_message& record) const {
    auto about = subject_of(source);
    about.source = log_source::worker;
    about.correlation_id = record.correlation_id;
    const auto session = source.calls().session_of(record.correlation_id);
    about.session = session;
    about.logger = record.logger;
    parts_.log(record.level, record.text, about);
}

} // namespace skep
