// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include "pool/pool_core.hpp"
#include "simulation/oracle.hpp"
#include "simulation/scenario.hpp"
#include "simulation/world.hpp"
#include <skep/load_view.hpp>
#include <skep/pool.hpp>
#include <skep/pool_manager.hpp>
#include <skep/pool_metrics.hpp>
#include <skep/session_store.hpp>

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>

namespace skep::simulation {

/// What a pool says of itself.
struct pool_figures {
    pool_metrics metrics;
    load_view load;
};

/// The callers of a pool: each operation is a coroutine on one of the callers' executors.
class users {
public:
    users(world& in, oracle& judge, const scenario& script);

    /// The pool that they use from now on, and the manager that passes their calls on, if there is one.
    void use(pool* which, pool_manager* manager) {
        pool_ = which;
        manager_ = manager;
    }

    /// Has everything that the scenario says happen in its time, but for the end.
    void schedule();

    /// Nothing new is begun.
    void on_ending() { ending_ = true; }

    /// Gives back the leases that have been forgotten, before or after the pool is gone.
    void drop_leases();

    /// Takes the pool's status and has the oracle compare it.
    void inspect();
    void want_inspection() { is_inspection_wanted_ = true; }
    bool wants_inspection() { return std::exchange(is_inspection_wanted_, false); }

    /// A call that a tool makes for another one.
    asio::awaitable<void> call_for(call_record& outer);

    /// What workers are to be served with from now on.
    void use_tools(tool_handler help) { help_ = std::move(help); }

    /// Operations that have not ended.
    std::size_t open_operations() const noexcept { return open_; }

    /// The status that was asked for, once it is there.
    std::optional<pool_figures> take_inspection() { return std::exchange(seen_, std::nullopt); }

private:
    using operation = std::function<asio::awaitable<void>(pool&)>;
    using outcome = std::function<void(const error*)>;

    void start(duration when);
    void call(duration when);
    void draw_call(call_record& fresh);
    void draw_large_blobs(call_record& fresh) const;
    void apply_command(call_record& fresh) const;
    void draw_asking(call_record& fresh);
    request to_request(call_record& call) const;
    void make_call(call_record& which, std::size_t run_queue);
    asio::awaitable<void> run_call(call_record& which);
    call_interface& with(const call_record& call);
    asio::awaitable<reply_stream> open_stream(const call_record& call, request what);
    asio::awaitable<void> read_stream(call_record& which, request what);
    timer make_pause(std::size_t run_queue);
    asio::awaitable<void> run_loop(std::size_t run_queue);
    asio::awaitable<void> run_operation(std::string name, operation what, outcome ended);
    asio::awaitable<void> run_inspection();
    void begin(std::string name, operation what, outcome ended = {});
    void begin_wait(oracle::wait wait, std::string name, operation what);
    void resume();
    void change(duration when);
    void inspect(duration when);
    asio::awaitable<void> probe(pool& of, worker_id which);
    asio::awaitable<void> probe_all(pool& of);
    asio::awaitable<void> ping(pool& of, worker_id which);
    asio::awaitable<void> await_end(pool& of, worker_id which);
    void forget_session(duration when);
    void bind_session(duration when);
    void use_store(duration when);
    asio::awaitable<void> create_session(std::string id);
    asio::awaitable<void> read_session(std::string id);
    asio::awaitable<void> touch_session(std::string id);
    asio::awaitable<void> update_session(std::string id);
    asio::awaitable<void> remove_session(std::string id);
    asio::awaitable<void> clean_up_sessions(std::string id);
    asio::awaitable<void> count_sessions(std::string id);
    void lease(duration when);
    void draw_lease(lease_record& fresh);
    checkout_options to_options(lease_record& which) const;
    void cancel_checkout(lease_record& which, std::size_t run_queue);
    asio::awaitable<void> hold(lease_record& which, std::size_t run_queue);
    asio::awaitable<void> check_out(lease_record& which);
    asio::awaitable<void> give_back(lease_record& which, std::size_t run_queue);
    worker_id some_worker() const;

    world& world_;
    oracle& oracle_;
    const scenario& script_;
    pool* pool_ = nullptr; ///< null: gone
    pool_manager* manager_ = nullptr;
    tool_handler help_;
    std::size_t open_ = 0;
    std::optional<pool_figures> seen_;
    std::optional<pool_status> last_seen_;
    bool is_inspecting_ = false;
    bool is_inspection_wanted_ = false;
    bool ending_ = false;
};

} // namespace skep::simulation
