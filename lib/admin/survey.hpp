// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include "admin/pool_access.hpp"
#include "admin/remote_runner.hpp"
#include "async/condition_variable.hpp"
#include <skep/node_status.hpp>
#include <skep/pool_metrics.hpp>

#include <boost/asio/awaitable.hpp>

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace skep {

/// The result of one look at the pools.
struct findings {
    std::vector<pool_metrics> pools;
    std::vector<std::string> silent; ///< names of pools without an answer
    std::vector<std::string> unable; ///< for each place that cannot serve, why not
    std::optional<node_status> node; ///< of the node that the program is, with an answer
};
using findings_ptr = std::shared_ptr<const findings>;

/// Collects the metrics of all pools. A pool whose executor is busy for longer than a second is left out, and
/// is not asked again before it has answered, so that it does not delay the answers of the others. Used on
/// the admin's strand.
class survey {
public:
    survey(const strand& executor, pool_access& pools, std::shared_ptr<remote_runner> answers)
        : executor_(executor), pools_(pools), answers_(std::move(answers)), has_looked_(executor) {}

    /// Returns the metrics of each pool, at most a moment old, so that frequent requests are no burden to the
    /// pools.
    asio::awaitable<findings_ptr> collect();

    /// Makes the next collect() ask the pools again, after a change.
    void expire() noexcept {
        ++changes_;
        newest_.reset();
    }

private:
    struct inquiry;

    std::shared_ptr<inquiry> ask_all();
    void ask_node(const std::shared_ptr<inquiry>& target);

    strand executor_;
    pool_access& pools_;
    std::shared_ptr<remote_runner> answers_;
    std::map<std::string, std::weak_ptr<const void>>
        asked_;                            ///< by pool: a token that lives until its query is answered
    std::weak_ptr<const void> node_asked_; ///< likewise, of the node
    bool is_looking_ = false;
    condition_variable has_looked_;
    std::uint64_t changes_ = 0;
    findings_ptr newest_;
    time_point seen_at_;
};

} // namespace skep
