/* SPDX-License-Identifier: MIT */
/* tests/fuzz/replay.c - a kept corpus through one fuzz target, as a TAP test: one line per file. CORPUS is
 * its directory. */
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

int main(void)
{
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
