// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include <skep/errc.hpp>
#include <skep/load_view.hpp>
#include <skep/overflow.hpp>

namespace skep {

/// Returns true if the next call goes to the local pool, whatever the load elsewhere is.
bool stays_here(overflow mode, const load_view& local) noexcept;

/// Returns true if the next call goes elsewhere, and false if it goes to the local pool.
bool goes_elsewhere(overflow mode, const load_view& local, const load_view& elsewhere) noexcept;

/// Returns true for the failure of a call that has certainly not run, because its place has no room or no
/// worker: another place may run it.
bool may_run_at_other_place(errc code) noexcept;

} // namespace skep
