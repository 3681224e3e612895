// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>

namespace skep {

/// The end of a line. A progress bar ends each of its states with a carriage return, and draws the next state
/// over it.
enum class line_end { newline, carriage_return };

/// Splits a text stream into lines that end with "\n", "\r\n" or "\r". A line longer than the limit is passed
/// in pieces.
class line_splitter {
public:
    explicit line_splitter(std::size_t limit) : limit_(limit) {}

    /// Calls `sink(std::string_view, line_end)` for each line that `text` completes. The view is valid during
    /// the call. The sink returns true if it accepts the line. The sink may refuse a line that ends with a
    /// carriage return: the line is offered again, with a newline as its end, if no other text is drawn over
    /// it.
    template <class Sink>
    void feed(std::string_view text, Sink&& sink) {
        const bool has_returns = text.find('\r') != text.npos;
        while (!text.empty()) {
            if (returned_ != returned::no) {
                text.remove_prefix(follow_return(text.front(), sink));
                continue;
            }
            const auto room = limit_ - partial_.size();
            const auto end = find_end(text.substr(0, room + 1), has_returns);
            const bool whole = end != text.npos;
            if (!whole && text.size() <= room) {
                partial_.append(text);
                return;
            }
            const auto length = whole ? end : room;
            if (whole && text[end] == '\r') {
                partial_.append(text.substr(0, length));
                returned_ = returned::just_now;
            } else {
                emit(text.substr(0, length), sink);
            }
            text.remove_prefix(length + (whole ? 1 : 0));
        }
        offer(sink);
    }

    /// Passes on the text after the last line end, or the refused line.
    template <class Sink>
    void finish(Sink&& sink) {
        if (!partial_.empty()) {
            emit({}, sink);
        }
    }

private:
    /// The state of a line that ended with a carriage return directly before the current text.
    enum class returned { no, just_now, refused, taken };

    static std::size_t find_end(std::string_view text, bool has_returns) {
        if (!has_returns) {
            return text.find('\n');
        }
        const auto found =
            std::find_if(text.begin(), text.end(), [](char c) { return c == '\n' || c == '\r'; });
        return found == text.end() ? text.npos : static_cast<std::size_t>(found - text.begin());
    }

    /// Returns the number of characters consumed.
    template <class Sink>
    std::size_t follow_return(char next, Sink& sink) {
        if (next == '\r') {
            return 1;
        }
        const bool is_newline = next == '\n';
        if (!is_newline) {
            offer(sink);
            partial_.clear();
        } else if (returned_ != returned::taken) {
            emit({}, sink);
        }
        returned_ = returned::no;
        return is_newline ? 1 : 0;
    }

    template <class Sink>
    void offer(Sink& sink) {
        if (returned_ == returned::just_now && !partial_.empty()) {
            const bool taken = sink(std::string_view(partial_), line_end::carriage_return);
            returned_ = taken ? returned::taken : returned::refused;
            if (taken) {
                partial_.clear();
            }
        }
    }

    template <class Sink>
    void emit(std::string_view rest, Sink& sink) {
        if (partial_.empty()) {
            sink(rest, line_end::newline);
            return;
        }
        partial_.append(rest);
        sink(std::string_view(partial_), line_end::newline);
        partial_.clear();
    }

    std::size_t limit_;
    std::string partial_;
    returned returned_ = returned::no;
};

} // namespace skep
