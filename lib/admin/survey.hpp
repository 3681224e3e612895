// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include "admin/pool_access.hpp"
#include "admin/remote_runner.hpp"
#include "async/condition_variable.hpp"
#include <skep/pool_metrics.hpp>

#include <boost/asio/awaitable.hpp>

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace skep {

/// What was seen of the pools at one look.
struct findings {
    std::vector<pool_metrics> pools;
    std::vector<std::string> silent; ///< the names of those that have not answered
};
using findings_ptr = std::shared_ptr<const findings>;

/// Looks at pools. One whose executor is busy for longer than a second is left out, and not asked again before it has
/// answered, so that it holds up nobody who looks at the others. On the admin's strand.
class survey {
public:
    survey(const strand& executor, pool_access& pools, std::shared_ptr<remote_runner> answers)
        : executor_(executor), pools_(pools), answers_(std::move(answers)), has_looked_(executor) {}

    /// What each pool measures, or did a moment ago: whoever asks often is to be no burden to the pools.
    asio::awaitable<findings_ptr> collect();

    /// Something was changed: the next look is a fresh one.
    void expire() noexcept {
        ++changes_;
        newest_.reset();
    }

private:
    struct inquiry;

    std::shared_ptr<inquiry> ask_all();

    strand executor_;
    pool_access& pools_;
    std::shared_ptr<remote_runner> answers_;
    std::map<std::string, std::weak_ptr<const void>>
        asked_; ///< by pool, what lives until its question is answered
    bool is_looking_ = false;
    condition_variable has_looked_;
    std::uint64_t changes_ = 0;
    findings_ptr newest_;
    time_point seen_at_;
};

} // namespace skep
