// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include <atomic>
#include <cstddef>
#include <memory>
#include <string>
#include <utility>

namespace skep {

/// Counts the operations that wait for a server, and their bytes, against limits. Thread-safe.
class waiting_operations : public std::enable_shared_from_this<waiting_operations> {
public:
    /// Counts as one operation until its destruction. Movable.
    class place {
    public:
        place() noexcept = default;
        place(place&& other) noexcept : at_(std::move(other.at_)), bytes_(other.bytes_) {}
        place& operator=(place&& other) noexcept {
            std::swap(at_, other.at_);
            std::swap(bytes_, other.bytes_);
            return *this;
        }
        ~place() {
            if (at_) {
                at_->leave(bytes_);
            }
        }

    private:
        friend class waiting_operations;
        place(std::shared_ptr<waiting_operations> operations, std::size_t bytes) noexcept
            : at_(std::move(operations)), bytes_(bytes) {}

        std::shared_ptr<waiting_operations> at_;
        std::size_t bytes_ = 0;
    };

    waiting_operations(std::size_t most, std::size_t most_bytes) noexcept
        : most_(most), most_bytes_(most_bytes) {}

    /// Reserves a place for an operation of `bytes`. Sets `problem` if a limit is exceeded. A single
    /// operation may wait with any size.
    place enter(std::size_t bytes, std::string& problem) {
        place taken(shared_from_this(), bytes);
        const auto before = count_.fetch_add(1);
        const auto bytes_before = bytes_.fetch_add(bytes);
        if (before >= most_) {
            problem = std::to_string(most_) + " operations wait for the server already (waiting_limit)";
        } else if (before > 0 && bytes_before + bytes > most_bytes_) {
            problem = "the operations that wait for the server take more than " +
                      std::to_string(most_bytes_) + " bytes (waiting_bytes)";
        }
        return taken;
    }

private:
    void leave(std::size_t bytes) noexcept {
        --count_;
        bytes_ -= bytes;
    }

    const std::size_t most_;
    const std::size_t most_bytes_;
    std::atomic<std::size_t> count_{0};
    std::atomic<std::size_t> bytes_{0};
};

} // namespace skep
