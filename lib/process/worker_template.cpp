// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "process/worker_template.hpp"

#include "core/with_detail.hpp"
#include "process/process_origin.hpp"
#include "wire/json_writer.hpp"
#include <skep/error.hpp>

#include <algorithm>
#include <array>
#include <chrono>
#include <span>
#include <thread>
#include <utility>

namespace skep {

namespace {

constexpr std::chrono::milliseconds between_nursery_looks(1);
constexpr std::chrono::seconds for_adoption(1);

/// Time for an answer after the abort: a fork is over by then, so the template stays usable.
constexpr duration after_abort = std::chrono::milliseconds(500);
constexpr std::chrono::seconds for_end_report(1);

std::map<std::string, std::string> environment_by_name(const std::vector<std::string>& entries) {
    std::map<std::string, std::string> result;
    for (const auto& each : entries) {
        const auto name_end = each.find('=');
        result.emplace(each.substr(0, name_end), each.substr(name_end + 1));
    }
    return result;
}

/// Returns what turns the environment `base` into `target`.
std::map<std::string, std::optional<std::string>> environment_changes(
    const std::map<std::string, std::string>& base, const std::map<std::string, std::string>& target) {
    std::map<std::string, std::optional<std::string>> result;
    for (const auto& [name, value] : target) {
        const auto known = base.find(name);
        if (known == base.end() || known->second != value) {
            result.emplace(name, value);
        }
    }
    for (const auto& [name, value] : base) {
        if (!target.contains(name)) {
            result.emplace(name, std::nullopt);
        }
    }
    return result;
}

[[noreturn]] void fail_fork(const std::string& problem) {
    throw error(errc::spawn_failed, with_detail("fork of the template failed: " + problem));
}

/// Returns `spec` with the far end of the template's line.
launch_spec with_line(launch_spec spec, int line) {
    spec.descriptors[template_line_in_nursery] = line;
    return spec;
}

} // namespace

worker_template::worker_template(const launcher& launch, guard& process_guard,
                                 const std::string& nursery_program, launch_spec spec, launch_abort& abort)
    : worker_template(make_packet_pair(launch), launch, process_guard, nursery_program, std::move(spec),
                      abort) {}

worker_template::worker_template(fd_pair line, const launcher& launch, guard& process_guard,
                                 const std::string& nursery_program, launch_spec spec, launch_abort& abort)
    : spec_(std::move(spec)),
      environment_(environment_by_name(spec_.environment)),
      nursery_(std::make_shared<nursery>(launch, process_guard, nursery_program,
                                         with_line(spec_, line.there.get()), abort)),
      line_(std::move(line.here)) {}

worker_template::~worker_template() {
    line_.end();
    if (nursery_.use_count() == 1) {
        nursery_->end(to_end_nursery);
    }
}

unique_fd worker_template::copy_of_line() const {
    return line_.copy();
}

std::optional<std::vector<std::string>> worker_template::await_ready(duration limit,
                                                                     const launch_abort& abort) {
    const auto began = std::chrono::steady_clock::now();
    const auto message = line_.receive(limit, duration::zero(), abort);
    if (!message) {
        const bool is_late = std::chrono::steady_clock::now() - began >= limit;
        if (is_late && !abort.is_requested()) {
            return std::nullopt;
        }
        fail_start(abort.is_requested() ? "was cancelled" : "");
    }
    auto report = decode_template_report(message->text);
    if (!report) {
        fail_start("has sent something else than its report");
    }
    takes_regions_ = report->takes_regions;
    return std::move(report->objections);
}

/// Tells why the template could not be started, or how it has ended, if `problem` is empty.
void worker_template::fail_start(const std::string& problem) {
    if (const int number = nursery_->start_problem(); number != 0) {
        launcher::fail(launch_step::exec, number, spec_.executable);
    }
    throw error(errc::spawn_failed,
                with_detail("the template of the workers " + (problem.empty() ? early_end() : problem)));
}

/// Tells how the template has ended, as soon as the nursery has reported the end.
std::string worker_template::early_end() {
    const auto deadline = std::chrono::steady_clock::now() + for_end_report;
    auto status = nursery_->take_status(pid(), 0);
    while (!status && std::chrono::steady_clock::now() < deadline && !nursery_->is_over()) {
        std::this_thread::sleep_for(between_nursery_looks);
        status = nursery_->take_status(pid(), 0);
    }
    return status ? "has ended before it was ready: " + to_string(*status) : "has closed its connection";
}

std::optional<std::string> worker_template::order_for(const launch_spec& spec,
                                                      const std::string& worker) const {
    const auto& common = spec_.arguments;
    const bool has_channels = spec.descriptors[4] >= 0; // not over stdio
    const bool fits = has_channels && spec.executable == spec_.executable &&
                      spec.directory == spec_.directory && spec.arguments.size() >= common.size() &&
                      std::equal(common.begin(), common.end(), spec.arguments.begin());
    if (!fits) {
        return std::nullopt;
    }
    auto variables = environment_by_name(spec.environment);
    if (!takes_regions_) {
        variables.erase("SKEP_SHARED_FD");
    }
    const fork_order order{worker, environment_changes(environment_, variables),
                           std::vector(spec.arguments.begin() + static_cast<std::ptrdiff_t>(common.size()),
                                       spec.arguments.end())};
    try {
        auto text = encode_fork_order(order);
        return text.size() <= most_template_bytes ? std::optional(std::move(text)) : std::nullopt;
    } catch (const unsendable&) { // JSON is UTF-8
        return std::nullopt;
    }
}

std::optional<launched_child> worker_template::fork(const launch_spec& spec, const std::string& worker,
                                                    duration limit, const launch_abort& abort) {
    const auto order = order_for(spec, worker);
    if (!order) {
        return std::nullopt;
    }
    const auto& numbers = spec.descriptors;
    const std::array<int, 7> all{numbers[3],      numbers[4],       numbers[1], numbers[2],
                                 spec.leash.host, spec.leash.guard, numbers[5]};
    const bool has_regions = takes_regions_ && numbers[5] >= 0;
    const auto descriptors = std::span(all).first(has_regions ? 7 : 6);
    const auto mark = nursery_->mark();
    const auto ordered_at = present_ticks();
    if (!line_.send(*order, descriptors)) {
        give_up("the template has ended");
    }
    auto answer = line_.receive(limit, after_abort, abort);
    if (!answer) {
        give_up("the template has not answered");
    }
    return adopt(std::move(*answer), mark, ordered_at);
}

/// Checks that the template has forked a new process that is the nursery's child. Any other process must not
/// be sent signals.
launched_child worker_template::adopt(message_with_descriptor answer, std::size_t mark,
                                      long long ordered_at) {
    const auto decoded = decode_fork_answer(answer.text);
    if (!decoded) {
        give_up("the template has sent something else than an answer");
    }
    if (decoded->pid == 0) {
        fail_fork(decoded->error);
    }
    const auto pid = static_cast<pid_t>(decoded->pid);
    const auto deadline = std::chrono::steady_clock::now() + for_adoption;
    auto is_adopted = is_new_child(pid, answer.descriptor.get(), ordered_at);
    while (is_adopted == false && std::chrono::steady_clock::now() < deadline) {
        std::this_thread::sleep_for(between_nursery_looks); // its parent is about to end
        is_adopted = is_new_child(pid, answer.descriptor.get(), ordered_at);
    }
    if (is_adopted != true) {
        give_up("the template has answered with a process that is not a new child of the nursery");
    }
    return launched_child(pid, std::move(answer.descriptor), {nursery_, mark});
}

/// Returns false for a process that may become one; nullopt for a descriptor that is no process.
std::optional<bool> worker_template::is_new_child(pid_t pid, int pidfd, long long ordered_at) const {
    constexpr pid_t collected = -1; // there is nothing left to send signals to
    const auto named = pid_of(pidfd);
    if (!named || *named == collected) {
        return named ? std::optional(true) : std::nullopt;
    }
    const auto origin = origin_of(pid);
    return *named == pid && origin && origin->start + 1 >= ordered_at && is_adopter(origin->parent);
}

/// Returns true for the nursery, and for a child of the template: its end leaves its children to the nursery.
bool worker_template::is_adopter(pid_t parent) const {
    const auto origin = parent == nursery_->pid() ? std::nullopt : origin_of(parent);
    return parent == nursery_->pid() || (origin && origin->parent == nursery_->template_pid());
}

void worker_template::give_up(const std::string& problem) {
    is_usable_ = false;
    nursery_->kill_template();
    fail_fork(problem);
}

} // namespace skep
