// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include "policy/deadline_heap.hpp"
#include "policy/link_state.hpp"
#include "remote/bus.hpp"
#include "wire/link_head.hpp"
#include <skep/link_options.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace skep {

struct hub_options {
    link_limits link;
    std::uint32_t window = 2 << 20;     ///< of a link, in bytes: link_limits::least_window and more
    std::size_t all_windows = 32 << 20; ///< of all links together, in bytes; a link has its least anyway
    std::uint16_t first_epoch = 1;      ///< a random number
};

/// `random`: in [0, 1).
hub_options hub_options_of(const link_options& options, double random) noexcept;

/// One end of a link: a stream of bytes in each direction. A link_hub owns the links.
class remote_link : private deadline_node {
public:
    remote_link(const remote_link&) = delete;
    remote_link& operator=(const remote_link&) = delete;

    /// Returns the subject of the messages to this end.
    const std::string& subject() const noexcept { return subject_; }

    const link_state& state() const noexcept { return state_; }

    /// Returns true if the peer may be out of reach, as the last link_reach_changed has told.
    bool is_suspect() const noexcept { return is_suspect_; }

    /// Returns the number of received bytes that link_hub::read() has not returned.
    std::size_t unread_bytes() const noexcept { return input_.size() - read_bytes_; }

private:
    friend class link_hub;

    remote_link(std::string subject, std::string peer, link_role role, const hub_options& options,
                std::string greeting, time_point now);

    std::string subject_;
    std::string peer_; ///< the subject of the messages to the peer
    link_state state_;
    const link_load* own_load_ = nullptr; ///< null at a client
    std::string input_;                   ///< received
    std::size_t read_bytes_ = 0;          ///< of input_
    bool is_suspect_ = false;             ///< as told
    bool is_full_ = false;                ///< link_hub::room() was 0, and a link_writable is due
    bool is_used_ = false;                ///< is in link_hub::used_
};

/// A client asks for a link: link_hub::accept() or refuse() answers. Both fields with subjects come from the
/// client: it is for the owner to check that `reply` is a client's.
struct link_request {
    std::string subject; ///< of the node's end
    std::string reply;   ///< of the client's end
    std::string message;

    /// Returns the client's request, a JSON text. Precondition: the hub has made the object.
    std::string_view body() const noexcept;
};

/// The node has accepted the link.
struct link_accepted {
    remote_link* link;
    std::string consent; ///< the node's answer, a JSON text
};

/// Bytes have arrived, for link_hub::read().
struct link_readable {
    remote_link* link;
};

/// The link takes bytes again, after link_hub::room() was 0.
struct link_writable {
    remote_link* link;
};

/// The peer has told another load.
struct link_load_changed {
    remote_link* link;
};

/// The peer may be out of reach, or is in reach again: see link_state::is_suspect().
struct link_reach_changed {
    remote_link* link;
};

/// The link goes on after a cut.
struct link_resumed {
    remote_link* link;
};

/// The link has ended, other than by link_hub::close(). link_hub::forget() is due.
struct link_ended {
    remote_link* link;
    link_end end;
};

using link_event = std::variant<link_request, link_accepted, link_readable, link_writable, link_load_changed,
                                link_reach_changed, link_resumed, link_ended>;

/// The links of one program, over one connection to a bus. Keeps the times of all links, and divides the
/// memory that the bus may need for this program. The owner passes on the reports of the bus, calls tick() at
/// next_tick(), and calls flush() at the end of each turn with the hub. If an exception leaves a function,
/// the hub can only be destroyed.
class link_hub {
public:
    using events = std::vector<link_event>;

    link_hub(bus& carrier, const hub_options& options);

    /// The most bytes of a request or consent.
    static constexpr std::size_t most_greeting = bus::least_payload - link_head_size;

    /// Asks the node behind `peer_subject` for a link. The answer is a link_accepted or link_ended.
    /// Precondition: no link of the hub has had the subject.
    remote_link& open(std::string subject, std::string peer_subject, std::string request);

    /// Accepts a request. `own_load`: in all messages of the link; outlives the link. Returns the link, or
    /// null if there is one: clients repeat their requests.
    remote_link* accept(const link_request& request, std::string consent, const link_load& own_load,
                        events& out);
    void refuse(const link_request& request, std::string_view reason);

    /// Sends `bytes` with the other bytes of this turn. Precondition: `bytes` is not empty.
    void send(remote_link& link, std::string bytes);

    /// Returns the number of bytes that the link takes before it holds too many for a slow peer. If that is
    /// 0, a link_writable follows when there is room again. send() takes any number.
    std::size_t room(remote_link& link) const noexcept;

    /// Moves received bytes to the beginning of `space`. Returns their number: 0 if all were read.
    std::size_t read(remote_link& link, std::span<char> space) noexcept;

    /// Tells the peer the load now. Otherwise the next message does.
    void tell_load(remote_link& link);

    /// Ends the link and tells the peer, without an event.
    void close(remote_link& link, std::string reason);

    /// Destroys the link at the next flush(): events of this turn may name the link. Precondition: the link
    /// has ended.
    void forget(remote_link& link);

    // Reports of the bus.
    void on_message(const bus_message& message, events& out);
    void on_connection(bool is_up, events& out);

    /// Sends the frames of this turn.
    void flush();

    /// Returns the time at which tick() is due, or time_point::max().
    time_point next_tick() const noexcept { return ticks_.earliest(); }
    void tick(events& out);

    /// Returns the number of links that are not forgotten.
    std::size_t size() const noexcept { return links_.size(); }

    /// Returns the sums over all links, past and present. Complexity: linear in the present links.
    link_counters counts() const noexcept;

    /// Returns the number of received bytes, of all links, that read() has not returned.
    std::size_t unread_bytes() const noexcept { return unread_bytes_; }

private:
    using link_ptr = std::unique_ptr<remote_link>;

    remote_link& add(std::string subject, std::string peer_subject, link_role role, std::string greeting);
    remote_link* find_open(std::string_view subject) const noexcept;
    template <class Action>
    void act(remote_link& link, const Action& action);
    template <class Action>
    void act(remote_link& link, events& out, const Action& action);
    void publish(std::string_view subject, std::string_view reply, const link_message& message);
    static bool is_from_peer(const remote_link& link, const bus_message& message) noexcept;
    bool take(remote_link& link, std::string_view bytes);
    void use(remote_link& link);
    void receive(remote_link& link, const link_message& message, events& out);
    void answer_unknown(std::string_view subject, std::string_view reply, link_kind kind);
    void share_windows() noexcept;

    bus& bus_;
    hub_options options_;
    std::map<std::string_view, link_ptr> links_; ///< by subject; an ordered map, as peers choose subjects
    std::vector<link_ptr> forgotten_;            ///< in this turn
    deadline_heap ticks_;
    std::uint16_t next_epoch_;
    std::uint32_t window_;                                ///< of each link
    std::size_t unread_bytes_ = 0;                        ///< of all links
    link_counters past_counts_;                           ///< of the forgotten links
    std::vector<remote_link*> used_;                      ///< in this turn
    link_state::messages messages_;                       ///< to publish, in act()
    std::map<std::string, time_point, std::less<>> told_; ///< time of answer_unknown(), by subject
    time_point next_purge_{};                             ///< of told_
};

} // namespace skep
