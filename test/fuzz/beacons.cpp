// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

// Nodes that send any text as their beacon, at any time, leave a client with valid nodes, a limited number of
// nodes, and counts that fit together. As a question for a session, or as an answer, the text is valid or
// ignored.

#include "check.hpp"
#include "core/node_name.hpp"
#include "remote/node_directory.hpp"
#include "wire/home_messages.hpp"
#include "wire/node_beacon.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace skep::fuzz {

namespace {

std::size_t size_of(const node_beacon& beacon) {
    return encode_beacon(beacon).size();
}

void check(const node_beacon& beacon) {
    require(is_node_name(beacon.node), "a node has a valid name");
    require(!beacon.epoch.empty(), "a node has an epoch");
    require(beacon.interval > duration::zero() && beacon.interval <= std::chrono::minutes(1),
            "an interval is not endless");
    if (size_of(beacon) > node_beacon::most_bytes) {
        return; // escapes make a text longer
    }
    const auto text = encode_beacon(beacon);
    const auto again = decode_beacon(text);
    require(again.has_value(), "a beacon can be passed on");
    require(encode_beacon(*again) == text, "a beacon stays the same");
    require(again->node == beacon.node && again->epoch == beacon.epoch &&
                again->interval == beacon.interval && again->is_draining == beacon.is_draining,
            "a beacon keeps its members");
}

void check_homes(std::string_view text) {
    const auto question = decode_home_question(text);
    if (question) {
        require(is_session_id(question->session) && !question->pool.empty(), "a question names a session");
        require(text.size() <= most_home_bytes, "a long text is no question");
        const auto again = encode_home_question(*question);
        const auto copy = decode_home_question(again);
        require(again.size() > most_home_bytes || (copy && encode_home_question(*copy) == again),
                "a question stays the same");
    }
    const auto answer = decode_home_answer(text);
    if (answer) {
        require(is_node_name(answer->node) && !answer->epoch.empty(), "an answer names a node");
        require(text.size() <= most_home_bytes, "a long text is no answer");
        const auto again = encode_home_answer(*answer);
        const auto copy = decode_home_answer(again);
        require(again.size() > most_home_bytes || (copy && encode_home_answer(*copy) == again),
                "an answer stays the same");
    }
}

/// A client that has as many nodes as it takes, but one. Lives as long as the program.
class crowd {
public:
    static crowd& instance() {
        static crowd made;
        return made;
    }

    void enter(const node_beacon& beacon) {
        const auto node = nodes_.hear(beacon, now_);
        const auto known = nodes_.known(now_);
        require(known <= node_directory::most_nodes, "the nodes are limited");
        require(!node || nodes_.find(beacon.node) == node, "a node that was heard is known");
    }

private:
    crowd() {
        node_beacon beacon;
        beacon.epoch = "e";
        beacon.interval = std::chrono::seconds(1);
        beacon.pools.emplace("default", load_view{0, 0, 1, true});
        for (std::size_t i = 1; i < node_directory::most_nodes; ++i) {
            beacon.node = "node-" + std::to_string(i);
            enter(beacon);
        }
    }

    const time_point now_{std::chrono::hours(1)};
    node_directory nodes_{"default"};
};

/// A client that hears beacons, and has links to some of the nodes.
class listener {
public:
    /// Each line is a beacon, or begins with a letter that stands for an action.
    void run(std::string_view script) {
        while (!script.empty()) {
            const auto end = script.find('\n');
            step(script.substr(0, end));
            script.remove_prefix(end == std::string_view::npos ? script.size() : end + 1);
            check_counts();
        }
        give_back_all();
        now_ += std::chrono::minutes(20);
        check_counts();
        require(nodes_.known(now_) == 0, "silent nodes are forgotten");
    }

private:
    void step(std::string_view line) {
        const auto number = line.size() > 1 ? static_cast<unsigned char>(line[1]) : 0;
        switch (line.empty() ? '\0' : line[0]) {
        case 't': now_ += std::chrono::milliseconds(100 * number); break;
        case 'T': now_ += std::chrono::seconds(10 * number); break;
        case 'k': take(); break;
        case 'g': give_back(number, false); break;
        case 'l': give_back(number, true); break;
        case 'a': answer(number); break;
        default: hear(line); break;
        }
    }

    void hear(std::string_view text) {
        check_homes(text);
        const auto beacon = decode_beacon(text);
        require(!beacon || text.size() <= node_beacon::most_bytes, "a long text is no beacon");
        if (beacon) {
            check(*beacon);
            enter(*beacon);
            crowd::instance().enter(*beacon);
        }
    }

    void enter(const node_beacon& beacon) {
        const auto node = nodes_.hear(beacon, now_);
        require(!node || beacon.pools.contains("default"), "a node without the pool is ignored");
        require(!node || node->name == beacon.node, "a node keeps its name");
        require(!node || nodes_.find(beacon.node) == node, "a node is found by its name");
    }

    void take() {
        const bool has_ready = nodes_.has_ready(now_);
        auto node = nodes_.take(now_);
        require(has_ready == (node != nullptr), "a ready node can be taken");
        if (node) {
            require(!node->is_draining && node->load.can_serve && now_ < node->fresh_until &&
                        now_ >= node->usable_at,
                    "a taken node can serve");
            require(names_.insert(node->name).second, "a node is taken once");
            taken_.push_back(std::move(node));
        }
    }

    void give_back(std::size_t which, bool is_lost) {
        if (!taken_.empty()) {
            const auto found = taken_.begin() + static_cast<std::ptrdiff_t>(which % taken_.size());
            const auto node = std::move(*found);
            taken_.erase(found);
            names_.erase(node->name);
            nodes_.give_back(*node, is_lost, now_);
            require(!is_lost || !node->ejection.is_ejected() || node->usable_at > now_,
                    "an ejected node waits");
        }
    }

    void give_back_all() {
        while (!taken_.empty()) {
            give_back(0, false);
        }
    }

    void answer(std::size_t which) {
        if (!taken_.empty()) {
            auto& node = *taken_[which % taken_.size()];
            nodes_.answered(node, now_);
            require(!node.ejection.is_ejected(), "an answer ends a trial");
        }
    }

    void check_counts() {
        const auto known = nodes_.known(now_);
        const auto usable = nodes_.usable(now_);
        require(known <= node_directory::most_nodes, "the nodes are limited");
        require(usable <= known, "a usable node is known");
        const auto home = nodes_.choose("a session", now_);
        require(home.empty() || nodes_.find(home) != nullptr, "the rendezvous is at a known node");
        require(usable >= taken_.size(), "a taken node is usable");
        require((usable > taken_.size()) == nodes_.has_ready(now_), "a node that is not taken is ready");
    }

    time_point now_{std::chrono::hours(1)};
    node_directory nodes_{"default"};
    std::vector<std::shared_ptr<known_node>> taken_;
    std::set<std::string> names_; ///< of taken_
};

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) noexcept {
    listener().run({reinterpret_cast<const char*>(data), size});
    return 0;
}

} // namespace skep::fuzz
