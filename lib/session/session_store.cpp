// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "async/checkpoint.hpp"
#include "core/with_detail.hpp"
#include "session/memory_backend.hpp"
#include "session/quota_watch.hpp"
#include "session/session_observers.hpp"
#include "session/session_rules.hpp"
#include <skep/awaitable.hpp>
#include <skep/error.hpp>
#include <skep/event_bus.hpp>
#include <skep/session_store.hpp>

#include <boost/asio/awaitable.hpp>
#include <boost/asio/this_coro.hpp>

#include <algorithm>
#include <atomic>
#include <string>
#include <utility>

namespace skep {

namespace json = boost::json;

namespace {

/// Sessions examined in one turn. Freeing a session with a thousand values takes about 20 us.
constexpr std::size_t swept_per_turn = 128;

/// Attempts of an update while others change the session first.
constexpr int most_attempts = 10'000;

/// Returns the number of sweeps that visit each of `count` sessions once. The ends of a backend's parts cost
/// a few more.
std::size_t sweeps_for(std::size_t count) noexcept {
    return std::min(count, largest_session_quota) / swept_per_turn + 2;
}

[[noreturn]] void throw_not_found() {
    throw error(errc::session_not_found, {});
}

} // namespace

/// The state shared by the store and its operations in flight.
class session_service {
public:
    using ptr = std::shared_ptr<session_service>;

    template <class T>
    using awaitable = asio::awaitable<T>;

    session_service(session_options service_options, std::shared_ptr<session_backend> backend)
        : options(std::move(service_options)), backend_(std::move(backend)), quota_(options.quota) {}

    static awaitable<session> create(ptr self, std::string id, session_data initial);
    static awaitable<std::optional<session>> find(ptr self, std::string id, session_access access);
    static awaitable<session> update(ptr self, std::string id, std::function<void(session_data&)> change);
    static awaitable<bool> touch(ptr self, std::string id);
    static awaitable<bool> record_worker(ptr self, std::string id, worker_id worker);
    static awaitable<bool> remove(ptr self, std::string id);
    static awaitable<void> put_program(ptr self, std::string id, std::string name, json::value program);
    static awaitable<std::optional<json::value>> get_program(ptr self, std::string id, std::string name);
    static awaitable<bool> delete_program(ptr self, std::string id, std::string name);
    static awaitable<std::size_t> cleanup_expired(ptr self);
    static awaitable<session_store_stats> stats(ptr self);

    void on_expired(const std::string& id, time_point expiry_time) {
        observers.notify_expiry(id, expiry_time);
        publish<events::session_expired>([&] { return events::session_expired{id}; });
    }

    const session_options options;
    session_observers observers;

private:
    /// Completes and checks the data of a session: sets the default ttl if none is given.
    void complete(session_data& data) const;
    void warn_of(std::size_t count) noexcept;

    template <class E, class Make>
    void publish(Make&& make) const noexcept {
        if (options.events) {
            options.events->emit<E>(std::forward<Make>(make));
        }
    }

