// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include <skep/prometheus.hpp>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <string>
#include <utility>

namespace skep {

namespace {

using prometheus::ClientMetric;
using prometheus::MetricFamily;
using prometheus::MetricType;

using labels = std::vector<ClientMetric::Label>;

double seconds(duration time) {
    return std::chrono::duration<double>(time).count();
}

/// Collects metrics by family, in the order of the families' first use.
class exposition {
public:
    void gauge(const char* name, const char* help, labels sample_labels, double value) {
        add(name, help, MetricType::Gauge, std::move(sample_labels)).gauge.value = value;
    }

    void counter(const char* name, const char* help, labels sample_labels, std::uint64_t value) {
        add(name, help, MetricType::Counter, std::move(sample_labels)).counter.value =
            static_cast<double>(value);
    }

    /// Buckets from 128 µs on, each twice as wide as the previous one: at these limits, a histogram's counts
    /// are exact.
    void times(const char* name, const char* help, labels sample_labels, const histogram& durations) {
        auto& shown = add(name, help, MetricType::Histogram, std::move(sample_labels)).histogram;
        shown.sample_count = durations.count();
        shown.sample_sum = seconds(durations.sum());
        for (int power = 7; power <= 27; ++power) {
            const auto limit = std::chrono::microseconds(std::int64_t(1) << power);
            shown.bucket.push_back({durations.count_below(limit), seconds(limit)});
        }
    }

    /// Buckets of 1, 2, 4, ... calls.
    void sizes(const char* name, const char* help, labels sample_labels, const batch_metrics& batches) {
        auto& shown = add(name, help, MetricType::Histogram, std::move(sample_labels)).histogram;
        shown.sample_sum = static_cast<double>(batches.calls);
        for (std::size_t power = 0; power < batches.sizes.size(); ++power) {
            shown.sample_count += batches.sizes[power];
            shown.bucket.push_back({shown.sample_count, static_cast<double>(std::size_t(1) << power)});
        }
    }

    std::vector<MetricFamily> take() && { return std::move(families_); }

private:
    ClientMetric& add(const char* name, const char* help, MetricType type, labels sample_labels) {
        auto& family = family_of(name, help, type);
        family.metric.emplace_back();
        family.metric.back().label = std::move(sample_labels);
        return family.metric.back();
    }

    MetricFamily& family_of(const char* name, const char* help, MetricType type) {
        for (auto& each : families_) {
            if (each.name == name) {
                return each;
            }
        }
        families_.push_back({name, help, type, {}});
        return families_.back();
    }

