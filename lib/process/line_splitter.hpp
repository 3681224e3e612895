// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace skep {

/// Cuts a stream of text into lines. A line longer than the limit comes in pieces.
class line_splitter {
public:
    explicit line_splitter(std::size_t limit) : limit_(limit) {}

    /// Calls `sink(std::string_view)` for each line that `text` completes; the view is valid during the call.
    template <class Sink>
    void feed(std::string_view text, Sink&& sink) {
        while (!text.empty()) {
            const auto end = text.find('\n');
            const auto room = limit_ - partial_.size();
            if (end == std::string_view::npos && text.size() <= room) {
                partial_.append(text);
                return;
            }
            const bool whole = end != std::string_view::npos && end <= room;
            const auto length = whole ? end : room;
            emit(text.substr(0, length), sink);
            text.remove_prefix(length + (whole ? 1 : 0));
        }
    }

    /// Hands out what came after the last line end.
    template <class Sink>
    void finish(Sink&& sink) {
        if (!partial_.empty()) {
            emit({}, sink);
        }
    }

private:
    template <class Sink>
    void emit(std::string_view rest, Sink&& sink) {
        if (partial_.empty()) {
            sink(rest);
            return;
        }
        partial_.append(rest);
        sink(std::string_view(partial_));
        partial_.clear();
    }

    std::size_t limit_;
    std::string partial_;
};

} // namespace skep
