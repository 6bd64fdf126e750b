/* SPDX-License-Identifier: MIT */
/* base/err.c - fills error values. Never: allocates, prints, exits. */
#include "base/err.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static const char *const code_names[] = {
        [ERR_NONE] = "none",         [ERR_USAGE] = "usage",   [ERR_POLICY] = "policy", [ERR_DOOR] = "door",
        [ERR_HOST] = "host",         [ERR_WALL] = "wall",     [ERR_LIMIT] = "limit",   [ERR_EXEC] = "exec",
        [ERR_ATTEST] = "attest",     [ERR_MEMORY] = "memory", [ERR_IO] = "io",         [ERR_GONE] = "gone",
        [ERR_INTERNAL] = "internal",
};
_Static_assert(sizeof code_names / sizeof *code_names == ERR_CODE__COUNT, "a name for each code");

const char *err_code_name(enum err_code code)
{
        return (unsigned) code < ERR_CODE__COUNT ? code_names[code] : "unknown";
}

/* One sentence: a newline inside would let text from a box forge a line of output. */
__attribute__((format(printf, 3, 0))) static void print_text(char *s, size_t cap, const char *fmt, va_list ap)
{
        (void) vsnprintf(s, cap, fmt, ap);
        for (; *s; s++)
                if ((unsigned char) *s < 0x20 || *s == 0x7f)
                        *s = ' ';
}

int err_set(struct err *e, enum err_code code, int sys, const char *fmt, ...)
{
        va_list ap;
        va_start(ap, fmt);
        print_text(e->what, sizeof e->what, fmt, ap);
        va_end(ap);
        e->code = (uint16_t) code;
        e->step = 0;
        e->sys = sys;
        e->hint[0] = '\0';
        return -1;
}

int err_in(struct err *e, const char *fmt, ...)
{
        char old[sizeof e->what];
        memcpy(old, e->what, sizeof old);
        va_list ap;
        va_start(ap, fmt);
        print_text(e->what, sizeof e->what, fmt, ap);
        va_end(ap);
        size_t n = strlen(e->what);
        (void) snprintf(e->what + n, sizeof e->what - n, ": %s", old);
        return -1;
}

int err_hint(struct err *e, const char *fmt, ...)
{
        va_list ap;
        va_start(ap, fmt);
        print_text(e->hint, sizeof e->hint, fmt, ap);
        va_end(ap);
        return -1;
}
