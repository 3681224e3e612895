// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#ifndef SKEP_PYTHON_LOOP_ANSWER_H
#define SKEP_PYTHON_LOOP_ANSWER_H

#include "loop_object.h"

/// Returns the message with a result as bytes, None for a value that is left to Python.
PyObject* encode_result(loop_object* self, PyObject* call_id, PyObject* value);

/// Writes the answer with a value, and acquires the lock. Returns 0 if the value is left to Python, -1 after
/// an error.
int prepare_answer(loop_object* self, PyObject* call_id, PyObject* value);

/// Sends the prepared answer, and releases the lock. Returns false after an error.
bool answer_call(loop_object* self, PyObject* call, PyObject* call_id);

#endif
