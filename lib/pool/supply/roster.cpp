// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "pool/supply/roster.hpp"

#include "policy/health_monitor.hpp"

#include <boost/assert.hpp>

#include <algorithm>
#include <utility>

namespace skep {

void roster::want_one() {
    const auto leavers = leavers_by_slot();
    const auto rank_of = [&](const slot& one) { return rank(one, leavers[index_of(one)]); };
    auto found = std::min_element(slots_.begin(), slots_.end(),
                                  [&](const slot& a, const slot& b) { return rank_of(a) < rank_of(b); });
    if (found == slots_.end() || found->wanted) {
        slots_.emplace_back(config_);
        vacant_.reserve(slots_.size()); // the end of a worker must not fail
        found = slots_.end() - 1;
    }
    found->wanted = true;
    found->plan.renew();
    if (!found->current) { // otherwise its last worker is still being stopped
        vacant_.insert(index_of(*found));
        found->vacancy.emplace(context_.now(), context_.wall_now());
    }
    ++desired_;
    work_.open();
}

/// The slot of the least rank gets one more worker. A slot that a surplus worker has not left yet needs no
/// further place of max_workers. Of such slots, one in which the worker can start soon ranks first.
std::tuple<bool, bool, bool, bool> roster::rank(const slot& one, const leaver_count& leavers) noexcept {
    const bool is_taken = one.current || one.successor || leavers.all > 0;
    return {one.wanted, one.wanted || !is_taken, leavers.surplus >= most_surplus, one.current != nullptr};
}

std::vector<roster::leaver_count> roster::leavers_by_slot() const {
    std::vector<leaver_count> result(slots_.size());
    for (const auto& leaver : leaving_) {
        auto& count = result[leaver->id().slot];
        ++count.all;
        count.surplus += leaver->life().leaves_for(departure_cause::surplus) ? 1 : 0;
    }
    return result;
}

void roster::unwant(std::size_t index) {
    slots_[index].wanted = false;
    if (vacant_.contains(index)) {
        drop_vacancy(index, transition_reason::scale_down, "no longer needed");
    }
    vacant_.erase(index);
    --desired_;
}

void roster::fill(std::size_t index, std::shared_ptr<worker> new_worker) {
    vacant_.erase(index);
    slots_[index].plan.set_in_launch(false);
    slots_[index].current = std::move(new_worker);
    slots_[index].vacancy.reset();
}

bool roster::may_start(std::size_t index) const noexcept {
    return std::count_if(leaving_.begin(), leaving_.end(), [index](const auto& leaver) {
               return leaver->id().slot == index && leaver->life().leaves_for(departure_cause::surplus);
           }) < most_surplus;
}

worker_state_machine& roster::vacancy(std::size_t index) {
    auto& life = slots_[index].vacancy;
    if (!life) { // its worker could not be started, for lack of memory
        life.emplace(context_.now(), context_.wall_now());
    }
    return *life;
}

void roster::hold_back(std::size_t index, std::string reason, boost::json::object metadata) {
    if (vacancy(index).state() == worker_state::created) {
        move_vacancy(index, worker_state::pending, transition_reason::backoff, std::move(reason),
                     std::move(metadata));
    }
}

void roster::drop_vacancy(std::size_t index, transition_reason code, std::string reason) {
    if (vacancy(index).state() == worker_state::pending) {
        move_vacancy(index, worker_state::stopped, code, std::move(reason), {});
        ++slots_[index].generation; // that worker has ended
    }
    slots_[index].vacancy.emplace(context_.now(), context_.wall_now());
}

void roster::move_vacancy(std::size_t index, worker_state new_state, transition_reason code,
                          std::string reason, boost::json::object metadata) {
    auto& life = vacancy(index);
    const auto ec = life.move_to(new_state, code, std::move(reason), context_.now(), context_.wall_now(),
                                 std::move(metadata));
    BOOST_ASSERT(!ec);
    static_cast<void>(ec);
    if (!life.history().empty()) { // there was memory for the entry
        context_.publish<events::worker_transition>(
            [&] { return event_of(life.history().back(), next_id(index)); });
    }
}

/// Makes room for the worker's end, because the end must not fail.
void roster::expect_worker() {
    leaving_.reserve(leaving_.size() + 2 * slots_.size());
}

void roster::came_up() noexcept {
    --starting_;
    ++ready_;
    work_.open();
}

void roster::left_service(worker& leaver) {
    --ready_;
    leaving_.push_back(leaver.shared_from_this());
}

void roster::ended(const worker& ended_worker) {
    const auto is_ended = [&ended_worker](const auto& each) { return each.get() == &ended_worker; };
    const bool has_left = std::erase_if(leaving_, is_ended) > 0;
    if (ended_worker.life().was_up() && !has_left) { // left_service() was lost for lack of memory
        --ready_;
        auto& slot = slots_[ended_worker.id().slot];
        if (slot.current.get() == &ended_worker) {
            make_room(ended_worker.id().slot);
        } else if (slot.successor.get() == &ended_worker) {
            slot.successor.reset();
        }
    }
    work_.open();
}

void roster::clear() {
    leaving_.clear();
    ready_ = starting_ = 0;
    for (std::size_t index = 0; index < slots_.size(); ++index) {
        slots_[index].successor.reset();
        if (slots_[index].current) {
            make_room(index);
        }
    }
}

void roster::make_room(std::size_t index) {
    auto& slot = slots_[index];
    slot.current = std::move(slot.successor);
    slot.restarts.clear();
    if (!slot.current && slot.wanted) {
        vacant_.insert(index);
        slot.vacancy.emplace(context_.now(), context_.wall_now());
    }
    work_.open();
}

worker* roster::find(const worker_id& id) const noexcept {
    const bool exists = id.pool == config_.name && id.slot < slots_.size();
    const auto& current = exists ? slots_[id.slot].current : nullptr;
    return current && current->id() == id ? current.get() : nullptr;
}

worker* roster::find_anywhere(const worker_id& id) const noexcept {
    const auto is_it = [&id](const std::shared_ptr<worker>& each) { return each && each->id() == id; };
    if (id.slot < slots_.size()) {
        for (const auto* each : {&slots_[id.slot].current, &slots_[id.slot].successor}) {
            if (is_it(*each)) {
                return each->get();
            }
        }
    }
    const auto found = std::find_if(leaving_.begin(), leaving_.end(), is_it);
    return found == leaving_.end() ? nullptr : found->get();
}

bool roster::has_ended(const worker& ended_worker) const noexcept {
    return find(ended_worker.id()) == nullptr &&
           std::none_of(leaving_.begin(), leaving_.end(),
                        [&](const auto& each) { return each.get() == &ended_worker; });
}

std::vector<worker_id> roster::serving() const {
    std::vector<worker_id> all;
    for (const auto& slot : slots_) {
        if (slot.serves()) {
            all.push_back(slot.current->id());
        }
    }
    return all;
}

std::size_t roster::surplus() const noexcept {
    return static_cast<std::size_t>(
        std::count_if(slots_.begin(), slots_.end(), [this](const slot& each) { return is_surplus(each); }));
}

bool roster::is_surplus(const slot& one) const noexcept {
    const auto is_leaving_it = [index = index_of(one)](const auto& leaver) {
        return leaver->id().slot == index;
    };
    return !one.wanted &&
           (one.current || one.successor || std::any_of(leaving_.begin(), leaving_.end(), is_leaving_it));
}

std::size_t roster::out_of_rotation() const noexcept {
    return static_cast<std::size_t>(std::count_if(slots_.begin(), slots_.end(), [](const slot& each) {
        const bool serves = each.serves() && !each.current->life().readiness().has(obstacle::suspended) &&
                            !each.current->life().readiness().awaits_probe();
        return each.wanted && !serves;
    }));
}

bool roster::may_be_probed(const worker& one) const noexcept {
    std::size_t serving = 0;
    std::size_t at_probe = 0;
    bool another_has_room = false;
    for (const auto& each : slots_) {
        if (each.serves()) {
            ++serving;
            at_probe += each.current->health().is_at_probe() ? 1 : 0;
            another_has_room |= each.current.get() != &one && each.current->calls().accepts_call();
        }
    }
    return may_begin_probe(serving, at_probe, another_has_room);
}

std::size_t roster::capacity() const noexcept {
    const auto found =
        std::find_if(slots_.begin(), slots_.end(), [](const slot& each) { return each.serves(); });
    return found == slots_.end() ? config_.capacity : found->current->calls().capacity();
}

error roster::no_such_worker(const worker_id& id) const {
    error_info info;
    info.pool = config_.name;
    info.worker = id;
    return error(errc::unknown_worker, std::move(info));
}

} // namespace skep
