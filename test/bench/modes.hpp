// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include "support.hpp"

namespace skep::bench {

// Each measures one round of one side of a comparison.

/// span=: p50, p99 and host CPU time of a call in microseconds, one caller.
figures measure_serial(const arguments& args);

/// callers=, span=, threads= or contexts=: calls per second, host CPU time of a call in microseconds, and
/// context switches of the host for a call.
figures measure_throughput(const arguments& args);

/// workers=, callers=, mebibytes=, span=: p50 and p95 of the time in microseconds that a worker takes to go
/// through memory of its own.
figures measure_working_set(const arguments& args);

/// workers=, percent=, span=: p50 and p99 in microseconds of short calls among long ones, where that much of
/// the workers' time is taken.
figures measure_mixed(const arguments& args);

/// bytes=, span=: the median time of a call in microseconds that echoes a text of that size.
figures measure_payload(const arguments& args);

/// bytes=, span=: the same with an attachment.
figures measure_attachments(const arguments& args);

/// streams=, span=: chunks per second of so many streams at once, and the CPU time in microseconds that the
/// host and its workers take for each.
figures measure_streams(const arguments& args);

/// waiters=: CPU nanoseconds per waiter to enqueue, to cancel and to time out.
figures measure_queue(const arguments& args);

/// form=await or callback, callers=, calls=: calls per second, and host CPU time of a call in microseconds.
figures measure_forms(const arguments& args);

/// form=await, result or callback, calls=: CPU nanoseconds of the host per call that a full queue refuses.
figures measure_refusals(const arguments& args);

/// workers=: CPU nanoseconds per pick of each scheduler, and of the host per call.
figures measure_schedulers(const arguments& args);

/// nodes=: CPU nanoseconds for a client to pick one and to send it a call, CPU milliseconds for a beacon of
/// each, and bytes of a node that is known.
figures measure_nodes(const arguments& args);

/// sessions=: CPU nanoseconds to create one, and to look up and to touch any of so many.
figures measure_sessions(const arguments& args);

/// expired=, living=: nanoseconds per session that a clean-up takes, and the longest time in microseconds for
/// which it keeps others from their turn.
figures measure_session_cleanup(const arguments& args);

/// workers=, repeats=, ballast_mib=: milliseconds until start() returns, in a host with that much more
/// memory.
figures measure_start(const arguments& args);

/// preload=0 or 1, model_mib=, workers=: milliseconds until start() returns, without the template's import as
/// well, CPU milliseconds per worker from start to end, and MiB of memory per worker.
figures measure_preload(const arguments& args);

/// preload=0 or 1, workers=, callers=, import_seconds=, span=: the longest time of a call and its p99.9 in
/// milliseconds, while a worker is killed every 250 ms.
figures measure_recovery(const arguments& args);

/// preload=0 or 1, model_mib=, workers=, callers=: MiB of all processes of a pool under load before a rolling
/// restart and at the worst moment of it, and of the template.
figures measure_restart(const arguments& args);

/// workers=, span=: CPU time of the host in milliseconds per second, and KiB of its memory per worker.
figures measure_idle(const arguments& args);

} // namespace skep::bench
