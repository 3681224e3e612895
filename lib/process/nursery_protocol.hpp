// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include <sys/types.h>

namespace skep {

// Protocol between a host and a nursery, the role of the program skep-guard that starts and collects the
// template of a pool and the workers that the template forks. The nursery inherits these descriptors:

/// The template's connection to the host. The template inherits it with the same number, and the nursery
/// closes it.
inline constexpr int template_line_in_nursery = 3;

/// A socket for whole messages. The nursery sends a nursery_report for each child; the host sends
/// end_template_message. The nursery ends at the end of the stream.
inline constexpr int nursery_line = 5;

/// Both ends of the nursery's leash. The nursery ends when either is written to or closed. Unlike other
/// groups, it has time to end its children first.
inline constexpr int nursery_leash_begin = 6;
inline constexpr int nursery_leash_end = 8;

/// The first word of the nursery's arguments; the others are the template's command.
inline constexpr char nursery_role[] = "nursery";

/// Orders the nursery to kill the template, not the workers.
inline constexpr char end_template_message = 't';

/// A child that the nursery has collected, as waitid() describes it. With a `code` of 0: the template is
/// about to be started, and its own messages come later; with a `pid` of 0 as well, its program could not be
/// started, and `status` is the errno.
struct nursery_report {
    pid_t pid;
    int code;
    int status;
};

/// The nursery keeps this many messages for a host that does not read. Older messages are lost.
inline constexpr int most_kept_reports = 1024;

} // namespace skep
