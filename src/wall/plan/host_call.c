/* SPDX-License-Identifier: MIT */
/* wall/plan/host_call.c - the forms of a call of the caller's functions. */
#include "wall/plan/host_call.h"

static const struct wire_field call[] = { WIRE_NUMBER(struct host_call, index),
                                          WIRE_BYTES(struct host_call, slots) };
static const struct wire_field result[] = { WIRE_NUMBER(struct host_result, failed),
                                            WIRE_BYTES(struct host_result, slots) };
const struct wire_form host_call_form = WIRE_FORM(WIRE_HOST_CALL, 1, struct host_call, call);
const struct wire_form host_result_form = WIRE_FORM(WIRE_HOST_RESULT, 1, struct host_result, result);

size_t host_params(const char *signature) { return strspn(signature, "ilfd"); }

size_t host_results(const char *signature)
{
        const char *colon = strchr(signature, ':');
        return colon ? strspn(colon + 1, "ilfd") : 0;
}

static bool is_name(const char *s)
{
        size_t n = 0;
        while (s[n] > ' ' && s[n] <= '~')
                n++;
        return n > 0 && s[n] == '\0';
}

bool host_function_holds(const struct host_function *f)
{
        size_t params = host_params(f->signature), results = host_results(f->signature);
        return is_name(f->module) && is_name(f->name) && f->signature[params] == ':' &&
               f->signature[params + 1 + results] == '\0' && params <= HOST_SLOTS && results <= HOST_SLOTS;
}
