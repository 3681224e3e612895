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

    /// Attaches the caller. To be called first, off the strand.
    void attach(completion<reply>&& caller) noexcept { caller_ = std::move(caller); }

    /// The caller waits: the call stays alive until its caller is completed. To be called first on the
    /// strand.
    void wait() noexcept { self_ = this; }

    /// The call of a posted function. Destroys the caller if the function is destroyed unrun, as any handler
    /// does: the caller keeps what cancels the call, and a worker may keep the call for long. Empty after a
    /// move.
    class posted_call {
    public:
        explicit posted_call(boost::intrusive_ptr<unary_call> call) noexcept : call_(std::move(call)) {}
        posted_call(posted_call&&) noexcept = default;
        posted_call& operator=(posted_call&&) = delete;
        ~posted_call() {
            if (call_) {
                call_->caller_ = {};
            }
        }

        unary_call* get() const noexcept { return call_.get(); }
        boost::intrusive_ptr<unary_call> take() noexcept { return std::move(call_); }

    private:
        boost::intrusive_ptr<unary_call> call_;
    };

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
            caller_.call_by(resumption{posted_call(self)});
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

    /// The task that resumes the caller, on the caller's executor.
    struct resumption {
        using allocator_type = allocator<void>;

        allocator_type get_allocator() const noexcept { return allocator_type(posted.get()); }

        void operator()() {
            if (const auto answered = posted.take()) {
                answered->caller_(std::move(answered->failure_), std::move(answered->answer_));
            }
        }

        posted_call posted;
    };

    completion<reply> caller_;
    boost::intrusive_ptr<unary_call> self_; ///< while the caller waits
    lazy_error failure_;                    ///< with `answer_`, until the caller resumes
    reply answer_;
    alignas(std::max_align_t) std::byte memory_[memory_size]; ///< of the posted resumption
};

} // namespace skep
