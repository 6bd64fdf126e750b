/* SPDX-License-Identifier: MIT */
/* policy/builtin.c - what every box has without a door. Both evaluators read these tables, so that they can
 * differ in their reasoning but not in their facts. */
#include "policy/internal.h"

static const char home[] = "/home/box";

static const struct builtin_file files[] = {
        { "/tmp", true, true, false, "the private /tmp" },
        { "/var/tmp", true, true, false, "the private /var/tmp" },
        { "/dev/shm", true, true, false, "the private /dev/shm" },
        { home, true, true, false, "the private home" },
        { "/dev/null", false, true, true, "the box's own /dev" },
        { "/dev/zero", false, true, true, "the box's own /dev" },
        { "/dev/full", false, true, true, "the box's own /dev" },
        { "/dev/random", false, true, false, "the box's own /dev" },
        { "/dev/urandom", false, true, false, "the box's own /dev" },
        { "/dev/urandom", false, false, true, "the box's own /dev" }, /* the process wall lets it be read */
        { "/dev/stdin", false, true, false, "the box's own /dev" },
        { "/dev/stdout", false, true, false, "the box's own /dev" },
        { "/dev/stderr", false, true, false, "the box's own /dev" },
        { "/proc/self", true, false, false, "the box's own /proc" },
};

static const char *const vars[] = { "HOME", "LANG", "PATH", "TERM", "USER" };
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

const char *const *builtin_bin_dirs(size_t *ret_count)
{
        *ret_count = COUNT(bin_dirs);
        return bin_dirs;
}
