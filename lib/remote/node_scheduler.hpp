// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include "core/link_message.hpp"
#include "policy/node_choice.hpp"
#include <skep/scheduler.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

namespace skep {

class node_scheduler;

/// The loads that nodes have told, by the slot of their worker, for the schedulers of one pool.
class told_loads {
public:
    /// The node in `slot` has told its load. Returns the load that was told before.
    link_load tell(std::uint32_t slot, const link_load& load);

    /// The node in `slot` may be out of reach, or is in reach.
    void set_suspect(std::uint32_t slot, bool is_suspect);

    /// Returns the load of the node in `slot`, as far as known. `own_calls`: of this client at the node now.
    node_load estimate(std::uint32_t slot, std::size_t own_calls);

private:
    friend class node_scheduler;

    struct entry {
        link_load load{0, 1, false};
        bool is_suspect = false;
        std::size_t own_then = 0; ///< calls of this client that the node had when it told
        std::size_t own_now = 0;  ///< as of the last estimate
    };

    entry& at(std::uint32_t slot);
    void notify(std::uint32_t slot);

    std::vector<entry> entries_;
    std::vector<node_scheduler*> schedulers_;
};

/// Picks a node by its load, which the calls of other clients are part of: see node_choice.
class node_scheduler final : public scheduler {
public:
    node_scheduler(std::shared_ptr<told_loads> loads, node_choice::random_source random);
    ~node_scheduler() override;
    node_scheduler(const node_scheduler&) = delete;
    node_scheduler& operator=(const node_scheduler&) = delete;

    void offer(std::uint32_t slot, std::size_t load) override;
    void withdraw(std::uint32_t slot) override;
    std::optional<std::uint32_t> pick(const claim_view& claim) override;

    /// The load of the node in `slot` was told.
    void follow(std::uint32_t slot);

private:
    bool is_on_offer(std::uint32_t slot) const noexcept { return slot < on_offer_.size() && on_offer_[slot]; }

    std::shared_ptr<told_loads> loads_;
    node_choice::random_source random_;
    node_choice choice_;
    std::vector<bool> on_offer_; ///< by slot
};

} // namespace skep
