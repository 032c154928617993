/* Python as the core sees it. Some systems ship Python without its headers; what is used here is part of the stable ABI
   of Python 3.11 and all later ones, so it can be declared as well. Where the headers are, they are read. */
#ifndef ATOMSIEVE_INTERPRETER_H
#define ATOMSIEVE_INTERPRETER_H

#if !defined(Py_LIMITED_API) || !defined(__has_include)
#define ATOMSIEVE_HEADERS
#elif __has_include(<Python.h>)
#define ATOMSIEVE_HEADERS
#endif

#ifdef ATOMSIEVE_HEADERS
#define PY_SSIZE_T_CLEAN
#include <Python.h>
#else
#define _POSIX_C_SOURCE 200809L /* the clock */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

typedef ptrdiff_t Py_ssize_t;
typedef struct _object PyObject;
typedef struct _ts PyThreadState;
typedef PyObject *(*PyCFunction)(PyObject *, PyObject *);

typedef struct {
    void *buf;
    PyObject *obj;
    Py_ssize_t len, itemsize;
    int readonly, ndim;
    char *format;
    Py_ssize_t *shape, *strides, *suboffsets;
    void *internal;
} Py_buffer;
#define PyBUF_WRITABLE 0x0001
#define PyBUF_FORMAT 0x0004
#define PyBUF_C_CONTIGUOUS 0x0038

typedef struct {
    const char *ml_name;
    PyCFunction ml_meth;
    int ml_flags;
    const char *ml_doc;
} PyMethodDef;
#define METH_VARARGS 0x0001
#define METH_NOARGS 0x0004

typedef struct {
    Py_ssize_t references;
    void *type;
    PyObject *(*m_init)(void);
    Py_ssize_t m_index;
    PyObject *m_copy;
} PyModuleDef_Base;
#define PyModuleDef_HEAD_INIT {1, NULL, NULL, 0, NULL}

struct PyModuleDef {
    PyModuleDef_Base m_base;
    const char *m_name, *m_doc;
    Py_ssize_t m_size;
    PyMethodDef *m_methods;
    void *m_slots, *m_traverse, *m_clear, *m_free;
};
#define PyMODINIT_FUNC __attribute__((visibility("default"))) PyObject *

extern PyObject _Py_NoneStruct;
#define Py_None (&_Py_NoneStruct)
#define Py_RETURN_NONE return Py_NewRef(Py_None)
extern PyObject *PyExc_RuntimeError, *PyExc_TypeError, *PyExc_ValueError;

PyObject *Py_NewRef(PyObject *);
void Py_DecRef(PyObject *);
#define Py_DECREF Py_DecRef
#define Py_XDECREF Py_DecRef

PyObject *PyTuple_GetSlice(PyObject *, Py_ssize_t, Py_ssize_t);
Py_ssize_t PyTuple_Size(PyObject *);
int PyArg_ParseTuple(PyObject *, const char *, ...);
PyObject *Py_BuildValue(const char *, ...);
PyObject *PyBool_FromLong(long);
PyObject *PyFloat_FromDouble(double);
double PyFloat_AsDouble(PyObject *);
PyObject *PyLong_FromSsize_t(Py_ssize_t);
PyObject *PyUnicode_FromString(const char *);
PyObject *PyObject_GetItem(PyObject *, PyObject *);
int PyObject_GetBuffer(PyObject *, Py_buffer *, int);
void PyBuffer_Release(Py_buffer *);
PyObject *PyCapsule_New(void *, const char *, void (*)(PyObject *));
void *PyCapsule_GetPointer(PyObject *, const char *);
const char *PyCapsule_GetName(PyObject *);
void *PyCapsule_GetContext(PyObject *);
int PyCapsule_SetContext(PyObject *, void *);
PyObject *PyErr_Format(PyObject *, const char *, ...);
PyObject *PyErr_NoMemory(void);
void PyErr_SetString(PyObject *, const char *);
void PyErr_Clear(void);
PyObject *PyErr_Occurred(void);
int PyErr_CheckSignals(void);
PyThreadState *PyEval_SaveThread(void);
void PyEval_RestoreThread(PyThreadState *);
PyObject *PyModuleDef_Init(struct PyModuleDef *);
#endif

#endif
