// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

// The frame loop of skep._profiles.profile.ProcessProfile: receives plain calls, runs their commands, and
// sends their results. Everything else is left to the code in Python: frames before any effect, calls before
// their command begins, and the outcomes of commands.
//
// The state stays in the objects of the SDK, because other threads, signal handlers and the code in Python
// use it as well. The loop holds the GIL except while it waits, so that no other code sees a step half done.

#include "answer.h"
#include "call.h"
#include "frames.h"

/// Returns true if the function of a command accepts arguments of these names, as Command.check().
static bool accepts(loop_object* self, PyObject* command, PyObject* args) {
    PyObject* const required = PyObject_GetAttr(command, self->names._required_names);
    PyObject* const known = PyObject_GetAttr(command, self->names._parameter_names);
    PyObject* const takes_any = PyObject_GetAttr(command, self->names._takes_any);
    bool is_accepted = required != NULL && known != NULL && takes_any != NULL;
    Py_ssize_t missing = is_accepted ? PySet_Size(required) : 0;
    Py_ssize_t position = 0;
    PyObject *name, *value;
    while (is_accepted && PyDict_Next(args, &position, &name, &value)) {
        if (PySet_Contains(required, name) == 1) {
            --missing;
        } else {
            is_accepted = takes_any == Py_True || PySet_Contains(known, name) == 1;
        }
    }
    Py_XDECREF(required);
    Py_XDECREF(known);
    Py_XDECREF(takes_any);
    return is_accepted && missing == 0;
}

/// Returns true if the deadline has not passed.
static bool is_in_time(loop_object* self, PyObject* deadline) {
    if (deadline == Py_None) {
        return true;
    }
    PyObject* const now = PyObject_CallNoArgs(self->monotonic);
    const bool is_in_time = now != NULL && PyObject_RichCompareBool(deadline, now, Py_GT) == 1;
    Py_XDECREF(now);
    return is_in_time;
}

/// A call whose command can begin.
typedef struct {
    PyObject* call;
    PyObject* id;
    PyObject* function;
    PyObject* args;
} plain_call;

static void clear_plain_call(plain_call* plain) {
    Py_CLEAR(plain->id);
    Py_CLEAR(plain->function);
    Py_CLEAR(plain->args);
}

/// Returns true if the call is no stream and a command accepts it, and fills the rest of `plain`.
static bool is_plain(loop_object* self, plain_call* plain) {
    const attribute_names* const names = &self->names;
    PyObject* const name = PyObject_GetAttr(plain->call, names->command);
    PyObject* const credit = PyObject_GetAttr(plain->call, names->credit);
    PyObject* const deadline = PyObject_GetAttr(plain->call, names->deadline);
    plain->id = PyObject_GetAttr(plain->call, names->id);
    plain->args = PyObject_GetAttr(plain->call, names->args);
    bool is_plain = false;
    if (name != NULL && deadline != NULL && plain->id != NULL && plain->args != NULL && credit == Py_None) {
        PyObject* const command = PyDict_GetItemWithError(self->commands, name);
        if (command != NULL && accepts(self, command, plain->args) && is_in_time(self, deadline)) {
            plain->function = PyObject_GetAttr(command, names->function);
            is_plain = plain->function != NULL;
        }
    }
    Py_XDECREF(name);
    Py_XDECREF(credit);
    Py_XDECREF(deadline);
    PyErr_Clear(); // the code in Python meets the error as well
    return is_plain;
}

/// Runs the command in the window of the call. `was_open` becomes true if the window is open at the end.
static PyObject* run_command(loop_object* self, const plain_call* plain, bool* was_open) {
    const attribute_names* const names = &self->names;
    PyObject* const keywords = PyDict_Copy(plain->args); // the function may keep them
    PyObject* value = NULL;
    if (keywords != NULL && put(self->profile, names->in_flight, self->one) &&
        put(self->call_module, names->_global_call, plain->call) && open_window(self, plain->id)) {
        value = PyObject_Call(plain->function, self->no_arguments, keywords);
    }
    Py_XDECREF(keywords);
    *was_open = is_set(self->interrupts, names->_is_open);
    if (!close_window(self)) {
        Py_CLEAR(value);
    }
    return value;
}

