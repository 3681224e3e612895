// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "remote/home_questions.hpp"

#include "remote/subjects.hpp"

#include <chrono>

namespace skep {

namespace {

constexpr duration time_for_answers = std::chrono::milliseconds(50);
constexpr duration time_for_connection = std::chrono::seconds(1);

} // namespace

home_questions::home_questions(const pool_context& context, bus& carrier, const node_directory& nodes,
                               const std::string& domain, const std::string& pool, const std::string& inbox)
    : context_(context),
      carrier_(carrier),
      nodes_(nodes),
      pool_(pool),
      subject_(home_subject(domain)),
      inbox_(inbox + "home."),
      changed_(context.executor) {}

void home_questions::begin() {
    carrier_.subscribe(inbox_ + "*");
}

/// Without a connection from the question to the end of the wait, the silence of the nodes says nothing.
asio::awaitable<home_report> home_questions::ask(std::string session) {
    home_report report;
    const bool is_up = co_await connected();
    if (!is_up) {
        co_return report;
    }
    question mine(context_.executor, inbox_ + std::to_string(++last_number_));
    open_.insert(mine);
    publish(mine.subject, session, false);
    const auto connection = connections_;
    const auto limit = context_.now() + time_for_answers;
    report.was_asked = co_await mine.answered.wait_until(limit);
    report.was_asked = report.was_asked || connection == connections_;
    report.node = std::move(mine.node);
    report.is_draining = mine.is_draining;
    co_return report;
}

asio::awaitable<bool> home_questions::connected() {
    const auto limit = context_.now() + time_for_connection;
    while (!carrier_.is_up() && context_.now() < limit) {
        co_await changed_.wait_until(limit);
    }
    co_return carrier_.is_up();
}

/// The subject for answers tells the nodes which client it is: each node limits its messages.
void home_questions::forget(const std::string& session) {
    if (carrier_.is_up() && is_session_id(session)) {
        publish(inbox_ + "none", session, true);
    }
}

void home_questions::publish(const std::string& reply, const std::string& session, bool is_to_forget) {
    carrier_.publish(subject_, reply, {}, encode_home_question({pool_, session, is_to_forget}));
}

bool home_questions::on_message(const bus_message& message) {
    if (!message.subject.starts_with(inbox_)) {
        return false;
    }
    const auto asked = open_.find(message.subject);
    const auto answer = asked == open_.end() ? std::nullopt : decode_home_answer(message.body);
    if (answer) {
        note(*answer, *asked);
    }
    return true;
}

/// An answer may come from a program that has ended since. If the node drains, the session may have begun
/// anew at another node, whose answer counts.
void home_questions::note(const home_answer& answer, question& open_question) {
    const auto known = nodes_.find(answer.node);
    if (!known || known->epoch != answer.epoch || open_question.answered.is_open()) {
        return;
    }
    open_question.node = answer.node;
    open_question.is_draining = answer.is_draining || known->is_draining;
    if (!open_question.is_draining) {
        open_question.answered.open();
    }
}

void home_questions::on_connection() {
    ++connections_;
    changed_.notify_all();
}

} // namespace skep
