// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include "async/timer.hpp"
#include "runtime/frame_output.hpp"
#include "wire/attachments.hpp"
#include "wire/send_buffer.hpp"

#include <exception>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace skep {

/// The unsent data of a worker for the data channel. Many messages share a write; large attachments are not
/// copied. A write blocks until the host takes the data, which bounds memory. Used on the strand.
class outbox {
public:
    using error_handler = std::function<void(const std::exception_ptr&)>;

    /// `on_error` gets a lack of memory while the data is sent later.
    outbox(const strand& executor, frame_output& output, error_handler on_error);

    /// Returns the text to append frames to. After each frame, the caller calls attach() for its attachments,
    /// if any, and a send function. Attachments with a place in shared memory are not sent.
    std::string& text() noexcept { return unsent_.text(); }
    void attach(const placed_attachments& attachments);

    /// Sends everything now. Ends the process if the host is gone.
    void send();

    /// Sends at the end of this turn of the strand.
    void send_soon();

    /// Sends now, or 1 ms after the last write together with the data appended until then: for chunks,
    /// because many may follow. A slower sender never waits, even if the handler does not let others run.
    void send_shortly();

    /// Sends now and returns true, or returns false if that would block.
    bool try_send();

private:
    void send_posted() noexcept;

    strand executor_;
    frame_output& output_;
    error_handler on_error_;
    send_buffer unsent_;
    timer pause_;
    time_point sent_{};
    bool is_posted_ = false;
    bool is_timed_ = false;
    std::shared_ptr<const bool> life_ = std::make_shared<bool>(); ///< expires with this object
};

} // namespace skep