    std::shared_ptr<session_backend> backend_;
    quota_watch quota_;
    std::atomic<std::uint64_t> created_{0};
    std::atomic<std::uint64_t> deleted_{0};
    std::atomic<std::uint64_t> cleanup_runs_{0};
};

void session_service::complete(session_data& data) const {
    if (data.ttl() == duration::zero()) {
        data.ttl(options.ttl);
    }
    check_session_ttl(data.ttl());
}

void session_service::warn_of(std::size_t count) noexcept {
    if (!quota_.warns_at(count)) {
        return;
    }
    publish<events::session_quota_warning>([&] {
        return events::session_quota_warning{count, options.quota};
    });
    if (options.on_quota_warning) {
        try {
            options.on_quota_warning(count, options.quota);
        } catch (...) {} // ignored, as documented
    }
}

auto session_service::create(ptr self, std::string id, session_data initial) -> awaitable<session> {
    check_session_id(id);
    self->complete(initial);
    const auto now = std::chrono::system_clock::now();
    auto inserting =
        detail::checked(self->backend_->insert(std::move(id), std::move(initial), now, self->options.quota),
                        "session_backend::insert");
    session_insertion result = co_await std::move(inserting);
    if (!result.stored) {
        throw error(errc::session_quota_exceeded,
                    with_detail(std::to_string(result.count) + " of " + std::to_string(self->options.quota)));
    }
    if (result.is_new) {
        ++self->created_;
        self->publish<events::session_created>([&] {
            return events::session_created{result.stored->id(), result.count};
        });
        self->warn_of(result.count);
    }
    co_return std::move(*result.stored);
}

auto session_service::find(ptr self, std::string id, session_access access)
    -> awaitable<std::optional<session>> {
    check_session_id(id);
    std::optional<session> found =
        co_await detail::checked(self->backend_->find(std::move(id), access), "session_backend::find");
    co_return found;
}

auto session_service::update(ptr self, std::string id, std::function<void(session_data&)> change)
    -> awaitable<session> {
    check_session_id(id);
    for (int attempt = 0; attempt < most_attempts; ++attempt) {
        const std::optional<session> found =
            co_await detail::checked(self->backend_->find(id, session_access::look), "session_backend::find");
        if (!found) {
            throw_not_found();
        }
        auto data = found->data(); // a copy, because readers share the session
        change(data);
        self->complete(data);
        const auto before_replacing = co_await asio::this_coro::cancellation_state;
        heed(before_replacing);
        auto replacing =
            detail::checked(self->backend_->replace(*found, std::move(data)), "session_backend::replace");
        session_replacement result = co_await std::move(replacing);
        if (result.stored) {
            co_return std::move(*result.stored);
        }
        if (result.is_gone) {
            throw_not_found();
        }
        const auto before_turn = co_await asio::this_coro::cancellation_state;
        heed(before_turn); // else end_turn() would throw the cancellation under its own name
        co_await end_turn();
        const auto before_next_attempt = co_await asio::this_coro::cancellation_state;
        heed(before_next_attempt);
    }
    error_info info;
    info.detail =
        "update: others have changed the session " + std::to_string(most_attempts) + " times meanwhile";
    throw error(errc::session_backend_failed, std::move(info));
}

auto session_service::touch(ptr self, std::string id) -> awaitable<bool> {
    check_session_id(id);
    const bool is_there =
        co_await detail::checked(self->backend_->touch(std::move(id)), "session_backend::touch");
    co_return is_there;
}

auto session_service::record_worker(ptr self, std::string id, worker_id worker) -> awaitable<bool> {
    check_session_id(id);
    auto recording = detail::checked(self->backend_->record_worker(std::move(id), std::move(worker)),
                                     "session_backend::record_worker");
    const bool is_there = co_await std::move(recording);
    co_return is_there;
}

auto session_service::remove(ptr self, std::string id) -> awaitable<bool> {
    check_session_id(id);
    const bool was_there = co_await detail::checked(self->backend_->remove(id), "session_backend::remove");
    if (was_there) {
        ++self->deleted_;
        self->observers.notify_removal(id);
        self->publish<events::session_removed>([&] { return events::session_removed{id}; });
    }
    co_return was_there;
}

auto session_service::put_program(ptr self, std::string id, std::string name, json::value program)
    -> awaitable<void> {
    auto put = [&](session_data& data) { data.put_program(name, program); };
    auto updating = update(std::move(self), std::move(id), put);
    co_await std::move(updating);
}

auto session_service::get_program(ptr self, std::string id, std::string name)
    -> awaitable<std::optional<json::value>> {
    const std::optional<session> found = co_await find(std::move(self), std::move(id), session_access::touch);
    if (!found) {
        throw_not_found();
    }
    const auto* const program = found->program(name);
    co_return program == nullptr ? std::nullopt : std::optional<json::value>(*program);
}

auto session_service::delete_program(ptr self, std::string id, std::string name) -> awaitable<bool> {
    bool was_there = false;
    auto drop = [&](session_data& data) { was_there = data.delete_program(name); };
    auto updating = update(std::move(self), std::move(id), drop);
    co_await std::move(updating);
    co_return was_there;
}

auto session_service::cleanup_expired(ptr self) -> awaitable<std::size_t> {
    const session_usage before = co_await detail::checked(self->backend_->usage(), "session_backend::usage");
    std::size_t total = 0;
    for (auto left = sweeps_for(before.count); left > 0; --left) {
        const session_sweep swept =
            co_await detail::checked(self->backend_->sweep(swept_per_turn), "session_backend::sweep");
        total += swept.removed;
        if (swept.is_done) {
            break;
        }
        const auto before_turn = co_await asio::this_coro::cancellation_state;
        heed(before_turn);
        co_await end_turn();
        const auto before_next = co_await asio::this_coro::cancellation_state;
        heed(before_next);
    }
    ++self->cleanup_runs_;
    co_return total;
}

auto session_service::stats(ptr self) -> awaitable<session_store_stats> {
    const session_usage usage = co_await detail::checked(self->backend_->usage(), "session_backend::usage");
    session_store_stats result;
    result.current = usage.count;
    result.created = self->created_;
    result.deleted = self->deleted_;
    result.expired = usage.expired;
    result.cleanup_runs = self->cleanup_runs_;
    result.memory_bytes = usage.memory_bytes;
    co_return result;
}

session_backend::~session_backend() = default;
void session_backend::on_expiry(expiry_handler) {}

session_backend::awaitable<bool> session_backend::record_worker(std::string id, worker_id) {
    return touch(std::move(id));
}

session_store::session_store(session_options options, std::shared_ptr<session_backend> backend) {
    check(options);
    if (!backend) {
        backend = std::make_shared<memory_backend>(options.quota);
    }
    self_ = std::make_shared<session_service>(std::move(options), backend);
    backend->on_expiry([service = std::weak_ptr(self_)](const std::string& id, time_point expiry_time) {
        if (const auto self = service.lock()) {
            self->on_expired(id, expiry_time);
        }
    });
}

session_store::~session_store() = default;

void observe(session_store& store, std::weak_ptr<session_observer> observer) {
    store.self_->observers.add(std::move(observer));
}

auto session_store::create(std::string id, session_data initial) -> awaitable<session> {
    return session_service::create(self_, std::move(id), std::move(initial));
}

auto session_store::get(std::string id) -> awaitable<std::optional<session>> {
    return session_service::find(self_, std::move(id), session_access::touch);
}

auto session_store::peek(std::string id) -> awaitable<std::optional<session>> {
    return session_service::find(self_, std::move(id), session_access::look);
}

auto session_store::update(std::string id, std::function<void(session_data&)> change) -> awaitable<session> {
    return session_service::update(self_, std::move(id), std::move(change));
}

auto session_store::touch(std::string id) -> awaitable<bool> {
    return session_service::touch(self_, std::move(id));
}

auto session_store::record_worker(std::string id, worker_id worker) -> awaitable<bool> {
    return session_service::record_worker(self_, std::move(id), std::move(worker));
}

auto session_store::remove(std::string id) -> awaitable<bool> {
    return session_service::remove(self_, std::move(id));
}

auto session_store::put_program(std::string id, std::string name, json::value program) -> awaitable<void> {
    return session_service::put_program(self_, std::move(id), std::move(name), std::move(program));
}

auto session_store::get_program(std::string id, std::string name) -> awaitable<std::optional<json::value>> {
    return session_service::get_program(self_, std::move(id), std::move(name));
}

auto session_store::delete_program(std::string id, std::string name) -> awaitable<bool> {
    return session_service::delete_program(self_, std::move(id), std::move(name));
}

auto session_store::cleanup_expired() -> awaitable<std::size_t> {
    return session_service::cleanup_expired(self_);
}

auto session_store::stats() -> awaitable<session_store_stats> {
    return session_service::stats(self_);
}

const session_options& session_store::options() const noexcept {
    return self_->options;
}

} // namespace skep
