// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "answer.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>

enum { max_kept_buffer = 64 * 1024 };

static void write_big_endian(char* bytes, size_t number) {
    for (int i = 0; i < length_size; ++i) {
        bytes[i] = (char)(number >> (24 - 8 * i));
    }
}

static bool begin_answer(loop_object* self, long long call_id) {
    static const char header[header_size];
    byte_buffer* const answer = &self->answer;
    answer->size = 0;
    answer->limit = 1024; // for the text before the value
    return append_bytes(answer, header, header_size) &&
           append_bytes(answer, "{\"type\":\"result\",\"id\":", 22) && append_integer(answer, call_id) &&
           append_bytes(answer, ",\"value\":", 9);
}

/// Writes the answer with a value into the buffer. Returns false for a value that is left to Python.
static bool write_answer(loop_object* self, long long call_id, PyObject* value) {
    byte_buffer* const answer = &self->answer;
    if (self->max_text < 0 || !begin_answer(self, call_id)) {
        return false;
    }
    answer->limit = answer->size + (size_t)self->max_text;
    if (!append_json(answer, value, self->max_depth, self->with_exponents)) {
        return false;
    }
    ++answer->limit;
    if (!append_bytes(answer, "}", 1)) {
        return false;
    }
    write_big_endian(answer->data, answer->size - length_size);
    write_big_endian(answer->data + length_size, answer->size - header_size);
    return true;
}

/// Sends the answer, by one system call if the socket takes it at once.
static bool send_answer(loop_object* self) {
    const char* rest = self->answer.data;
    const char* const end = rest + self->answer.size;
    int flags = MSG_NOSIGNAL | MSG_DONTWAIT;
    while (rest < end) {
        Py_ssize_t count;
        if (flags & MSG_DONTWAIT) {
            count = send(self->descriptor, rest, (size_t)(end - rest), flags);
        } else {
            Py_BEGIN_ALLOW_THREADS count = send(self->descriptor, rest, (size_t)(end - rest), flags);
            Py_END_ALLOW_THREADS
        }
        if (count >= 0) {
            rest += count;
        } else if (errno == EINTR) {
            if (PyErr_CheckSignals() < 0) {
                return false;
            }
        } else if (errno != EAGAIN) {
            PyErr_SetFromErrno(PyExc_OSError);
            return false;
        }
        flags = MSG_NOSIGNAL; // the socket is full: later ones wait, without the GIL
    }
    return true;
}

static void release_large_buffer(byte_buffer* buffer) {
    if (buffer->capacity > max_kept_buffer) {
        PyMem_Free(buffer->data);
        buffer->data = NULL;
        buffer->capacity = 0;
    }
}

PyObject* encode_result(loop_object* self, PyObject* call_id, PyObject* value) {
    int overflow = 0;
    const long long id = PyLong_AsLongLongAndOverflow(call_id, &overflow);
    if (id == -1 && PyErr_Occurred() != NULL) {
        return NULL;
    }
    if (overflow != 0 || !write_answer(self, id, value)) {
        Py_RETURN_NONE;
    }
    PyObject* const message = PyBytes_FromStringAndSize(self->answer.data + header_size,
                                                        (Py_ssize_t)(self->answer.size - header_size));
    release_large_buffer(&self->answer);
    return message;
}

/// Acquires the lock of the channel. Returns 0 if another thread holds it, -1 after an error.
static int acquire_lock(loop_object* self) {
    PyObject* const is_acquired = PyObject_CallFunctionObjArgs(self->acquire, Py_False, NULL);
    Py_XDECREF(is_acquired);
    return is_acquired == NULL ? -1 : is_acquired == Py_True;
}

/// Releases the lock. Keeps an exception.
static bool release_lock(loop_object* self, bool is_good) {
    PyObject *type, *value, *traceback;
    PyErr_Fetch(&type, &value, &traceback);
    PyObject* const nothing = PyObject_CallNoArgs(self->release);
    Py_XDECREF(nothing);
    if (!is_good) {
        PyErr_Restore(type, value, traceback);
    }
    return is_good && nothing != NULL;
}

/// Writes the answer with a value, and acquires the lock. Returns 0 if the value is left to Python, -1 after
/// an error.
int prepare_answer(loop_object* self, PyObject* call_id, PyObject* value) {
    PyObject* const is_gone = PyObject_GetAttr(self->host, self->names.is_gone);
    Py_XDECREF(is_gone);
    if (is_gone == NULL) {
        return -1;
    }
    int overflow = 0;
    const long long id = PyLong_AsLongLongAndOverflow(call_id, &overflow);
    if (is_gone != Py_False || overflow != 0 || PyDict_Size(self->reports) != 0 ||
        !write_answer(self, id, value)) {
        return 0;
    }
    return acquire_lock(self);
}

/// Counts the call as answered, as the ProcessProfile does directly before the answer.
static bool count_answer(loop_object* self, PyObject* call_id) {
    const attribute_names* const names = &self->names;
    PyObject* const before = PyDict_GetItemWithError(self->profile, names->completed);
    PyObject* const completed = before == NULL ? NULL : PyNumber_Add(before, self->one);
    const bool is_counted = completed != NULL && put(self->call_module, names->_global_call, Py_None) &&
                            put(self->profile, names->in_flight, self->zero) &&
                            put(self->profile, names->completed, completed) &&
                            put(self->interrupts, names->_last_finished_id, call_id);
    Py_XDECREF(completed);
    return is_counted && PySet_Discard(self->cancelled_ids, call_id) >= 0;
}

/// Sends the answer in the buffer. Precondition: the lock is acquired.
bool answer_call(loop_object* self, PyObject* call, PyObject* call_id) {
    const bool is_sent = count_answer(self, call_id) &&
                         PyObject_SetAttr(call, self->names.is_over, Py_True) == 0 && send_answer(self);
    release_large_buffer(&self->answer);
    if (!release_lock(self, is_sent)) {
        return false;
    }
    if (PyDict_Size(self->tool_accounts) == 0) {
        return true;
    }
    PyObject* const nothing = PyObject_CallFunctionObjArgs(self->finish_tools, call, NULL);
    Py_XDECREF(nothing);
    return nothing != NULL;
}
