/* SPDX-License-Identifier: MIT */
/* lib/learn_names.c - another name of a file, where keys and tokens usually lie. A link that a project brings
 * along is followed by name; a second name of the same file leads nowhere, and only its number tells. */
#include "base/fd.h"
#include "lib/teacher.h"
#include "policy/policy.h"

#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <sys/stat.h>

/* Below the home directory; "" is itself. */
static const char *const places[] = { "",       ".ssh",      ".gnupg",         ".aws",       ".azure",
                                      ".kube",  ".docker",   ".config/gcloud", ".config/gh", ".config/git",
                                      ".cargo", ".composer", ".password-store" };
enum { LOOKED_AT_MOST = 4096 };

static bool name_in(const char *dir, const struct stat *st, char *ret, size_t cap)
{
        DIR *d = opendir(dir);
        bool found = false;
        unsigned left = LOOKED_AT_MOST;
        for (const struct dirent *x; d && !found && left-- > 0 && (x = readdir(d));) {
                struct stat other;
                found = x->d_ino == st->st_ino &&
                        fstatat(dirfd(d), x->d_name, &other, AT_SYMLINK_NOFOLLOW) == 0 &&
                        other.st_dev == st->st_dev && other.st_ino == st->st_ino &&
                        snprintf(ret, cap, "%s/%s", dir, x->d_name) < (int) cap;
        }
        if (d)
                (void) closedir(d);
        return found;
}

bool teacher_other_name(const char *home, const char *path, char *ret, size_t cap)
{
        struct stat st;
        char dir[PATH_MAX];
        if (!home || stat(path, &st) < 0 || !S_ISREG(st.st_mode) || st.st_nlink < 2)
                return false;
        for (size_t i = 0; i < sizeof places / sizeof *places; i++)
                if (snprintf(dir, sizeof dir, "%s%s%s", home, places[i][0] ? "/" : "", places[i]) <
                            (int) sizeof dir &&
                    name_in(dir, &st, ret, cap) && policy_secret_kind(ret))
                        return true;
        return false;
}
