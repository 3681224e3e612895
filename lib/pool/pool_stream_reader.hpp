// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include "call/call_ties.hpp"
#include "call/stream_call.hpp"
#include "call/stream_reader.hpp"

#include <memory>
#include <optional>

namespace skep {

class pool_core;

using stream_ptr = boost::intrusive_ptr<stream_call>;

/// The consumer's end of a pool's stream.
class pool_stream_reader final : public stream_reader {
public:
    pool_stream_reader(const std::shared_ptr<pool_core>& pool, stream_ptr stream) noexcept;
    ~pool_stream_reader() override { close(); }
    pool_stream_reader(const pool_stream_reader&) = delete;
    pool_stream_reader& operator=(const pool_stream_reader&) = delete;

    boost::asio::any_io_executor get_executor() const noexcept override;
    bool has_to_wait() const noexcept override;
    void wait(completion<void>&& caller) override;
    void cancel_next() noexcept override { stream_->given().was_cancelled = true; }
    std::optional<chunk> take_next() override;
    const reply& result() const override;
    void leave() noexcept override;
    void close() noexcept override;

private:
    std::weak_ptr<pool_core> pool_;
    stream_ptr stream_;
    progress_scope progress_;
    bool is_over_ = false; ///< nothing is left to take
    bool has_left_ = false;
};

} // namespace skep
