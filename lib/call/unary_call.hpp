// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include "call/call.hpp"
#include <skep/completion.hpp>

#include <cstddef>
#include <utility>

namespace skep {

/// A call with one answer.
class unary_call : public call, private call_sink {
public:
    explicit unary_call(request&& new_request)
        : call(std::move(new_request), static_cast<call_sink*>(this)) {}

    /// The caller, to be set off the strand.
    completion<reply>& caller() noexcept { return caller_; }

    /// The caller waits: the call stays alive until its caller is completed. To be called first on the
    /// strand.
    void wait() noexcept { self_ = this; }

private:
    void put_answer(reply&& answer) override {
        drop_payload(); // the caller may resume much later
        end({}, std::move(answer));
    }
    void put_failure(lazy_error&& failure) override { end(std::move(failure), {}); }

    void forget() noexcept override {
        const auto self = std::move(self_);
        caller_ = {};
    }

    /// The answer to a coroutine stays in the call until the coroutine resumes: each move of a reply on the
    /// way would cost a hundred instructions.
    void end(lazy_error&& failure, reply&& answer) noexcept {
        const auto self = std::move(self_);
        if (caller_.is_coroutine()) {
            failure_ = std::move(failure);
            answer_ = std::move(answer);
            caller_.call_by(resumption(self));
        } else {
            caller_.end(std::move(failure), std::move(answer));
        }
    }

    static constexpr std::size_t memory_size = 64;

    /// Allocates within the call. Each call has one resumption.
    template <class T>
    class allocator {
    public:
        using value_type = T;

        explicit allocator(unary_call* owner) noexcept : owner_(owner) {}
        template <class U>
        allocator(const allocator<U>& other) noexcept : owner_(other.owner_) {}

        T* allocate(std::size_t) const noexcept {
            static_assert(sizeof(T) <= memory_size && alignof(T) <= alignof(std::max_align_t));
            return reinterpret_cast<T*>(owner_->memory_);
        }
        void deallocate(T*, std::size_t) const noexcept {}

        template <class U>
        bool operator==(const allocator<U>& other) const noexcept {
            return owner_ == other.owner_;
        }

    private:
        template <class U>
        friend class allocator;

        unary_call* owner_;
    };

    /// The task that resumes the caller, on the caller's executor. Destroys the caller if it is destroyed
    /// unrun, as any handler does: the worker may keep the call for long. Does nothing after a move.
    class resumption {
    public:
        using allocator_type = allocator<void>;

        explicit resumption(boost::intrusive_ptr<unary_call> answered_call) noexcept
            : call_(std::move(answered_call)) {}
        resumption(resumption&&) noexcept = default;
        resumption& operator=(resumption&&) = delete;
        ~resumption() {
            if (call_) {
                call_->caller_ = {};
            }
        }

        allocator_type get_allocator() const noexcept { return allocator_type(call_.get()); }

        void operator()() {
            if (const auto call = std::move(call_)) {
                call->caller_(std::move(call->failure_), std::move(call->answer_));
            }
        }

    private:
        boost::intrusive_ptr<unary_call> call_;
    };

    completion<reply> caller_;
    boost::intrusive_ptr<unary_call> self_; ///< while the caller waits
    lazy_error failure_;                    ///< with `answer_`, until the caller resumes
    reply answer_;
    alignas(std::max_align_t) std::byte memory_[memory_size]; ///< of the posted resumption
};

} // namespace skep
