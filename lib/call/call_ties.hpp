// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include "call/call.hpp"

#include <boost/asio/any_io_executor.hpp>
#include <boost/smart_ptr/intrusive_ptr.hpp>

#include <utility>

namespace skep {

/// What ties a call to others, before it is submitted: if `caller`, its caller's executor, is that of a tool, it belongs to
/// the call which that tool serves; and there its progress goes.
void tie(call& new_call, const boost::asio::any_io_executor& caller);

/// Whether its caller is told of its progress.
bool is_watched(const call& subject) noexcept;

/// Ends the progress of a call with its caller's interest in it.
class progress_scope {
public:
    explicit progress_scope(call_ptr subject) noexcept : subject_(std::move(subject)) {}
    ~progress_scope() { close(); }
    progress_scope(progress_scope&&) noexcept = default; // the other one has nothing to end
    progress_scope& operator=(progress_scope&&) = delete;

    /// It is called no more.
    void close() noexcept {
        if (subject_ && subject_->ties && subject_->ties->progress) {
            subject_->ties->progress->close();
        }
    }

private:
    call_ptr subject_;
};

} // namespace skep
