// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#ifndef SKEP_PYTHON_LOOP_FRAMES_H
#define SKEP_PYTHON_LOOP_FRAMES_H

#include "loop_object.h"

// The received bytes, in the buffer of the channel. The loop uses the buffer from take_buffer() to
// give_back_buffer().

/// Takes over the received bytes from the channel. Returns 0 if the buffer is of another kind, -1 after an
/// error.
int take_buffer(loop_object* self);

/// Gives the received bytes back to the channel. Keeps an exception.
bool give_back_buffer(loop_object* self);

typedef enum { frame_complete, frame_incomplete, frame_foreign } frame_state;

/// Looks at the next frame. `size` becomes its size, as far as it is known.
frame_state find_frame(const loop_object* self, size_t* size);

/// Makes room for a frame at the begin of the received bytes. Returns false if the buffer is too small.
bool make_room(loop_object* self, size_t frame_size);

void drop_frame(loop_object* self, size_t size);

/// Waits for more bytes, with the window open. Returns 0 at the end of the stream, -1 after an error.
int wait_for_bytes(loop_object* self);

#endif
