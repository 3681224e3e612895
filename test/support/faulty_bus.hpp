// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include "remote/hub_driver.hpp"

#include <boost/asio/awaitable.hpp>

#include <cstddef>
#include <memory>
#include <random>
#include <string_view>
#include <utility>

namespace skep::test {

/// Shares of the messages, 0..1.
struct bus_faults {
    double loss = 0;
    double repetition = 0;
};

/// A connection to a bus that loses and repeats some of the messages that its program sends.
class faulty_bus final : public bus {
public:
    faulty_bus(std::unique_ptr<bus> carrier, const bus_faults& faults)
        : carrier_(std::move(carrier)), faults_(faults) {}

    void publish(std::string_view subject, std::string_view reply, std::string_view head,
                 std::string_view body) override {
        if (happens(faults_.loss)) {
            return;
        }
        for (int copies = happens(faults_.repetition) ? 2 : 1; copies > 0; --copies) {
            carrier_->publish(subject, reply, head, body);
        }
    }

    void subscribe(std::string_view subject) override { carrier_->subscribe(subject); }
    void unsubscribe(std::string_view subject) override { carrier_->unsubscribe(subject); }
    bool is_up() const noexcept override { return carrier_->is_up(); }
    std::size_t max_payload() const noexcept override { return carrier_->max_payload(); }
    asio::awaitable<void> close() override { return carrier_->close(); }

private:
    bool happens(double share) { return std::uniform_real_distribution<>()(random_) < share; }

    std::unique_ptr<bus> carrier_;
    bus_faults faults_;
    std::mt19937_64 random_{std::random_device()()};
};

/// Returns a function that connects as `connect` does, by a faulty_bus.
inline bus_factory with_faults(bus_factory connect, const bus_faults& faults) {
    return [connect = std::move(connect), faults](const strand& executor, bus_user& user) {
        return std::make_unique<faulty_bus>(connect(executor, user), faults);
    };
}

} // namespace skep::test
