// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include "process/preload.hpp"
#include "process/template_news.hpp"
#include "simulation/oracle.hpp"
#include "simulation/sim_spawner.hpp"
#include "simulation/sim_template.hpp"

#include <memory>
#include <string>
#include <vector>

namespace skep::simulation {

/// The part of a runtime that has templates: the library's preload, with scripted templates, on a spawner
/// that takes time.
class sim_forking {
public:
    sim_forking(world& in, oracle& judge, const pool_context& context, const pool_config& config,
                const template_climate& weather);
    ~sim_forking();
    sim_forking(const sim_forking&) = delete;
    sim_forking& operator=(const sim_forking&) = delete;

    /// A job of the spawner that a coroutine waits for.
    struct job {
        explicit job(const strand& executor) : changed(executor) {}
        wake changed;
        launch_abort abort;
        bool is_over = false;
        std::string problem; ///< empty if there was none
    };
    using action = std::function<void(launch_abort&)>;

    std::shared_ptr<job> begin(action what);
    std::shared_ptr<job> begin_launch(const sim_worker& fresh);
    std::shared_ptr<job> begin_renewal();
    void abort(job& which);
    void close();

    preload& templates() noexcept { return *preload_; }
    template_news& news() noexcept { return news_; }

private:
    void mend();
    void run(job& mine, const action& what);
    void launch(const sim_worker& fresh, launch_abort& abort);
    void renew(launch_abort& abort);
    template_maker maker();

    world& world_;
    oracle& oracle_;
    strand executor_;
    const template_climate& weather_;
    sim_spawner spawner_;
    std::shared_ptr<preload> preload_;
    template_news news_;
    std::vector<std::weak_ptr<job>> jobs_;
    bool is_closed_ = false;
    std::shared_ptr<sim_forking*> self_; ///< for what may outlive this
};

} // namespace skep::simulation
