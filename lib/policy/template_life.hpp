// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include <skep/time.hpp>

#include <algorithm>
#include <array>

namespace skep {

/// How the next worker of a pool with launch.preload starts.
enum class template_step {
    use,  ///< is forked from the template
    make, ///< likewise, after a template was made
    exec  ///< as a program of its own: the template cannot be forked, or templates end too often
};

/// Decides when a pool makes a template. After two ends within the window, workers start without a template
/// until the window is over. A refused template stays refused until renew().
class template_life {
public:
    explicit template_life(duration window) noexcept : window_(window) {}

    template_step next(time_point now) const noexcept {
        if (stage_ == stage::ready) {
            return template_step::use;
        }
        return stage_ == stage::refused || has_ended_often(now) ? template_step::exec : template_step::make;
    }

    bool is_ready() const noexcept { return stage_ == stage::ready; }

    /// Returns true for a template whose last two forks have failed: a new one may have what this one lacks.
    bool is_barren() const noexcept { return failed_forks_ >= 2; }

    void on_ready() noexcept {
        stage_ = stage::ready;
        failed_forks_ = 0;
    }

    /// Keeps the present template: the new one could not be made.
    void on_kept() noexcept { stage_ = stage::ready; }

    void on_fork(bool has_succeeded) noexcept { failed_forks_ = has_succeeded ? 0 : failed_forks_ + 1; }
    void on_refused() noexcept { stage_ = stage::refused; }

    /// The template has died or hung, or could not be made.
    void on_end(time_point now) noexcept {
        stage_ = stage::absent;
        ends_ = {ends_[1], now};
    }

    /// A new script may be there: forgets the past.
    void renew() noexcept {
        stage_ = stage::absent;
        ends_ = never;
    }

    /// Returns true if two templates have ended within the window.
    bool has_ended_often(time_point now) const noexcept {
        return std::all_of(ends_.begin(), ends_.end(),
                           [&](time_point end) { return end != time_point::min() && now - end < window_; });
    }

private:
    enum class stage { absent, ready, refused };

    static constexpr std::array<time_point, 2> never{time_point::min(), time_point::min()};

    duration window_;
    stage stage_ = stage::absent;
    int failed_forks_ = 0;                   ///< since the last that succeeded
    std::array<time_point, 2> ends_ = never; ///< the last two, oldest first
};

} // namespace skep
