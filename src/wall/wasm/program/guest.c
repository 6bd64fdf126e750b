/* SPDX-License-Identifier: MIT */
/* wall/wasm/program/guest.c - what the module gets beside WASI: a filter around the process, functions of the
 * caller, and a call of one of its own functions with numbers. */
#include "base/calls.h"
#include "base/fd.h"
#include "wall/wasm/program/program.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

/* The filter keeps these system calls, below the box's own filter: those of open files and clocks, and the
 * others only if a door needs them. No executable memory, no new process, no program. A module that takes
 * over the engine reaches no more than that. */
static const uint32_t always[] = {
        SYS_read,         SYS_write,     SYS_readv,      SYS_writev,       SYS_preadv,
        SYS_pwritev,      SYS_lseek,     SYS_close,      SYS_fstat,        SYS_fcntl,
        SYS_ftruncate,    SYS_fallocate, SYS_fsync,      SYS_fdatasync,    SYS_fadvise64,
        SYS_utimensat,    SYS_ppoll,     SYS_ioctl,      SYS_getrandom,    SYS_sched_yield,
        SYS_munmap,       SYS_mremap,    SYS_brk,        SYS_madvise,      SYS_clock_gettime,
        SYS_clock_getres, SYS_exit,      SYS_exit_group, SYS_rt_sigreturn, SYS_restart_syscall,
#ifdef SYS_poll
        SYS_poll,
#endif
#ifdef __GLIBC__
        SYS_newfstatat, /* its fstat() */
#endif
};

static const uint32_t of_doors[] = { SYS_openat, SYS_newfstatat, SYS_getdents64, SYS_readlinkat };
static const uint32_t of_writes[] = {
        SYS_mkdirat,  SYS_unlinkat, SYS_symlinkat, SYS_linkat, SYS_renameat2,
#ifdef SYS_renameat
        SYS_renameat,
#endif
};
static const uint32_t of_sockets[] = { SYS_accept4,  SYS_recvmsg,    SYS_sendmsg,
                                       SYS_shutdown, SYS_getsockopt, SYS_recvfrom };

#define LIST(list) list, sizeof(list) / sizeof *(list)

int guest_filter_close(const struct guest_needs *n, struct err *e)
{
        struct calls f;
        calls_begin(&f);
        calls_allow(&f, LIST(always));
        calls_allow_memory(&f);
        if (n->doors)
                calls_allow(&f, LIST(of_doors));
        if (n->writes)
                calls_allow(&f, LIST(of_writes));
        if (n->sockets)
                calls_allow(&f, LIST(of_sockets));

        if (calls_close(&f) == 0)
                return 0;

        return err_set(e, ERR_WALL, errno, "the filter of cordon-wasm cannot be installed: %s",
                       strerror(errno));
}

static bool read_integer(const char *text, char letter, uint64_t *ret)
{
        char *end;
        errno = 0;
        long long n = strtoll(text, &end, 0);
        *ret = letter == 'i' ? (uint32_t) n : (uint64_t) n;
        bool fits = letter == 'l' || (n >= INT32_MIN && n <= UINT32_MAX);
        return fits && !errno && end != text && !*end;
}

static bool read_float(const char *text, char letter, uint64_t *ret)
{
        char *end;
        double d = strtod(text, &end);
        float f = (float) d;
        *ret = 0;
        if (letter == 'f')
                memcpy(ret, &f, sizeof f);
        else
                memcpy(ret, &d, sizeof d);
        return end != text && !*end;
}

/* Below the filter: stdio may ask what standard output is, by a call that only a door opens. */
static int print_slot(char letter, uint64_t slot)
{
        char line[64];
        double d;
        float f;
        memcpy(&d, &slot, sizeof d);
        memcpy(&f, &slot, sizeof f);
        int n = letter == 'i'   ? snprintf(line, sizeof line, "%" PRId32 "\n", (int32_t) (uint32_t) slot)
                : letter == 'l' ? snprintf(line, sizeof line, "%" PRId64 "\n", (int64_t) slot)
                                : snprintf(line, sizeof line, "%.17g\n", letter == 'f' ? (double) f : d);
        return fd_write_all(STDOUT_FILENO, line, (size_t) n);
}

