// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>

namespace skep {

/// A thread's memory for the texts of its calls. Left empty at the end of the thread: static objects that are
/// destroyed later may make calls.
struct text_memory {
    text_memory() = default;
    text_memory(const text_memory&) = delete;
    text_memory& operator=(const text_memory&) = delete;
    ~text_memory() { std::string().swap(text); }

    std::string text;
};

/// The encoded text of a call. A short text, as most are, lies within the object, without an allocation.
class call_text {
public:
    /// Takes the text, and leaves the memory of a short one in `text`, for the next call.
    void take(std::string& text) noexcept {
        size_ = text.size();
        if (is_short()) {
            std::copy(text.begin(), text.end(), short_.begin());
        } else {
            long_ = std::move(text);
        }
    }

    void clear() noexcept {
        size_ = 0;
        std::string().swap(long_);
    }

    operator std::string_view() const noexcept {
        return is_short() ? std::string_view(short_.data(), size_) : std::string_view(long_);
    }

private:
    bool is_short() const noexcept { return size_ <= short_.size(); }

    std::size_t size_ = 0;
    std::string long_;
    std::array<char, 96> short_;
};

} // namespace skep
