// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "process/template_supervision.hpp"

#include <utility>

namespace skep {

template_supervision::template_supervision(const pool_context& context, const pool_config& config,
                                           output_handler sink, std::function<void()> on_end)
    : templates(std::make_shared<preload>(config)),
      news(context, templates),
      output(context.executor, config.output, std::move(sink)),
      watch(context.executor, std::move(on_end)) {}

void template_supervision::close() noexcept {
    output.close();
    watch.close();
}

} // namespace skep
