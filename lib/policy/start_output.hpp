// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include <skep/time.hpp>
#include <skep/worker_id.hpp>

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

namespace skep {

/// Finds the output that the starting workers of a pool have in common, such as the traceback of a missing
/// import, so that the log has it once. A line is repeated if a worker has printed the same line before,
/// after the same lines since its launch. A repeated line is withheld. Once the output of its worker takes
/// another course, or once the worker is up, the line is due after all. A worker that fails before drops its
/// withheld lines. Lines are remembered for ten minutes, up to a limit of their size; then they are forgotten
/// all together.
class start_output {
public:
    struct line {
        bool is_stderr = false;
        std::string text;
    };

    /// The lines of a worker that stay withheld.
    struct repetition {
        std::size_t lines = 0;
        worker_id first; ///< the worker that has printed the last line before
    };

    /// A starting worker has printed a line. Returns the lines that are due now, oldest first.
    std::vector<line> take(const worker_id& printer, line new_line, time_point now);

    /// The worker is up. Returns the withheld lines, which are due now.
    std::vector<line> release(const worker_id& printer);

    /// The worker has ended. Returns the lines that stay withheld, if any.
    std::optional<repetition> drop(const worker_id& printer);

private:
    /// A line after the same lines of a start.
    struct node {
        worker_id first;
        bool is_continued = false; ///< a later line is known
    };
    using key = std::tuple<const node*, bool, std::string>; ///< the line before; is_stderr, text

    /// The output of a starting worker so far.
    struct talk {
        node* last = nullptr;
        std::vector<line> withheld;
        std::size_t withheld_bytes = 0;
        worker_id first; ///< the first printer of the last withheld line
        bool is_compared = true;
    };

    bool is_shared_so_far(const node* last) const;
    static std::vector<line> take_withheld(talk& of_worker);
    void forget_old(time_point now);

    std::map<key, node> nodes_;
    std::size_t bytes_ = 0;
    time_point oldest_;
    std::map<worker_id, talk> talks_;
};

} // namespace skep
