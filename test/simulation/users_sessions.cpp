// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

// Those who have to do with sessions, but for their calls.

#include "simulation/users.hpp"

namespace skep::simulation {

using namespace std::chrono_literals;

namespace {

/// What a user's own code may fail with.
struct change_failed : std::exception {};

} // namespace

void users::forget_session(duration when) {
    world_.after(when, [this] {
        const auto session = "s" + std::to_string(world_.chance.below(script_.sessions));
        const auto forget = [this, session](pool& of) -> asio::awaitable<void> {
            oracle_.on_forget_asked(session);
            auto forgetting = of.forget_session(session);
            co_await std::move(forgetting);
            oracle_.on_forget_asked(session);
        };
        begin("forget " + session, forget, nullptr);
    });
}

/// To the worker of a slot, which may have ended; asks who serves the session then.
void users::bind_session(duration when) {
    world_.after(when, [this] {
        const auto which = world_.chance.below(script_.sessions);
        const auto session = "s" + std::to_string(which);
        const auto worker = some_worker();
        const auto bind = [this, session, worker, which](pool& of) -> asio::awaitable<void> {
            oracle_.on_bind_asked(session);
            const auto asked = world_.now();
            std::optional<errc> refusal;
            try {
                auto binding = of.bind_session(session, worker, static_cast<affinity_mode>(which % 3));
                co_await std::move(binding);
            } catch (const error& problem) {
                refusal = problem.kind();
            }
            oracle_.on_bound(session, worker, asked, refusal);
            if (pool_ == nullptr) { // it was destroyed meanwhile
                co_return;
            }
            auto asking = of.session_worker(session);
            const auto known = co_await std::move(asking);
            oracle_.on_session_shown(session, known);
        };
        begin("bind " + session + " to " + to_string(worker), bind, nullptr);
    });
}

void users::use_store(duration when) {
    world_.after(when, [this] {
        auto& chance = world_.chance;
        const auto id =
            "s" + std::to_string(chance.below(script_.sessions + 2)); // of some there are no calls
        using step = asio::awaitable<void> (users::*)(std::string);
        const auto what =
            chance.pick<step>({&users::create_session, &users::create_session, &users::read_session,
                               &users::touch_session, &users::update_session, &users::remove_session,
                               &users::clean_up_sessions, &users::count_sessions});
        const auto use = [this, what, id](pool&) -> asio::awaitable<void> {
            auto using_it = (this->*what)(id);
            co_await std::move(using_it);
        };
        begin("a use of the store, session " + id, use, [this, id](const error* problem) {
            if (problem != nullptr) {
                oracle_.store().lose_track_of(id);
            }
        });
    });
}

asio::awaitable<void> users::create_session(std::string id) {
    session_data initial;
    initial.metadata("changes", 0).ttl(world_.chance.pick<duration>({0ms, 0ms, 20ms, 2s}));
    std::optional<error> failure;
    try {
        auto creating = script_.config.sessions->create(id, std::move(initial));
        const auto created = co_await std::move(creating);
        oracle_.store().on_created(id, created);
    } catch (const error& refused) {
        failure = refused;
    }
    if (failure && failure->kind() != errc::session_quota_exceeded) {
        throw error(*failure);
    }
    if (failure) {
        oracle_.store().on_refused(id);
    }
}

asio::awaitable<void> users::read_session(std::string id) {
    const auto how = world_.chance.pick({session_access::look, session_access::touch});
    auto& store = *script_.config.sessions;
    auto reading = how == session_access::look ? store.peek(id) : store.get(id);
    const auto found = co_await std::move(reading);
    oracle_.store().on_read(id, found, how);
}

asio::awaitable<void> users::touch_session(std::string id) {
    auto touching = script_.config.sessions->touch(id);
    const bool was_there = co_await std::move(touching);
    oracle_.store().on_touched(id, was_there);
}

asio::awaitable<void> users::update_session(std::string id) {
    const bool fails = world_.chance.chance(0.3);
    const auto count = [fails](session_data& data) {
        data.metadata("changes", data.metadata().at("changes").as_int64() + 1);
        if (fails) {
            throw change_failed();
        }
    };
    bool is_gone = false;
    try {
        auto updating = script_.config.sessions->update(id, count);
        const auto changed = co_await std::move(updating);
        oracle_.store().on_updated(changed);
    } catch (const change_failed&) {
    } catch (const error& failure) {
        is_gone = failure.kind() == errc::session_not_found;
        if (!is_gone) {
            throw;
        }
    }
    if (is_gone) {
        oracle_.store().on_not_updated(id);
    }
}

asio::awaitable<void> users::remove_session(std::string id) {
    auto removing = script_.config.sessions->remove(id);
    const bool was_there = co_await std::move(removing);
    oracle_.store().on_removed(id, was_there);
    if (was_there) {
        oracle_.on_forget_asked(id);
    }
}

asio::awaitable<void> users::clean_up_sessions(std::string) {
    auto cleaning = script_.config.sessions->cleanup_expired();
    co_await std::move(cleaning);
    auto asking = script_.config.sessions->stats();
    const auto stats = co_await std::move(asking);
    oracle_.store().on_cleaned(stats);
}

asio::awaitable<void> users::count_sessions(std::string) {
    auto asking = script_.config.sessions->stats();
    const auto stats = co_await std::move(asking);
    oracle_.store().on_stats(stats);
}

} // namespace skep::simulation
