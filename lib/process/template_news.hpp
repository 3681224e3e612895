// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include "process/preload.hpp"
#include "runtime/pool_context.hpp"

#include <functional>
#include <memory>
#include <string>

namespace skep {

/// Tells of the templates of a pool: by events, and by warnings for people. Used on the strand.
class template_news {
public:
    template_news(const pool_context& context, std::shared_ptr<preload> templates);

    void on_warning(std::function<void(const std::string&)> receiver) { warn_ = std::move(receiver); }

    /// Tells what has happened since the last call.
    void publish() noexcept;

private:
    void tell(const events::template_started& event);
    void tell(const events::template_ended& event);
    void tell(const events::template_refused& event);

    const pool_context context_;
    const std::shared_ptr<preload> preload_;
    std::function<void(const std::string&)> warn_ = [](const std::string&) {};
};

} // namespace skep
