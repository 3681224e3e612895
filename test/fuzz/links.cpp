// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

// A peer that sends anything at any time gets no byte twice or out of order, and makes an end of a link send
// and keep only a limited amount.

#include "check.hpp"
#include "policy/link_state.hpp"
#include "wire/link_head.hpp"

#include <algorithm>
#include <fuzzer/FuzzedDataProvider.h>
#include <string>
#include <string_view>

namespace skep::fuzz {

namespace {

constexpr std::uint32_t window = 4096;
constexpr std::size_t segment = 64;
constexpr std::uint32_t least_window = 16;
constexpr link_kind kinds[] = {link_kind::open, link_kind::accept,  link_kind::data, link_kind::data,
                               link_kind::data, link_kind::ack,     link_kind::ack,  link_kind::beat,
                               link_kind::sync, link_kind::sync_ack};

class one_end {
public:
    explicit one_end(FuzzedDataProvider& input)
        : input_(input),
          state_(input.ConsumeBool() ? link_role::client : link_role::node, limits(), window, "greeting",
                 now_) {}

    void run() {
        state_.on_bus(true, now_, out_);
        while (input_.remaining_bytes() > 0 && !state_.outcome()) {
            step();
            check();
        }
    }

private:
    static link_limits limits() {
        link_limits chosen;
        chosen.segment = segment;
        chosen.least_window = least_window;
        return chosen;
    }

    void step() {
        switch (input_.ConsumeIntegralInRange(0, 8)) {
        case 0: add_frame(); break;
        case 1: state_.on_bus(input_.ConsumeBool(), now_, out_); break;
        case 2: state_.on_no_receiver(now_, out_); break;
        case 3: pass_time(); break;
        case 4: state_.set_segment(input_.ConsumeIntegralInRange<std::size_t>(0, segment)); break;
        default: receive(); break;
        }
    }

    void add_frame() {
        std::string frame(input_.ConsumeIntegralInRange<std::size_t>(1, 300), 'x');
        added_ += frame.size();
        const auto number = state_.output().add(std::move(frame));
        if (input_.ConsumeBool()) {
            state_.flush(now_, out_);
        }
        if (input_.ConsumeBool() && state_.output().withdraw(number)) {
            require(!state_.output().has_left(number), "a frame that has left is not withdrawn");
        }
        state_.flush(now_, out_);
    }

    void pass_time() {
        now_ += std::chrono::milliseconds(input_.ConsumeIntegralInRange(0, 8000));
        for (int ticks = 0; now_ >= state_.next_tick(); ++ticks) {
            require(ticks < 8, "a timer is not due again at once");
            state_.tick(now_, out_);
        }
    }

    /// Mostly messages that keep the rules, with bytes at a position near the expected one.
    void receive() {
        const auto before = received_;
        std::string bytes;
        if (input_.ConsumeIntegralInRange(0, 15) == 0) {
            bytes = input_.ConsumeRandomLengthString(100);
        } else {
            const auto& output = state_.output();
            const auto behind =
                output.end() - std::min<std::uint64_t>(output.end(), input_.ConsumeIntegral<std::uint8_t>());
            link_message message;
            message.kind = input_.PickValueInArray(kinds);
            message.window = input_.ConsumeIntegralInRange<std::uint32_t>(least_window, 2 * window);
            message.position = before + input_.ConsumeIntegralInRange<std::uint64_t>(0, 200) - 100;
            message.expected = input_.ConsumeIntegralInRange(0, 63) == 0 ? output.end() + 1 : behind;
            const auto head = encode_link_head(message);
            bytes.assign(head.begin(), head.end());
            bytes.append(input_.ConsumeIntegralInRange<std::size_t>(0, 200), 'y');
        }
        const auto message = decode_link_message(bytes);
        if (!message) {
            return;
        }
        const auto news = state_.receive(*message, now_, out_);
        if (!news.is_accepted && !news.bytes.empty()) {
            require(message->position <= before, "no byte is taken before the bytes in front of it");
            require(message->position + message->body.size() == before + news.bytes.size(),
                    "every new byte of a message is taken once");
            received_ += news.bytes.size();
        }
    }

    void check() {
        const auto most = state_.output().size() + 16; // segments of one byte
        require(out_.size() <= most, "an input is answered by a limited number of messages");
        for (const auto& each : out_) {
            require(each.expected <= received_, "no more is acknowledged than has arrived");
            require(each.body.size() <= (each.kind == link_kind::data ? segment : 800), "a body is small");
            require(each.kind != link_kind::data || each.position + each.body.size() <= state_.output().end(),
                    "bytes are sent from the stream");
        }
        require(state_.output().size() <= 2 * added_,
                "no more is kept than was added, and a frame that is being cut");
        out_.clear();
    }

    FuzzedDataProvider& input_;
    time_point now_{std::chrono::hours(1)};
    link_state state_;
    link_state::messages out_;
    std::uint64_t received_ = 0;
    std::size_t added_ = 0;
};

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) noexcept {
    FuzzedDataProvider input(data, size);
    one_end(input).run();
    return 0;
}

} // namespace skep::fuzz
