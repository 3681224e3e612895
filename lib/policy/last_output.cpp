// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "policy/last_output.hpp"

#include <algorithm>
#include <vector>

namespace skep {

namespace {

// Python and its module faulthandler begin with these words.
constexpr std::string_view first_words = "Fatal Python error: ";

constexpr std::string_view mark_of_cut = "\n  (...)\n";

/// A part of an account, up to an empty line. Python separates the threads by empty lines.
struct part {
    enum class kind { head, crashed_thread, other_thread, other };

    std::string_view text;
    kind rank;
    std::size_t kept = 0; ///< bytes
};

part::kind kind_of(std::string_view text) noexcept {
    return text.starts_with("Current thread") ? part::kind::crashed_thread
           : text.starts_with("Thread 0x")    ? part::kind::other_thread
                                              : part::kind::other;
}

std::vector<part> parts_of(std::string_view account) {
    std::vector<part> parts;
    account = account.substr(0, account.find_last_not_of('\n') + 1);
    while (!account.empty()) {
        const auto end = std::min(account.find("\n\n"), account.size());
        const auto text = account.substr(0, end);
        parts.push_back({text, parts.empty() ? part::kind::head : kind_of(text)});
        account.remove_prefix(end);
        account.remove_prefix(std::min(account.find_first_not_of('\n'), account.size()));
    }
    return parts;
}

/// Puts the thread that crashed before the other threads. Python prints the main thread last. Returns true if
/// the order has changed.
bool put_crashed_thread_first(std::vector<part>& parts) {
    const auto is_thread = [](const part& each) {
        return each.rank == part::kind::crashed_thread || each.rank == part::kind::other_thread;
    };
    const auto first = std::find_if(parts.begin(), parts.end(), is_thread);
    const auto crashed = std::find_if(
        first, parts.end(), [](const part& each) { return each.rank == part::kind::crashed_thread; });
    if (crashed == first || crashed == parts.end()) {
        return false;
    }
    std::rotate(first, crashed, crashed + 1);
    return true;
}

/// Returns the length of the beginning that fits into `room`. A stack begins with its innermost call, so its
/// first lines are worth keeping.
std::size_t fitting(const part& candidate, std::size_t room) noexcept {
    if (candidate.text.size() <= room) {
        return candidate.text.size();
    }
    if (candidate.rank == part::kind::other) {
        return 0;
    }
    const auto end = candidate.text.substr(0, room).rfind('\n');
    return end == candidate.text.npos ? room : end;
}

/// Gives the room to the parts, the most useful first.
void share_room(std::vector<part>& parts, std::size_t room) noexcept {
    for (const auto rank :
         {part::kind::head, part::kind::crashed_thread, part::kind::other_thread, part::kind::other}) {
        for (auto& each : parts) {
            if (each.rank == rank && room > mark_of_cut.size()) {
                each.kept = fitting(each, room - mark_of_cut.size());
                room -= each.kept == 0 ? 0 : each.kept + mark_of_cut.size();
            }
        }
    }
}

std::string joined(const std::vector<part>& parts) {
    std::string text;
    bool is_whole = true;
    for (const auto& each : parts) {
        if (each.kept > 0) {
            text += text.empty() ? "" : is_whole ? "\n\n" : mark_of_cut;
            text += each.text.substr(0, each.kept);
        }
        is_whole = each.kept == each.text.size();
    }
    return text.append(is_whole ? "\n" : mark_of_cut);
}

/// Returns the last whole lines of `text`, less than `limit` bytes. A text of `limit` bytes may begin within
/// a line.
std::string_view last_lines(std::string_view text, std::size_t limit) noexcept {
    if (text.size() < limit) {
        return text;
    }
    const auto begin = text.find('\n', text.size() - limit);
    return begin == text.npos ? std::string_view() : text.substr(begin + 1);
}

} // namespace

std::size_t surplus_of(std::string_view output, std::size_t limit) noexcept {
    if (output.size() <= limit) {
        return 0;
    }
    auto head = limit == 0 ? output.npos : output.find(first_words);
    while (head != output.npos && output.size() - head > most_account_kept) {
        head = output.find(first_words, head + 1);
    }
    const auto usual = output.size() - limit;
    return head == output.npos ? usual : std::min(usual, head - std::min(head, most_before_account));
}

std::string fatal_error_in(std::string_view output) {
    const auto head = output.rfind(first_words);
    if (head == output.npos) {
        return {};
    }
    const auto account = output.substr(head);
    auto parts = parts_of(account);
    if (!put_crashed_thread_first(parts) && account.size() <= most_account_quoted) {
        return std::string(account);
    }
    share_room(parts, most_account_quoted);
    return joined(parts);
}

std::string quoted_output(std::string_view output) {
    const auto head = output.rfind(first_words);
    if (head == output.npos) {
        return std::string(output);
    }
    return std::string(last_lines(output.substr(0, head), most_before_account)) + fatal_error_in(output);
}

} // namespace skep
