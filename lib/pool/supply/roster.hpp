// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include "async/latch.hpp"
#include "policy/slot_plan.hpp"
#include "worker/worker.hpp"
#include <skep/circuit_breaker.hpp>

#include <boost/container/flat_set.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

namespace skep {

/// A place for successive workers.
struct slot {
    explicit slot(const pool_config& config) : plan(config.restart, config.crash_barrier) {}

    /// Returns true if its worker has come up, and is still in place.
    bool serves() const noexcept { return current && current->life().was_up(); }

    bool wanted = false;
    std::optional<worker_state_machine> vacancy; ///< life so far of the next worker of a vacant slot
    std::shared_ptr<worker> current;
    std::shared_ptr<worker> successor; ///< takes the place of `current` once it is ready
    slot_plan plan;
    std::optional<circuit_breaker::attempt> trial; ///< permit for the start of `current`
    std::uint64_t generation = 0;
    std::uint64_t left_by = 0;         ///< generation of the last worker that left
    std::uint64_t last_process_of = 0; ///< the same, of workers that had a process
    std::optional<exit_class> left_as; ///< how that worker ended
    std::string why_recycled;
    bool is_wait_logged = false;                        ///< that the worker is due to leave, and cannot
    boost::container::flat_set<std::uint64_t> restarts; ///< requested restarts that concern its worker
    std::string last_failure;
    std::uint64_t failed_generation = 0;
};

/// The slots of a pool and the workers in them, or leaving. Holds the state that supervision, sizing and
/// replacement share, and decides nothing. On the pool's strand.
class roster {
public:
    roster(const pool_context& context, const pool_config& config)
        : context_(context), config_(config), work_(context.executor) {}

    std::vector<slot>& slots() noexcept { return slots_; }
    const std::vector<slot>& slots() const noexcept { return slots_; }
    slot& operator[](std::size_t index) noexcept { return slots_[index]; }
    slot& slot_of(const worker& occupant) noexcept { return slots_[occupant.id().slot]; }

    /// The numbers of workers wanted, in service, and on their way up.
    std::size_t desired() const noexcept { return desired_; }
    std::size_t ready() const noexcept { return ready_; }
    std::size_t starting() const noexcept { return starting_; }

    /// Adds a wanted slot, or makes a slot unwanted.
    void want_one();
    void unwant(std::size_t index);

    /// Wanted slots without a worker.
    const boost::container::flat_set<std::size_t>& vacant() const noexcept { return vacant_; }
    void fill(std::size_t index, std::shared_ptr<worker> new_worker);

    /// Returns false while two surplus workers are leaving the slot: repeated resizing must not collect
    /// processes.
    bool may_start(std::size_t index) const noexcept;

    /// The id of the next worker of a vacant slot, and its life so far.
    worker_id next_id(std::size_t index) const {
        return {config_.name, static_cast<std::uint32_t>(index), slots_[index].generation + 1};
    }
    worker_state_machine& vacancy(std::size_t index);

    /// Holds back the next worker of a vacant slot, unless it is held back already.
    void hold_back(std::size_t index, std::string reason, boost::json::object metadata);

    /// The next worker will not be started: the slot is not wanted, or the pool ends.
    void drop_vacancy(std::size_t index, transition_reason code, std::string reason);

    /// All workers have ended: drops the entries of workers whose end was lost.
    void clear();

    // Events of the workers.
    void expect_worker();
    void started() noexcept { ++starting_; }
    void came_up() noexcept;
    void start_ended() noexcept { --starting_; }
    void left_service(worker& leaver);
    void ended(const worker& ended_worker);

    /// Frees the slot, for its successor if there is one, or for another worker.
    void make_room(std::size_t index);

    /// Workers that have served, and have not ended.
    const std::vector<std::shared_ptr<worker>>& leaving() const noexcept { return leaving_; }

    /// Calls `act` for every worker.
    template <class Act>
    void for_each(Act&& act) const {
        std::for_each(leaving_.begin(), leaving_.end(), [&](const auto& each) { act(*each); });
        for (const auto& slot : slots_) {
            for (const auto* each : {&slot.current, &slot.successor}) {
                if (*each) {
                    act(**each);
                }
            }
        }
    }

    /// Returns the worker with that id if it is in its slot, not leaving; null otherwise.
    worker* find(const worker_id& id) const noexcept;

    /// The same in any place: starting or leaving workers, too.
    worker* find_anywhere(const worker_id& id) const noexcept;

    /// Returns true if the worker has ended completely.
    bool has_ended(const worker& ended_worker) const noexcept;

    /// Returns the workers that are up and not leaving.
    std::vector<worker_id> serving() const;

    /// Returns the number of unwanted slots that a worker has not left yet.
    std::size_t surplus() const noexcept;

    /// Returns the number of wanted workers that take no calls: degraded, suspended, held back or on their
    /// way up.
    std::size_t out_of_rotation() const noexcept;

    /// Returns true if the worker may be probed now, so that calls find another worker.
    bool may_be_probed(const worker& one) const noexcept;

    /// Returns the calls at a time of a worker that is up, as offered by the worker; otherwise as configured.
    std::size_t capacity() const noexcept;

    /// Opens when the supervisor may have work.
    latch& work() noexcept { return work_; }

    error no_such_worker(const worker_id& id) const;

private:
    std::size_t index_of(const slot& one) const noexcept {
        return static_cast<std::size_t>(&one - slots_.data());
    }
    bool is_surplus(const slot& one) const noexcept;

    /// Workers that are leaving a slot.
    struct leaver_count {
        std::ptrdiff_t all = 0;
        std::ptrdiff_t surplus = 0;
    };
    static constexpr std::ptrdiff_t most_surplus = 2; ///< a slot with so many starts no worker
    static std::tuple<bool, bool, bool, bool> rank(const slot& one, const leaver_count& leavers) noexcept;
    std::vector<leaver_count> leavers_by_slot() const;

    void move_vacancy(std::size_t index, worker_state new_state, transition_reason code, std::string reason,
                      boost::json::object metadata);

    const pool_context& context_;
    const pool_config& config_;
    std::vector<slot> slots_;
    boost::container::flat_set<std::size_t> vacant_;
    std::vector<std::shared_ptr<worker>> leaving_;
    std::size_t desired_ = 0;
    std::size_t ready_ = 0;
    std::size_t starting_ = 0;
    latch work_;
};

} // namespace skep
