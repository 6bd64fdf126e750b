/* SPDX-License-Identifier: MIT */
/* policy/check/builtin.c - files that every box has without a door. Both evaluators read these tables, so
 * that they can differ in their reasoning but not in their facts. */
#include "policy/internal.h"

static const char home[] = "/home/box";

static const struct builtin_file files[] = {
        { "/tmp", true, true, false, "the private /tmp", 0 },
        { "/var/tmp", true, true, false, "the private /var/tmp", 0 },
        { "/dev/shm", true, true, false, "the private /dev/shm", 0 },
        { home, true, true, false, "the private home", 0 },
        { "/dev/null", false, true, true, "the box's own /dev", 0 },
        { "/dev/zero", false, true, true, "the box's own /dev", 0 },
        { "/dev/full", false, true, true, "the box's own /dev", 0 },
        { "/dev/random", false, true, false, "the box's own /dev", 0 },
        { "/dev/urandom", false, true, false, "the box's own /dev", 0 },
        { "/dev/urandom", false, false, true, "the box's own /dev",
          0 }, /* the process wall lets it be read */
        { "/dev/stdin", false, true, false, "the box's own /dev", 0 },
        { "/dev/stdout", false, true, false, "the box's own /dev", 0 },
        { "/dev/stderr", false, true, false, "the box's own /dev", 0 },
        { "/proc/self", true, false, false, "the box's own /proc", 0 },
        { "/proc/thread-self", true, false, false, "the box's own /proc", 0 },
        { "/proc/cpuinfo", false, false, false, "the box's own /proc", LOCAL_PROC },
        { "/proc/diskstats", false, false, false, "the box's own /proc", LOCAL_PROC },
        { "/proc/filesystems", false, false, false, "the box's own /proc", LOCAL_PROC },
        { "/proc/loadavg", false, false, false, "the box's own /proc", LOCAL_PROC },
        { "/proc/meminfo", false, false, false, "the box's own /proc", LOCAL_PROC },
        { "/proc/mounts", false, false, false, "the box's own /proc", LOCAL_PROC },
        { "/proc/net", true, false, false, "the box's own /proc", LOCAL_PROC },
        { "/proc/stat", false, false, false, "the box's own /proc", LOCAL_PROC },
        { "/proc/uptime", false, false, false, "the box's own /proc", LOCAL_PROC },
        { "/proc/version", false, false, false, "the box's own /proc", LOCAL_PROC },
        { "/proc/vmstat", false, false, false, "the box's own /proc", LOCAL_PROC },
        { "/sys/devices/system/cpu", true, false, false, "the box's own /sys", LOCAL_PROC },
};

static const char *const vars[] = {
        "HOME",       "PATH",       "TERM",     "USER",     /* the box's own */
        "CLICOLOR",   "COLORTERM",  "LANG",     "LANGUAGE", /* from here on passed, if set */
        "LC_ALL",     "LC_COLLATE", "LC_CTYPE", "LC_MEASUREMENT", "LC_MESSAGES", "LC_MONETARY",
        "LC_NUMERIC", "LC_PAPER",   "LC_TIME",  "NO_COLOR",       "FORCE_COLOR", "TZ",
};
enum { OWN_VARS = 4 };
const char builtin_var_name[] = "a variable of every box";

static const char *const bin_dirs[] = {
        "/usr/local/sbin", "/usr/local/bin", "/usr/sbin", "/usr/bin", "/sbin", "/bin",
};

const struct builtin_file *builtin_files(size_t *ret_count)
{
        *ret_count = COUNT(files);
        return files;
}

bool policy_is_own_place(const char *path)
{
        return path_inside("/proc", path) || strcmp(path, "/dev") == 0 ||
               (strcmp(path, home) != 0 && path_inside(path, home));
}

const char *const *builtin_vars(size_t *ret_count)
{
        *ret_count = COUNT(vars);
        return vars;
}

/* Values of the time zone, the language and colours that look like one. */
bool policy_passes(const char *value)
{
        static const char plain[] =
                "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.:,;@+-<>/";
        size_t n = strspn(value, plain);
        return n <= 64 && value[n] == '\0';
}

const char *const *policy_passed_vars(size_t *ret_count)
{
        *ret_count = COUNT(vars) - OWN_VARS;
        return vars + OWN_VARS;
}

enum door_kind builtin_door_of(enum effect_kind kind)
{
        static const enum door_kind doors[EFFECT_KIND__COUNT] = {
                [EFFECT_READ] = DOOR_READ, [EFFECT_WRITE] = DOOR_EDIT,      [EFFECT_RUN] = DOOR_RUN,
                [EFFECT_NET] = DOOR_NET,   [EFFECT_ENV] = DOOR_ENV,         [EFFECT_SOCK] = DOOR_SOCK,
                [EFFECT_SIGN] = DOOR_SIGN, [EFFECT_DECRYPT] = DOOR_DECRYPT, [EFFECT_DEV] = DOOR_DEV,
                [EFFECT_TOOL] = DOOR_TOOL,
        };
        return doors[kind];
}

const char *const *builtin_bin_dirs(size_t *ret_count)
{
        *ret_count = COUNT(bin_dirs);
        return bin_dirs;
}
