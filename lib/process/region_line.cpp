// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "process/region_line.hpp"

#include "process/descriptor_passing.hpp"
#include "process/sealed_passing.hpp"
#include "process/shared_memory.hpp"
#include "wire/protocol_violation.hpp"
#include "wire/region_messages.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <new>
#include <utility>

namespace skep {

namespace {

/// A region whose first bytes have pages.
struct provided_region {
    memory_mapping memory;
    std::size_t provided = 0;
};

class local_region_line final : public region_line {
public:
    explicit local_region_line(unique_fd socket) noexcept : socket_(std::move(socket)) {}

    bool make(std::uint64_t region, std::size_t bytes) noexcept override {
        auto made = make_lent_memory(bytes);
        if (made.memory.empty()) {
            return false;
        }
        try {
            const auto packet = encode_region({region, bytes});
            const auto entry = regions_.emplace(region, provided_region{std::move(made.memory), 0}).first;
            const std::array<int, 1> passed{made.descriptor.get()};
            if (send_descriptors(socket_.get(), packet, passed) < 0) {
                regions_.erase(entry);
                return false;
            }
            return true;
        } catch (const std::bad_alloc&) {
            return false;
        }
    }

    /// The arena begins anew at low places, so the bytes with pages are the first of a region.
    std::span<std::byte> open(const region_place& place, std::size_t bytes) noexcept override {
        auto& region = regions_.find(place.region)->second;
        const auto all = region.memory.bytes();
        const auto end = place.begin + bytes;
        if (end > region.provided) {
            if (!provide_pages(all.subspan(region.provided, end - region.provided))) {
                return {};
            }
            opened_bytes_ += end - std::exchange(region.provided, end);
        }
        return all.subspan(place.begin, bytes);
    }

    std::uint64_t opened_bytes() const noexcept override { return opened_bytes_; }

    std::optional<region_place> pass(std::uint64_t number, const blob& bytes,
                                     std::size_t most_bytes) noexcept override {
        return pass_sealed(socket_.get(), number, bytes, most_bytes);
    }

    blob take(const region_place& place, std::size_t bytes, std::size_t most_bytes,
              std::size_t& packets) override {
        sealed_.expect(place.region);
        while (sealed_.last() < place.region) {
            if (packets == 0) {
                throw protocol_violation("a message takes too many packets of sealed memory");
            }
            --packets;
            receive(place.region);
        }
        return sealed_.take(place, bytes, most_bytes);
    }

private:
    /// Takes the next packet of the worker.
    void receive(std::uint64_t wanted_number) {
        auto packet = take_packet(socket_.get(), "sealed memory", wanted_number);
        const auto told = decode_sealed(packet.text);
        if (!told) {
            throw protocol_violation("a packet for shared memory is malformed");
        }
        sealed_.add(*told, std::move(packet.descriptor));
    }

    unique_fd socket_;
    std::map<std::uint64_t, provided_region> regions_;
    std::uint64_t opened_bytes_ = 0;
    sealed_intake sealed_;
};

} // namespace

std::unique_ptr<region_line> make_region_line(unique_fd socket) {
    return std::make_unique<local_region_line>(std::move(socket));
}

} // namespace skep
