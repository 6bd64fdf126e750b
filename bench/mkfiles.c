/* SPDX-License-Identifier: MIT */
/* bench/mkfiles.c - mkfiles DIR COUNT BYTES: makes DIR with COUNT files of BYTES bytes, 500 to a directory.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PER_DIR = 500, BYTES_MAX = 65536 };

int main(int argc, char **argv)
{
        static char body[BYTES_MAX];
        if (argc != 4)
                return 2;
        long count = strtol(argv[2], NULL, 10), bytes = strtol(argv[3], NULL, 10);
        (void) memset(body, 'x', sizeof body);
        if (bytes < 0 || bytes > BYTES_MAX || mkdir(argv[1], 0755) < 0 || chdir(argv[1]) < 0)
                return perror(argv[1]), 1;
        for (long i = 0; i < count; i++) {
                char path[64];
                (void) snprintf(path, sizeof path, "d%ld", i / PER_DIR);
                if (i % PER_DIR == 0 && mkdir(path, 0755) < 0)
                        return perror(path), 1;
                (void) snprintf(path, sizeof path, "d%ld/f%ld", i / PER_DIR, i);
                int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
                if (fd < 0 || write(fd, body, (size_t) bytes) != bytes || close(fd) < 0)
                        return perror(path), 1;
        }
        return 0;
}
