// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include "core/stream_credit.hpp"
#include "simulation/behaviour.hpp"
#include "simulation/call_record.hpp"
#include "simulation/lease_record.hpp"
#include "simulation/oracle_store.hpp"
#include "simulation/oracle_templates.hpp"
#include "simulation/sim_worker.hpp"
#include "simulation/tool_record.hpp"
#include "simulation/world.hpp"
#include <skep/error.hpp>
#include <skep/events.hpp>
#include <skep/load_view.hpp>
#include <skep/pool_config.hpp>
#include <skep/pool_metrics.hpp>
#include <skep/progress.hpp>
#include <skep/reply.hpp>
#include <skep/reply_stream.hpp>
#include <skep/shutdown_report.hpp>
#include <skep/tool.hpp>

#include <boost/json/object.hpp>

#include <deque>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

namespace skep::simulation {

/// Knows what was asked for and what the workers saw, and compares the two, and what the pool says of itself,
/// with what the pool promises.
class oracle {
public:
    oracle(world& in, const pool_config& config, const climate& weather, const template_climate& templates);

    // What callers do and get.
    call_record& new_call();
    void on_begun_call(call_record& call);
    void on_failed(call_record& call, const std::exception_ptr& problem);
    void on_reply(call_record& call, const reply& answer);
    void on_error(call_record& call, const error& failure);
    void on_aborted(call_record& call);

    // What becomes of leases.
    lease_record& new_lease();
    std::deque<lease_record>& leases() noexcept { return leases_; }
    void on_checkout(lease_record& lease);
    void on_granted(lease_record& lease);
    void on_given_back(lease_record& lease);
    void on_checkout_failed(lease_record& lease, const error* failure);

    /// Of any other operation. Returns its error, if it is one of the library's.
    std::optional<error> on_operation_ended(const std::string& name, const std::exception_ptr& problem);
    void on_shutdown_failed(const std::exception_ptr& problem);
    void on_report(const shutdown_report& report);
    duration longest_shutdown() const;

    // Waits for a change. Each is to end when the change is there; they are told apart by number.
    struct wait {
        enum class kind { ready, suspend, suspend_all, restart, probe, ping, end };
        kind what;
        worker_id which;
        std::size_t count = 0;
        time_point since{};
    };
    std::uint64_t on_wait(wait what);
    void on_wait_ended(std::uint64_t number, const error* problem);

    // What users are told of a worker that they ask about.
    void on_probe_asked() { is_probe_asked_ = true; }
    void on_ping_asked() { ++pings_asked_; }
    void on_probed(const probe_result& found);
    void on_pong(const worker_id& of, duration took);
    void on_end_told(const worker_id& of, const worker_exit& told);

    // What is asked of the pool as a whole; each permits what it would otherwise not do.
    void on_start_asked();
    void on_started();
    void on_start_failed() {
        start_failed_ = true;
        last_failed_start_ = world_.now();
    }
    void on_shutdown_asked();
    void on_destroyed();

    /// The pool is one of a pool_manager. What becomes of its starts, each a try, is told by events.
    void expect_manager(bool restarts_failed_pools);
    void on_try_begun();
    void on_try_ended(const std::string& problem);
    void on_user_start() { last_user_start_ = world_.now(); }

    /// Tries that have ended: the one that was begun at `asked` or, if there is none, a later one.
    enum class start_end { none, failed, succeeded };
    start_end first_end_since(time_point asked) const;

    /// Somebody is told that the pool could not start: the cause has to be a real one.
    void check_start_failure(const std::string& whom, const error& told);

    /// Workers that were up at some time since then, as far as the pool can know.
    std::size_t up_since(time_point since) const;

    /// The pool may tell those who wait for its workers that they wait in vain.
    bool may_fail_wait(errc code) const;

    /// After so much of a steady load the next status is to show as many workers.
    void expect_size(std::size_t workers) { expected_size_ = workers; }
    void on_resize_asked(size_limits limits);
    void on_restart_asked() { restarts_ = true; }
    void on_forget_asked(const std::string& session);

    /// Somebody has the session bound to a worker, and is told what has come of that, and which worker serves
    /// it.
    void on_bind_asked(const std::string& session);
    void on_bound(const std::string& session, const worker_id& to, time_point asked,
                  const std::optional<errc>& refusal);
    void on_session_shown(const std::string& session, const std::optional<session_binding>& shown);