/// Notes that the call has begun, unless one with a larger id has. Returns false with an exception.
static bool note_last_begun(loop_object* self, PyObject* call_id) {
    PyObject* const last = PyDict_GetItemWithError(self->recalls, self->names._last_begun);
    const int is_larger = last == NULL ? 1 : PyObject_RichCompareBool(call_id, last, Py_GT);
    return is_larger == 0 || (is_larger > 0 && put(self->recalls, self->names._last_begun, call_id));
}

/// Begins a call; see Recalls.begin(). Returns false if the code in Python is to decide about recalled calls.
static bool begin_call(loop_object* self, PyObject* call_id) {
    const bool has_begun = note_last_begun(self, call_id) && PySet_Size(self->recalled_ids) == 0;
    PyErr_Clear();
    return has_begun;
}

/// Returns a call whose command has not begun, for the code in Python.
static PyObject* leave_call(PyObject* call) {
    return PyTuple_Pack(2, call, Py_None);
}

/// Returns the call and the outcome of its command, for the code in Python. Takes the current exception.
static PyObject* leave_outcome(loop_object* self, PyObject* call, PyObject* value, bool was_open) {
    PyObject *type = NULL, *error = NULL, *traceback = NULL;
    if (value == NULL) {
        PyErr_Fetch(&type, &error, &traceback);
        PyErr_NormalizeException(&type, &error, &traceback);
        if (traceback != NULL) {
            PyException_SetTraceback(error, traceback);
        }
    }
    PyObject* const outcome =
        PyObject_CallFunctionObjArgs(self->outcome_type, value == NULL ? Py_None : value,
                                     error == NULL ? Py_None : error, was_open ? Py_True : Py_False, NULL);
    Py_XDECREF(type);
    Py_XDECREF(error);
    Py_XDECREF(traceback);
    PyObject* const result = outcome == NULL ? NULL : PyTuple_Pack(2, call, outcome);
    Py_XDECREF(outcome);
    return result;
}

/// Serves a call. Returns None after the answer, the call and perhaps its outcome if the rest is left to
/// Python, null after an error.
static PyObject* serve_call(loop_object* self, PyObject* call) {
    plain_call plain = {call, NULL, NULL, NULL};
    if (!is_plain(self, &plain) || is_interrupted(self) || !begin_call(self, plain.id)) {
        clear_plain_call(&plain);
        return leave_call(call);
    }
    bool was_open = false;
    PyObject* const value = run_command(self, &plain, &was_open);
    PyObject* result = NULL;
    const int is_ready = value == NULL ? 0 : prepare_answer(self, plain.id, value);
    if (is_ready == 0) {
        result = leave_outcome(self, call, value, was_open);
    } else if (is_ready > 0 && answer_call(self, call, plain.id)) {
        Py_INCREF(Py_None);
        result = Py_None;
    }
    Py_XDECREF(value);
    clear_plain_call(&plain);
    return result;
}

/// Frees the places of attachments that the message names as released. Returns false with an exception.
static bool take_released(loop_object* self, PyObject* message) {
    PyObject* const places = PyDict_GetItemWithError(message, self->names.released);
    if (places == NULL) {
        return true;
    }
    PyObject* const nothing = PyObject_CallMethodObjArgs(self->host, self->names.take_released, places, NULL);
    Py_XDECREF(nothing);
    return nothing != NULL;
}

/// Takes the next frame. Returns a new Call, None for a frame that is left to the code in Python.
/// `may_release`: the call may release places, which cannot be undone.
static PyObject* take_call(loop_object* self, size_t frame_size, bool may_release) {
    const char* const text = PyByteArray_AsString(self->memory) + self->begin + header_size;
    PyObject* const message = read_json(&self->reader, text, frame_size - header_size);
    const bool is_left = message == NULL || !PyDict_CheckExact(message) ||
                         PyDict_Contains(message, self->names.attachments) != 0 ||
                         (!may_release && PyDict_Contains(message, self->names.released) != 0);
    if (is_left) {
        Py_XDECREF(message);
        Py_RETURN_NONE;
    }
    drop_frame(self, frame_size);
    PyObject* call = make_call(self, message);
    if (call != NULL && self->shares_memory && !take_released(self, message)) {
        Py_CLEAR(call);
    }
    Py_DECREF(message);
    return call;
}

