// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "admin/feed.hpp"

#include "admin/host_facts.hpp"
#include "async/pause.hpp"
#include "core/clock.hpp"

#include <boost/json/array.hpp>
#include <boost/json/serialize.hpp>

#include <chrono>
#include <utility>

namespace skep {

namespace json = boost::json;
using namespace std::chrono_literals;

namespace {

constexpr std::size_t samples_kept = 600;
constexpr std::size_t most_waiting_bytes = 4u << 20;

/// Serialized JSON contains no line end, which would end the message.
std::string text_of(const char* kind, const json::object& object) {
    return "event: " + std::string(kind) + "\ndata: " + json::serialize(object) + "\n\n";
}

feed_text message(const char* kind, const json::object& object) {
    return std::make_shared<const std::string>(text_of(kind, object));
}

json::object shown(const events::worker_printed& line) {
    return {{"worker", to_string(line.worker)}, {"stderr", line.is_stderr}, {"text", line.text}};
}

} // namespace

void feed_reader::put(const feed_text& text) {
    bytes_ += text->size();
    if (bytes_ > most_waiting_bytes && !waiting_.empty()) { // a single message may have any size
        is_given_up_ = true;
        waiting_.clear();
    }
    if (!is_given_up_) {
        waiting_.push_back(text);
    }
    ready_.open();
}

asio::awaitable<std::vector<feed_text>> feed_reader::take() {
    co_await ready_.wait();
    ready_.close();
    bytes_ = 0;
    auto taken = std::exchange(waiting_, {});
    co_return taken;
}

std::int64_t feed::wall_clock_ms() {
    const auto now = std::chrono::system_clock::now().time_since_epoch();
    return std::chrono::duration_cast<std::chrono::milliseconds>(now).count();
}

asio::awaitable<void> feed::run(std::weak_ptr<void> owner) {
    owner_ = std::move(owner);
    for (;;) {
        try {
            keep_events();
            const auto seen = co_await survey_.collect();
            publish(*seen);
            publish_faults();
            listen_while_read();
        } catch (const std::exception&) {
        } // out of memory: the next look may succeed; or cancelled, as is the pause
        co_await pause_until(executor_, clock::now() + 1s);
    }
}

template <class... E>
std::vector<subscription> feed::listen(void (feed::*handler)(const event&), type_list<E...>) {
    return pools_.listen<E...>(executor_, [this, handler, weak = owner_](const event& new_event) {
        if (const auto alive = weak.lock()) {
            (this->*handler)(new_event);
        }
    });
}

void feed::keep_events() {
    if (keeping_.empty()) {
        keeping_ = listen(&feed::on_kept_event, event_history::types());
    }
}

/// Subscribes only while pages are open, because pools pay for making events.
void feed::listen_while_read() {
    if (readers_.empty()) {
        listening_.clear();
    } else if (listening_.empty()) {
        listening_ = listen(&feed::on_passing_event, type_list<>());
    }
}

void feed::publish(const findings& results) {
    const auto at_ms = wall_clock_ms();
    json::array pools;
    for (const auto& each : results.pools) {
        auto newest = sample(each, at_ms);
        if (!readers_.empty()) {
            auto pool = to_json(each);
            pool["sample"] = std::move(newest);
            pools.push_back(std::move(pool));
        }
    }
    json::array silent(results.silent.begin(), results.silent.end());
    json::object message{{"at_ms", at_ms},
                         {"may_change", may_change_},
                         {"pools", std::move(pools)},
                         {"silent", std::move(silent)}};
    if (results.node && !readers_.empty()) {
        message["node"] = to_json(*results.node);
    }
    broadcast("pools", message);
}

/// The first sample of a pool has no predecessor, and reports no calls.
json::object feed::sample(const pool_metrics& metrics, std::int64_t at_ms) {
    auto totals = call_totals::of(metrics);
    const auto [known, is_new] = pasts_.try_emplace(metrics.status.name);
    auto& before = known->second;
    auto result = sample_of(metrics.status, totals, is_new ? totals : before.totals, at_ms);
    if (const auto cpus = before.cpu.used(metrics.status, clock::now())) {
        result["cpus"] = *cpus;
    }
    before.totals = std::move(totals);
    before.samples.push_back(result);
    if (before.samples.size() > samples_kept) {
        before.samples.pop_front();
    }
    return result;
}

/// Once a second, because calls may fail many times a second.
void feed::publish_faults() {
    auto changed = history_.take_changed_faults();
    if (!changed.empty()) {
        broadcast("faults", {{"faults", std::move(changed)}});
    }
}

void feed::on_kept_event(const event& new_event) {
    broadcast("happened", history_.record(new_event, wall_clock_ms()));
}

void feed::on_passing_event(const event& new_event) {
    if (event_history::keeps(new_event)) {
        return; // the other subscription has it
    }
    if (const auto* const line = std::get_if<events::worker_printed>(&new_event)) {
        auto printed = shown(*line);
        printed["at_ms"] = wall_clock_ms();
        broadcast("output", printed);
        return;
    }
    auto happened = to_json(new_event);
    happened["at_ms"] = wall_clock_ms();
    broadcast("happened", happened);
}

void feed::broadcast(const char* kind, const json::object& object) {
    std::erase_if(readers_, [](const auto& each) { return each.expired(); });
    if (readers_.empty()) {
        return;
    }
    const auto text = message(kind, object);
    for (const auto& each : readers_) {
        if (const auto reader = each.lock()) {
            reader->put(text);
        }
    }
}

/// Returns the past, for a page that is opened now.
json::object feed::history() const {
    auto result = history_.all();
    auto& pools = result["pools"].emplace_object();
    for (const auto& [name, past] : pasts_) {
        pools[name] = json::array(past.samples.begin(), past.samples.end());
    }
    return result;
}

std::shared_ptr<feed_reader> feed::open() {
    auto reader = std::make_shared<feed_reader>(executor_);
    // In one piece, because the past may be larger than a reader may let wait.
    reader->put(std::make_shared<const std::string>(
        text_of("host", host_facts(pools_.configurations(), started_at_ms_)) +
        text_of("history", history())));
    readers_.push_back(reader);
    listen_while_read();
    return reader;
}

} // namespace skep
