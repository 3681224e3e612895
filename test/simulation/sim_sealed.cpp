// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "simulation/sim_sealed.hpp"

#include "process/descriptors.hpp"
#include "process/sealed_memory.hpp"
#include "process/shared_memory.hpp"
#include "simulation/dice.hpp"
#include "simulation/faults.hpp"
#include "wire/protocol_violation.hpp"

#include <algorithm>
#include <fcntl.h>
#include <iterator>
#include <memory>
#include <span>
#include <sys/mman.h>

namespace skep::simulation {

namespace {

std::span<const std::byte> memory_of(const blob& bytes) {
    return sealed_memory::behind(bytes)->bytes();
}

/// Returns the place of a blob in its memory, and the memory.
region_place put_on_line(std::map<std::uint64_t, blob>& line, std::uint64_t number, const blob& bytes) {
    const auto begin = static_cast<std::size_t>(bytes.data() - memory_of(bytes).data());
    line.emplace(number, bytes);
    return {number, begin, true};
}

/// Returns the blob of a number, and drops those before. Returns an empty blob if there is none.
blob take_from_line(std::map<std::uint64_t, blob>& line, std::uint64_t number) {
    line.erase(line.begin(), line.lower_bound(number));
    auto found = line.extract(number);
    return found ? std::move(found.mapped()) : blob();
}

/// Memory that looks sealed, and cannot be passed by the kernel.
std::shared_ptr<const sealed_memory> make_memory(std::size_t bytes, std::size_t begin, std::size_t count,
                                                 char letter) {
    auto mapping = map_memory(-1, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS);
    std::ranges::fill(mapping.bytes(), std::byte('?'));
    std::ranges::fill(mapping.bytes().subspan(begin, count), static_cast<std::byte>(letter));
    unique_fd descriptor(::open("/dev/null", O_RDONLY | O_CLOEXEC));
    return std::make_shared<const sealed_memory>(std::move(mapping), std::move(descriptor));
}

} // namespace

std::optional<region_place> sim_sealed::pass(std::uint64_t number, const blob& bytes,
                                             std::size_t most_bytes) {
    const spared_by_faults here;
    if (memory_of(bytes).size() > most_bytes || world_.chance.chance(failures_)) {
        return std::nullopt;
    }
    return put_on_line(passed_, number, bytes);
}

blob sim_sealed::take(const region_place& place, std::size_t bytes, std::size_t least, std::size_t most_bytes,
                      std::size_t& packets) {
    const spared_by_faults here;
    const auto waiting = std::distance(sent_.begin(), sent_.upper_bound(place.region));
    auto sent = take_from_line(sent_, place.region);
    if (sent.empty() || std::cmp_greater(waiting, packets) || memory_of(sent).size() > most_bytes) {
        throw protocol_violation("sealed memory " + std::to_string(place.region) + " cannot be used");
    }
    packets -= static_cast<std::size_t>(waiting);
    const auto skipped = sent.data() - memory_of(sent).data();
    if (std::cmp_not_equal(skipped, place.begin) || bytes != sent.size()) {
        world_.violated(owner_ + " sent an attachment of sealed memory, and the pool looks for another");
    }
    if (bytes < least) {
        return blob::copy_of(sent);
    }
    ++shown_;
    return sent;
}

std::optional<region_place> sim_sealed::send(std::size_t bytes, char letter, std::size_t most_bytes) {
    const spared_by_faults here;
    if (world_.chance.chance(0.1)) {
        put_on_line(sent_, ++last_sent_, make_shared_attachment(world_.chance, 1, '?'));
    }
    const auto attachment = make_shared_attachment(world_.chance, bytes, letter);
    if (memory_of(attachment).size() > most_bytes) {
        return std::nullopt;
    }
    return put_on_line(sent_, ++last_sent_, attachment);
}

void sim_sealed::check(const region_place& place, std::size_t bytes, char letter) {
    ++read_;
    const auto passed = take_from_line(passed_, place.region);
    if (passed.size() != bytes || std::cmp_not_equal(passed.data() - memory_of(passed).data(), place.begin)) {
        world_.violated(owner_ + " got a place in sealed memory that was not passed");
    } else if (!std::ranges::all_of(passed.text(), [=](char each) { return each == letter; })) {
        world_.violated(owner_ + " got other bytes than those of the shared buffer");
    }
}

blob make_shared_attachment(dice& chance, std::size_t bytes, char letter) {
    const auto begin = chance.below(5000);
    const auto rest = bytes < 50'000 && chance.chance(0.1) ? 10 * bytes : chance.below(5000);
    return sealed_memory::show(make_memory(begin + bytes + rest, begin, bytes, letter), begin, bytes);
}

} // namespace skep::simulation