static bool is_numeric(const char *signature)
{
        size_t n = host_params(signature), k = host_results(signature);
        return signature[n] == ':' && !signature[n + 1 + k] && n <= HOST_SLOTS && k <= HOST_SLOTS;
}

int guest_entry_call(struct wasm_instance *inst, const struct engine_options *o, enum wasm_trap *ret,
                     struct err *e)
{
        uint64_t slots[HOST_SLOTS] = { 0 };
        struct wasm_func *f = wasm_export_func(inst, span_str(o->entry));
        const char *signature = f ? wasm_func_signature(f) : "";
        size_t n = host_params(signature), given = 0;
        while (o->argv[1 + given])
                given++;

        if (!f || !is_numeric(signature))
                return err_set(e, ERR_EXEC, 0, "exports no function of this name with numbers alone");

        if (given != n)
                return err_set(e, ERR_EXEC, 0, "the function takes %zu numbers, and %zu are given", n, given);

        for (size_t i = 0; i < n; i++) {
                bool integer = signature[i] == 'i' || signature[i] == 'l';
                if (!(integer ? read_integer : read_float)(o->argv[1 + i], signature[i], &slots[i]))
                        return err_set(e, ERR_EXEC, 0, "argument %zu is no number of the function's type",
                                       i + 1);
        }

        *ret = wasm_call(inst, f, slots);
        for (size_t i = 0; *ret == WASM_OK && signature[n + 1 + i]; i++)
                if (print_slot(signature[n + 1 + i], slots[i]) < 0)
                        return err_set(e, ERR_IO, errno, "standard output: %s", strerror(errno));

        return 0;
}

struct bound {
        int line;
        uint32_t index, params, results;
};

/* A call of a function of the program that started the box is one message to the keeper, and its answer is
 * the result. */
static int ask_host(const struct bound *b, uint64_t *slots)
{
        struct host_call c = { .index = b->index };
        struct host_result r;
        memcpy(c.slots, slots, b->params * sizeof *slots);
        if (wire_put(b->line, &host_call_form, &c, -1) < 0 ||
            wire_take(b->line, &host_result_form, &r, NULL) != 1 || r.failed)
                return -1;

        memcpy(slots, r.slots, b->results * sizeof *slots);
        return 0;
}

static enum wasm_trap call_host(struct wasm_instance *caller, void *user, uint64_t *slots)
{
        (void) caller;
        return ask_host(user, slots) < 0 ? WASM_TRAP_HOST : WASM_OK;
}

static struct bound bind_function(const struct engine_options *o, unsigned i)
{
        const struct host_function *f = &o->functions[i];
        return (struct bound){ .line = 3 + (int) o->handle_count,
                               .index = i,
                               .params = (uint32_t) host_params(f->signature),
                               .results = (uint32_t) host_results(f->signature) };
}

int guest_function_call(const struct engine_options *o, unsigned index, uint64_t *slots)
{
        const struct bound b = bind_function(o, index);
        return ask_host(&b, slots);
}

int guest_functions_define(const struct engine_options *o, struct wasm_store *s, struct err *e)
{
        static struct bound bound[HOST_FUNCTIONS];
        for (unsigned i = 0; i < o->function_count; i++) {
                const struct host_function *f = &o->functions[i];
                bound[i] = bind_function(o, i);
                const struct wasm_host h = { .module = f->module,
                                             .name = f->name,
                                             .signature = f->signature,
                                             .fn = call_host,
                                             .user = &bound[i] };
                if (wasm_define(s, &h, e) < 0)
                        return -1;
        }

        return 0;
}