    std::vector<MetricFamily> families_;
};

void show_calls(exposition& out, const std::string& pool, const std::string& command,
                const call_metrics& calls) {
    const auto count = [&](std::string_view outcome, std::uint64_t value) {
        out.counter("skep_calls_total", "Calls that are over, by command and outcome.",
                    {{"pool", pool}, {"command", command}, {"outcome", std::string(outcome)}}, value);
    };
    count("ok", calls.succeeded);
    for (const auto& [code, value] : calls.failed) {
        count(to_string(code), value);
    }
    const labels where{{"pool", pool}, {"command", command}};
    out.times("skep_call_queue_seconds",
              "Time from a call's submission until it was sent to a worker, or failed unsent.", where,
              calls.queue_time);
    out.times("skep_call_run_seconds", "Time from sending a call to a worker until its end.", where,
              calls.run_time);
}

void show_batches(exposition& out, const std::string& pool, const std::string& command,
                  const batch_metrics& batches) {
    const labels where{{"pool", pool}, {"command", command}};
    out.sizes("skep_batch_size", "Calls of a batch.", where, batches);
    out.times("skep_batch_wait_seconds",
              "Time from the arrival of a batch's first call until the batch was sent.", where,
              batches.wait_time);
}

/// Shows the availability of workers, and load and capacity of each slot.
void show_places(exposition& out, const pool_status& status) {
    std::map<availability_view, int> count{{availability_view::available, 0},
                                           {availability_view::busy, 0},
                                           {availability_view::tainted, 0},
                                           {availability_view::recovering, 0},
                                           {availability_view::dead, 0}};
    std::map<std::uint32_t, std::pair<std::size_t, std::size_t>> places;
    for (const auto& each : status.workers) {
        ++count[each.availability];
        auto& [load, capacity] = places[each.id.slot];
        load += each.load;
        capacity += each.capacity;
    }
    for (const auto& [availability, workers] : count) {
        out.gauge("skep_workers_by_availability", "Workers and vacant slots, by whether they can be had.",
                  {{"pool", status.name}, {"availability", std::string(to_string(availability))}}, workers);
    }
    for (const auto& [slot, place] : places) {
        const labels where{{"pool", status.name}, {"slot", std::to_string(slot)}};
        out.gauge("skep_worker_load", "Places of a slot's workers that calls and batches take.", where,
                  static_cast<double>(place.first));
        out.gauge("skep_worker_capacity", "Places of a slot's workers, for a call or a batch each.", where,
                  static_cast<double>(place.second));
    }
}

void show_workers(exposition& out, const pool_status& status) {
    std::uint64_t resident = 0;
    std::map<worker_state, int> count;
    for (const auto state :
         {worker_state::created, worker_state::pending, worker_state::starting, worker_state::ready,
          worker_state::busy, worker_state::degraded, worker_state::suspended, worker_state::stopping}) {
        count[state] = 0;
    }
    for (const auto& each : status.workers) {
        ++count[each.state];
        resident += each.resident_bytes;
    }
    for (const auto& [state, workers] : count) {
        out.gauge("skep_workers", "Workers by state.",
                  {{"pool", status.name}, {"state", std::string(to_string(state))}}, workers);
    }
    show_places(out, status);
    const labels where{{"pool", status.name}};
    out.gauge("skep_workers_desired", "Workers that there are to be.", where,
              static_cast<double>(status.desired));
    out.gauge("skep_worker_resident_bytes", "Resident memory of all worker processes.", where,
              static_cast<double>(resident));
    out.gauge("skep_pool_can_serve", "1 if some worker takes calls, or would if it had room; else 0.", where,
              can_serve(status) ? 1 : 0);
}

void show_load(exposition& out, const pool_status& status) {
    const labels where{{"pool", status.name}};
    const auto gauge = [&](const char* name, const char* help, std::size_t value) {
        out.gauge(name, help, where, static_cast<double>(value));
    };
    gauge("skep_queued_calls", "Calls and checkouts that wait.", status.queued);
    out.gauge("skep_oldest_wait_seconds", "How long the first in the queue has waited.", where,
              seconds(status.oldest_wait));
    gauge("skep_running_calls", "Calls that workers are at.", status.in_flight);
    gauge("skep_leases", "Leases that are held.", status.leases);
    gauge("skep_sessions", "Sessions that are known to belong to a worker.", status.sessions);
    gauge("skep_restart_breaker_open", "1 if starts are held back, as too many workers have failed.",
          status.breaker == circuit_state::closed ? 0 : 1);
}

void show_counters(exposition& out, const pool_status& status) {
    const labels where{{"pool", status.name}};
    const auto& counters = status.counters;
    const auto count = [&](const char* name, const char* help, std::uint64_t value) {
        out.counter(name, help, where, value);
    };
    count("skep_calls_submitted_total", "Calls that were made.", counters.submitted);
    count("skep_calls_waited_total", "Calls that waited for a worker, or for a place of their lease.",
          counters.waited);
    count("skep_calls_retried_total", "Calls that were sent once more, as a worker was lost.",
          counters.retried);
    count("skep_retries_denied_total", "Calls that were not, as the retry budget was spent.",
          counters.retries_denied);
    count("skep_calls_recalled_total",
          "Calls that a worker gave back before their begin, because a longer call was running.",
          counters.recalled);
    count("skep_late_answers_total", "Answers that nobody waited for any more.", counters.late_answers);
    count("skep_workers_started_total", "Workers that became ready.", counters.workers_started);
    count("skep_worker_start_failures_total", "Workers that ended before they were ready.",
          counters.start_failures);
    count("skep_workers_lost_total",
          "Workers that ended by themselves, froze, broke the protocol or lost a channel.",
          counters.workers_lost);
    count("skep_worker_crashes_total", "Of those, crashes.", counters.crashes);
    count("skep_workers_replaced_total", "Workers that were replaced for what they did.",
          counters.workers_replaced);
    count("skep_workers_recycled_total", "Workers that were replaced as planned.", counters.workers_recycled);
    count("skep_workers_removed_total", "Workers that were no longer needed.", counters.workers_removed);
    count("skep_scale_ups_total", "Times the autoscaler wanted more workers.", counters.scale_ups);
    count("skep_scale_downs_total", "Times the autoscaler wanted fewer workers.", counters.scale_downs);
    count("skep_missed_pings_total", "Pings that were not answered in time.", counters.missed_pings);
    count("skep_output_lines_dropped_total", "Lines of workers that were dropped.",
          counters.output_lines_dropped);
    count("skep_attachments_lent_total", "Attachments that workers got in memory of the host.",
          counters.attachments_lent);
    count("skep_attachments_passed_total", "Attachments that workers got without a copy.",
          counters.attachments_passed);
    count("skep_attachments_received_total", "Attachments that came from workers without a copy.",
          counters.attachments_received);
    count("skep_shared_results_total", "Attachments that came from workers in regions for results.",
          counters.shared_results);
    count("skep_shared_fallbacks_total", "Large attachments that went over the socket, for lack of memory.",
          counters.shared_fallbacks);
}

constexpr std::size_t most_nodes = 100; ///< with a label of their own, as in pool_metrics::nodes

void show_nodes(exposition& out, const std::string& pool, const std::vector<node_view>& nodes) {
    std::array<int, node_state_count> count{};
    for (const auto& each : nodes) {
        ++count.at(static_cast<std::size_t>(each.state));
    }
    for (std::size_t i = 0; i < node_state_count; ++i) {
        const auto state = static_cast<node_state>(i);
        out.gauge("skep_nodes", "Nodes by state, as this client sees them.",
                  {{"pool", pool}, {"state", std::string(to_string(state))}}, count.at(i));
    }
    for (std::size_t i = 0; i < std::min(nodes.size(), most_nodes); ++i) {
        out.gauge("skep_node_round_trip_seconds",
                  "Time from a message to a node until its acknowledgement, smoothed; 0 if unknown.",
                  {{"pool", pool}, {"node", nodes[i].name}}, seconds(nodes[i].round_trip));
    }
}

void show_node_calls(exposition& out, const std::string& pool, const std::string& node,
                     const call_counts& calls) {
    const auto count = [&](std::string_view outcome, std::uint64_t value) {
        out.counter("skep_node_calls_total", "Calls that ended at a node, by outcome.",
                    {{"pool", pool}, {"node", node}, {"outcome", std::string(outcome)}}, value);
    };
    count("ok", calls.succeeded);
    for (const auto& [code, value] : calls.failed) {
        count(to_string(code), value);
    }
}

/// Shows the links to nodes, and the connection that they need.
void show_links(exposition& out, const pool_status& status) {
    const labels where{{"pool", status.name}};
    const auto& remote = *status.remote;
    const auto count = [&](const char* name, const char* help, std::uint64_t value) {
        out.counter(name, help, where, value);
    };
    count("skep_link_resumes_total", "Times that a link went on after a cut.", remote.links.resumes);
    count("skep_link_gaps_total", "Messages of links that came behind a lost message.", remote.links.gaps);
    count("skep_link_duplicates_total", "Messages of links that had come before.", remote.links.duplicates);
    count("skep_link_resent_bytes_total", "Bytes that were sent more than once over links.",
          remote.links.resent_bytes);
    out.gauge("skep_bus_up", "1 if the pool is connected to a server; else 0.", where,
              remote.is_connected ? 1 : 0);
    count("skep_bus_reconnects_total", "Connections to a server after the first one.", remote.reconnects);
    count("skep_busy_answers_total", "Refusals by nodes that had no room for a call.",
          status.counters.busy_answers);
}

void show_remote(exposition& out, const pool_metrics& metrics) {
    const auto& status = metrics.status;
    show_nodes(out, status.name, status.remote->nodes);
    for (const auto& [node, calls] : metrics.nodes) {
        show_node_calls(out, status.name, node, calls);
    }
    show_links(out, status);
}

void show_template(exposition& out, const std::string& pool, const template_status& preload) {
    const labels where{{"pool", pool}};
    out.gauge("skep_template_ready", "1 if workers are forked from a template; else 0.", where,
              preload.state == template_state::ready ? 1 : 0);
    out.counter("skep_templates_total", "Templates that became ready.", where, preload.templates);
    out.counter("skep_template_forks_total", "Workers that were forked from a template.", where,
                preload.forks);
}

} // namespace

std::vector<MetricFamily> to_families(const std::vector<pool_metrics>& pools) {
    exposition out;
    for (const auto& each : pools) {
        const auto& status = each.status;
        for (const auto& [command, calls] : each.commands) {
            show_calls(out, status.name, command, calls);
        }
        show_calls(out, status.name, "", each.others);
        for (const auto& [command, batches] : each.batches) {
            show_batches(out, status.name, command, batches);
        }
        show_workers(out, status);
        out.times("skep_worker_start_seconds", "Time from asking for a worker until it was ready.",
                  {{"pool", status.name}}, each.start_time);
        show_load(out, status);
        show_counters(out, status);
        if (status.preload) {
            show_template(out, status.name, *status.preload);
        }
        if (status.remote) {
            show_remote(out, each);
        }
    }
    return std::move(out).take();
}

} // namespace skep
