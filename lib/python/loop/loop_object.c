// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "loop_object.h"

bool put(PyObject* attributes, PyObject* name, PyObject* value) {
    return PyDict_SetItem(attributes, name, value) == 0;
}

bool is_set(PyObject* attributes, PyObject* name) {
    return PyDict_GetItemWithError(attributes, name) != Py_False;
}

bool is_interrupted(const loop_object* self) {
    return is_set(self->interrupts, self->names._is_terminated) || PySet_Size(self->cancelled_ids) != 0;
}

bool open_window(const loop_object* self, PyObject* call_id) {
    return put(self->interrupts, self->names._call_id, call_id) &&
           put(self->interrupts, self->names._is_open, Py_True);
}

bool close_window(const loop_object* self) {
    return put(self->interrupts, self->names._is_open, Py_False);
}
