// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

// What a dispatcher does for leases.

#include "pool/dispatcher.hpp"

namespace skep {

void dispatcher::check_out(lease_claim& fresh, const admission_facts& pool) {
    leases_.check_out(fresh, pool, refusal_of(pool) ? events_.cause_of_refusal() : error_info());
}

void dispatcher::begin_reset(call& fresh, worker& at) {
    ++counters_.submitted;
    fresh.holder = this;
    fresh.submitted = context_.now();
    set_deadline(fresh, fresh.submitted);
    dispatch(fresh, at, fresh.submitted);
}

void dispatcher::fail_call(call& waiting, errc code, error_info info) {
    fail(waiting, code, std::move(info));
}

} // namespace skep
