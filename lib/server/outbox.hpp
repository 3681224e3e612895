// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include "async/timer.hpp"
#include "process/blocking_io.hpp"
#include "wire/send_buffer.hpp"
#include <skep/blob.hpp>

#include <string>
#include <vector>

namespace skep {

/// What a worker is about to send over the data channel. Many messages share a write; bytes of large attachments are not
/// copied. A write blocks until the host takes it, which is what keeps memory bounded. Used on the strand.
class outbox {
public:
    outbox(const strand& executor, shared_output& output);

    /// Frames are appended here, each followed by attach() if it has attachments, and by one of the functions that send.
    std::string& text() noexcept { return unsent_.text(); }
    void attach(const std::vector<blob>& attachments);

    /// Everything, now. Ends the process if the host is gone.
    void send();

    /// Once this turn of the strand is over.
    void send_soon();

    /// Now, or a millisecond after the last write, with what comes until then: for chunks, of which many may come. One who
    /// sends less often is never kept waiting, even if he does not let anybody else run.
    void send_shortly();

    /// Now, unless that would block: false then.
    bool try_send();

private:
    strand executor_;
    shared_output& output_;
    send_buffer unsent_;
    timer pause_;
    time_point sent_{};
    bool is_posted_ = false;
    bool is_timed_ = false;
};

} // namespace skep
