// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "simulation/node_machine.hpp"

#include "pool/pool_core.hpp"
#include "simulation/faults.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/post.hpp>

#include <chrono>
#include <utility>

namespace skep::simulation {

namespace json = boost::json;
using namespace std::chrono_literals;

program_connection::program_connection(sim_bus& server, const strand& executor, bus_user& user,
                                       program_connection*& place)
    : server_(server),
      executor_(executor),
      place_(place),
      inbox_(std::make_shared<inbox>(user)),
      wire_(server.connect(*this)) {
    place_ = this;
}

program_connection::~program_connection() {
    inbox_->user = nullptr;
    server_.kill(wire_);
    if (place_ == this) {
        place_ = nullptr;
    }
}

void program_connection::on_message(const bus_message& message) {
    asio::post(executor_,
               [inbox = inbox_, subject = std::string(message.subject), reply = std::string(message.reply),
                body = std::string(message.body), has_no_receiver = message.has_no_receiver] {
                   if (inbox->user != nullptr) {
                       inbox->user->on_message({subject, reply, body, has_no_receiver});
                   }
               });
}

void program_connection::on_connection(bool is_up) {
    asio::post(executor_, [inbox = inbox_, is_up] {
        if (inbox->user != nullptr) {
            inbox->user->on_connection(is_up);
        }
    });
}

bus_factory connect_to(sim_bus& server, program_connection*& place) {
    return [&server, &place](const strand& executor, bus_user& user) {
        return std::make_unique<program_connection>(server, executor, user, place);
    };
}

pool_context context_in(world& around, run_queue& queue) {
    const asio::any_io_executor executor = run_queue_executor(queue);
    pool_context context{strand(executor), executor, {}, {}, {}, {}};
    context.wall_now = [&around] {
        return std::chrono::system_clock::time_point(
            std::chrono::duration_cast<std::chrono::system_clock::duration>(1'700'000'000s + around.age()));
    };
    context.random = [&around] { return around.chance.share(); };
    context.make_token = [&around] { return "t" + std::to_string(around.chance.bits()); };
    context.write_log_line = [&around](std::string_view line) { around.trace(line); };
    return context;
}

node_machine::node_machine(world& around, sim_bus& server, std::string name, run_queue& queue,
                           std::deque<node_call_record>& calls)
    : world_(around),
      bus_(server),
      name_(std::move(name)),
      queue_(queue),
      calls_(calls),
      places_(around.chance.among(1, 4)),
      script_(std::make_shared<testing::script>(around.chance.bits())) {
    script_->functions.add("run", detail::async_handler([this](worker_call& call) { return run(call); }));
    script_->functions.add("stream",
                           detail::async_handler([this](worker_call& call) { return stream(call); }));
}

void node_machine::start() {
    started_ = world_.now();
    pool_config config;
    config.name = "default";
    config.launch.program = "scripted";
    config.workers = places_;
    config.log_level = world_.is_tracing() ? log_level::info : log_level::off;
    config.crash_barrier.poison_crashes = 0;
    config.validate();
    auto context = context_in(world_, queue_);
    const auto make_runtime = [this](const pool_context& own, const pool_config&, const output_handler&) {
        return std::make_unique<testing::scripted_runtime>(own.executor, 1, script_);
    };
    pool_ = std::make_shared<pool>(
        make_pool(std::make_shared<pool_core>(context, std::move(config), make_runtime)));
    asio::co_spawn(context.user_executor, pool_->start(), asio::detached);
    node_setup setup;
    setup.name = name_;
    setup.pools.emplace("default", served_pool(*pool_));
    agent_ = std::make_shared<node_core>(context, std::move(setup), connect_to(bus_, connection_));
    asio::post(agent_->executor(), [agent = agent_] {
        const spared_by_faults here; // without memory the program's start fails, which is no subject here
        agent->start();
    });
}

void node_machine::drain(std::optional<duration> pause) {
    const auto executor = agent_->executor();
    asio::co_spawn(executor, leave(std::exchange(agent_, nullptr), std::exchange(pool_, nullptr), pause),
                   asio::detached);
    connection_ = nullptr;
}

asio::awaitable<void> node_machine::leave(std::shared_ptr<node_core> agent, std::shared_ptr<pool> workers,
                                          std::optional<duration> pause) {
    co_await agent->drain();
    if (agent->links() > 0 && !world_.has_lacked_memory()) {
        world_.violated(name_ + " has links that are not used");
    }
    co_await agent->stop();
    co_await workers->shutdown();
    if (pause) {
        world_.after(*pause, [this] { start(); });
    }
}

void node_machine::kill() {
    bus_.kill(connection_->wire());
    const auto end = [](std::shared_ptr<node_core> agent,
                        std::shared_ptr<pool> workers) -> asio::awaitable<void> {
        co_await agent->stop();
        co_await workers->shutdown();
    };
    const auto executor = agent_->executor();
    asio::co_spawn(executor, end(std::exchange(agent_, nullptr), std::exchange(pool_, nullptr)),
                   asio::detached);
    connection_ = nullptr;
}

/// A node has a call for each place, and two that wait for it.
void node_machine::check_load() const {
    const auto load = pool_ ? pool_->load() : load_view();
    if (load.in_flight + load.queued > 3 * places_) {
        world_.violated(name_ + " has " + std::to_string(load.in_flight + load.queued) + " calls");
    }
}

node_call_record& node_machine::record_of(worker_call& call) {
    check_load();
    auto& record = calls_.at(call.arg<std::size_t>("number"));
    record.ran = ++record.runs == 1 ? world_.now() : record.ran;
    record.node = name_;
    world_.trace("call " + std::to_string(record.number) + " runs at " + name_);
    return record;
}

asio::awaitable<void> node_machine::rot_away() {
    if (world_.now() >= rotten_until_) {
        co_return;
    }
    const auto delay = world_.chance.chance(0.5) ? duration(0) : world_.chance.between(0us, 2s);
    world_.after(delay, [this, life = started_] {
        if (is_up() && started_ == life) {
            ++deaths_;
            kill();
            world_.after(world_.chance.between(10ms, 300ms), [this] { start(); });
        }
    });
    co_await testing::sleep_for(1h);
}

asio::awaitable<json::value> node_machine::run(worker_call& call) {
    auto& record = record_of(call);
    co_await rot_away();
    co_await testing::sleep_for(record.work);
    if (record.crashes) {
        throw testing::worker_exit();
    }
    co_return record.number;
}

asio::awaitable<json::value> node_machine::stream(worker_call& call) {
    auto& record = record_of(call);
    co_await rot_away();
    for (std::size_t i = 0; i < record.chunks; ++i) {
        co_await testing::sleep_for(record.work / static_cast<int>(record.chunks));
        co_await call.send(i);
    }
    if (record.crashes) {
        throw testing::worker_exit();
    }
    co_return record.number;
}

} // namespace skep::simulation