    /// The pool has a store of sessions.
    void use_store(const session_options& options);
    oracle_store& store() { return *store_; }
    void on_suspension_asked() { known_suspended_ = false; }
    void on_suspension_asked(const worker_id& which);
    void on_pool_suspension_asked();
    void on_pool_resumed(time_point asked);

    oracle_templates& templates() noexcept { return templates_; }
    const behaviour& plan_of(const std::string& worker) const;

    /// Somebody is told of every event, from the beginning on.
    void expect_events() { are_events_told_ = true; }
    void on_event(const event& what);
    void on_span(const events::span& what);

    // What workers see.
    sim_worker& add_worker(launch_order order, const climate& weather, const pool_config& config);
    void on_credit(const sim_worker& of, stream_credit left);
    void on_chunk(call_record& call, const chunk& piece);
    void on_left(call_record& call);
    call_record* on_sent(sim_worker& to, std::uint64_t id, const boost::json::object& message,
                         std::size_t payload);
    std::size_t visit_at(const sim_worker& at, const call_record& call) const;
    void on_begun(sim_worker& at, call_record& call, std::size_t visit_index);
    void on_ping_in_vain(sim_worker& to) const;
    void on_probe_answered(sim_worker& from, bool failed) const;
    void on_welcome(sim_worker& to);
    void on_cancel_sent(sim_worker& to, std::uint64_t id);
    void on_recall_sent(sim_worker& to, std::uint64_t id);

    /// The pool has read that a worker gives a call back.
    void on_returned(sim_worker& from, call_record& call, std::size_t visit_index);
    void on_progress(call_record& call, const progress& report);

    // What workers ask of the host, by their code's hands.
    tool_record& new_tool(sim_worker& by, call_record& at, std::size_t visit_index);
    tool_record* on_tool_begun(const tool_call& asked);
    void on_tool_ended(tool_record& which, bool failed);
    const tool_record* on_tool_answered(sim_worker& to, const boost::json::object& message);
    void on_stop(sim_worker& which, std::string_view how);
    void on_kill(const sim_worker& which);
    void on_ready_seen(sim_worker& which);

    /// Its delegate has done with it: from now on it may serve, or not.
    void on_warm(const worker_id& which);
    void on_warm_up_failed(const worker_id& which);
    void on_answer_seen(sim_worker& from, call_record& call, std::size_t visit_index);
    const char* draw_error();

    /// The world is at rest: nothing more will happen before time passes.
    void check_rest();

    /// The same with the pool's own view.
    void check_status(const pool_status& status);
    void check_load(const load_view& load, const pool_status& status);
    void check_metrics(const pool_metrics& metrics);

    /// The pool is gone, and nothing will ever happen again.
    void check_end(bool context_was_destroyed);

    void wrong(std::string what) { world_.violated(std::move(what)); }
    std::size_t open_calls() const;

    int runtimes = 0;

    /// Whether an allocation has failed: an event may be lost then.
    bool out_of_memory() const noexcept { return world_.has_lacked_memory(); }

private:
    /// A worker that has had nothing to do, and how many calls it had been sent until then.
    struct idle_since {
        time_point since;
        std::uint64_t sent;
    };
    using idle_workers = std::map<worker_id, idle_since>;
    struct session_record {
        sim_worker* home = nullptr; ///< that was sent its last call
        time_point home_since;
        time_point used;
        std::optional<time_point> forgotten; ///< at the latest
        std::optional<time_point> lost_home; ///< when it last went elsewhere because that was gone
        bool is_bound_by_others = false;     ///< than calls: by bind_session(), or by a lease
        time_point bound;                    ///< by bind_session(), at the latest
    };
    /// Events of a kind that counters count too.
    struct told {
        std::uint64_t succeeded = 0;
        std::uint64_t failed = 0;
        std::uint64_t failures = 0; ///< by request.failed
        std::uint64_t retried = 0;
        std::uint64_t recalled = 0;
        std::uint64_t workers_started = 0;
        std::uint64_t missed_pings = 0;
        std::uint64_t scale_ups = 0;
        std::uint64_t scale_downs = 0;
        std::uint64_t sent = 0; ///< calls that are over and had been sent
        std::uint64_t call_spans = 0;
        std::uint64_t run_spans = 0;
        std::map<std::string, std::uint64_t> outcomes;
    };
    struct scaling_seen {
        std::size_t desired = 0;
        std::uint64_t ups = 0;
        std::uint64_t downs = 0;
    };

