// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "process/sealed_passing.hpp"

#include "process/sealed_memory.hpp"
#include "wire/memory_packets.hpp"
#include "wire/protocol_violation.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <new>
#include <string>
#include <utility>

namespace skep {

namespace {

[[noreturn]] void refuse(std::uint64_t number, const char* problem) {
    throw protocol_violation("sealed memory " + std::to_string(number) + ' ' + problem);
}

} // namespace

std::optional<message_with_descriptor> take_packet(int line) {
    message_with_descriptor packet;
    const auto count = receive_descriptor(line, most_packet_bytes, packet);
    if (count < 0 && errno == EMFILE) {
        throw std::bad_alloc();
    }
    return count > 0 ? std::optional(std::move(packet)) : std::nullopt;
}

std::optional<region_place> pass_sealed(int line, std::uint64_t number, const blob& bytes,
                                        std::size_t most_bytes) noexcept {
    const auto* const memory = sealed_memory::behind(bytes);
    if (memory == nullptr || memory->bytes().size() > most_bytes) {
        return std::nullopt;
    }
    try {
        const auto packet = encode_sealed({number, memory->bytes().size()});
        const std::array<int, 1> passed{memory->descriptor()};
        if (send_descriptors(line, packet, passed) < 0) {
            return std::nullopt;
        }
    } catch (const std::bad_alloc&) {
        return std::nullopt;
    }
    return region_place{number, static_cast<std::size_t>(bytes.data() - memory->bytes().data()), true};
}

void sealed_intake::expect(std::uint64_t number) noexcept {
    first_ = std::max(first_, number);
    arrivals_.erase(arrivals_.begin(), arrivals_.lower_bound(first_));
}

void sealed_intake::add(const sealed_packet& packet, unique_fd descriptor) {
    if (packet.number <= last_) {
        refuse(packet.number, "comes after a higher number");
    }
    if (descriptor.get() < 0) {
        refuse(packet.number, "comes without a descriptor");
    }
    last_ = packet.number;
    if (packet.number >= first_) {
        arrivals_.emplace(packet.number, arrival{packet.bytes, std::move(descriptor)});
    }
}

blob sealed_intake::take(const region_place& place, std::size_t bytes, std::size_t most_bytes) {
    expect(place.region);
    const auto found = arrivals_.extract(place.region);
    if (!found) {
        refuse(place.region, "is named by an attachment, and is not there or was used before");
    }
    first_ = place.region + 1;
    auto& [size, descriptor] = found.mapped();
    if (size > most_bytes) {
        refuse(place.region, "has more bytes than the limit shared.bytes");
    }
    if (bytes == 0 || place.begin > size || bytes > size - place.begin) {
        refuse(place.region, "is smaller than the place of its attachment");
    }
    auto memory = map_sealed_memory(std::move(descriptor), size);
    if (!memory) {
        refuse(place.region, "is no memory with all its seals and pages, or smaller than announced");
    }
    return sealed_memory::show(std::move(memory), place.begin, bytes);
}

} // namespace skep
