// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#ifndef SKEP_PYTHON_LOOP_LOOP_OBJECT_H
#define SKEP_PYTHON_LOOP_LOOP_OBJECT_H

#include "json_reader.h"
#include "json_writer.h"
#include "wait_plan.h"

/// Sizes of the fields before the JSON of a frame.
enum { header_size = 8, length_size = 4 };

// Names of attributes, by the identifiers in this file.
#define FOR_EACH_NAME(X)                                                                                     \
    X(_call_id)                                                                                              \
    X(_end)                                                                                                  \
    X(_global_call)                                                                                          \
    X(_is_open)                                                                                              \
    X(_is_terminated)                                                                                        \
    X(_last_begun)                                                                                           \
    X(_last_finished_id)                                                                                     \
    X(_message)                                                                                              \
    X(_parameter_names)                                                                                      \
    X(_required_names)                                                                                       \
    X(_start)                                                                                                \
    X(_takes_any)                                                                                            \
    X(_view)                                                                                                 \
    X(args)                                                                                                  \
    X(attached)                                                                                              \
    X(attachments)                                                                                           \
    X(command)                                                                                               \
    X(completed)                                                                                             \
    X(credit)                                                                                                \
    X(deadline)                                                                                              \
    X(deadline_ms)                                                                                           \
    X(function)                                                                                              \
    X(host)                                                                                                  \
    X(id)                                                                                                    \
    X(in_flight)                                                                                             \
    X(is_gone)                                                                                               \
    X(is_over)                                                                                               \
    X(is_stopping)                                                                                           \
    X(obj)                                                                                                   \
    X(released)                                                                                              \
    X(sent_ms)                                                                                               \
    X(stream)                                                                                                \
    X(take_released)                                                                                         \
    X(type)                                                                                                  \
    X(welcome_time)                                                                                          \
    X(window)

#define FIELD(name) PyObject* name;
typedef struct {
    FOR_EACH_NAME(FIELD)
} attribute_names;

// Objects of the SDK that the constructor takes, by the names of its arguments.
#define FOR_EACH_PART(X)                                                                                     \
    X(channel)       /* the Channel of the calls */                                                          \
    X(host)          /* the PoolHost */                                                                      \
    X(window)        /* the Interrupts */                                                                    \
    X(interrupts)    /* their attributes */                                                                  \
    X(cancelled_ids) /* their set of cancelled calls */                                                      \
    X(recalls)       /* the attributes of the Recalls */                                                     \
    X(recalled_ids)  /* their set of recalled calls */                                                       \
    X(profile)       /* the attributes of the ProcessProfile */                                              \
    X(call_module)   /* the attributes of skep._calls.call */                                                \
    X(commands)      /* the Commands by name */                                                              \
    X(reports)       /* the unsent reports of progress */                                                    \
    X(tool_accounts) /* the calls with tool calls */                                                         \
    X(call_type)     /* Call */                                                                              \
    X(outcome_type)  /* Outcome */                                                                           \
    X(finish_tools)  /* ends the tool calls of an answered call */                                           \
    X(monotonic)     /* the clock of deadlines */                                                            \
    X(acquire)       /* acquires the lock of the channel, if it is free */                                   \
    X(release)       /* releases it */

typedef struct {
    PyObject_HEAD FOR_EACH_PART(FIELD) attribute_names names;
    PyObject* no_arguments;
    PyObject* zero;
    PyObject* one;
    int descriptor;
    Py_ssize_t frame_limit;
    Py_ssize_t
        max_text;  ///< bytes of the longest result that needs no check; less than 0: no result is sent here
    int max_depth; ///< levels of the deepest result that needs no check
    int with_exponents;
    int yields;        ///< waits for calls by yielding, where that is worthwhile
    int shares_memory; ///< calls may release places of attachments
    wait_plan plan;
    json_reader reader;
    byte_buffer answer;
    PyObject* memory; ///< the bytearray of the channel's buffer, while run() runs
    size_t begin;     ///< of the received bytes in it
    size_t end;
} loop_object;

/// Sets an attribute in the dict of an object.
bool put(PyObject* attributes, PyObject* name, PyObject* value);

/// Returns true unless the attribute is False.
bool is_set(PyObject* attributes, PyObject* name);

/// Returns true if a window that opens raises an interrupt, or may.
bool is_interrupted(const loop_object* self);

/// Opens the window of the interrupts, with None while waiting. Precondition: is_interrupted() is false.
bool open_window(const loop_object* self, PyObject* call_id);

bool close_window(const loop_object* self);

#endif
