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
        chosen.least_window = 16;
        return chosen;
    }

    void step() {
        switch (input_.ConsumeIntegralInRange(0, 6)) {
        case 0: add_frame(); break;
        case 1: state_.on_bus(input_.ConsumeBool(), now_, out_); break;
        case 2: state_.on_no_receiver(now_); break;
        case 3: pass_time(); break;
        case 4: state_.set_busy(input_.ConsumeBool(), now_); break;
        default: receive(); break;
        }
    }

    void add_frame() {
        std::string frame(input_.ConsumeIntegralInRange<std::size_t>(1, 300), 'x');
        added_ += frame.size();
        const auto number = state_.output().add(std::move(frame));
        if (input_.ConsumeBool()) {
            state_.output().withdraw(number);
        }
        state_.flush(now_, out_);
    }

    void pass_time() {
        now_ += std::chrono::milliseconds(input_.ConsumeIntegralInRange(0, 8000));
        if (now_ >= state_.next_tick()) {
            state_.tick(now_, out_);
            require(state_.next_tick() > now_ - std::chrono::seconds(1), "the next tick is not long overdue");
        }
    }

    /// Bytes of the peer, at a position near the expected one, or any bytes at all.
    void receive() {
        const auto before = received_;
        std::string bytes;
        if (input_.ConsumeBool()) {
            bytes = input_.ConsumeRandomLengthString(100);
        } else {
            link_message message;
            message.kind = static_cast<link_kind>(input_.ConsumeIntegralInRange(1, 9));
            message.window = input_.ConsumeIntegralInRange<std::uint32_t>(0, 2 * window);
            message.position = before + input_.ConsumeIntegralInRange<std::uint64_t>(0, 200) - 100;
            message.expected =
                state_.output().end() + 2 - input_.ConsumeIntegralInRange<std::uint64_t>(0, 20);
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
        const auto most = (window + state_.output().size()) / 16 + 8; // the smallest window has segments of 4
        require(out_.size() <= most * 4, "an input is answered by a limited number of messages");
        for (const auto& each : out_) {
            require(each.expected <= received_, "no more is acknowledged than has arrived");
            require(each.body.size() <= std::max(segment, state_.outcome() ? 200 : segment),
                    "a segment is small");
        }
        require(state_.output().size() <= added_, "no more is kept than was added");
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
