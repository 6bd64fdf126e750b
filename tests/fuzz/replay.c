/* SPDX-License-Identifier: MIT */
/* tests/fuzz/replay.c - a kept corpus through one fuzz target, as a TAP test: one line per file. CORPUS is
 * its directory. With a number N and a seed: N inputs of random bytes instead, without the cost of a fuzzer
 * that watches branches, for a target that makes its own sense of any bytes. */
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int replay(const char *path)
{
        static uint8_t data[1 << 20];
        FILE *f = fopen(path, "rb");
        if (!f)
                return -1;
        size_t n = fread(data, 1, sizeof data, f);
        (void) fclose(f);
        return LLVMFuzzerTestOneInput(data, n); /* a finding aborts, and the plan below is then missing */
}

/* xorshift64* */
static uint8_t random_byte(uint64_t *state)
{
        *state ^= *state >> 12;
        *state ^= *state << 25;
        *state ^= *state >> 27;
        return (uint8_t) ((*state * 0x2545f4914f6cdd1d) >> 56);
}

static int try_random(unsigned long n, uint64_t seed)
{
        static uint8_t data[1024];

        for (unsigned long i = 0; i < n; i++) {
                uint64_t state = (seed + i + 1) * 0x9e3779b97f4a7c15;
                size_t size = random_byte(&state) * 4u;
                for (size_t k = 0; k < size; k++)
                        data[k] = random_byte(&state);
                (void) LLVMFuzzerTestOneInput(data, size);
                if ((i + 1) % 100000 == 0)
                        (void) printf("%lu inputs\n", i + 1), (void) fflush(stdout);
        }
        (void) printf("%lu inputs\n", n);
        return 0;
}

int main(int argc, char **argv)
{
        if (argc == 3)
                return try_random(strtoul(argv[1], NULL, 10), strtoull(argv[2], NULL, 10));

        unsigned n = 0;
        char path[4096];
        DIR *dir = opendir(CORPUS);
        for (struct dirent *d; dir && (d = readdir(dir));) {
                if (d->d_name[0] == '.')
                        continue;
                (void) snprintf(path, sizeof path, "%s/%s", CORPUS, d->d_name);
                (void) printf("%s %u - %s\n", replay(path) == 0 ? "ok" : "not ok", n + 1, d->d_name);
                n++;
        }
        if (dir)
                (void) closedir(dir);
        (void) printf("1..%u\n", n);
        return n == 0;
}
