// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include "call/call.hpp"

#include <boost/asio/any_io_executor.hpp>
#include <boost/smart_ptr/intrusive_ptr.hpp>

#include <utility>

namespace skep {

/// Ties a call to its caller, before the call is submitted. `caller`: the caller's executor. On a tool's
/// executor, the call belongs to the call that the tool serves. Progress is delivered on `caller`.
void tie(call& new_call, const boost::asio::any_io_executor& caller);

/// Returns true if the caller receives progress.
bool is_watched(const call& subject) noexcept;

/// Ends the progress of a call when the caller loses interest in the call.
class progress_scope {
public:
    explicit progress_scope(call_ptr subject) noexcept : subject_(std::move(subject)) {}
    ~progress_scope() { close(); }
    progress_scope(progress_scope&&) noexcept = default; // the moved-from scope has nothing to end
    progress_scope& operator=(progress_scope&&) = delete;

    /// Ends the progress: its handler is not called again.
    void close() noexcept {
        if (subject_ && subject_->ties && subject_->ties->progress) {
            subject_->ties->progress->close();
        }
    }

private:
    call_ptr subject_;
};

} // namespace skep
