// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "frames.h"

#include <errno.h>
#include <sched.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>

static bool get_size(PyObject* owner, PyObject* name, size_t* size) {
    PyObject* const number = PyObject_GetAttr(owner, name);
    if (number == NULL) {
        return false;
    }
    *size = PyLong_AsSize_t(number);
    Py_DECREF(number);
    return PyErr_Occurred() == NULL;
}

static bool put_size(PyObject* owner, PyObject* name, size_t size) {
    PyObject* const number = PyLong_FromSize_t(size);
    const bool is_stored = number != NULL && PyObject_SetAttr(owner, name, number) == 0;
    Py_XDECREF(number);
    return is_stored;
}

/// Takes over the received bytes from the channel. Returns 0 if the buffer is of another kind, -1 after an
/// error.
int take_buffer(loop_object* self) {
    PyObject* const view = PyObject_GetAttr(self->channel, self->names._view);
    PyObject* const memory = view == NULL ? NULL : PyObject_GetAttr(view, self->names.obj);
    Py_XDECREF(view);
    if (memory == NULL) {
        return -1;
    }
    if (!PyByteArray_CheckExact(memory)) {
        Py_DECREF(memory);
        return 0;
    }
    self->memory = memory; // the view keeps it from being resized
    const bool is_known = get_size(self->channel, self->names._start, &self->begin) &&
                          get_size(self->channel, self->names._end, &self->end);
    if (!is_known) {
        Py_CLEAR(self->memory);
    }
    return is_known ? 1 : -1;
}

/// Gives the received bytes back to the channel. Keeps an exception.
bool give_back_buffer(loop_object* self) {
    PyObject *type, *value, *traceback;
    PyErr_Fetch(&type, &value, &traceback);
    const bool is_stored =
        self->memory == NULL || (put_size(self->channel, self->names._start, self->begin) &&
                                 put_size(self->channel, self->names._end, self->end));
    Py_CLEAR(self->memory);
    if (is_stored) {
        PyErr_Restore(type, value, traceback);
    } else {
        Py_XDECREF(type);
        Py_XDECREF(value);
        Py_XDECREF(traceback);
    }
    return is_stored;
}

static size_t read_big_endian(const char* bytes) {
    const unsigned char* const digits = (const unsigned char*)bytes;
    return (size_t)digits[0] << 24 | (size_t)digits[1] << 16 | (size_t)digits[2] << 8 | digits[3];
}

/// Looks at the next frame. `size` becomes its size, as far as it is known.
frame_state find_frame(const loop_object* self, size_t* size) {
    const size_t available = self->end - self->begin;
    *size = header_size;
    if (available < header_size) {
        return frame_incomplete;
    }
    const char* const header = PyByteArray_AsString(self->memory) + self->begin;
    const size_t length = read_big_endian(header);
    const bool has_attachments = read_big_endian(header + length_size) + length_size != length;
    if (length > (size_t)self->frame_limit || has_attachments) {
        return frame_foreign;
    }
    *size = length_size + length;
    return available < *size ? frame_incomplete : frame_complete;
}

/// Makes room for a frame at the begin of the received bytes. Returns false if the buffer is too small.
bool make_room(loop_object* self, size_t frame_size) {
    const size_t capacity = (size_t)PyByteArray_Size(self->memory);
    if (self->begin + frame_size > capacity) {
        char* const bytes = PyByteArray_AsString(self->memory);
        memmove(bytes, bytes + self->begin, self->end - self->begin);
        self->end -= self->begin;
        self->begin = 0;
    }
    return frame_size <= capacity;
}

void drop_frame(loop_object* self, size_t size) {
    self->begin += size;
    if (self->begin == self->end) {
        self->begin = self->end = 0;
    }
}

static int64_t present(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (int64_t)time.tv_sec * 1000000000 + time.tv_nsec;
}

/// Waits for bytes by yielding. Returns as recv() without waiting. To be called without the GIL.
static Py_ssize_t receive_by_yielding(loop_object* self, char* room, size_t size, int64_t begin) {
    int64_t before = begin;
    for (;;) {
        sched_yield();
        const int64_t now = present();
        const Py_ssize_t count = recv(self->descriptor, room, size, MSG_DONTWAIT);
        if (count >= 0) {
            note_found(&self->plan, now - begin);
            return count;
        }
        if (!try_continues(now - begin, now - before)) {
            note_in_vain(&self->plan, now - begin);
            return count;
        }
        before = now;
    }
}

/// Receives bytes that are there or come during a try. Returns as recv() without waiting.
static Py_ssize_t receive_soon(loop_object* self, char* room, size_t size, int64_t begin) {
    const Py_ssize_t count = recv(self->descriptor, room, size, MSG_DONTWAIT);
    return count < 0 && has_prospects(&self->plan, begin) ? receive_by_yielding(self, room, size, begin)
                                                          : count;
}

/// Receives some bytes. Returns their number, 0 at the end of the stream, -1 after an error.
static Py_ssize_t receive(loop_object* self) {
    char* const room = PyByteArray_AsString(self->memory) + self->end;
    const size_t size = (size_t)PyByteArray_Size(self->memory) - self->end;
    const int64_t begin = self->yields ? present() : 0;
    Py_ssize_t count = -1;
    if (self->yields) {
        Py_BEGIN_ALLOW_THREADS count = receive_soon(self, room, size, begin);
        Py_END_ALLOW_THREADS
    }
    while (count < 0) {
        if (PyErr_CheckSignals() < 0) { // also a signal that came during the try
            return -1;
        }
        Py_BEGIN_ALLOW_THREADS count = recv(self->descriptor, room, size, 0);
        Py_END_ALLOW_THREADS if (count < 0 && errno != EINTR) {
            PyErr_SetFromErrno(PyExc_OSError);
            return -1;
        }
        if (self->yields && count >= 0) {
            note_slept(&self->plan, present() - begin);
        }
    }
    return count;
}

/// Waits for more bytes, with the window open. Returns 0 at the end of the stream, -1 after an error.
int wait_for_bytes(loop_object* self) {
    const Py_ssize_t count = open_window(self, Py_None) ? receive(self) : -1;
    if (!close_window(self) || count < 0) {
        return -1;
    }
    self->end += (size_t)count;
    return count != 0;
}