    bool late() const noexcept { return world_.stalled() > duration::zero(); }
    bool may_stop_workers() const noexcept;
    bool may_be_unavailable() const;
    bool was_overdue(const sim_worker& which) const;
    bool may_have_been_overdue(const sim_worker& which) const;
    bool was_to_be_replaced(const sim_worker& which) const;
    bool was_sick(const sim_worker& which) const;
    bool may_await_probe(const sim_worker& which) const;
    void check_probed(const worker_status& shown, const sim_worker& real);
    bool may_be_at_dead(const call_record& call) const;
    bool may_be_at_lost(const call_record& call) const;
    static bool is_past_cancelling(const call_record& call);
    bool is_to_be_drained(const call_record& call) const;
    void check_report();
    void complete(call_record& call);
    void check_exit(const worker_exit& told);
    bool has_crashed_workers(const call_record& call) const;
    void check_code(const call_record& call, const error& failure);
    void check_lost(const call_record& call);
    bool was_ahead(const call_record& call) const;
    void check_time(const call_record& call, const error& failure);
    bool was_answered_with(const call_record& call, errc code) const;
    static errc code_of_error(const call_record& call, const visit& stay);
    void check_open_call(const call_record& call);
    bool may_have_failed_to_start() const;
    void check_tries() const;
    duration wait_before_next_try() const;
    void check_worker(sim_worker& which);
    void check_given_up(const sim_worker& which);
    void check_backoff(const sim_worker& fresh);
    void check_taint(const sim_worker& fresh);
    void check_suspended(const sim_worker& fresh);
    void check_in_vain(const sim_worker& fresh);
    void check_drained(const sim_worker& which);
    void check_retry(const call_record& call);
    void check_given_back_before(const call_record& call, const sim_worker& to);
    void check_batch(const call_record& call, const visit& fresh);
    static bool was_surely_crash(const visit& stay);
    static bool was_surely_in_crashed_batch(const call_record& call);
    std::size_t most_in_batch(const std::string& command) const;
    void check_failure(const pool_status& status);
    void check_scaling(const pool_status& status);
    void check_sizes(const pool_status& status);
    void check_call_counters(const pool_counters& counters);
    void check_events(const pool_counters& counters);
    void check_transition(const events::worker_transition& passed);
    void check_departure(const events::worker_terminated& told);
    void check_causes_told();
    void agree(std::string_view one, std::string_view other, std::string_view what, std::uint64_t first,
               std::uint64_t second);
    void check_second_sends(const pool_counters& said);
    void check_worker_counters(const pool_status& status);
    void check_workers(const pool_status& status);
    void check_worker_status(const worker_status& shown, const sim_worker& real);
    void check_age(const worker_status& shown);
    void check_free_workers(const pool_status& status);
    std::size_t most_ahead(const sim_worker& to) const;
    void check_recalled();
    bool has_room(const worker_status& shown, const sim_worker& real, std::size_t may_be_pipelined) const;
    bool is_idle_for_long(const worker_status& shown, const sim_worker& real, const idle_workers& before);
    void check_order(const pool_status& status);
    void check_waits(const pool_status& status);
    void check_wait(const wait& open, const pool_status& status);
    void check_vacancies(const pool_status& status);
    void check_gone(const sim_worker& which, bool context_was_destroyed);
    void check_tools();
    void check_tool(const tool_record& which);
    void check_tools_are_over();
    void check_ended_for_tools();
    void check_circle(const pool_status& status);
    void check_session(const call_record& call, sim_worker& to);
    bool may_be_anew(const call_record& call, const session_record& known) const;
    bool may_be_anew(const std::string& session, time_point submitted, const session_record& known,
                     const call_record* call = nullptr) const;
    bool has_expired_by(const std::string& session, time_point submitted, const session_record& known,
                        const call_record* call) const;
    static bool is_in_use_by(const call_record& call);
    std::size_t sessions_besides(const std::string& session, time_point submitted) const;
    void check_cause(const call_record& call, const error& failure);
    time_point last_use_of(const std::string& session) const;
    bool is_surely_serving(const sim_worker& which) const;
    void check_lost_to_session(const call_record& call);
    void check_wish(const lease_record& lease, const sim_worker& home);
    bool is_wish_gone(const lease_record& lease) const;
    void check_wait_for_home(const call_record& call);
    bool is_of_forgotten(const call_record& call) const;
    void check_session_order(const pool_status& status);
    std::size_t sessions_in_use() const;
    static std::size_t places_of(const lease_record& lease, const sim_worker& home);
    static std::size_t calls_at_worker(const lease_record& lease);
    static bool is_kept(const lease_record& lease);
    std::size_t places_kept(const sim_worker& at) const;
    void check_checkouts_before(const call_record& call, const sim_worker& to);
    void check_places(const call_record& call, const sim_worker& to);
    void check_left_alone(const sim_worker& stopped, std::string_view how);
    bool is_well(const sim_worker& which) const;
    void check_lost_with_lease(const call_record& call);
    bool may_be_beyond_limit(const call_record& refused) const;
    static bool is_nested_in_lease(const call_record& call);
    std::size_t open_checkouts() const;
    bool is_any_leased() const;
    static std::size_t common_load(const sim_worker& at);
    std::size_t leased_load(const sim_worker& at) const;
    std::size_t resets_begun() const;
    void check_leases();
    void check_leased_call(const call_record& call);
    void check_leases(const pool_status& status);
    void check_leases_of(const sim_worker& real, const worker_status& shown);
    std::set<const call_record*> calls_that_wait_for_others() const;
    bool may_have_nobody_left() const;
    bool has_idle_worker(const call_record& refused) const;
    std::string about(const tool_record& asked) const;
    std::string about(const call_record& call) const;
    static std::string about(const lease_record& lease);
    sim_worker* find(const worker_id& id) const;

