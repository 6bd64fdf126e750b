/* SPDX-License-Identifier: MIT */
/* egress/http_form.h - methods that a posted body asks for. See http_form.c. */
#pragma once
#include "egress/http_internal.h"

struct http_form;
struct form_judge {
        void *ctx;
        bool (*may)(void *ctx, const char *method); /* upper case; perhaps no method at all */
};

/* A name that is "_method" to some server, byte by byte, without its escapes (http_override.c). */
struct form_name {
        unsigned n;
        bool begun, nested, other;
};
void form_name_add(struct form_name *m, uint8_t c);
bool form_name_is_method(const struct form_name *m);

/* *ret stays NULL where no form is posted. -1 and why: a server could read this body in two ways. */
int form_new(const struct http_head *h, struct http_form **ret, const char **ret_why);
/* False: it asks for a method that may not be. */
bool form_pass(struct http_form *f, struct span data, bool end, const struct form_judge *j);
void form_free(struct http_form *f);
/* Not in a coding that a server undoes and we do not. */
bool form_is_plain_coding(const struct http_head *h);
