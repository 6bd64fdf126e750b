/* SPDX-License-Identifier: MIT */
/* policy/learn/groups.c - the stock policy that covers a path or a program. A group is wider than the one
 * file that was requested, and is what a user would write: the modules of Python are not listed one by one.
 */
#include "policy/learn/internal.h"

static const struct {
        const char *prefix, *group;
} trees[] = {
        { "/usr/lib/python3", "base/python3" },
        { "/usr/local/lib/python3", "base/python3" },
        { "/usr/share/python3", "base/python3" },
        { "/etc/python3", "base/python3" },
        { "/usr/share/nodejs", "base/node" },
        { "/usr/lib/nodejs", "base/node" },
        { "/usr/lib/node_modules", "base/node" },
        { "/usr/share/node_modules", "base/node" },
        { "/usr/local/lib/node_modules", "base/node" },
        { "/usr/share/npm", "base/node" },
        { "/usr/lib/git-core", "base/git" },
        { "/usr/libexec/git-core", "base/git" },
        { "/usr/share/git-core", "base/git" },
        { "/usr/lib/gcc", "base/build" },
        { "/usr/libexec/gcc", "base/build" },
        { "/usr/include", "base/build" },
        { "/usr/local/include", "base/build" },
};

/* A name counts up to a digit or a dot: python3.11 is python, gcc-12 is gcc. */
static const struct {
        const char *name, *group;
} programs[] = {
        { "python", "base/python3" }, { "node", "base/node" },   { "nodejs", "base/node" },
        { "npm", "base/node" },       { "npx", "base/node" },    { "git", "base/git" },
        { "gcc", "base/build" },      { "cc", "base/build" },    { "g++", "base/build" },
        { "c++", "base/build" },      { "clang", "base/build" }, { "ld", "base/build" },
        { "as", "base/build" },       { "cc1", "base/build" },   { "collect2", "base/build" },
};

static const char *const bin_dirs[] = {
        "/usr/local/sbin", "/usr/local/bin", "/usr/sbin", "/usr/bin", "/sbin", "/bin",
};

/* Also a prefix of the last component: python3 and python3.11. */
const char *group_of_path(const char *path)
{
        for (size_t i = 0; i < COUNT(trees); i++) {
                size_t n = strlen(trees[i].prefix);
                if (strncmp(path, trees[i].prefix, n) == 0 &&
                    (!path[n] || path[n] == '/' || path[n] == '.' || (path[n] >= '0' && path[n] <= '9')))
                        return trees[i].group;
        }

        return NULL;
}

/* If a cross or versioned name hides the plain one: x86_64-linux-gnu-gcc-12. */
static const char *plain_name(const char *name)
{
        const char *at = strstr(name, "-linux-gnu-");
        return at ? at + strlen("-linux-gnu-") : name;
}

const char *group_of_program(const char *path)
{
        const char *slash = strrchr(path, '/'), *name = plain_name(slash ? slash + 1 : path);
        if (group_of_path(path))
                return group_of_path(path);

        for (size_t i = 0; i < COUNT(programs); i++) {
                size_t n = strlen(programs[i].name);
                if (strncmp(name, programs[i].name, n) == 0 && !name[n + strspn(name + n, "0123456789.-")])
                        return programs[i].group;
        }

        return NULL;
}

bool group_is_system(const char *path)
{
        static const char *const roots[] = { "/usr",
                                             "/bin",
                                             "/sbin",
                                             "/lib",
                                             "/lib32",
                                             "/lib64",
                                             "/libx32",
                                             "/etc/alternatives",
                                             "/etc/ld.so.cache",
                                             "/etc/localtime" };
        for (size_t i = 0; i < COUNT(roots); i++)
                if (fold_inside(roots[i], path))
                        return true;

        return false;
}

const char *group_bare_name(const char *path)
{
        const char *slash = strrchr(path, '/');
        for (size_t i = 0; slash && i < COUNT(bin_dirs); i++)
                if (strlen(bin_dirs[i]) == (size_t) (slash - path) &&
                    strncmp(bin_dirs[i], path, (size_t) (slash - path)) == 0)
                        return slash + 1;
        return NULL;
}