    world& world_;
    const pool_config& config_;
    const climate& weather_;
    oracle_templates templates_;
    std::deque<call_record> calls_;
    std::unordered_map<std::string, call_record*> by_token_;
    std::vector<std::shared_ptr<sim_worker>> workers_;
    std::map<worker_id, sim_worker*> by_id_;
    std::map<std::uint32_t, std::vector<sim_worker*>> by_slot_;
    std::set<std::size_t> open_; ///< numbers of the calls that are
    std::map<std::string, session_record> sessions_;
    std::optional<oracle_store> store_;
    std::deque<lease_record> leases_;
    std::deque<tool_record> tools_;
    std::vector<tool_record*> open_tools_;            ///< and some that are not
    std::vector<const call_record*> ended_for_tools_; ///< as nobody waited for their tools; to be checked
    size_limits limits_;
    std::size_t expected_size_ = 0;
    scaling_seen last_scaling_;
    bool are_events_told_ = false;
    told told_;
    std::uint64_t returned_ = 0;                    ///< calls, perhaps when nobody waited for them any more
    std::map<worker_id, worker_state> told_states_; ///< by transitions
    std::map<worker_id, transition_reason> told_stops_; ///< why each was stopped, likewise
    std::map<worker_id, std::string> told_ends_;        ///< why each has ended, by worker.terminated
    std::vector<std::pair<worker_id, std::string>> causes_of_loss_; ///< that callers were told
    time_point newest_sent_; ///< of the last call that went to a worker at once, or in its turn
    bool started_ = false;
    bool running_ = false;
    bool start_failed_ = false;
    time_point last_failed_start_ = time_point::min();
    bool shutting_down_ = false;
    bool destroyed_ = false;
    bool resized_ = false;
    bool restarts_ = false;
    std::optional<time_point> running_since_;
    std::set<worker_id> suspended_; ///< each by itself, at some time
    std::map<std::uint64_t, wait> waits_;
    std::uint64_t last_wait_ = 0;
    std::optional<time_point> pool_suspension_asked_;
    bool known_resumed_ = false;   ///< and not asked to suspend since
    bool known_suspended_ = false; ///< the pool has said so, and nobody has asked it to resume since
    time_point known_suspended_since_;
    std::optional<time_point> shutdown_asked_;
    std::optional<time_point> start_asked_;
    std::optional<shutdown_report> report_;        ///< not compared yet
    std::map<worker_id, time_point> vacant_since_; ///< by the one to come
    /// A start of a pool of a manager.
    struct start_try {
        time_point began;
        std::optional<time_point> ended;
        bool failed = false;
    };
    bool is_managed_ = false;
    bool is_restarted_ = false; ///< by its manager, if it has failed to start
    std::deque<start_try> tries_;
    int failed_tries_ = 0; ///< in a row
    time_point last_user_start_{};
    bool is_probe_asked_ = false;                      ///< by a user
    std::uint64_t pings_asked_ = 0;                    ///< by users
    std::map<worker_id, std::uint64_t> overdue_;       ///< for a probe: calls answered by then
    idle_workers idle_;                                ///< while calls wait
    std::map<worker_id, std::uint64_t> known_leaving_; ///< seen so, and at which step
};

} // namespace skep::simulation
