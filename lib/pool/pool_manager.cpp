// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "async/pause.hpp"
#include "async/run_together.hpp"
#include "async/task_group.hpp"
#include "core/clock.hpp"
#include "core/config_path.hpp"
#include "core/remote_config.hpp"
#include "core/text.hpp"
#include "core/with_detail.hpp"
#include "pool/config_check.hpp"
#include "pool/pool_core.hpp"
#include "pool/pool_maker.hpp"
#include "pool/second_place.hpp"
#include <skep/error.hpp>
#include <skep/event_bus.hpp>
#include <skep/pool_manager.hpp>

#include <boost/asio/post.hpp>

#include <algorithm>
#include <exception>
#include <optional>
#include <utility>

namespace skep {

namespace {

constexpr std::string_view usual_default = "default";

void reject(const std::string& field, const std::string& value, const std::string& rule) {
    config_problems problems;
    problems.add(field, value, rule);
    problems.raise();
}

std::shared_ptr<worker_budget> budget_of(const manager_config& config) {
    config_problems problems;
    check_max_workers(config, problems);
    problems.raise();
    return config.max_workers == 0 ? nullptr : std::make_shared<worker_budget>(config.max_workers);
}

using pools_by_name = std::map<std::string, pool, std::less<>>;

/// The outcome of one pool in an operation on all pools.
template <class Result>
struct outcome {
    std::optional<Result> result;
    std::exception_ptr problem;
};

template <class Result>
asio::awaitable<void> record_outcome(asio::awaitable<Result> operation, outcome<Result>& target) {
    try {
        target.result = co_await std::move(operation);
    } catch (...) {
        target.problem = std::current_exception();
    }
}

/// Returns true, because an outcome needs a value.
asio::awaitable<bool> start_one(pool& target) {
    co_await target.start();
    co_return true;
}

/// In sequence. The manager may be destroyed meanwhile.
asio::awaitable<std::vector<pool_status>> status_of_all(std::vector<asio::awaitable<pool_status>> looks) {
    std::vector<pool_status> all;
    for (auto& each : looks) {
        auto one = co_await std::move(each);
        all.push_back(std::move(one));
    }
    co_return all;
}

/// Repeats the wait, because a pool may lose workers while the others come up.
asio::awaitable<void> wait_for_workers(std::weak_ptr<pools_by_name> pools, std::size_t count) {
    for (bool have_all = false; !have_all;) {
        std::vector<asio::awaitable<void>> parts;
        std::vector<asio::awaitable<pool_status>> looks;
        if (const auto all = pools.lock()) {
            for (auto& each : *all) {
                parts.push_back(each.second.ready(count));
                looks.push_back(each.second.status());
            }
        } else {
            throw error(errc::shutting_down, {});
        }
        co_await run_together(std::move(parts), cancel_others::after_failure);
        const auto found = co_await status_of_all(std::move(looks));
        have_all =
            std::all_of(found.begin(), found.end(), [count](const auto& each) { return each.live >= count; });
    }
}

std::shared_ptr<session_store> make_store(session_options options, std::shared_ptr<session_backend> backend,
                                          const std::shared_ptr<event_bus>& events) {
    options.events = options.events ? std::move(options.events) : events;
    return std::make_shared<session_store>(std::move(options), std::move(backend));
}

std::vector<std::string> names_of(const std::vector<remote_place>& places) {
    std::vector<std::string> names;
    for (const auto& each : places) {
        names.push_back(name_of(each.options));
    }
    return names;
}

/// Two places get the call with the same deadline.
void limit_by_deadline(request& call) {
    if (const auto timeout = call.timeout(); timeout && *timeout > duration::zero()) {
        const auto end = clock::now() + *timeout;
        call.deadline(std::min(call.deadline().value_or(end), end));
    }
}

} // namespace

bool manager_report::clean() const noexcept {
    return std::all_of(pools.begin(), pools.end(), [](const auto& each) { return each.second.clean(); });
}

/// Sweeps a store until end().
class session_cleaner : public std::enable_shared_from_this<session_cleaner> {
public:
    session_cleaner(const asio::any_io_executor& executor, std::shared_ptr<session_store> store)
        : strand_(executor), store_(std::move(store)), tasks_(strand_, [](std::exception_ptr) {}) {}

    void begin() {
        asio::post(strand_, [self = shared_from_this()] { self->tasks_.spawn(self, self->sweep()); });
    }

    void end() {
        asio::post(strand_, [self = shared_from_this()] { self->tasks_.cancel(); });
    }

private:
    asio::awaitable<void> sweep() {
        for (;;) {
            co_await pause_until(strand_, clock::now() + store_->options().cleanup_interval);
            try {
                co_await store_->cleanup_expired();
            } catch (const error&) {} // the backend is out of reach: the next sweep tries again
        }
    }

