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

/// What is known about a failure beyond its code. Fields that do not apply are empty.
struct error_info {
    std::string detail;              ///< what exactly went wrong, one sentence; at least the phrase of the code
    std::string pool;                ///< pool name
    std::string command;             ///< the command that was called
    std::optional<worker_id> worker; ///< the worker involved
    pid_t pid = 0;                   ///< its process id (it may be gone), 0 if it never had one
    exit_status status;              ///< how its process ended, if it did
    exit_class exit_kind{};          ///< what kind of end that was
    std::string exit_evidence;       ///< what says so
    std::string stacks;              ///< a frozen worker's stacks, taken before it was ended (at most 4 KiB)
    std::string output_tail;         ///< the last lines it wrote to stdout and stderr (at most 4 KiB)
    duration wait_time{};            ///< how long the call waited in the queue
    std::size_t queue_depth = 0;     ///< calls and checkouts waiting when it failed
    std::size_t running_calls = 0;   ///< calls that workers were at then
    std::string oldest_command;      ///< that of the call that was running for longest then
    duration oldest_run_time{};      ///< for so long
    int attempts = 0;                ///< how many workers the call was sent to
    std::string correlation_id;      ///< the request's, or the one made for it once a worker had it

    /// The worker's exception: its type by its qualified name, as Python's tracebacks print it: `module.Name`, and
    /// `Name` alone for what is built in or defined in the worker's script. `skep.Name` is the SDK's own.
    std::string remote_type;
    std::string remote_message;   ///< its message
    std::string remote_traceback; ///< its traceback

    /// Of `raise skep.Error(code, message, data)`, by which the worker's code says that the caller is at fault. The code
    /// is empty, and the data null, for every other exception.
    std::string remote_code;
    boost::json::value remote_data; ///< its data
};

/// The exception thrown by every operation of the library, and the only one of its own. what() holds the whole story
/// and what to do about it, ready to be logged; it contains neither arguments nor environment, nor remote_data. Text of a
/// worker that would act instead of being seen, such as controls, is escaped there; info() has it as it came. Copies share
/// what they tell, which does not change: copying one does not throw, and each may be let go of on its own thread.
class SKEP_API error : public boost::system::system_error {
public:
    /// Constructs an error that stands for no failure, as result::error() needs it.
    error();

    /// With a text that is made of both.
    error(skep::errc code, error_info details);

    /// What to act on: code() as the enumerator it is.
    skep::errc errc() const noexcept { return static_cast<skep::errc>(code().value()); }

    /// What is known of the failure.
    const error_info& info() const noexcept { return story_->info; }

    /// The whole story, as above.
    const char* what() const noexcept override { return story_->text.c_str(); }

    // No moves: one that was moved from would have nothing to tell.
    error(const error&) noexcept = default;
    error& operator=(const error&) noexcept = default;
    ~error() override = default;

private:
    friend class lazy_error; // which has it told, and puts off the text

    struct story {
        explicit story(error_info&& details) : info(std::move(details)) {}

        error_info info;
        std::string text;
    };

    /// Adds the text, if there is none yet.
    error(std::shared_ptr<story> details, skep::errc code);

    std::shared_ptr<const story> story_;
};

/// Whether the caller did something wrong: by its code, or because the worker's code said so by raising skep.Error.
inline bool is_callers_fault(const error& failure) noexcept {
    return is_callers_fault(failure.errc()) || !failure.info().remote_code.empty();
}

} // namespace skep
