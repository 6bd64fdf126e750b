/* SPDX-License-Identifier: MIT */
/* selftest/breakout_child.c - the attempts of `cordon selftest breakout`, as JSON from a process of its own.
 */
#include "base/buf.h"
#include "selftest/selftest.h"

#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { OUTPUT_MAX = 4 << 20, WORDS = 512 };

static const char *started_by = "";
void selftest_started_by(const char *path) { started_by = path; }
const char *selftest_cordon(void) { return started_by; }

static size_t own_words(char **argv, int argc, char *self, const char **ret)
{
        size_t n = 0;
        ret[n++] = self;
        ret[n++] = "selftest";
        ret[n++] = "breakout";
        ret[n++] = "--json";
        for (int i = 1; i < argc && n < WORDS - 1; i++) {
                bool sign = strncmp(argv[i], "--sign", 6) == 0;
                if (!sign && strcmp(argv[i], "--json") != 0)
                        ret[n++] = argv[i];
                i += sign && !argv[i][6]; /* its value is a separate word */
        }

        ret[n] = NULL;
        return n;
}

static int read_all(int fd, struct buf *out)
{
        char part[1 << 14];
        ssize_t k;
        while ((k = read(fd, part, sizeof part)) > 0 || (k < 0 && errno == EINTR))
                if (k > 0 && out->n + (size_t) k <= OUTPUT_MAX)
                        buf_add(out, part, (size_t) k);
        return k < 0 || out->failed ? -1 : 0;
}

int selftest_breakout(int argc, char **argv, char *self, struct buf *out)
{
        extern char **environ;
        const char *words[WORDS];
        int ends[2], status = 0;
        pid_t pid;
        posix_spawn_file_actions_t fa;
        (void) own_words(argv, argc, self, words);
        if (pipe2(ends, O_CLOEXEC) < 0 || posix_spawn_file_actions_init(&fa) != 0)
                return EXIT_CORDON;

        (void) posix_spawn_file_actions_adddup2(&fa, ends[1], 1);
        int bad = posix_spawn(&pid, self, &fa, NULL, (char *const *) (uintptr_t) words, environ);
        (void) posix_spawn_file_actions_destroy(&fa);
        (void) close(ends[1]);
        if (!bad)
                bad = read_all(ends[0], out);

        (void) close(ends[0]);
        if (bad || waitpid(pid, &status, 0) != pid || !WIFEXITED(status))
                return EXIT_CORDON;

        return WEXITSTATUS(status);
}
