// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include "process/guard.hpp"
#include "process/nursery.hpp"
#include "process/template_line.hpp"
#include "process/template_port.hpp"
#include "wire/template_messages.hpp"
#include <skep/time.hpp>

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace skep {

/// A process that has loaded the script of a pool, and forks a worker for each order: see
/// lib/wire/PROTOCOL.md. The template is user code, so the host checks each answer, and learns exit statuses
/// from the nursery. Used on the spawner.
class worker_template final : public template_port {
public:
    /// Starts a nursery with `spec` as its template. Throws error(spawn_failed).
    worker_template(const launcher& launch, guard& process_guard, const std::string& nursery_program,
                    launch_spec spec, launch_abort& abort);

    /// Ends the template, and its nursery unless workers of the template are left: then the last one does.
    ~worker_template() override;

    /// Counts in `ends` if the nursery outlives its owners.
    void count_end(std::shared_ptr<const nursery_ends> ends) noexcept {
        nursery_->count_end(std::move(ends));
    }

    std::optional<std::vector<std::string>> await_ready(duration limit, const launch_abort& abort) override;

    /// Returns nullopt if the worker has another program, other arguments or another directory than the
    /// template, if it is a worker over stdio, or if the order is too long.
    std::optional<launched_child> fork(const launch_spec& spec, const std::string& worker, duration limit,
                                       const launch_abort& abort) override;

    bool is_usable() const noexcept override { return is_usable_ && !line_.is_over(); }

    bool takes_regions() const noexcept override { return takes_regions_; }

    pid_t pid() noexcept override { return nursery_->template_pid(); }

    /// Returns a descriptor that hangs up when the template ends.
    unique_fd copy_of_line() const;

private:
    worker_template(fd_pair line, const launcher& launch, guard& process_guard,
                    const std::string& nursery_program, launch_spec spec, launch_abort& abort);

    std::optional<std::string> order_for(const launch_spec& spec, const std::string& worker) const;
    launched_child adopt(message_with_descriptor answer, std::size_t mark, long long ordered_at);
    std::optional<bool> is_new_child(pid_t pid, int pidfd, long long ordered_at) const;
    bool is_adopter(pid_t parent) const;
    [[noreturn]] void fail_start(const std::string& problem);
    std::string early_end();
    [[noreturn]] void give_up(const std::string& problem);

    const launch_spec spec_;
    std::map<std::string, std::string> environment_;
    std::shared_ptr<nursery> nursery_;
    template_line line_;
    bool is_usable_ = true;
    bool takes_regions_ = false; ///< set by await_ready()
};

} // namespace skep
