// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "remote/link_hub.hpp"

#include "core/clock.hpp"

#include <algorithm>
#include <chrono>
#include <limits>
#include <new>
#include <utility>

namespace skep {

namespace {

constexpr duration tell_interval = std::chrono::milliseconds(100); ///< between answers to one unknown link
constexpr std::size_t most_told = 1000;                            ///< unknown links in that time
constexpr std::size_t idle_memory = 1024; ///< bytes for the input of a link that has read everything

} // namespace

std::string_view link_request::body() const noexcept {
    return decode_link_message(message)->body;
}

remote_link::remote_link(std::string subject, std::string peer, link_role role, const hub_options& options,
                         std::string greeting, time_point now)
    : subject_(std::move(subject)),
      peer_(std::move(peer)),
      state_(role, options.link, options.window, std::move(greeting), now) {}

hub_options hub_options_of(const link_options& options, double random) noexcept {
    hub_options result;
    result.window = static_cast<std::uint32_t>(options.window);
    result.all_windows = options.all_windows;
    result.first_epoch = static_cast<std::uint16_t>(random * std::numeric_limits<std::uint16_t>::max());
    return result;
}

link_hub::link_hub(bus& carrier, const hub_options& options)
    : bus_(carrier), options_(options), next_epoch_(options.first_epoch), window_(options.window) {}

// The life of a link

remote_link& link_hub::open(std::string subject, std::string peer_subject, std::string request) {
    auto& made = add(std::move(subject), std::move(peer_subject), link_role::client, std::move(request));
    if (bus_.is_up()) {
        act(made, [](link_state& state, auto& out) { state.on_bus(true, clock::now(), out); });
    }
    return made;
}

remote_link* link_hub::accept(const link_request& request, std::string consent, const link_load& own_load,
                              events& out) {
    if (links_.contains(request.subject)) {
        return nullptr;
    }
    auto& made = add(request.subject, request.reply, link_role::node, std::move(consent));
    made.own_load_ = &own_load;
    const auto message = decode_link_message(request.message);
    act(made, out, [&](link_state& state, auto& messages) {
        if (!bus_.is_up()) {
            state.on_bus(false, clock::now(), messages);
        }
        state.receive(*message, clock::now(), messages);
    });
    return &made;
}

void link_hub::refuse(const link_request& request, std::string_view reason) {
    publish(request.reply, {}, {link_kind::refuse, {}, 0, 0, 0, reason.substr(0, most_greeting)});
}

void link_hub::close(remote_link& link, std::string reason) {
    act(link, [&](link_state& state, auto& out) { state.close(std::move(reason), clock::now(), out); });
}

void link_hub::forget(remote_link& link) {
    unread_bytes_ -= link.unread_bytes();
    past_counts_ += link.state_.counts();
    ticks_.remove(link);
    const auto found = links_.find(link.subject_);
    forgotten_.push_back(std::move(found->second));
    links_.erase(found);
    share_windows();
}

remote_link& link_hub::add(std::string subject, std::string peer_subject, link_role role,
                           std::string greeting) {
    link_ptr made(new remote_link(std::move(subject), std::move(peer_subject), role, options_,
                                  std::move(greeting), clock::now()));
    auto& link = *made;
    link.state_.set_epoch(next_epoch_++);
    links_.emplace(link.subject_, std::move(made));
    share_windows();
    return link;
}

/// The bus holds messages for this program up to a limit: no more than the windows of all links together.
void link_hub::share_windows() noexcept {
    const auto share = options_.all_windows / std::max<std::size_t>(links_.size(), 1);
    window_ = static_cast<std::uint32_t>(
        std::clamp<std::size_t>(share, options_.link.least_window, options_.window));
}

// Sending

void link_hub::send(remote_link& link, std::string bytes) {
    use(link);
    link.state_.output().add(std::move(bytes));
}

std::size_t link_hub::room(remote_link& link) const noexcept {
    const std::size_t most = 2 * std::size_t(options_.window);
    const auto held = link.state_.output().size();
    link.is_full_ = held >= most;
    return link.is_full_ ? 0 : most - held;
}

void link_hub::tell_load(remote_link& link) {
    act(link, [](link_state& state, auto& out) { state.tell_load(clock::now(), out); });
}

void link_hub::flush() {
    for (; !used_.empty(); used_.pop_back()) {
        auto& each = *used_.back();
        each.is_used_ = false;
        if (each.input_.empty() && each.input_.capacity() > idle_memory) {
            std::string().swap(each.input_); // = {} keeps the memory
        }
        if (!each.state_.outcome()) {
            act(each, [](link_state& state, auto& messages) { state.flush(clock::now(), messages); });
        }
    }
    forgotten_.clear();
}

void link_hub::use(remote_link& link) {
    if (!link.is_used_) {
        used_.push_back(&link);
        link.is_used_ = true;
    }
}

/// Lets the link act, publishes its messages, and sets its time. A new link begins with the least window:
/// many links may be opened before the others learn of their smaller shares.
template <class Action>
void link_hub::act(remote_link& link, const Action& action) {
    auto& state = link.state_;
    state.set_load(link.own_load_ != nullptr ? *link.own_load_ : link_load());
    state.set_window(state.is_opening() ? options_.link.least_window : window_);
    state.set_segment(std::min(options_.link.segment, bus_.max_payload() - link_head_size));
    messages_.clear();
    action(state, messages_);
    for (const auto& each : messages_) {
        publish(link.peer_, link.subject_, each);
    }
    if (state.outcome()) {
        ticks_.remove(link);
    } else {
        ticks_.set(link, state.next_tick());
    }
}

/// Likewise, and reports a resumption or the end of the link, that it takes bytes again, or another load or
/// reach of the peer.
template <class Action>
void link_hub::act(remote_link& link, events& out, const Action& action) {
    const auto load_before = link.state_.peer_load();
    const auto resumes_before = link.state_.counts().resumes;
    act(link, action);
    if (link.state_.counts().resumes != resumes_before) {
        out.push_back(link_resumed{&link});
    }
    if (link.state_.peer_load() != load_before) {
        out.push_back(link_load_changed{&link});
    }
    const bool was_suspect = std::exchange(link.is_suspect_, link.state_.is_suspect(clock::now()));
    if (link.is_suspect_ != was_suspect) {
        out.push_back(link_reach_changed{&link});
    }
    if (const auto& end = link.state_.outcome()) {
        out.push_back(link_ended{&link, *end});
    } else if (link.is_full_ && link.state_.output().size() <= options_.window) {
        link.is_full_ = false;
        out.push_back(link_writable{&link});
    }
}

void link_hub::publish(std::string_view subject, std::string_view reply, const link_message& message) {
    const auto head = encode_link_head(message);
    bus_.publish(subject, reply, {head.data(), head.size()}, message.body);
}

// Receiving

void link_hub::on_message(const bus_message& message, events& out) {
    auto* const link = find_open(message.subject);
    if (message.has_no_receiver) {
        if (link != nullptr) {
            act(*link, out,
                [](link_state& state, auto& messages) { state.on_no_receiver(clock::now(), messages); });
        }
        return;
    }
    const auto told = decode_link_message(message.body);
    if (!told) {
        return;
    }
    if (link != nullptr) {
        if (is_from_peer(*link, message)) {
            receive(*link, *told, out);
        }
    } else if (told->kind != link_kind::open) {
        answer_unknown(message.subject, message.reply, told->kind);
    } else if (!message.reply.empty() && !links_.contains(message.subject)) {
        out.push_back(link_request{std::string(message.subject), std::string(message.reply),
                                   std::string(message.body)});
    }
}

/// An answer to a message for an unknown link has no reply.
bool link_hub::is_from_peer(const remote_link& link, const bus_message& message) noexcept {
    return message.reply.empty() || message.reply == link.peer_;
}

void link_hub::receive(remote_link& link, const link_message& message, events& out) {
    act(link, out, [&](link_state& state, auto& messages) {
        const auto input = state.receive(message, clock::now(), messages);
        if (input.is_accepted) {
            out.push_back(link_accepted{&link, std::string(input.bytes)});
        } else if (!input.bytes.empty()) {
            if (take(link, input.bytes)) {
                out.push_back(link_readable{&link});
            } else {
                state.close("no memory for its bytes", clock::now(), messages);
            }
        }
    });
}

remote_link* link_hub::find_open(std::string_view subject) const noexcept {
    const auto found = links_.find(subject);
    return found == links_.end() || found->second->state_.outcome() ? nullptr : found->second.get();
}

link_counters link_hub::counts() const noexcept {
    auto sum = past_counts_;
    for (const auto& each : links_) {
        sum += each.second->state_.counts();
    }
    return sum;
}

/// Returns false without memory for the bytes.
bool link_hub::take(remote_link& link, std::string_view bytes) {
    use(link);
    try {
        link.input_.erase(0, std::exchange(link.read_bytes_, 0));
        link.input_ += bytes;
    } catch (const std::bad_alloc&) {
        return false;
    }
    unread_bytes_ += bytes.size();
    return true;
}

std::size_t link_hub::read(remote_link& link, std::span<char> space) noexcept {
    const auto count = link.input_.copy(space.data(), space.size(), link.read_bytes_);
    link.read_bytes_ += count;
    unread_bytes_ -= count;
    if (link.unread_bytes() == 0) {
        link.input_.clear();
        link.read_bytes_ = 0;
    }
    return count;
}

/// Tells the sender that its link does not exist here; seldom, as many messages may be on their way.
void link_hub::answer_unknown(std::string_view subject, std::string_view reply, link_kind kind) {
    if (kind == link_kind::refuse || kind == link_kind::close || reply.empty()) {
        return;
    }
    const auto now = clock::now();
    if (now >= next_purge_) {
        std::erase_if(told_, [&](const auto& each) { return now - each.second >= tell_interval; });
        next_purge_ = now + tell_interval;
    }
    const auto found = told_.find(subject);
    if (found == told_.end() ? told_.size() >= most_told : now - found->second < tell_interval) {
        return;
    }
    told_.insert_or_assign(std::string(subject), now);
    publish(reply, {}, {link_kind::close, {}, 0, 0, 0, "the link is unknown"});
}

// The bus and the time

void link_hub::on_connection(bool is_up, events& out) {
    for (const auto& [subject, each] : links_) {
        if (!each->state_.outcome()) {
            act(*each, out,
                [&](link_state& state, auto& messages) { state.on_bus(is_up, clock::now(), messages); });
        }
    }
}

void link_hub::tick(events& out) {
    const auto now = clock::now();
    while (auto* const due = ticks_.pop_due(now)) {
        auto& link = *static_cast<remote_link*>(due);
        act(link, out, [&](link_state& state, auto& messages) { state.tick(now, messages); });
    }
}

} // namespace skep
