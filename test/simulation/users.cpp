// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "simulation/users.hpp"

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_state.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <algorithm>

namespace skep::simulation {

using namespace std::chrono_literals;

namespace {

// For so long a steady load lasts.
constexpr duration steady_load = 10s;

asio::any_io_executor executor_of(run_queue& which) {
    return run_queue_executor(which);
}

} // namespace

users::users(world& in, oracle& judge, const scenario& script)
    : world_(in), oracle_(judge), script_(script) {}

void users::schedule() {
    auto& chance = world_.chance;
    if (manager_ == nullptr) {
        start(script_.steady || chance.chance(0.9) ? 0ms : chance.between(0ms, 500ms));
    }
    if (chance.chance(0.1)) {
        start(chance.between(0ms, 3s)); // which is once too often, or once more after a failure
    }
    for (std::size_t left = script_.calls; left > 0;) {
        const auto when = chance.between(0ms, script_.length);
        const auto burst = chance.chance(0.2) ? std::min(left, chance.among(2, 12)) : 1;
        for (std::size_t i = 0; i < burst; ++i) {
            call(when);
        }
        left -= burst;
    }
    for (std::size_t i = 0; i < script_.loops; ++i) {
        world_.after(chance.between(0ms, 200ms), [this, i] {
            ++open_;
            asio::co_spawn(executor_of(world_.caller_run_queue(i)), run_loop(i),
                           [this](std::exception_ptr) { --open_; });
        });
    }
    for (std::size_t i = 0; i < script_.sessions; ++i) {
        forget_session(chance.between(0ms, script_.length));
        bind_session(chance.between(0ms, script_.length));
    }
    for (std::size_t i = 0; i < script_.store_uses; ++i) {
        use_store(chance.between(0ms, script_.length));
    }
    for (std::size_t i = 0; i < script_.leases; ++i) {
        lease(chance.between(0ms, script_.length));
    }
    for (std::size_t i = 0; i < script_.changes; ++i) {
        change(chance.between(0ms, script_.length));
    }
    for (std::size_t i = 0; i < script_.inspections; ++i) {
        inspect(chance.between(0ms, script_.length));
    }
    if (script_.steady) {
        for (const auto when : {steady_load - 1s, script_.length - 100ms}) {
            world_.after(when, [this, is_busy = when < steady_load] {
                oracle_.expect_size(is_busy ? 2 : 1);
                is_inspection_wanted_ = true;
            });
        }
    }
}

void users::start(duration when) {
    world_.after(when, [this] {
        oracle_.on_start_asked();
        oracle_.on_user_start();
        begin(
            "start", [](pool& of) { return of.start(); },
            [this](const error* problem) {
                if (problem == nullptr) {
                    oracle_.on_started();
                } else if (problem->kind() == errc::cancelled) {
                    oracle_.on_start_failed(); // which nobody will hear of
                } else if (problem->kind() == errc::start_failed) {
                    oracle_.on_start_failed();
                    oracle_.check_start_failure("a start", *problem);
                    if (manager_ == nullptr && world_.chance.chance(0.7)) {
                        start(world_.chance.between(0ms, 500ms));
                    }
                }
            });
    });
}

void users::draw_call(call_record& fresh) {
    const spared_by_faults here;
    auto& chance = world_.chance;
    const auto& config = script_.config;
    if (script_.steady) {
        fresh.command = "work";
        fresh.input = static_cast<int>(fresh.number);
        fresh.timeout = config.request_timeout;
        fresh.queue_timeout = config.queue.timeout;
        return;
    }
    fresh.command = chance.chance(0.05) ? chance.pick({"unknown", "picky"}) : "work";
    fresh.input = chance.chance(0.1) ? 7 : static_cast<int>(fresh.number) + 100;
    fresh.padding = chance.chance(0.05) ? chance.among(100, 20'000) : chance.below(20);
    if (chance.chance(0.1)) {
        fresh.blobs.resize(chance.among(1, 3));
        for (auto& each : fresh.blobs) {
            each = chance.below(2'000);
        }
    }
    if (config.shared.enabled) {
        draw_large_blobs(fresh);
    }
    fresh.batch_key = chance.chance(0.2) ? "key" : "";
    fresh.is_stream = chance.chance(0.25);
    if (fresh.is_stream) {
        fresh.chunks = chance.among(1, 20) - 1;
        if (chance.chance(0.2)) {
            fresh.leaves_after = chance.below(fresh.chunks + 1);
        }
    }
    if (script_.tools > 0) {
        draw_asking(fresh);
    }
    fresh.says_idempotent = config.commands.empty() || chance.chance(0.5);
    fresh.idempotent = fresh.says_idempotent && chance.chance(0.4);
    fresh.sendable = !chance.chance(0.01);
    fresh.timeout = fresh.is_stream ? config.stream.timeout : config.request_timeout;
    if (chance.chance(0.3)) {
        fresh.timeout = chance.chance(0.1) ? duration(0) : chance.between(1ms, 5s);
        fresh.has_timeout = true;
    }
    fresh.queue_timeout = config.queue.timeout;
    if (chance.chance(0.2)) {
        fresh.queue_timeout = chance.chance(0.2) ? duration(0) : chance.between(1ms, 3s);
        fresh.has_queue_timeout = true;
    }
    apply_command(fresh);
    if (script_.sessions > 0 && fresh.outer == nullptr && chance.chance(0.7)) {
        const auto which = chance.below(script_.sessions);
        fresh.session = "s" + std::to_string(which);
        fresh.mode = static_cast<affinity_mode>(which % 3);
        const bool is_hint_for_once = fresh.mode != affinity_mode::hint && chance.chance(0.15);
        fresh.mode = is_hint_for_once ? affinity_mode::hint : fresh.mode;
    }
    if (chance.chance(0.1)) {
        fresh.deadline_given = world_.now() + chance.between(0ms, 5s) - (chance.chance(0.1) ? 1s : 0s);
    }
}

/// Attachments of sizes that are lent, and some that are not.
void users::draw_large_blobs(call_record& fresh) const {
    auto& chance = world_.chance;
    if (chance.chance(script_.weather.large_blobs)) {
        fresh.blobs.resize(chance.among(1, 4));
        for (auto& each : fresh.blobs) {
            each = chance.chance(0.1) ? chance.below(900'000) : chance.below(20'000);
        }
    }
}

/// What the configuration says of its command, where the call says nothing.
void users::apply_command(call_record& fresh) const {
    const auto found = script_.config.commands.find(fresh.command);
    if (found == script_.config.commands.end()) {
        return;
    }
    const auto& options = found->second;
    if (options.timeout && !fresh.has_timeout) {
        fresh.timeout = *options.timeout;
    }
    if (options.queue_timeout && !fresh.has_queue_timeout) {
        fresh.queue_timeout = *options.queue_timeout;
    }
    if (options.idempotent && !fresh.says_idempotent) {
        fresh.idempotent = *options.idempotent;
    }
}

/// What its worker does besides.
void users::draw_asking(call_record& fresh) {
    auto& chance = world_.chance;
    constexpr int deepest = 2;
    int depth = 0;
    for (const auto* outer = fresh.outer; outer != nullptr; outer = outer->outer) {
        ++depth;
    }
    if (depth < deepest && chance.chance(script_.tools)) {
        fresh.asks = chance.among(1, 4);
        fresh.asks_at_once = chance.among(1, 2);
    }
    fresh.is_watched = chance.chance(0.3);
}

asio::awaitable<void> users::call_for(call_record& outer) {
    auto& fresh = oracle_.new_call();
    fresh.outer = &outer;
    draw_call(fresh);
    fresh.correlation = world_.chance.chance(0.5) ? outer.correlation : fresh.token;
    fresh.lease = outer.lease != nullptr && world_.chance.chance(0.5) ? outer.lease : nullptr;
    auto one = run_call(fresh);
    co_await std::move(one);
}

request users::to_request(call_record& call) const {
    const spared_by_faults here;
    request result(call.command);
    result.arg("input", call.input).arg("padding", std::string(call.padding, 'x'));
    if (!call.sendable) {
        result.arg("bad", std::numeric_limits<double>::quiet_NaN());
    }
    call.is_sealed.clear();
    for (const auto each : call.blobs) {
        const auto letter = static_cast<char>('a' + each % 26);
        call.is_sealed.push_back(each > 0 && script_.config.shared.enabled && world_.chance.chance(0.3));
        if (call.is_sealed.back()) {
            result.attach(make_shared_attachment(world_.chance, each, letter));
        } else {
            result.attach(std::vector<std::byte>(each, static_cast<std::byte>(letter)));
        }
    }
    if (call.says_idempotent) {
        result.idempotent(call.idempotent);
    }
    if (call.correlation == call.token) {
        result.correlation_id(call.token);
    } else { // it is to have that of the call it is made for
        result.arg("token", call.token);
    }
    if (!call.batch_key.empty()) {
        result.batch_key(call.batch_key);
    }
    if (call.is_watched) {
        result.on_progress([this, &call](const progress& newest) { oracle_.on_progress(call, newest); });
    }
    if (call.asks > 0 && call.number % 3 == 0) {
        result.tool("help", help_);
    }
    const bool may_say_nothing = manager_ != nullptr && pool_ == &manager_->get() && call.number % 2 == 0;
    if (manager_ != nullptr && call.lease == nullptr && !may_say_nothing) {
        result.pool(script_.config.name);
    }
    if (!call.session.empty()) {
        result.session(call.session).affinity(call.mode);
    }
    if (call.has_timeout) {
        result.timeout(call.timeout);
    }
    if (call.has_queue_timeout) {
        result.queue_timeout(call.queue_timeout);
    }
    if (call.deadline_given) {
        result.deadline(*call.deadline_given);
    }
    return result;
}

void users::call(duration when) {
    world_.after(when, [this] {
        auto& fresh = oracle_.new_call();
        draw_call(fresh);
        make_call(fresh, world_.chance.below(world::callers));
    });
}

void users::make_call(call_record& which, std::size_t run_queue) {
    ++open_;
    auto token = asio::bind_cancellation_slot(which.cancel.slot(), [this](std::exception_ptr) { --open_; });
    asio::co_spawn(executor_of(world_.caller_run_queue(run_queue)), run_call(which), std::move(token));
    if (world_.chance.chance(script_.cancels)) {
        const auto when = world_.chance.chance(0.3) ? 0ms : world_.chance.between(0ms, 2s);
        const auto how =
            world_.chance.pick({asio::cancellation_type::terminal, asio::cancellation_type::partial,
                                asio::cancellation_type::total});
        world_.after(when, [this, &which, run_queue, how] {
            // On its own thread, as it has to be.
            run_queue_executor(world_.caller_run_queue(run_queue)).execute([this, &which, how] {
                if (which.begun && !which.completed) {
                    const spared_by_faults here;
                    world_.trace(which.token + " is cancelled");
                    which.cancelled = world_.now();
                    which.cancelled_how = how;
                    which.cancel.emit(how);
                }
            });
        });
    }
}

asio::awaitable<void> users::run_call(call_record& which) {
    const auto every_type = asio::enable_total_cancellation();
    co_await asio::this_coro::reset_cancellation_state(every_type);
    if (!pool_) {
        co_return;
    }
    if (which.lease != nullptr && !which.lease->is_held()) {
        co_return;
    }
    auto what = to_request(which);
    oracle_.on_begun_call(which);
    std::exception_ptr problem;
    try {
        if (which.is_stream) {
            auto reading = read_stream(which, std::move(what));
            co_await std::move(reading);
        } else {
            auto running = with(which).execute(std::move(what));
            const auto answer = co_await std::move(running);
            oracle_.on_reply(which, answer);
        }
    } catch (...) {
        problem = std::current_exception();
    }
    if (problem) {
        oracle_.on_failed(which, problem);
    }
}

/// Whoever makes such calls.
call_interface& users::with(const call_record& call) {
    if (call.lease != nullptr) {
        return call.lease->held;
    }
    if (manager_ != nullptr) {
        return *manager_;
    }
    return *pool_;
}

asio::awaitable<reply_stream> users::open_stream(const call_record& call, request what) {
    if (call.lease != nullptr) {
        return call.lease->held.stream(std::move(what));
    }
    return manager_ != nullptr ? manager_->stream(std::move(what)) : pool_->stream(std::move(what));
}

asio::awaitable<void> users::read_stream(call_record& which, request what) {
    auto opening = open_stream(which, std::move(what));
    auto stream = co_await std::move(opening);
    which.was_opened = true;
    while (which.leaves_after != which.received) {
        auto waiting = stream.next();
        const auto piece = co_await std::move(waiting);
        if (!piece) {
            oracle_.on_reply(which, stream.result());
            co_return;
        }
        oracle_.on_chunk(which, *piece);
    }
    oracle_.on_left(which);
}

timer users::make_pause(std::size_t run_queue) {
    const spared_by_faults here;
    return timer(strand(executor_of(world_.caller_run_queue(run_queue))));
}

asio::awaitable<void> users::run_loop(std::size_t run_queue) {
    auto left = script_.calls_per_loop;
    while (!ending_ && pool_ && left-- > 0 && !(script_.steady && world_.age() > steady_load)) {
        auto& fresh = oracle_.new_call();
        draw_call(fresh);
        auto one = run_call(fresh);
        co_await std::move(one);
        if (script_.steady) {
            continue;
        }
        auto pause = make_pause(run_queue);
        pause.expires_after(world_.chance.between(script_.shortest_pause, script_.longest_pause));
        co_await pause.async_wait(asio::use_awaitable);
    }
}

asio::awaitable<void> users::run_operation(std::string name, operation what, outcome ended) {
    const auto every_type = asio::enable_total_cancellation();
    co_await asio::this_coro::reset_cancellation_state(every_type);
    if (!pool_) {
        co_return;
    }
    world_.trace(name);
    std::exception_ptr problem;
    try {
        auto running = what(*pool_);
        co_await std::move(running);
    } catch (...) {
        problem = std::current_exception();
    }
    const auto failure = oracle_.on_operation_ended(name, problem);
    if (ended) {
        const error aborted(errc::cancelled, {}); // by Asio
        ended(failure ? &*failure : problem ? &aborted : nullptr);
    }
}

void users::begin(std::string name, operation what, outcome ended) {
    ++open_;
    const auto signal = std::make_shared<asio::cancellation_signal>();
    auto token =
        asio::bind_cancellation_slot(signal->slot(), [this, signal](std::exception_ptr) { --open_; });
    const auto run_queue = world_.chance.below(world::callers);
    asio::co_spawn(executor_of(world_.caller_run_queue(run_queue)),
                   run_operation(std::move(name), std::move(what), std::move(ended)), std::move(token));
    if (world_.chance.chance(script_.cancels / 4)) {
        world_.after(world_.chance.between(1ms, 1s), [this, run_queue, weak = std::weak_ptr(signal)] {
            run_queue_executor(world_.caller_run_queue(run_queue)).execute([weak] {
                if (const auto signal = weak.lock()) {
                    signal->emit(asio::cancellation_type::terminal);
                }
            });
        });
    }
}

/// The same for what has to end when something has come about.
void users::begin_wait(oracle::wait wait, std::string name, operation what) {
    const auto number = std::make_shared<std::uint64_t>(0);
    auto begun = [this, wait = std::move(wait), what = std::move(what), number](pool& of) {
        *number = oracle_.on_wait(wait);
        return what(of);
    };
    begin(std::move(name), std::move(begun),
          [this, number](const error* problem) { oracle_.on_wait_ended(*number, problem); });
}

asio::awaitable<void> users::run_inspection() {
    auto asking = pool_->metrics();
    auto metrics = co_await std::move(asking);
    const spared_by_faults here;
    last_seen_ = metrics.status;
    seen_ = {std::move(metrics), pool_->load()};
}

void users::inspect() {
    if (!pool_ || is_inspecting_) {
        return;
    }
    is_inspecting_ = true;
    ++open_;
    asio::co_spawn(executor_of(world_.caller_run_queue(0)), run_inspection(), [this](std::exception_ptr) {
        --open_;
        is_inspecting_ = false;
    });
}

} // namespace skep::simulation