/// Takes the next frame if it is there and holds a call. Returns null if the frame is left to Python.
static PyObject* take_received_call(loop_object* self) {
    const size_t begin = self->begin, end = self->end;
    size_t size = 0;
    PyObject* call = find_frame(self, &size) == frame_complete ? take_call(self, size, false) : NULL;
    if (call == Py_None) {
        Py_CLEAR(call);
    }
    if (call == NULL) {
        PyErr_Clear(); // the code in Python meets the error as well
        self->begin = begin;
        self->end = end;
    }
    return call;
}

/// Takes calls from the received bytes, so many at most, up to a frame that is left to the code in Python.
/// Returns a list.
static PyObject* take_calls(loop_object* self, Py_ssize_t most) {
    PyObject* calls = PyList_New(0);
    while (calls != NULL && PyList_Size(calls) < most) {
        PyObject* const call = take_received_call(self);
        if (call == NULL) {
            break;
        }
        if (PyList_Append(calls, call) < 0) {
            Py_CLEAR(calls);
        }
        Py_DECREF(call);
    }
    return calls;
}

/// Serves calls until something is left to the code in Python.
static PyObject* serve_calls(loop_object* self) {
    for (;;) {
        if (is_set(self->interrupts, self->names.is_stopping)) {
            Py_RETURN_NONE;
        }
        if (PyErr_CheckSignals() < 0) {
            return NULL;
        }
        size_t size = 0;
        const frame_state state = find_frame(self, &size);
        if (state == frame_foreign || is_interrupted(self) || !make_room(self, size)) {
            Py_RETURN_NONE;
        }
        if (state == frame_incomplete) {
            const int has_bytes = wait_for_bytes(self);
            if (has_bytes > 0) {
                continue;
            }
            if (has_bytes < 0) {
                return NULL;
            }
            Py_RETURN_NONE;
        }
        PyObject* const call = take_call(self, size, true);
        if (call == NULL || call == Py_None) {
            return call;
        }
        PyObject* const result = serve_call(self, call);
        Py_DECREF(call);
        if (result != Py_None) {
            return result;
        }
        Py_DECREF(result);
    }
}

// --- the type

PyDoc_STRVAR(
    run_doc,
    "run()\n--\n\n"
    "Serves plain calls. Returns None if the next frame, the end of the stream or an interrupt\n"
    "is left to the caller, otherwise a Call and the Outcome of its command, which is None if the\n"
    "command has not begun. The window of the interrupts is closed before and after. Raises the errors of\n"
    "Channel.receive(), Call(), PoolHost.take_released() and Channel.send(), and those of signal handlers.");

static PyObject* loop_run(PyObject* object, PyObject* nothing) {
    (void)nothing;
    loop_object* const self = (loop_object*)object;
    PyObject* result = NULL;
    const int is_known = take_buffer(self);
    if (is_known > 0) {
        result = serve_calls(self);
    } else if (is_known == 0) {
        Py_INCREF(Py_None);
        result = Py_None;
    }
    if (!give_back_buffer(self)) {
        Py_CLEAR(result);
    }
    return result;
}

PyDoc_STRVAR(take_doc,
             "take_calls(most)\n--\n\n"
             "Returns a list of calls that have been received, at most so many. Ends before a frame that\n"
             "is left to the caller. Does not wait.");

static PyObject* loop_take_calls(PyObject* object, PyObject* most) {
    loop_object* const self = (loop_object*)object;
    const Py_ssize_t count = PyNumber_AsSsize_t(most, NULL); // of the largest size if it is larger
    if (count == -1 && PyErr_Occurred() != NULL) {
        return NULL;
    }
    PyObject* calls = NULL;
    const int is_known = take_buffer(self);
    if (is_known >= 0) {
        calls = is_known > 0 ? take_calls(self, count) : PyList_New(0);
    }
    if (!give_back_buffer(self)) {
        Py_CLEAR(calls);
    }
    return calls;
}

PyDoc_STRVAR(result_doc,
             "encode_result(call_id, value)\n--\n\n"
             "Returns the message with the result of a call, as Answers.result(), None for a value that\n"
             "is left to the caller.");

static PyObject* loop_encode_result(PyObject* object, PyObject* args) {
    PyObject *call_id = NULL, *value = NULL;
    if (!PyArg_ParseTuple(args, "OO:encode_result", &call_id, &value)) {
        return NULL;
    }
    return encode_result((loop_object*)object, call_id, value);
}

