// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "server/served_call.hpp"

#include "core/reference_keys.hpp"
#include "server/answer_memory.hpp"
#include "server/served_batch.hpp"
#include "wire/answer_messages.hpp"
#include "wire/attachments.hpp"

#include <boost/asio/dispatch.hpp>
#include <boost/asio/error.hpp>
#include <boost/json/object.hpp>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <utility>

namespace skep {

namespace json = boost::json;

namespace {

constexpr std::size_t most_collected = 10'000;
constexpr duration between_reports = std::chrono::milliseconds(20);

/// Returns the index in {"$attachment": index}; null if `object` is anything else.
json::value* index_of_reference(json::object& object) {
    auto* const index = object.size() == 1 ? object.if_contains(attachment_key) : nullptr;
    return index != nullptr && (index->is_uint64() || (index->is_int64() && index->as_int64() >= 0))
               ? index
               : nullptr;
}

/// Adds `offset` to the index of each reference in the value of a message with `count` attachments. Returns
/// the least index that is out of range, because such an object is data; no_index if there is none.
std::uint64_t shift_references(json::value& value, std::size_t count, std::size_t offset) {
    auto least = no_index;
    if (auto* const array = value.if_array()) {
        for (auto& element : *array) {
            least = std::min(least, shift_references(element, count, offset));
        }
    } else if (auto* const object = value.if_object()) {
        if (auto* const index = index_of_reference(*object)) {
            const auto found = index->to_number<std::uint64_t>();
            if (found >= count) {
                return found;
            }
            *index = found + offset;
            return no_index;
        }
        for (auto& member : *object) {
            least = std::min(least, shift_references(member.value(), count, offset));
        }
    }
    return least;
}

} // namespace

served_call::served_call(call_message&& message, std::optional<time_point> deadline, call_services& services)
    : message_(std::move(message)), deadline_(deadline), services_(services), face_(*this) {
    if (message_.correlation_id.empty()) {
        message_.correlation_id = services.welcome.correlation + std::to_string(message_.id);
    }
}

json::value served_call::attach(blob bytes) {
    attachments_.push_back(std::move(bytes));
    json::object reference;
    reference.emplace(attachment_key, attachments_.size() - 1);
    return reference;
}

json::value served_call::attach(const ndarray& array) {
    return attach_to(attachments_, array);
}

asio::awaitable<void> served_call::send(json::value value, std::vector<blob> attachments) {
    end_if_cancelled();
    if (!message_.stream) {
        collect(std::move(value), attachments);
        co_return;
    }
    while (!has_credit() && !was_interrupted_) {
        services_.out.send();
        co_await changed().wait();
    }
    end_if_cancelled();
    send_chunk(value, attachments);
}

/// Appends a message by `append`, and then its attachments, without those in shared memory. A message whose
/// places take too much text gets none.
template <class Append>
void served_call::append_with(const std::vector<blob>& attachments, Append append) {
    std::vector<region_place> places;
    if (services_.memory != nullptr && !attachments.empty()) {
        places = services_.memory->put(attachments);
    }
    if (!places.empty()) {
        try {
            append(placed_attachments(attachments, places));
        } catch (...) {
            services_.memory->take_back(places);
            places.clear();
        }
    }
    const placed_attachments placed(attachments, places);
    if (places.empty()) {
        append(placed);
    }
    services_.out.attach(placed);
}

void served_call::send_chunk(const json::value& value, const std::vector<blob>& attachments) {
    auto& out = services_.out;
    std::size_t size = 0;
    try {
        append_with(attachments, [&](const placed_attachments& placed) {
            size = append_answer(out.text(), answer_kind::chunk, message_.id, value, placed,
                                 services_.welcome.limits);
        });
    } catch (const std::logic_error&) {
        refuse_unsendable("a chunk of '" + message_.command + "'");
    }
    size += total_size(attachments);
    --message_.stream->chunks;
    message_.stream->bytes -= static_cast<std::int64_t>(size);
    out.send_shortly();
}

void served_call::collect(json::value value, const std::vector<blob>& attachments) {
    if (!collected_) {
        collected_.emplace();
    }
    auto& [values, all, least_index] = *collected_;
    if (values.size() == most_collected) {
        throw call_failure("skep.ResultTooLarge", "'" + message_.command + "' sends more than " +
                                                      std::to_string(most_collected) +
                                                      " chunks; call it as a stream");
    }
    least_index = std::min(least_index, shift_references(value, attachments.size(), all.size()));
    all.insert(all.end(), attachments.begin(), attachments.end());
    values.push_back(std::move(value));
}

void served_call::end_if_cancelled() const {
    if (is_cancelled() || was_interrupted_) {
        throw boost::system::system_error(asio::error::operation_aborted);
    }
}

asio::awaitable<host_reply> served_call::call_host(std::string name, json::value args,
                                                   std::vector<blob> attachments) {
    if (!args.is_object()) {
        throw std::invalid_argument("the arguments of a tool are a JSON object");
    }
    while (open_tool_calls_ >= services_.welcome.limits.tool_calls) {
        co_await changed().wait();
    }
    end_if_cancelled();
    const auto begun = begin_tool_call(name, args, attachments);
    co_await begun->answered.wait();
    if (auto* const failure = std::get_if<tool_error_message>(&begun->answer)) {
        throw host_tool_error(name, std::move(failure->type), std::move(failure->message),
                              std::move(failure->code), std::move(failure->data));
    }
    auto& answer = std::get<tool_result_message>(begun->answer);
    host_reply reply{std::move(answer.value), std::move(answer.attachments)};
    co_return reply;
}

std::shared_ptr<open_tool_call> served_call::begin_tool_call(const std::string& name, const json::value& args,
                                                             const std::vector<blob>& attachments) {
    auto& out = services_.out;
    const auto number = services_.tools.next_number();
    try {
        append_with(attachments, [&](const placed_attachments& placed) {
            append_tool_call(out.text(), message_.id, number, name, args, placed, services_.welcome.limits);
        });
    } catch (const std::logic_error&) {
        refuse_unsendable("a call of the tool '" + name + "'");
    }
    out.send_soon();
    ++open_tool_calls_;
    return services_.tools.begin(number, *this);
}

void served_call::handle_tool_answer(open_tool_call& answered_call) {
    --open_tool_calls_;
    answered_call.answered.open();
    notify();
}

void served_call::progress(double fraction, std::string_view text) {
    if (std::isnan(fraction)) {
        throw std::invalid_argument("the fraction of a progress is not a number");
    }
    {
        const std::lock_guard lock(news_mutex_);
        news_ = report{std::clamp(fraction, 0.0, 1.0), std::string(text)};
        if (std::exchange(has_posted_news_, true)) {
            return;
        }
    }
    asio::dispatch(services_.executor, [self = shared_from_this()] { self->handle_news(); });
}

void served_call::handle_news() {
    {
        const std::lock_guard lock(news_mutex_);
        report_ = std::move(news_);
        has_posted_news_ = false;
    }
    if (is_report_due_) {
        send_report();
    }
}

void served_call::send_report() {
    auto& out = services_.out;
    append_report();
    if (!out.try_send()) { // even if the handler does not let others run
        out.send_soon();
    }
    if (!next_report_) {
        next_report_.emplace(services_.executor);
    }
    is_report_due_ = false;
    next_report_->expires_after(between_reports);
    next_report_->async_wait([self = weak_from_this()](boost::system::error_code) {
        if (const auto call = self.lock()) {
            call->is_report_due_ = true;
            if (call->report_) {
                call->send_report();
            }
        }
    });
}

void served_call::append_report() {
    append_progress(services_.out.text(), message_.id, report_->fraction, report_->text);
    report_.reset();
}

void served_call::grant(stream_credit more) {
    if (message_.stream) {
        constexpr auto most = std::numeric_limits<std::int64_t>::max() / 2; // of both sums, and of `more`
        auto& credit = *message_.stream;
        credit.chunks = std::min(credit.chunks + more.chunks, most);
        credit.bytes = std::min(credit.bytes + more.bytes, most);
        notify();
    }
}

void served_call::notify() {
    if (changed_) {
        changed_->notify_all();
    }
}

void served_call::interrupt() {
    was_interrupted_ = true;
    handler_.cancel();
    if (batch_ != nullptr) { // the handler may go on, but not wait for credit of this call
        notify();
        batch_->interrupt_if_abandoned();
    }
}

call_failure served_call::ambiguous_chunk() const {
    return {"skep.UnserializableResult",
            "the result of '" + message_.command +
                "' cannot be sent: a chunk has {\"$attachment\":" + std::to_string(collected_->least_index) +
                "} as data, and it would refer to an attachment of another chunk"};
}

void served_call::answer(json::value value) {
    if (collected_) {
        if (collected_->least_index < collected_->attachments.size()) {
            answer(std::make_exception_ptr(ambiguous_chunk()));
            return;
        }
        value = std::move(collected_->values);
        attachments_ = std::move(collected_->attachments);
    }
    if (report_) {
        append_report();
    }
    auto& out = services_.out;
    try {
        append_with(attachments_, [&](const placed_attachments& placed) {
            append_answer(out.text(), answer_kind::result, message_.id, value, placed,
                          services_.welcome.limits, from_node_ ? &*from_node_ : nullptr);
        });
        out.send_soon();
    } catch (const std::logic_error&) {
        try {
            refuse_unsendable("the result of '" + message_.command + "'");
        } catch (const call_failure&) {
            answer(std::current_exception());
        }
    }
}

void served_call::answer(const std::exception_ptr& problem) {
    if (report_) {
        append_report();
    }
    auto said = describe(problem, was_interrupted_ || is_cancelled());
    said.id = message_.id;
    append_error(services_.out.text(), said, services_.welcome.limits);
    services_.out.send_soon();
}

condition_variable& served_call::changed() {
    if (!changed_) {
        changed_.emplace(services_.executor);
    }
    return *changed_;
}

} // namespace skep
