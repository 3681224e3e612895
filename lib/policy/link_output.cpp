// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "policy/link_output.hpp"

#include <algorithm>
#include <utility>

namespace skep {

std::uint64_t link_output::add(std::string frame) {
    const auto size = frame.size();
    frames_.push_back({last_frame_ + 1, std::move(frame)});
    waiting_bytes_ += size;
    return ++last_frame_;
}

bool link_output::withdraw(std::uint64_t number) {
    const auto found = std::lower_bound(
        frames_.begin(), frames_.end(), number,
        [](const waiting_frame& each, std::uint64_t searched) { return each.number < searched; });
    const bool has_begun = found == frames_.begin() && cut_ > 0;
    if (found == frames_.end() || found->number != number || has_begun) {
        return false;
    }
    waiting_bytes_ -= found->bytes.size();
    frames_.erase(found);
    return true;
}

std::string_view link_output::take(std::size_t most) {
    if (cursor_ == end_) {
        chunks_.push_back({end_, cut(most)});
        end_ = cursor_ = chunks_.back().end();
        return chunks_.back().bytes;
    }
    const auto after =
        std::upper_bound(chunks_.begin(), chunks_.end(), cursor_,
                         [](std::uint64_t position, const chunk& each) { return position < each.begin; });
    const auto& source = *std::prev(after);
    const auto again =
        std::string_view(source.bytes).substr(static_cast<std::size_t>(cursor_ - source.begin), most);
    cursor_ += again.size();
    taken_again_ += again.size();
    return again;
}

/// Returns the next bytes of the waiting frames, at most `most`. A single whole frame is moved.
std::string link_output::cut(std::size_t most) {
    std::string bytes;
    while (waiting_bytes_ > 0 && bytes.size() < most) {
        auto& front = frames_.front().bytes;
        const auto count = std::min(front.size() - cut_, most - bytes.size());
        const bool is_last = cut_ + count == front.size();
        if (count == front.size() && bytes.empty()) {
            bytes = std::move(front);
        } else {
            bytes.append(front, cut_, count);
        }
        cut_ += count;
        waiting_bytes_ -= count;
        if (is_last) {
            last_left_ = frames_.front().number;
            frames_.pop_front();
            cut_ = 0;
        }
    }
    return bytes;
}

void link_output::acknowledge(std::uint64_t position) noexcept {
    acknowledged_ = std::max(acknowledged_, position);
    cursor_ = std::max(cursor_, acknowledged_);
    while (!chunks_.empty() && chunks_.front().end() <= acknowledged_) {
        chunks_.pop_front();
    }
}

void link_output::go_back(std::size_t segment) {
    std::deque<chunk> joined;
    for (auto& each : chunks_) {
        if (joined.empty() || joined.back().bytes.size() + each.bytes.size() > segment) {
            joined.push_back(std::move(each));
        } else {
            joined.back().bytes += each.bytes;
        }
    }
    chunks_ = std::move(joined);
    cursor_ = acknowledged_;
}

} // namespace skep
