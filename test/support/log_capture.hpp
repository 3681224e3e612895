// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include <skep/log.hpp>

#include <mutex>
#include <string>
#include <utility>
#include <vector>

namespace skep::test {

/// All records that pools with capturing_handler() log while it lives. One at a time.
class log_capture {
public:
    log_capture() { exchange_current(this); }
    ~log_capture() { exchange_current(nullptr); }
    log_capture(const log_capture&) = delete;
    log_capture& operator=(const log_capture&) = delete;

    const std::vector<log_record>& records() const noexcept { return records_; }

    /// Lines of text, each with the session and the process that it is about.
    std::string text() const {
        std::string all;
        for (const auto& each : records_) {
            auto line = log_line(each);
            line.pop_back();
            all += line + (each.session.empty() ? "" : " (session " + each.session + ")") +
                   (each.pid == 0 ? "" : " by pid " + std::to_string(each.pid)) + "\n";
        }
        return all;
    }

    /// How often `part` stands in it.
    int count(const std::string& part) const {
        const auto all = text();
        int found = 0;
        for (auto at = all.find(part); at != std::string::npos; at = all.find(part, at + 1)) {
            ++found;
        }
        return found;
    }

    static void take(const log_record& record) {
        const std::lock_guard lock(mutex_);
        if (current_ != nullptr) {
            current_->records_.push_back(record);
        }
    }

private:
    static void exchange_current(log_capture* capture) {
        const std::lock_guard lock(mutex_);
        current_ = capture;
    }

    static inline std::mutex mutex_;
    static inline log_capture* current_ = nullptr;

    std::vector<log_record> records_;
};

/// For pool_config::log_handler.
inline log_handler capturing_handler() {
    return &log_capture::take;
}

} // namespace skep::test
