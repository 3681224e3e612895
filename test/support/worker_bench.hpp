// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include "process/local_context.hpp"
#include "support/fake_runtime.hpp"
#include "support/manual_context.hpp"
#include "telemetry/log.hpp"
#include "worker/worker.hpp"

#include <boost/asio/post.hpp>
#include <boost/test/unit_test.hpp>

#include <memory>
#include <optional>
#include <variant>
#include <vector>

namespace skep::test {

/// A call that keeps what becomes of it.
class kept_call final : public call, private call_sink {
public:
    explicit kept_call(request what) : call(std::move(what), static_cast<call_sink*>(this)) {
        encode(limit_options());
    }

    std::optional<reply> answer;
    errc failed{};
    int woken = 0;

private:
    void put_answer(reply&& given) override {
        answer = std::move(given);
        ++woken;
    }
    void put_failure(lazy_error&& given) override {
        failed = given.kind();
        ++woken;
    }
    void forget() noexcept override {}
};

using kept_ptr = boost::intrusive_ptr<kept_call>;

/// What a worker finds around itself, without a pool: its far side is a fake, and who uses this sees what it
/// tells.
class worker_bench : public manual_context, public answer_handler {
public:
    explicit worker_bench(pool_config what = fake_config())
        : config(std::move(what)),
          surroundings(make_local_context(context.get_executor())),
          starter(surroundings.executor),
          log(config, surroundings),
          events([this] { asio::post(surroundings.executor, [this] { apply(); }); }, [this] { apply(); }),
          around{surroundings, config, starter, *this, limit, events, tools, places, alive_} {}

    /// The far side of the worker that was started as the nth.
    fake_worker& far_side(std::size_t index = 0) { return *starter.workers.at(index); }

    pool_config config;
    pool_context surroundings;
    fake_runtime starter;
    pool_log log;
    event_queue events;
    boundary limit{[](const std::exception_ptr&) { BOOST_ERROR("the boundary was crossed"); }};
    tool_table tools;
    relaxed_value<std::size_t> places;

    bool may_be_probed(const worker&) const noexcept override { return true; }

protected:
    ~worker_bench() {
        run_until_idle();
        context.restart();
        context.poll();
        BOOST_CHECK_MESSAGE(context.stopped(), "something is still running in the context");
    }

    virtual void on_event(const worker_event& event) = 0;

    void apply() {
        while (const auto event = events.next()) {
            on_event(*event);
        }
    }

private:
    std::shared_ptr<int> alive_ = std::make_shared<int>();

public:
    worker_surroundings around;
};

/// The same with workers in it, each in a slot of its own.
class bench_with_workers : public worker_bench {
public:
    using worker_bench::worker_bench;

    /// Starts one more.
    worker& launch() {
        events.expect_worker();
        const auto slot = static_cast<std::uint32_t>(workers.size());
        workers.push_back(std::make_shared<worker>(around, worker_id{config.name, slot, 1}));
        lives_.spawn(workers.back(), workers.back()->run());
        run_until_idle();
        return *workers.back();
    }

    /// Ends all of them.
    void end() {
        for (const auto& each : workers) {
            each->stop(stop_stage::kill);
        }
        advance(std::chrono::seconds(1), std::chrono::milliseconds(100));
        BOOST_TEST(lives_.running() == 0u);
    }

    std::vector<std::shared_ptr<worker>> workers;

private:
    task_group lives_{surroundings.executor,
                      [](std::exception_ptr) { BOOST_ERROR("a worker's life failed"); }};
};

} // namespace skep::test
