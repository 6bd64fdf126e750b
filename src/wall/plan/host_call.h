/* SPDX-License-Identifier: MIT */
/* wall/plan/host_call.h - functions of the caller that a module may call: their declaration, and one call and
 * its result as messages between cordon-wasm and the keeper. */
#pragma once
#include "base/wire/wire.h"

enum { HOST_FUNCTIONS = 64, HOST_SLOTS = 16, HOST_NAME = 64 };

/* signature: letters of parameters and results, "ii:i"; i = i32, l = i64, f = f32, d = f64. At most
 * HOST_SLOTS of each. Names are printable, without spaces. */
struct host_function {
        char module[HOST_NAME], name[HOST_NAME], signature[2 * HOST_SLOTS + 2];
};
bool host_function_holds(const struct host_function *f);
/* The number of parameters, and of results. */
size_t host_params(const char *signature);
size_t host_results(const char *signature);

struct host_call {
        uint32_t index;
        uint64_t slots[HOST_SLOTS];
};
struct host_result {
        uint32_t failed; /* the module ends with a trap */
        uint64_t slots[HOST_SLOTS];
};
extern const struct wire_form host_call_form, host_result_form;
