// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include "async/condition_variable.hpp"
#include "async/latch.hpp"
#include "policy/home_choice.hpp"
#include "remote/bus.hpp"
#include "remote/node_directory.hpp"
#include "runtime/pool_context.hpp"
#include "wire/home_messages.hpp"

#include <boost/asio/awaitable.hpp>
#include <boost/intrusive/set.hpp>

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <utility>

namespace skep {

/// The questions of a client to all nodes for the node of a session. Used on the strand.
class home_questions {
public:
    /// `context`, `carrier` and `nodes` must outlive this object. `inbox`: the prefix of this client's
    /// subjects.
    home_questions(const pool_context& context, bus& carrier, const node_directory& nodes,
                   const std::string& domain, const std::string& pool, const std::string& inbox);

    /// Subscribes to the answers.
    void begin();

    /// Asks for the node of the session. Only a known node counts, and a node that drains only if no other
    /// one has the session.
    asio::awaitable<home_report> ask(std::string session);

    /// Tells all nodes to forget the session.
    void forget(const std::string& session);

    /// Handles an answer. Returns false for the messages of another subject.
    bool on_message(const bus_message& message);

    /// The connection to the bus is up, or down.
    void on_connection();

private:
    /// A question whose answer is awaited. Lies in the frame of its coroutine.
    struct question
        : boost::intrusive::set_base_hook<boost::intrusive::link_mode<boost::intrusive::auto_unlink>> {
        question(const strand& executor, std::string subject_for_answers)
            : subject(std::move(subject_for_answers)), answered(executor) {}

        std::string subject;
        std::string node{}; ///< that has the session
        bool is_draining = false;
        latch answered;
    };

    struct key_of_question {
        using type = std::string_view;
        type operator()(const question& each) const noexcept { return each.subject; }
    };

    asio::awaitable<bool> connected();
    void note(const home_answer& answer, question& open_question);
    void publish(const std::string& reply, const std::string& session, bool is_to_forget);

    const pool_context& context_;
    bus& carrier_;
    const node_directory& nodes_;
    std::string pool_;
    std::string subject_;
    std::string inbox_;
    std::uint64_t last_number_ = 0;
    std::uint64_t connections_ = 0; ///< changes of the connection
    condition_variable changed_;    ///< by the connection
    boost::intrusive::set<question, boost::intrusive::key_of_value<key_of_question>,
                          boost::intrusive::compare<std::less<>>, boost::intrusive::constant_time_size<false>>
        open_; ///< by subject
};

} // namespace skep