    strand strand_;
    std::shared_ptr<session_store> store_;
    task_group tasks_;
};

pool pool_maker::make(const asio::any_io_executor& executor, pool_config config, pool_membership membership) {
    return make_process_pool(executor, std::move(config), std::move(membership));
}

std::unique_ptr<pool_manager> pool_maker::make_manager(asio::any_io_executor executor, manager_config config,
                                                       std::shared_ptr<pool_maker> maker) {
    return std::unique_ptr<pool_manager>(
        new pool_manager(std::move(executor), std::move(config), nullptr, std::move(maker)));
}

pool_manager::pool_manager(asio::any_io_executor executor, manager_config config,
                           std::shared_ptr<session_backend> backend)
    : pool_manager(std::move(executor), std::move(config), std::move(backend),
                   std::make_shared<pool_maker>()) {}

pool_manager::pool_manager(asio::any_io_executor executor, manager_config config,
                           std::shared_ptr<session_backend> backend, std::shared_ptr<pool_maker> maker)
    : executor_(std::move(executor)),
      maker_(std::move(maker)),
      events_(std::make_shared<event_bus>()),
      sessions_(make_store(std::move(config.sessions), std::move(backend), events_)),
      cleaner_(std::make_shared<session_cleaner>(executor_, sessions_)),
      pools_(std::make_shared<pools_by_name>()),
      remote_names_(names_of(config.remote)),
      default_pool_(std::move(config.default_pool)),
      budget_(budget_of(config)),
      restarts_failed_pools_(config.restart_failed_pools),
      log_handler_(std::move(config.log_handler)) {
    std::vector<worker_share> shares;
    for (const auto& each : config.pools) { // before the first pool takes more than its minimum
        shares.emplace_back(budget_).reserve(least_workers(each));
    }
    for (std::size_t i = 0; i < config.pools.size(); ++i) {
        add(std::move(config.pools[i]), std::move(shares[i]));
    }
    const bool is_elsewhere = std::count(remote_names_.begin(), remote_names_.end(), default_pool_) > 0;
    if (!default_pool_.empty() && !pools_->contains(default_pool_) && !is_elsewhere) {
        reject("default_pool", in_quotes(default_pool_), "is the name of no pool");
    }
    cleaner_->begin();
}

pool_manager::~pool_manager() {
    cleaner_->end();
}

pool& pool_manager::add(pool_config config) {
    config.validate();
    worker_share share(budget_);
    if (!share.reserve(least_workers(config))) {
        reject("workers", std::to_string(least_workers(config)),
               "must not exceed " + std::to_string(share.most()) + ", which max_workers leaves");
    }
    return add(std::move(config), std::move(share));
}

pool& pool_manager::add(pool_config config, worker_share share) {
    if (pools_->contains(config.name)) {
        reject("name", in_quotes(config.name), "there is a pool of that name");
    }
    auto name = config.name;
    if (!config.sessions) {
        config.sessions = sessions_;
    }
    if (!config.events) {
        config.events = events_;
    }
    if (!config.log_handler) {
        config.log_handler = log_handler_;
    }
    pool_membership membership{std::move(share), restarts_failed_pools_};
    auto made = maker_->make(executor_, std::move(config), std::move(membership));
    auto& added = pools_->try_emplace(name, std::move(made)).first->second;
    first_pool_ = first_pool_.empty() ? std::move(name) : first_pool_;
    return added;
}

void pool_manager::add_elsewhere(std::string name, other_place elsewhere) {
    if (!is_name(name)) {
        reject("name", in_quotes(name), name_rule);
    }
    const auto [added, is_new] = elsewhere_.try_emplace(name, std::move(elsewhere));
    if (!is_new) {
        reject("name", in_quotes(name), "there is another place for the calls of that pool");
    }
    first_pool_ = first_pool_.empty() ? std::move(name) : first_pool_;
}

std::string_view pool_manager::default_pool() const noexcept {
    if (!default_pool_.empty()) {
        return default_pool_;
    }
    const bool has_usual = pools_->contains(usual_default) || elsewhere_.contains(usual_default);
    return has_usual ? usual_default : std::string_view(first_pool_);
}

pool& pool_manager::get(std::string_view name) {
    const auto found = pools_->find(name.empty() ? default_pool() : name);
    if (found != pools_->end()) {
        return found->second;
    }
    error_info info;
    info.detail = name.empty() ? "there is none" : in_quotes(name) + "; there are:";
    for (const auto& each : names()) {
        info.detail += " " + each;
    }
    for (const auto& each : elsewhere_) {
        info.detail += pools_->contains(each.first) ? "" : " " + each.first + " (elsewhere)";
    }
    throw error(errc::pool_not_found, std::move(info));
}

std::vector<std::string> pool_manager::names() const {
    std::vector<std::string> result;
    for (const auto& each : *pools_) {
        result.push_back(each.first);
    }
    return result;
}

std::vector<observed_place> pool_manager::observed() {
    std::vector<observed_place> result;
    for (auto& [name, each] : *pools_) {
        result.push_back({name, &each});
    }
    for (auto& [name, each] : elsewhere_) {
        if (each.observed != nullptr) {
            result.push_back({name, each.observed});
        }
    }
    return result;
}

event_bus& pool_manager::events() noexcept {
    return *events_;
}

session_store& pool_manager::sessions() noexcept {
    return *sessions_;
}

void pool_manager::expect_all_places() const {
    std::string missing;
    for (const auto& each : remote_names_) {
        missing += elsewhere_.contains(each) ? "" : " " + each;
    }
    if (!missing.empty()) {
        throw error(errc::start_failed,
                    with_detail("the configuration has \"remote\" for the pools" + missing +
                                ": the program has to call add_remote_pools() of skep::remote before"));
    }
}

asio::awaitable<void> pool_manager::start() {
    expect_all_places();
    std::map<std::string, outcome<bool>> outcomes;
    std::vector<asio::awaitable<void>> parts;
    for (auto& [name, each] : *pools_) {
        parts.push_back(record_outcome(start_one(each), outcomes[name]));
    }
    co_await run_together(std::move(parts), cancel_others::never);
    error_info info;
    for (const auto& [name, each] : outcomes) {
        if (each.problem) {
            info.detail += (info.detail.empty() ? "" : "\n") + name + ": " + text_of(each.problem);
        }
    }
    if (!info.detail.empty()) {
        throw error(errc::start_failed, std::move(info));
    }
}

asio::awaitable<void> pool_manager::ready(std::size_t count) {
    return wait_for_workers(pools_, count);
}

asio::awaitable<manager_report> pool_manager::shutdown() {
    std::map<std::string, outcome<shutdown_report>> outcomes;
    std::vector<asio::awaitable<void>> parts;
    for (auto& [name, each] : *pools_) {
        parts.push_back(record_outcome(each.shutdown(), outcomes[name]));
    }
    const auto cleaner = cleaner_; // the manager may be destroyed meanwhile
    const auto events = events_;
    co_await run_together(std::move(parts), cancel_others::never);
    cleaner->end();      // otherwise the context would never run out of work
    events->end_waits(); // likewise
    manager_report report;
    for (auto& [name, each] : outcomes) {
        if (each.problem) {
            std::rethrow_exception(each.problem);
        }
        report.pools.emplace(name, std::move(*each.result));
    }
    co_return report;
}

asio::awaitable<std::vector<pool_status>> pool_manager::status() {
    std::vector<asio::awaitable<pool_status>> looks;
    for (auto& each : *pools_) {
        looks.push_back(each.second.status());
    }
    return status_of_all(std::move(looks));
}

template <class Operation, class Prepare>
Operation pool_manager::route(request call, Prepare prepare) {
    const auto find_elsewhere = [&] {
        return elsewhere_.find(call.pool().empty() ? default_pool() : call.pool());
    };
    const auto found = elsewhere_.empty() ? elsewhere_.end() : find_elsewhere();
    if (found == elsewhere_.end()) {
        auto& own = get(call.pool()); // before the call is moved
        return prepare(own, std::move(call));
    }
    const auto& [name, other] = *found;
    const auto local = pools_->find(name);
    if (local == pools_->end()) {
        return prepare(*other.calls, std::move(call));
    }
    if (!call.session().empty()) {
        return prepare(local->second, std::move(call));
    }
    const auto local_load = local->second.load();
    if (stays_here(other.mode, local_load)) {
        return prepare(local->second, std::move(call));
    }
    limit_by_deadline(call);
    auto at_home = prepare(local->second, call);
    auto away = prepare(*other.calls, std::move(call));
    return goes_elsewhere(other.mode, local_load, other.load())
               ? with_second_place(std::move(away), std::move(at_home))
               : with_second_place(std::move(at_home), std::move(away));
}

call_operation pool_manager::prepare(request call) {
    try {
        return route<call_operation>(std::move(call), [](call_interface& calls, request routed) {
            return calls.prepare(std::move(routed));
        });
    } catch (const error&) { // no such pool
        return call_operation::failing(std::current_exception());
    }
}

stream_operation pool_manager::prepare_stream(request call) {
    try {
        return route<stream_operation>(std::move(call), [](call_interface& calls, request routed) {
            return calls.prepare_stream(std::move(routed));
        });
    } catch (const error&) { // there is no such pool
        return stream_operation::failing(std::current_exception());
    }
}

} // namespace skep
