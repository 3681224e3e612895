// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include <skep/errc.hpp>
#include <skep/exit_class.hpp>
#include <skep/exit_status.hpp>
#include <skep/export.hpp>
#include <skep/time.hpp>
#include <skep/worker_id.hpp>

#include <boost/json/value.hpp>
#include <boost/system/system_error.hpp>

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <sys/types.h>
#include <utility>

namespace skep {

class lazy_error;

/// Facts about a failure in addition to its code. Fields that do not apply are empty.
struct error_info {
    std::string detail;              ///< the problem, in one sentence; at least the phrase of the code
    std::string pool;                ///< pool name
    std::string command;             ///< command of the call
    std::string node;                ///< the node that had the call; empty: this machine
    std::optional<worker_id> worker; ///< the worker involved: of the node's pool, if the node has named it
    std::string program;             ///< program that was started, if the worker has not come up: its path
    pid_t pid = 0;                   ///< process id of the worker (may have ended); 0 without a process
    exit_status status;              ///< exit status of the worker, if it has ended
    exit_class exit_kind{};          ///< class of the worker's end
    std::string exit_evidence;       ///< evidence for exit_kind
    std::string stacks;              ///< stacks of a frozen worker, taken before its end (at most 4 KiB)
    std::string output_tail;         ///< the worker's last output: see output_options::tail_bytes
    duration wait_time{};            ///< time that the call waited in the queue
    std::size_t queue_depth = 0;     ///< calls and checkouts in the queue at the time of failure
    std::size_t running_calls = 0;   ///< calls at workers at the time of failure
    std::string oldest_command;      ///< command of the longest running of these calls
    duration oldest_run_time{};      ///< time that this call had been running
    int attempts = 0;                ///< number of workers that the call was sent to
    std::string correlation_id;      ///< from the request, or generated when a worker got the call

    /// Type of the worker's exception, by its qualified name as in Python's tracebacks: `module.Name`, or
    /// `Name` if it is built in or defined in the worker's script. `skep.Name` is a type of the SDK.
    std::string remote_type;
    std::string remote_message;   ///< message of the worker's exception
    std::string remote_traceback; ///< traceback of the worker's exception

    /// The code in `raise skep.Error(code, message, data)`: the worker's code blames the caller. With the
    /// type `skep.Failure`: the failure of a newer node, by a name unknown to errc. Empty for every other
    /// exception.
    std::string remote_code;
    boost::json::value remote_data; ///< the data in skep.Error; null for every other exception
};

/// The exception thrown by every operation of the library, and its only own exception type. what() holds all
/// facts and a remedy, ready to be logged, but no arguments, environment or remote_data. In what(), the
/// control characters and other invisible characters of a worker's text are escaped; info() has the text
/// unchanged.
/// Thread safety: copies share immutable state. Copying is noexcept; each copy may be destroyed on its own
/// thread.
class SKEP_API error : public boost::system::system_error {
public:
    /// Constructs an error without a failure, as required by result::error().
    error();

    /// Constructs an error, and composes its text.
    error(errc code, error_info details);

    /// Returns code() as an enumerator.
    errc kind() const noexcept { return static_cast<errc>(code().value()); }

    /// Returns the facts about the failure.
    const error_info& info() const noexcept { return story_->info; }

    /// Returns the text: all facts and a remedy.
    const char* what() const noexcept override { return story_->text.c_str(); }

    // No moves: a moved-from error would have no text.
    error(const error&) noexcept = default;
    error& operator=(const error&) noexcept = default;
    ~error() override = default;

private:
    friend class lazy_error; // postpones the text

    struct story {
        explicit story(error_info&& details) : info(std::move(details)) {}

        error_info info;
        std::string text;
    };

    /// Composes the text if there is none yet.
    error(std::shared_ptr<story> details, errc code);

    std::shared_ptr<const story> story_;
};

/// Returns true if the caller made a mistake: according to the code, or because the worker's code raised
/// skep.Error.
inline bool is_callers_fault(const error& failure) noexcept {
    const auto& info = failure.info();
    return is_callers_fault(failure.kind()) ||
           (!info.remote_code.empty() && info.remote_type != "skep.Failure");
}

} // namespace skep
