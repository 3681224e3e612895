// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "server/shared_regions.hpp"

#include "process/descriptor_passing.hpp"
#include "process/host_connection.hpp"
#include "wire/answer_messages.hpp"
#include "wire/protocol_violation.hpp"
#include "wire/region_messages.hpp"

#include <array>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>

namespace skep {

/// Tells the host of places that are no longer read. Thread-safe.
class shared_regions::releases {
public:
    explicit releases(frame_output& control) noexcept : control_(&control) {}

    /// A forked child releases nothing: its parent may still read. A host that is gone needs no release.
    void send(std::string_view frame) noexcept {
        if (own_process_id() != owner_) {
            return;
        }
        const std::lock_guard lock(mutex_);
        if (control_ != nullptr) {
            const std::array<std::string_view, 1> whole{frame};
            control_->write(whole);
        }
    }

    void close() noexcept {
        const std::lock_guard lock(mutex_);
        control_ = nullptr;
    }

private:
    const int owner_ = own_process_id();
    std::mutex mutex_;
    frame_output* control_; ///< null after the end of the worker
};

/// The use of a place. The frame of the release is made in advance: a destructor must not need memory.
struct shared_regions::use {
    use(std::shared_ptr<releases> receiver, region used_region, const region_place& place)
        : target(std::move(receiver)), owner(std::move(used_region)) {
        append_release(frame, place);
    }
    use(const use&) = delete;
    use& operator=(const use&) = delete;
    ~use() { target->send(frame); }

    std::shared_ptr<releases> target;
    region owner;
    std::string frame;
};

shared_regions::shared_regions(unique_fd line, frame_output& control)
    : line_(std::move(line)), releases_(std::make_shared<releases>(control)) {}

shared_regions::~shared_regions() {
    releases_->close();
}

blob shared_regions::open(const region_place& place, std::size_t bytes) {
    auto found = find(place.region);
    const std::span<const std::byte> all = found->bytes();
    if (bytes == 0 || place.begin > all.size() || bytes > all.size() - place.begin) {
        throw protocol_violation("an attachment of " + std::to_string(bytes) + " bytes at " +
                                 std::to_string(place.begin) + " is outside of region " +
                                 std::to_string(place.region));
    }
    auto owner = std::make_shared<const use>(releases_, std::move(found), place);
    return {std::move(owner), all.subspan(place.begin, bytes)};
}

shared_regions::region shared_regions::find(std::uint64_t number) {
    while (last_ < number) {
        receive(number);
    }
    const auto found = regions_.find(number);
    if (found == regions_.end()) {
        throw protocol_violation("an attachment is in region " + std::to_string(number) +
                                 ", which is not there");
    }
    return found->second;
}

/// Takes the next region. Does not wait: the host announces a region before it uses the region.
void shared_regions::receive(std::uint64_t wanted_region) {
    message_with_descriptor packet;
    const auto count = receive_descriptor(line_.get(), most_region_bytes, packet);
    if (count <= 0) {
        throw protocol_violation("an attachment is in region " + std::to_string(wanted_region) +
                                 ", which has not come");
    }
    const auto told = decode_region(packet.text);
    if (!told || told->region <= last_) {
        throw protocol_violation("a packet for shared memory is malformed");
    }
    auto memory = map_received_memory(packet.descriptor.get(), told->bytes);
    if (memory.empty()) {
        throw protocol_violation("region " + std::to_string(told->region) + " cannot be mapped");
    }
    regions_.emplace(told->region, std::make_shared<const memory_mapping>(std::move(memory)));
    last_ = told->region;
}

} // namespace skep
