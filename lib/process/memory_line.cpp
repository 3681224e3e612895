// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "process/memory_line.hpp"

#include "process/descriptor_passing.hpp"
#include "process/sealed_memory.hpp"
#include "process/sealed_passing.hpp"
#include "process/shared_memory.hpp"
#include "wire/memory_packets.hpp"
#include "wire/protocol_violation.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <new>
#include <sys/socket.h>
#include <utility>

namespace skep {

namespace {

// Less than this part of its memory is copied.
constexpr std::size_t least_part = 8;

// More packets than wait in a socket.
constexpr std::size_t most_waiting = 512;

class local_memory_line final : public memory_line {
public:
    explicit local_memory_line(unique_fd socket) noexcept : socket_(std::move(socket)) {}

    /// The close of a socket closes the descriptors that wait in it, and must not wait for one of them.
    ~local_memory_line() override {
        ::shutdown(socket_.get(), SHUT_RDWR); // no further packets come
        try {
            message_with_descriptor packet;
            for (std::size_t i = 0; i < most_waiting; ++i) { // an empty packet looks like the end
                receive_descriptor(socket_.get(), most_packet_bytes, packet);
            }
        } catch (const std::bad_alloc&) {}
    }
    local_memory_line(const local_memory_line&) = delete;
    local_memory_line& operator=(const local_memory_line&) = delete;

    bool make(std::uint64_t region, std::size_t bytes) noexcept override {
        auto made = make_lent_memory(bytes);
        if (made.memory.empty()) {
            return false;
        }
        try {
            const auto entry = regions_.emplace(region, std::move(made.memory)).first;
            if (!send({region, bytes}, made.descriptor)) {
                regions_.erase(entry);
                return false;
            }
            return true;
        } catch (const std::bad_alloc&) {
            return false;
        }
    }

    std::span<std::byte> open(const region_place& place, std::size_t bytes) noexcept override {
        return regions_.find(place.region)->second.open(place.begin, bytes);
    }

    std::uint64_t opened_bytes() const noexcept override {
        std::uint64_t sum = 0;
        for (const auto& [number, region] : regions_) {
            sum += region.provided();
        }
        return sum;
    }

    blob make_for_results(std::uint64_t region, std::size_t bytes) noexcept override {
        auto made = make_result_memory(bytes);
        if (made.memory.empty()) {
            return {};
        }
        try {
            const std::span<const std::byte> all = made.memory.bytes();
            blob shown(std::make_shared<const memory_mapping>(std::move(made.memory)), all);
            const auto entry = results_.try_emplace(region).first;
            if (!send({region, bytes, true}, made.descriptor)) {
                results_.erase(entry);
                return {};
            }
            keep_pages_of_newest();
            newest_ = {entry, std::move(made.descriptor)};
            return shown;
        } catch (const std::bad_alloc&) {
            results_.erase(region);
            return {};
        }
    }

    bool refuse_for_results(std::size_t bytes) noexcept override {
        try {
            const auto packet = encode_region({0, bytes, true});
            return send_descriptors(socket_.get(), packet, {}) >= 0;
        } catch (const std::bad_alloc&) {
            return false;
        }
    }

    bool provide(const region_place& place, std::span<const std::byte> bytes) noexcept override {
        const auto found = results_.find(place.region);
        if (found == newest_.entry) {
            keep_pages_of_newest();
        }
        return found->second.provide(place.begin, bytes);
    }

    std::optional<region_place> pass(std::uint64_t number, const blob& bytes,
                                     std::size_t most_bytes) noexcept override {
        return pass_sealed(socket_.get(), number, bytes, most_bytes);
    }

    blob take(const region_place& place, std::size_t bytes, std::size_t least, std::size_t most_bytes,
              std::size_t& packets) override {
        sealed_.expect(place.region);
        while (sealed_.last() < place.region) {
            if (packets == 0) {
                throw protocol_violation("a message takes too many packets of sealed memory");
            }
            --packets;
            receive(place.region);
        }
        auto taken = sealed_.take(place, bytes, most_bytes);
        const auto least_shown = std::max(least, sealed_memory::behind(taken)->bytes().size() / least_part);
        return bytes >= least_shown ? taken : blob::copy_of(taken);
    }

private:
    using result_regions = std::map<std::uint64_t, result_pages>;

    struct newest_region {
        result_regions::iterator entry;
        unique_fd descriptor; ///< closed once the worker has mapped the region
    };

    /// The worker has mapped the newest region for results when it uses it, and before it requests another.
    void keep_pages_of_newest() noexcept {
        if (newest_.descriptor.get() >= 0) {
            newest_.entry->second.keep(newest_.descriptor.get());
            newest_.descriptor.reset();
        }
    }

    /// Takes the next packet of the worker.
    void receive(std::uint64_t wanted_number) {
        auto packet = take_packet(socket_.get());
        if (!packet) {
            throw protocol_violation("an attachment is in sealed memory " + std::to_string(wanted_number) +
                                     ", which has not come");
        }
        const auto told = decode_sealed(packet->text);
        if (!told) {
            throw protocol_violation("a packet for shared memory is malformed");
        }
        sealed_.add(*told, std::move(packet->descriptor));
    }

    bool send(const region_packet& region, const unique_fd& descriptor) {
        const auto packet = encode_region(region);
        const std::array<int, 1> passed{descriptor.get()};
        return send_descriptors(socket_.get(), packet, passed) >= 0;
    }

    unique_fd socket_;
    std::map<std::uint64_t, written_memory> regions_; ///< lent
    result_regions results_;
    newest_region newest_{results_.end(), {}};
    sealed_intake sealed_;
};

} // namespace

std::unique_ptr<memory_line> make_memory_line(unique_fd socket) {
    return std::make_unique<local_memory_line>(std::move(socket));
}

} // namespace skep
