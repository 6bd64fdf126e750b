/* SPDX-License-Identifier: MIT */
/* ledger/write/wake.c - starts the sealer, marks files with their origin, makes trace contexts: a writer's
 * work besides writing. The sealer is not a child of the caller, has none of its descriptors, terminal or
 * variables, and exits by itself. */
#include "base/clock.h"
#include "base/fd.h"
#include "base/host/host.h"
#include "base/store/store.h"
#include "ledger/write/append.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/random.h>
#include <sys/xattr.h>

static bool is_running(const struct ledger *l)
{
        struct flock f = { .l_type = F_WRLCK, .l_whence = SEEK_SET };
        AUTO_FD(fd, openat(l->dir, "sealer", O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600));
        return fd < 0 || fcntl(fd, F_OFD_GETLK, &f) < 0 || f.l_type != F_UNLCK;
}

/* A sealer lingers for twice this after the newest write: one that ran then still runs. */
enum { STILL_AWAKE_MS = SEAL_LINGER_MS / 2 };

void ledger_wake_sealer(struct ledger *l)
{
        char path[PATH_MAX], place[STORE_PATH_MAX + 8], name[] = "cordon-ledger", verb[] = "seal";
        struct err e;
        uint64_t now = clock_mono_ns();
        if (l->woken_ns != 0 && now - l->woken_ns < STILL_AWAKE_MS * UINT64_C(1000000))
                return;

        l->woken_ns = now;
        if (!l->cx || is_running(l) || host_program(l->cx, "cordon-ledger", path, sizeof path, &e) < 0 ||
            store_path(l->cx, place, &e) < 0)
                return;

        (void) snprintf(place + strlen(place), 8, "/ledger");
        char *const argv[] = { name, verb, place, NULL }, *const empty[] = { NULL };
        const int none[] = { -1, -1, -1 };
        (void) host_spawn(&(struct host_spawn){ .path = path,
                                                .argv = argv,
                                                .envp = empty,
                                                .fds = none,
                                                .fd_count = 3,
                                                .flags = HOST_SPAWN_APART | HOST_SPAWN_ORPHAN });
}

/* ---- origins ---- */

static const char origin_name[] = "user.cordon.origin";

void ledger_stamp_origin(int fd, const char *id) { (void) fsetxattr(fd, origin_name, id, strlen(id), 0); }

static void take_origin(ssize_t n, char ret_id[LEDGER_ID_MAX])
{
        ret_id[n > 0 ? n : 0] = '\0';
        /* Any process that may write the file may write this attribute: it is used only if it looks like an
         * id. */
        if (strspn(ret_id, "abcdefghijklmnopqrstuvwxyz0123456789-.") != strlen(ret_id))
                ret_id[0] = '\0';
}

void ledger_read_origin(int fd, char ret_id[LEDGER_ID_MAX])
{
        take_origin(fgetxattr(fd, origin_name, ret_id, LEDGER_ID_MAX - 1), ret_id);
}

void ledger_path_origin(const char *path, char ret_id[LEDGER_ID_MAX])
{
        take_origin(lgetxattr(path, origin_name, ret_id, LEDGER_ID_MAX - 1), ret_id);
}

/* ---- trace contexts ---- */

static bool are_hex(const char *p, size_t n, bool *ret_zero)
{
        *ret_zero = true;
        for (size_t i = 0; i < n; i++) {
                if (!((p[i] >= '0' && p[i] <= '9') || (p[i] >= 'a' && p[i] <= 'f')))
                        return false;
                *ret_zero = *ret_zero && p[i] == '0';
        }

        return true;
}

/* W3C Trace Context: version 00, and no all-zero id. */
bool ledger_trace_valid(const char *t)
{
        bool zero_trace, zero_span, ignored;
        if (!t || strlen(t) != 55 || strncmp(t, "00-", 3) != 0 || t[35] != '-' || t[52] != '-')
                return false;
        return are_hex(t + 3, 32, &zero_trace) && are_hex(t + 36, 16, &zero_span) &&
               are_hex(t + 53, 2, &ignored) && !zero_trace && !zero_span;
}

void ledger_trace_child(const char *in, char ret[LEDGER_TRACE_MAX])
{
        static const char digits[] = "0123456789abcdef";
        uint8_t random[24];
        bool valid = ledger_trace_valid(in);

        if (getrandom(random, sizeof random, GRND_INSECURE) != (ssize_t) sizeof random)
                memset(random, 1, sizeof random);

        memcpy(ret, valid ? in : "00-00000000000000000000000000000000-0000000000000000-01", 56);
        for (size_t i = valid ? 16 : 0; i < 24; i++) {
                size_t at = i < 16 ? 3 + 2 * i : 36 + 2 * (i - 16);
                ret[at] = digits[random[i] >> 4];
                ret[at + 1] = digits[random[i] & 15];
        }
}