static bool make_constants(loop_object* self) {
#define MAKE_NAME(name) self->names.name = PyUnicode_InternFromString(#name);
#define IS_MADE(name) &&self->names.name != NULL
    FOR_EACH_NAME(MAKE_NAME)
    self->no_arguments = PyTuple_New(0);
    self->zero = PyLong_FromLong(0);
    self->one = PyLong_FromLong(1);
    return self->no_arguments != NULL && self->zero != NULL && self->one != NULL FOR_EACH_NAME(IS_MADE);
}

static PyObject* loop_new(PyTypeObject* type, PyObject* args, PyObject* keywords) {
#define NAME_IN_QUOTES(name) #name,
#define ADDRESS(name) , &self->name
#define KEEP(name) Py_INCREF(self->name);
    static char* argument_names[] = {FOR_EACH_PART(NAME_IN_QUOTES) "descriptor",
                                     "frame_limit",
                                     "max_text",
                                     "max_depth",
                                     "with_exponents",
                                     "yields",
                                     "shares_memory",
                                     NULL};
    loop_object* const self = (loop_object*)PyType_GenericAlloc(type, 0);
    if (self == NULL) {
        return NULL;
    }
    const bool is_parsed = PyArg_ParseTupleAndKeywords(
        args, keywords, "$OOOOOOOOOOOOOOOOOOinnippp:Loop", argument_names FOR_EACH_PART(ADDRESS),
        &self->descriptor, &self->frame_limit, &self->max_text, &self->max_depth, &self->with_exponents,
        &self->yields, &self->shares_memory);
    if (!is_parsed) {
#define FORGET(name) self->name = NULL;
        FOR_EACH_PART(FORGET)
        Py_DECREF(self);
        return NULL;
    }
    FOR_EACH_PART(KEEP)
    self->plan = make_wait_plan();
    if (!make_constants(self)) {
        Py_DECREF(self);
        return NULL;
    }
    return (PyObject*)self;
}

static void loop_dealloc(PyObject* object) {
#define CLEAR(name) Py_CLEAR(self->name);
#define CLEAR_NAME(name) Py_CLEAR(self->names.name);
    loop_object* const self = (loop_object*)object;
    PyTypeObject* const type = Py_TYPE(object);
    FOR_EACH_PART(CLEAR)
    FOR_EACH_NAME(CLEAR_NAME)
    Py_CLEAR(self->no_arguments);
    Py_CLEAR(self->zero);
    Py_CLEAR(self->one);
    close_json_reader(&self->reader);
    PyMem_Free(self->answer.data);
    freefunc const free_object = (freefunc)PyType_GetSlot(type, Py_tp_free);
    free_object(object);
    Py_DECREF(type);
}

static PyMethodDef loop_methods[] = {{"run", loop_run, METH_NOARGS, run_doc},
                                     {"take_calls", loop_take_calls, METH_O, take_doc},
                                     {"encode_result", loop_encode_result, METH_VARARGS, result_doc},
                                     {NULL, NULL, 0, NULL}};

PyDoc_STRVAR(loop_doc, "Loop(*, channel, ..., with_exponents, yields, shares_memory)\n--\n\n"
                       "The frame loop of a ProcessProfile over a socket. On the main thread only.");

static PyType_Slot loop_slots[] = {{Py_tp_doc, (void*)loop_doc},
                                   {Py_tp_new, loop_new},
                                   {Py_tp_dealloc, loop_dealloc},
                                   {Py_tp_methods, loop_methods},
                                   {0, NULL}};

static PyType_Spec loop_spec = {"skep._loop.Loop", sizeof(loop_object), 0, Py_TPFLAGS_DEFAULT, loop_slots};

// --- the module

static int add_type(PyObject* module) {
    PyObject* const type = PyType_FromSpec(&loop_spec);
    if (type == NULL) {
        return -1;
    }
    const int result = PyModule_AddType(module, (PyTypeObject*)type);
    Py_DECREF(type);
    return result;
}

static PyModuleDef_Slot module_slots[] = {{Py_mod_exec, add_type}, {0, NULL}};

static struct PyModuleDef module = {PyModuleDef_HEAD_INIT,
                                    "skep._loop",
                                    "The frame loop of workers with one call at a time, in C.",
                                    0,
                                    NULL,
                                    module_slots,
                                    NULL,
                                    NULL,
                                    NULL};

PyMODINIT_FUNC PyInit__loop(void) {
    return PyModuleDef_Init(&module);
}
