// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

// Most messages have members of the right types and are no streams: their Calls are made without running the
// constructor.

#include "call.h"

/// The members of a message; borrowed, null where missing.
typedef struct {
    PyObject* type;
    PyObject* id;
    PyObject* command;
    PyObject* args;
    PyObject* deadline_ms;
    PyObject* sent_ms;
    PyObject* stream;
} call_members;

static call_members find_members(const loop_object* self, PyObject* message) {
    const attribute_names* const names = &self->names;
    return (call_members){
        .type = PyDict_GetItemWithError(message, names->type),
        .id = PyDict_GetItemWithError(message, names->id),
        .command = PyDict_GetItemWithError(message, names->command),
        .args = PyDict_GetItemWithError(message, names->args),
        .deadline_ms = PyDict_GetItemWithError(message, names->deadline_ms),
        .sent_ms = PyDict_GetItemWithError(message, names->sent_ms),
        .stream = PyDict_GetItemWithError(message, names->stream),
    };
}

/// Returns true for a missing time, a float, and an integer that a double holds exactly.
static bool is_plain_time(PyObject* time) {
    if (time == NULL || PyFloat_CheckExact(time)) {
        return true;
    }
    if (!PyLong_CheckExact(time)) {
        return false;
    }
    int overflow = 0;
    const long long value = PyLong_AsLongLongAndOverflow(time, &overflow);
    const long long exact = 1LL << 53;
    return overflow == 0 && value >= -exact && value <= exact;
}

static bool is_plain_message(const call_members* members) {
    return members->stream == NULL && members->type != NULL && PyUnicode_CheckExact(members->type) &&
           PyUnicode_CompareWithASCIIString(members->type, "call") == 0 && members->id != NULL &&
           PyLong_CheckExact(members->id) && members->command != NULL &&
           PyUnicode_CheckExact(members->command) && members->args != NULL &&
           PyDict_CheckExact(members->args) && is_plain_time(members->deadline_ms) &&
           is_plain_time(members->sent_ms);
}

static double seconds_of(PyObject* milliseconds) {
    const double value = PyFloat_CheckExact(milliseconds) ? PyFloat_AsDouble(milliseconds)
                                                          : (double)PyLong_AsLongLong(milliseconds);
    return value / 1000;
}

/// Returns the deadline of a plain message, None if there is none.
static PyObject* make_deadline(const loop_object* self, const call_members* members) {
    if (members->deadline_ms == NULL) {
        Py_RETURN_NONE;
    }
    PyObject* const now = PyObject_CallNoArgs(self->monotonic);
    PyObject* const welcome = PyObject_GetAttr(self->host, self->names.welcome_time);
    PyObject* deadline = NULL;
    if (now != NULL && welcome != NULL) {
        double start = PyFloat_AsDouble(now);
        if (members->sent_ms != NULL) {
            const double sent = PyFloat_AsDouble(welcome) + seconds_of(members->sent_ms);
            start = sent < start ? sent : start;
        }
        deadline =
            PyErr_Occurred() == NULL ? PyFloat_FromDouble(start + seconds_of(members->deadline_ms)) : NULL;
    }
    Py_XDECREF(now);
    Py_XDECREF(welcome);
    return deadline;
}

/// Fills the slots of a new Call, as its constructor does.
static bool fill_call(const loop_object* self, PyObject* call, PyObject* message,
                      const call_members* members) {
    const attribute_names* const names = &self->names;
    PyObject* const deadline = make_deadline(self, members);
    const bool is_filled = deadline != NULL && PyObject_SetAttr(call, names->id, members->id) == 0 &&
                           PyObject_SetAttr(call, names->command, members->command) == 0 &&
                           PyObject_SetAttr(call, names->args, members->args) == 0 &&
                           PyObject_SetAttr(call, names->deadline, deadline) == 0 &&
                           PyObject_SetAttr(call, names->credit, Py_None) == 0 &&
                           PyObject_SetAttr(call, names->host, self->host) == 0 &&
                           PyObject_SetAttr(call, names->window, self->window) == 0 &&
                           PyObject_SetAttr(call, names->is_over, Py_False) == 0 &&
                           PyObject_SetAttr(call, names->_message, message) == 0 &&
                           PyObject_SetAttr(call, names->attached, self->no_arguments) == 0;
    Py_XDECREF(deadline);
    return is_filled;
}

PyObject* make_call(const loop_object* self, PyObject* message) {
    const call_members members = find_members(self, message);
    if (!is_plain_message(&members)) {
        return PyObject_CallFunctionObjArgs(self->call_type, message, self->no_arguments, self->host,
                                            self->window, NULL);
    }
    PyTypeObject* const type = (PyTypeObject*)self->call_type;
    PyObject* const call = PyType_GenericAlloc(type, 0);
    if (call != NULL && !fill_call(self, call, message, &members)) {
        Py_DECREF(call);
        return NULL;
    }
    return call;
}
