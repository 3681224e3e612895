// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "remote/node_pool.hpp"

#include "core/call_fields.hpp"
#include "core/duration_text.hpp"
#include "core/remote_config.hpp"
#include "core/with_detail.hpp"
#include "pool/pool_core.hpp"
#include "process/local_context.hpp"
#include "remote/node_runtime.hpp"
#include "remote/node_scheduler.hpp"

#include <algorithm>
#include <chrono>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace skep {

namespace {

constexpr std::size_t most_places = 65'536;                ///< at one node
constexpr std::size_t most_ends = 1'000'000;               ///< of links, before the pool fails calls at once
constexpr duration longest_start = std::chrono::hours(24); ///< then the slot waits anew

/// Keeps one slot of the pool for each node, and one that waits for the next node.
class slot_keeper final : public node_observer {
public:
    explicit slot_keeper(std::shared_ptr<told_loads> loads) : loads_(std::move(loads)) {}

    void watch(const std::shared_ptr<pool_core>& core) { core_ = core; }

    /// A node that is silent for a while keeps its slot, for a session may be bound to it.
    void on_nodes(std::size_t usable_nodes, std::size_t known_nodes) override {
        const auto wanted = std::clamp(slots_, usable_nodes + 1, known_nodes + 1);
        const auto core = core_.lock();
        if (core && wanted != slots_) {
            slots_ = wanted;
            auto& parts = core->parts();
            const size_limits size{wanted, wanted};
            parts.run_in(parts.tasks.supply, parts.scaling.resize(size));
        }
    }

    void on_load(const worker_id& worker, const link_load& load, bool is_on_trial) override {
        const auto before = loads_->tell(worker.slot, load);
        const auto core = core_.lock();
        auto* const node = core ? core->parts().workers.find(worker) : nullptr;
        if (node != nullptr && load.is_draining) {
            node->retire(departure_cause::recycling, "the node drains");
            if (!node->life().was_up()) {
                node->stop(stop_stage::terminate);
            }
        } else if (node != nullptr && node->life().is_in_service()) {
            follow_places(*node, before.places, is_on_trial ? 0 : load.places);
        }
    }

    void on_reach(const worker_id& worker, bool is_suspect) override {
        loads_->set_suspect(worker.slot, is_suspect);
    }

    /// The cause of calls that find no node, until the connection is up again.
    void on_problem(const std::string& text) override {
        if (const auto core = core_.lock()) {
            core->parts().log(log_level::warning, text);
            core->parts().supervision.record_failure({errc::spawn_failed, with_detail(text)});
            has_problem_ = true;
        }
    }

    void on_connection(bool is_up) override {
        const auto core = core_.lock();
        if (core && is_up && std::exchange(has_problem_, false)) {
            core->parts().log(log_level::warning, "the connection to the bus is up again");
            core->parts().supervision.record_failure({});
        }
    }

    void on_ejection(const std::string& node, duration time) noexcept override {
        if (const auto core = core_.lock()) {
            core->parts().log(log_level::warning, [&] {
                return "node " + node + " gets no link for " + to_text(time) + ": links to it were lost";
            });
        }
    }

    void on_readmission(const std::string& node) noexcept override {
        if (const auto core = core_.lock()) {
            core->parts().log(log_level::info,
                              [&] { return "node " + node + " is trusted again: it has answered a call"; });
        }
    }

    node_work work_of(const worker_id& worker) const noexcept override {
        const auto core = core_.lock();
        const auto* const node = core ? core->parts().workers.find_anywhere(worker) : nullptr;
        return node == nullptr ? node_work()
                               : node_work{node->calls().load(), node->calls().completed() > 0,
                                           node->life().leaves_for(departure_cause::protocol_error)};
    }

    void on_failure(const std::exception_ptr& problem) noexcept override {
        if (const auto core = core_.lock()) {
            core->parts().limit.cross(problem);
        }
    }

private:
    /// The capacity of a node when its worker came up, and its places then.
    struct first_load {
        worker_id worker;
        std::size_t capacity;
        std::size_t places;
    };

    /// The node takes more calls when it has more places. A node on trial takes one.
    void follow_places(worker& node, std::size_t places_before, std::size_t places) {
        const auto slot = node.id().slot;
        if (slot >= first_.size()) {
            first_.resize(slot + 1);
        }
        auto& first = first_[slot];
        if (first.worker != node.id()) {
            first = {node.id(), node.calls().offered(), std::max<std::size_t>(places_before, 1)};
        }
        const auto wanted = std::clamp<std::size_t>(first.capacity * places / first.places, 1, most_places);
        if (wanted != node.calls().capacity()) {
            node.calls().change_capacity(wanted);
        }
    }

    std::vector<first_load> first_; ///< by slot
    std::shared_ptr<told_loads> loads_;
    std::weak_ptr<pool_core> core_;
    std::size_t slots_ = 1;
    bool has_problem_ = false; ///< as told, since the connection was up
};

pool_config config_of(const remote_options& options) {
    pool_config config;
    copy_call_fields(options, config);
    config.name = name_of(options);
    config.sessions = options.sessions;
    config.stop.drain_timeout = options.drain_timeout;
    config.events = options.events;
    config.log_handler = options.log_handler;
    return config;
}

node_demand demand_of(const remote_options& options, const pool_context& context) {
    node_demand demand;
    demand.domain = options.domain;
    demand.pool = options.pool;
    demand.inbox = options.nats.inbox;
    demand.hub = hub_options_of(options.link, context.random());
    return demand;
}

} // namespace

pool_config config_of_nodes(pool_config config) {
    config.launch = {};
    config.launch.program = "node";
    config.workers = 1;
    config.capacity = most_places;
    config.pipeline_depth = 0;
    config.heartbeat.enabled = false;
    config.health_check.enabled = false;
    config.crash_barrier.poison_crashes = 0; // a node is lost for many reasons besides its calls
    config.start.batch_delay = {};
    config.restart.initial_backoff = std::chrono::milliseconds(1);
    config.restart.max_backoff = std::chrono::seconds(1);
    config.restart.limit = most_ends; // a node that was started again and again is as good as another
    config.validate();
    config.start.timeout = longest_start; // a node may come at any time
    config.min_ready = 0;
    return config;
}

pool make_node_pool(pool_context context, pool_config config, node_demand demand, bus_factory connect) {
    const auto loads = std::make_shared<told_loads>();
    const auto keeper = std::make_shared<slot_keeper>(loads);
    config.custom_scheduler = [loads, random = context.random] {
        return std::make_unique<node_scheduler>(loads, random);
    };
    demand.client = config.name;
    const auto make_runtime = [&](const pool_context& own, const pool_config&, const output_handler&) {
        return std::make_unique<node_runtime>(own, std::move(demand), std::move(connect), keeper);
    };
    context.has_nodes = true;
    const auto core = std::make_shared<pool_core>(std::move(context), std::move(config), make_runtime);
    keeper->watch(core);
    return make_pool(core);
}

pool make_node_pool(asio::any_io_executor executor, const remote_options& options, bus_factory connect) {
    auto context = make_local_context(std::move(executor));
    if (options.thread == pool_thread::own) {
        move_to_own_thread(context, options.wait);
    }
    auto demand = demand_of(options, context);
    return make_node_pool(std::move(context), config_of_nodes(config_of(options)), std::move(demand),
                          std::move(connect));
}

} // namespace skep
