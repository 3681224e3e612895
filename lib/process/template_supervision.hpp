// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include "process/preload.hpp"
#include "process/template_news.hpp"
#include "process/template_output.hpp"
#include "process/template_watch.hpp"
#include "runtime/pool_context.hpp"
#include <skep/pool_config.hpp>

#include <functional>
#include <memory>

namespace skep {

/// The templates of a pool with launch.preload, as the strand sees them.
struct template_supervision {
    /// `on_end` is called when a template has ended; see template_watch.
    template_supervision(const pool_context& context, const pool_config& config, output_handler sink,
                         std::function<void()> on_end);

    void close() noexcept;

    const std::shared_ptr<preload> templates;
    template_news news;
    template_output output;
    template_watch watch;
};

} // namespace skep
