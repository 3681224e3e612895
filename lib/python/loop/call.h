// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#ifndef SKEP_PYTHON_LOOP_CALL_H
#define SKEP_PYTHON_LOOP_CALL_H

#include "loop_object.h"

/// Returns the Call of a message without attachments. Raises the errors of its constructor.
PyObject* make_call(const loop_object* self, PyObject* message);

#endif
