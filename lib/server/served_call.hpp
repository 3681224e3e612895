// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include "async/condition_variable.hpp"
#include "async/task_group.hpp"
#include "core/node_call.hpp"
#include "server/call_failure.hpp"
#include "server/cancelled_calls.hpp"
#include "server/outbox.hpp"
#include "server/recalled_calls.hpp"
#include "server/tool_calls.hpp"
#include "wire/call_messages.hpp"
#include <skep/handler_registry.hpp>
#include <skep/worker_call.hpp>

#include <boost/json/array.hpp>

#include <cstdint>
#include <exception>
#include <limits>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>

namespace skep {

class answer_memory;

/// The parts shared by the calls of a worker.
struct call_services {
    call_services(const strand& call_strand, frame_output& output, outbox::error_handler on_error)
        : executor(call_strand), out(call_strand, output, std::move(on_error)), tools(call_strand) {}

    strand executor;
    outbox out;
    tool_calls tools;
    cancelled_calls cancelled;
    recalled_calls recalled;
    welcome_message welcome;
    answer_memory* memory = nullptr; ///< set with the welcome; null without shared memory
};

inline constexpr auto no_index = std::numeric_limits<std::uint64_t>::max();

/// The chunks of a caller that takes no chunks.
struct collected_chunks {
    boost::json::array values;
    std::vector<blob> attachments;
    std::uint64_t least_index = no_index; ///< in data that only looks like a reference
};

class served_batch;

/// One running call of a worker, behind the handler's worker_call. Used on the strand, except for attach()
/// and progress(), which belong to the handler, and for immutable members.
class served_call : public std::enable_shared_from_this<served_call> {
public:
    using async_handler = detail::async_handler;
    using plain_handler = detail::plain_handler;
    using result = boost::json::value;

    served_call(call_message&& message, std::optional<time_point> deadline, call_services& services);

    const call_message& message() const noexcept { return message_; }
    std::optional<time_point> deadline() const noexcept { return deadline_; }
    bool is_cancelled() const noexcept { return services_.cancelled.contains(message_.id); }
    worker_call& face() noexcept { return face_; }

    /// Returns the call behind a handler's worker_call.
    static served_call& behind(worker_call& face) noexcept { return face.call_; }

    // For the handler; see worker_call.
    boost::json::value attach(blob bytes);
    boost::json::value attach(const ndarray& array);
    asio::awaitable<void> send(boost::json::value value, std::vector<blob> attachments);
    asio::awaitable<host_reply> call_host(std::string name, boost::json::value args,
                                          std::vector<blob> attachments);
    void progress(double fraction, std::string_view text);

    /// Moves the arguments out. The handler has none afterwards.
    boost::json::value take_args() noexcept { return std::move(message_.args); }

    /// Adds the facts of a node to the answer.
    void describe_node(node_answer facts) { from_node_ = std::move(facts); }

    // For the conversation.
    void grant(stream_credit more);
    void handle_tool_answer(open_tool_call& answered_call);
    void join(served_batch& batch) noexcept { batch_ = &batch; }
    void run_by(task_group::task_handle handler) noexcept { handler_ = std::move(handler); }
    void interrupt();
    bool was_interrupted() const noexcept { return was_interrupted_; }

    /// Appends the answer, the only message of the call after its handler has ended.
    void answer(boost::json::value value);
    void answer(const std::exception_ptr& problem);

private:
    struct report {
        double fraction;
        std::string text;
    };

    bool has_credit() const noexcept { return message_.stream->chunks > 0 && message_.stream->bytes > 0; }
    void send_chunk(const boost::json::value& value, const std::vector<blob>& attachments);
    void collect(boost::json::value value, const std::vector<blob>& attachments);
    call_failure ambiguous_chunk() const;
    void end_if_cancelled() const;
    std::shared_ptr<open_tool_call> begin_tool_call(const std::string& name, const boost::json::value& args,
                                                    const std::vector<blob>& attachments);
    template <class Append>
    void append_with(const std::vector<blob>& attachments, Append append);
    void handle_news();
    void send_report();
    void append_report();
    condition_variable& changed();
    void notify();

    call_message message_;
    std::optional<time_point> deadline_;
    call_services& services_;
    worker_call face_;
    task_group::task_handle handler_;
    served_batch* batch_ = nullptr; ///< has the handler; null if the call runs alone
    bool was_interrupted_ = false;
    std::vector<blob> attachments_; ///< of the result
    std::optional<node_answer> from_node_;
    std::optional<collected_chunks> collected_;
    std::size_t open_tool_calls_ = 0;
    std::optional<condition_variable> changed_; ///< credit, or room for tool calls; rarely waited for
    std::mutex news_mutex_;
    report news_;                  ///< the latest report; the handler may make reports on its own thread
    bool has_posted_news_ = false; ///< and handle_news() is scheduled
    std::optional<report> report_; ///< unsent; sent before the answer at the latest
    std::optional<timer> next_report_;
    bool is_report_due_ = true;
};

} // namespace skep
