// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "server/shared_line.hpp"

#include "process/host_connection.hpp"
#include "wire/answer_messages.hpp"
#include "wire/memory_packets.hpp"
#include "wire/protocol_violation.hpp"

#include <algorithm>
#include <array>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>

namespace skep {

/// Tells the host of places that are no longer read. Thread-safe.
class shared_line::releases {
public:
    explicit releases(frame_output& control) noexcept : control_(&control) {}

    /// A forked child releases nothing: its parent may still read. A host that is gone needs no release.
    void send(std::string_view frame) noexcept {
        if (!is_ours()) {
            return;
        }
        const std::lock_guard lock(mutex_);
        if (control_ != nullptr) {
            const std::array<std::string_view, 1> whole{frame};
            control_->write(whole);
        }
    }

    bool is_ours() const noexcept { return own_process_id() == owner_; }

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
struct shared_line::use {
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

shared_line::shared_line(unique_fd line, frame_output& control)
    : line_(std::move(line)), releases_(std::make_shared<releases>(control)) {}

shared_line::~shared_line() {
    releases_->close();
}

blob shared_line::open(const region_place& place, std::size_t bytes) {
    return place.is_sealed ? open_sealed(place, bytes) : open_region(place, bytes);
}

bool shared_line::is_ours() const noexcept {
    return releases_->is_ours();
}

std::optional<region_place> shared_line::pass(const blob& bytes, std::size_t most_bytes) noexcept {
    const auto place =
        is_ours() ? pass_sealed(line_.get(), last_passed_ + 1, bytes, most_bytes) : std::nullopt;
    last_passed_ += place ? 1 : 0;
    return place;
}

blob shared_line::open_sealed(const region_place& place, std::size_t bytes) {
    sealed_.expect(place.region);
    while (sealed_.last() < place.region) {
        receive_for("sealed memory ", place.region);
    }
    return sealed_.take(place, bytes);
}

blob shared_line::open_region(const region_place& place, std::size_t bytes) {
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

shared_line::region shared_line::find(std::uint64_t number) {
    while (last_ < number) {
        receive_for("region ", number);
    }
    const auto found = regions_.find(number);
    if (found == regions_.end()) {
        throw protocol_violation("an attachment is in region " + std::to_string(number) +
                                 ", which is not there");
    }
    return found->second;
}

/// Takes the next packet. `kind` and `number`: of the memory of an attachment, which has to come.
void shared_line::receive_for(const char* kind, std::uint64_t number) {
    if (!receive()) {
        throw protocol_violation(std::string("an attachment is in ") + kind + std::to_string(number) +
                                 ", which has not come");
    }
}

std::vector<region_for_results> shared_line::take_for_results() {
    while (receive()) {}
    return std::exchange(for_results_, {});
}

/// Takes the next packet. Returns false if there is none. Never waits: the host announces memory before it
/// uses the memory.
bool shared_line::receive() {
    auto packet = take_packet(line_.get());
    if (!packet) {
        return false;
    }
    if (const auto told = decode_sealed(packet->text)) {
        sealed_.add(*told, std::move(packet->descriptor));
    } else {
        add_region(packet->text, packet->descriptor);
    }
    return true;
}

void shared_line::add_region(std::string_view packet, const unique_fd& descriptor) {
    const auto told = decode_region(packet);
    const bool is_refusal = told && told->region == 0;
    if (!told || (told->region <= last_ && !is_refusal)) {
        throw protocol_violation("a packet for shared memory is malformed");
    }
    last_ = std::max(last_, told->region);
    if (told->is_for_results) {
        for_results_.push_back({told->region, map_result_memory(descriptor.get(), told->bytes)});
        return;
    }
    auto memory = map_received_memory(descriptor.get(), told->bytes);
    if (memory.empty()) {
        throw protocol_violation("region " + std::to_string(told->region) + " cannot be mapped");
    }
    regions_.emplace(told->region, std::make_shared<const memory_mapping>(std::move(memory)));
}

} // namespace skep
