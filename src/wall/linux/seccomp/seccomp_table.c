/* SPDX-License-Identifier: MIT */
/* wall/linux/seccomp/seccomp_table.c - the table of system calls and the questions one can ask it.
 * Never: makes a system call, allocates, keeps state. A name or a number given twice does not compile. */
#include "wall/linux/seccomp/seccomp.h"

/* A second row of the same name would declare its enumerator twice. */
enum row_id {
#define ROW(name, x86, arm, verdict, rule, reason) ROW_##name,
#include "wall/linux/seccomp/seccomp_rows.inc"
#undef ROW
        ROW__COUNT
};

/* clang-format off */
static const struct seccomp_row rows[] = {
#define ROW(name, x86, arm, verdict, rule, reason) \
        [ROW_##name] = { { x86, arm }, SECCOMP_##verdict, RULE_##rule },
#include "wall/linux/seccomp/seccomp_rows.inc"
#undef ROW
};
/* The words beside them: a start reads only the numbers. In place, because pointers would be relocated. */
enum { NAME_BYTES = 26, REASON_BYTES = 100 };
static const struct {
        char name[NAME_BYTES], reason[REASON_BYTES];
} words[] = {
#define ROW(name, x86, arm, verdict, rule, reason) [ROW_##name] = { #name, reason },
#include "wall/linux/seccomp/seccomp_rows.inc"
#undef ROW
};
#define ROW(call, x86, arm, verdict, rule, why) \
        _Static_assert(sizeof #call <= NAME_BYTES && sizeof why <= REASON_BYTES, "room for the words of " #call);
#include "wall/linux/seccomp/seccomp_rows.inc"
#undef ROW
/* clang-format on */
_Static_assert(sizeof rows / sizeof *rows == ROW__COUNT, "one row per name");

/* Number to row plus one; 0: no such call. A number used twice initialises one place twice, which is an error
 * here; absent calls lie beyond SECCOMP_NR_END, at their number on the other architecture, so that they
 * collide with none. */
#pragma GCC diagnostic push
#pragma GCC diagnostic error "-Woverride-init"
#define PLACE(nr, other) [(nr) >= 0 ? (nr) : SECCOMP_NR_END + (other)]
static const uint16_t by_nr[SECCOMP_ARCH__COUNT][2 * SECCOMP_NR_END] = {
        [SECCOMP_X86_64] = {
#define ROW(name, x86, arm, verdict, rule, reason) PLACE(x86, arm) = ROW_##name + 1,
#include "wall/linux/seccomp/seccomp_rows.inc"
#undef ROW
        },
        [SECCOMP_AARCH64] = {
#define ROW(name, x86, arm, verdict, rule, reason) PLACE(arm, x86) = ROW_##name + 1,
#include "wall/linux/seccomp/seccomp_rows.inc"
#undef ROW
        },
};
#pragma GCC diagnostic pop

const struct seccomp_row *seccomp_table(size_t *ret_count)
{
        *ret_count = ROW__COUNT;
        return rows;
}

const char *seccomp_row_name(const struct seccomp_row *row) { return words[row - rows].name; }
const char *seccomp_row_reason(const struct seccomp_row *row) { return words[row - rows].reason; }

const struct seccomp_row *seccomp_row_get(enum seccomp_arch arch, long nr)
{
        if ((unsigned) arch >= SECCOMP_ARCH__COUNT || nr < 0 || nr >= SECCOMP_NR_END || by_nr[arch][nr] == 0)
                return NULL;
        return &rows[by_nr[arch][nr] - 1];
}

const char *seccomp_name(enum seccomp_arch arch, long nr)
{
        const struct seccomp_row *row = seccomp_row_get(arch, nr);
        return row ? seccomp_row_name(row) : NULL;
}

/* Calls that change or execute the file at a path. open, openat, renameat2 and execveat have rules that
 * decide it for them. */
static const bool watched[ROW__COUNT] = {
        [ROW_execve] = true,   [ROW_mkdir] = true,    [ROW_mkdirat] = true, [ROW_rmdir] = true,
        [ROW_unlink] = true,   [ROW_unlinkat] = true, [ROW_rename] = true,  [ROW_renameat] = true,
        [ROW_link] = true,     [ROW_linkat] = true,   [ROW_symlink] = true, [ROW_symlinkat] = true,
        [ROW_truncate] = true,
};

bool seccomp_watched(const struct seccomp_row *row)
{
        return row->verdict == SECCOMP_ALLOW && watched[row - rows];
}

/* Calls that look up a path and change nothing, beside open and openat: the argument with AT_EMPTY_PATH, or 1
 * if they do not have it. */
static const uint8_t looks_up[ROW__COUNT] = {
        [ROW_stat] = 1,       [ROW_lstat] = 1,     [ROW_newfstatat] = 3, [ROW_statx] = 2,
        [ROW_access] = 1,     [ROW_faccessat] = 1, [ROW_faccessat2] = 1, [ROW_readlink] = 1,
        [ROW_readlinkat] = 1, [ROW_chdir] = 1,
};

unsigned seccomp_looks_up(const struct seccomp_row *row)
{
        return row->verdict == SECCOMP_ALLOW ? looks_up[row - rows] : 0;
}

enum seccomp_renames seccomp_row_renames(const struct seccomp_row *row)
{
        static const uint8_t renames[ROW__COUNT] = {
                [ROW_rename] = RENAMES_PLAIN,
                [ROW_renameat] = RENAMES_AT,
                [ROW_renameat2] = RENAMES_FLAGS,
        };
        return (enum seccomp_renames) renames[row - rows];
}

static bool lets_through(const struct seccomp_ask *ask, const struct seccomp_row *row)
{
        if (row->verdict != SECCOMP_ALLOW_IF)
                return row->verdict == SECCOMP_ALLOW;

        if (row->rule == RULE_OWN_IPC || row->rule == RULE_SHMGET)
                return ask->own_ipc;

        if (row->rule == RULE_OWN_VIEW || row->rule == RULE_SETXATTR || row->rule == RULE_WATCH ||
            row->rule == RULE_CHMOD_ARG1 || row->rule == RULE_CHMOD_ARG2)
                return ask->own_view;

        if (row->rule == RULE_TRACE)
                return ask->trace;

        if (row->rule == RULE_SOCKET)
                return ask->net || ask->unix_sockets;

        return true;
}

unsigned seccomp_reachable(const struct seccomp_ask *ask)
{
        unsigned count = 0;
        for (size_t i = 0; i < ROW__COUNT; i++)
                count += rows[i].nr[ask->arch] >= 0 && lets_through(ask, &rows[i]);
        return count;
}

enum seccomp_arch seccomp_native(void)
{
#if defined(__x86_64__) && !defined(__ILP32__)
        return SECCOMP_X86_64;
#elif defined(__aarch64__) && defined(__LP64__)
        return SECCOMP_AARCH64;
#else
#error "cordon knows the system calls of x86_64 and aarch64 only"
#endif
}
