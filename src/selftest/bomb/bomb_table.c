/* SPDX-License-Identifier: MIT */
/* selftest/bomb/bomb_table.c - the bombs by name, with the limits of their boxes and the one that must fire;
 * and their main(). */
#include "base/clock.h"
#include "base/str.h"
#include "selftest/bomb/bomb_internal.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { NAP_US = 2000 };

#define SMALL        "time 3s memory 64M procs 32"
#define FULL         "files 512 time 3s memory 32M procs 32"
#define TAKES(fn, n) .step = fn, .times = n
enum { NAMES = 200000, OPEN = 100000, TASKS = 200, DISK_BLOCKS = BOMB_DISK_MIB * (1 << 20) / BOMB_BLOCK };

static const struct bomb rows[] = {
        { "cpu", "two processes that spin", "cpu 200ms " SMALL, "cpu", .run = bomb_cpu },
        { "memory-heap", "touches 320M of its own", SMALL, "memory", .error = "ENOMEM",
          TAKES(bomb_heap, BOMB_MIB) },
        { "memory-tmpfs", "320M in /dev/shm", "disk 160M " SMALL, "memory", "disk", "ENOSPC",
          .beside = "without control groups it counts against disk, not memory",
          TAKES(bomb_tmpfs, BOMB_MIB) },
        { "memory-pagecache", "reads every program file, over and over", "time 1s memory 64M procs 32",
          "time", .beside = "the kernel takes the cache back; memory must stay below its limit",
          TAKES(bomb_cache, 1000) },
        { "memory-memfd", "320M in files without a name", SMALL, "memory", .error = "ENOMEM",
          TAKES(bomb_memfd, BOMB_MIB) },
        { "memory-segments", "320M of SysV shared memory in no process", SMALL, "memory", .error = "ENOMEM",
          TAKES(bomb_segments, BOMB_MIB) },
        { "pipes", "pipes of 1M, all full", FULL, "memory", "files", "EMFILE",
          .beside = "without control groups the kernel's budget for all pipes of the user holds it too",
          TAKES(bomb_pipes, BOMB_HANDLES) },
        { "sockets", "pairs of sockets, all full", FULL, "memory", "files", "EMFILE",
          TAKES(bomb_sockets, BOMB_HANDLES) },
        { "connections", "TCP connections to itself, all full", FULL, "memory", NULL, "EMFILE", true,
          .run = bomb_connections },
        { "fork", "200 processes", SMALL, "procs", .error = "EAGAIN", TAKES(bomb_fork, TASKS) },
        { "threads", "200 threads", SMALL, "procs", .error = "EAGAIN", TAKES(bomb_threads, TASKS) },
        { "descriptors", "100000 open files", "files 64 " SMALL, "files", NULL, "EMFILE", true,
          TAKES(bomb_descriptors, OPEN) },
        { "watches", "100 instances of inotify", SMALL, "instances of inotify", NULL, "EMFILE", true,
          TAKES(bomb_watches, 100) },
        { "events", "100000 events of inotify that nobody reads", SMALL, "queued events of inotify", NULL,
          "EOVERFLOW", true, .run = bomb_events },
        { "interfaces", "sockets that ask for interfaces, all full", SMALL, "sockets of that kind", NULL,
          "ENOBUFS", true, TAKES(bomb_interfaces, OPEN) },
        { "inodes", "200000 empty files", "disk 4M " SMALL, "disk", .error = "ENOSPC",
          TAKES(bomb_inodes, NAMES) },
        { "disk", "a file of 256M", "disk 8M " SMALL, "disk", .error = "ENOSPC",
          TAKES(bomb_disk, DISK_BLOCKS) },
        { "sparse-file", "a terabyte with holes", "disk 8M " SMALL, "disk", .error = "ENOSPC",
          TAKES(bomb_sparse, BOMB_DISK_MIB * 256) },
        { "output", "256M of output", "output 1M " SMALL, "output", .run = bomb_output },
        { "timers", "100000 timers", SMALL, "pending signals", NULL, "EAGAIN", true,
          TAKES(bomb_timers, OPEN) },
        { "signals", "100000 queued signals", SMALL, "pending signals", NULL, "EAGAIN", true,
          TAKES(bomb_signals, OPEN) },
        { "stopped-self", "stops itself and waits", "time 1s memory 64M procs 32", "time",
          .run = bomb_stopped_self },
        { "daemon", "a deaf process in a session of its own", SMALL, "end of the box", .shows_inside = true,
          .run = bomb_daemon },
        { "deep-directory", "200000 directories in each other", "disk 4M " SMALL, "disk", .error = "ENOSPC",
          TAKES(bomb_deep, NAMES) },
        { "huge-argv", "arguments of 200M", SMALL, "argument size", NULL, "E2BIG", true, .run = bomb_argv },
        { "zip", "bytes that unpack to 16G", "disk 8M " SMALL, "disk", .error = "ENOSPC", .run = bomb_zip },
};

const struct bomb *bomb_table(size_t *ret_count)
{
        *ret_count = sizeof rows / sizeof *rows;
        return rows;
}

const struct bomb *bomb_find(const char *name)
{
        int i = str_row(rows, sizeof rows / sizeof *rows, name);
        return i < 0 ? NULL : &rows[i];
}

static int bomb_neighbour(void)
{
        for (;;) {
                char line[32];
                const struct timespec nap = { 0, NAP_US * 1000L };
                uint64_t t = clock_mono_ns();
                (void) nanosleep(&nap, NULL);
                uint64_t late = (clock_mono_ns() - t) / 1000;
                late = late > NAP_US ? late - NAP_US : 0;
                int n = snprintf(line, sizeof line, "%llu\n", (unsigned long long) late);
                if (write(1, line, (size_t) n) < 0)
                        return 0;
        }
}

int bomb_main(int argc, char **argv)
{
        const struct bomb *b = argc > 0 ? bomb_find(argv[0]) : NULL;
        if (argc > 0 && strcmp(argv[0], "neighbour") == 0)
                return bomb_neighbour();
        if (argc > 0 && strcmp(argv[0], "argv-end") == 0) /* it was carried: the bomb went through so far */
                return 0;
        if (!b)
                return 64;

        if (argc > 1)
                bomb_tag = argv[1];
        if (b->run)
                return b->run();
        for (size_t i = 0; i < b->times; i++)
                if (b->step(i) < 0)
                        return bomb_stopped(errno, i);
        return bomb_through(b->times);
}
