// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "process/template_news.hpp"

#include <new>
#include <utility>
#include <variant>

namespace skep {

template_news::template_news(const pool_context& context, std::shared_ptr<preload> templates)
    : context_(context), preload_(std::move(templates)) {}

void template_news::publish() noexcept {
    for (const auto& each : preload_->take_events()) {
        try {
            std::visit([this](const auto& event) { tell(event); }, each);
        } catch (const std::bad_alloc&) {} // a warning is lost
    }
}

void template_news::tell(const events::template_started& event) {
    context_.publish<events::template_started>([&] { return event; });
}

void template_news::tell(const events::template_ended& event) {
    if (!event.is_planned) {
        warn_("the template of the workers has ended: " + event.reason);
    }
    context_.publish<events::template_ended>([&] { return event; });
}

void template_news::tell(const events::template_refused& event) {
    warn_("workers start without a template, because it must not be forked: " + event.objections);
    context_.publish<events::template_refused>([&] { return event; });
}

} // namespace skep
