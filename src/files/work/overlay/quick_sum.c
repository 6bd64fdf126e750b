/* SPDX-License-Identifier: MIT */
/* files/work/overlay/quick_sum.c - a fast checksum of a file's content: against lost writes, not against
 * attackers. Holes and blocks of zeros are equal, because a copy of an overlay may turn one into the
 * other. */
#include "base/fd.h"
#include "files/work/internal.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

enum { BLOCK = 4096, CHUNK = 32 * BLOCK };

/* Each step is invertible: contents that differ in one word never have the same checksum. */
static uint64_t mix_word(uint64_t sum, uint64_t word)
{
        sum ^= word;
        return (sum << 29 | sum >> 35) * 0x9e3779b97f4a7c15u;
}

static uint64_t mix_block(uint64_t sum, const char *p, size_t n, uint64_t offset)
{
        static const char zeros[BLOCK];
        if (memcmp(p, zeros, n) == 0)
                return sum;

        sum = mix_word(sum, offset);
        for (; n > 0;) {
                uint64_t word = 0;
                size_t k = n < sizeof word ? n : sizeof word;
                memcpy(&word, p, k);
                sum = mix_word(sum, word);
                p += k;
                n -= k;
        }

        return sum;
}

bool sum_file(int fd, uint64_t *budget, uint64_t *ret)
{
        char chunk[CHUNK];
        uint64_t sum = 1;
        for (off_t at = 0;;) {
                off_t data = lseek(fd, at, SEEK_DATA);
                if (data < 0 && errno == ENXIO)
                        break;
                if (data > at) /* else no holes, or the filesystem does not report them */
                        at = data - data % BLOCK;
                ssize_t n = lseek(fd, at, SEEK_SET) < 0 ? -1 : fd_read_all(fd, chunk, sizeof chunk);
                if (n < 0 || (uint64_t) n > *budget)
                        return false;
                *budget -= (uint64_t) n;
                for (ssize_t i = 0; i < n; i += BLOCK)
                        sum = mix_block(sum, chunk + i, (size_t) (n - i < BLOCK ? n - i : BLOCK),
                                        (uint64_t) (at + i));
                if (n < (ssize_t) sizeof chunk)
                        break;
                at += n;
        }

        *ret = sum;
        return true;
}
