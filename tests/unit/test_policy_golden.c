/* SPDX-License-Identifier: MIT */
/* tests/golden: NN.in -> NN.ok (the canonical lines, which must parse to the same again) or NN.err (message,
 * hint). CORDON_GOLDEN=write writes what is missing or differs; read the diff before you keep it. */
#include "test_policy_common.h"

#include <dirent.h>

static void result_of(const char *path, struct buf *out, bool *ret_ok)
{
        size_t n = 0;
        struct err e;
        char *text = read_file(path, &n);
        struct checked_policy *c = text ? load_in("policy", span_of(text, n), &fixed_context, &e) : NULL;
        *ret_ok = c != NULL;
        if (c) {
                policy_show(c, out);
                struct checked_policy *again = load_in("policy", buf_span(out), &fixed_context, &e);
                CHECK(again && strcmp(policy_digest(c), policy_digest(again)) == 0);
                AUTO_BUF(twice);
                if (again)
                        policy_show(again, &twice);
                CHECK_STR(buf_str(&twice), buf_str(out));
                policy_checked_free(again);
        } else {
                buf_printf(out, "%s\n%s%s", e.what, e.hint, e.hint[0] ? "\n" : "");
        }
        policy_checked_free(c);
        free(text);
}

static void write_golden(const char *path, const struct buf *b)
{
        FILE *f = fopen(path, "wb");
        if (f) {
                (void) fwrite(buf_str(b), 1, b->n, f);
                (void) fclose(f);
        }
}

static void check_golden(const char *dir, const char *name)
{
        char in[4096], want[4096];
        bool ok;
        size_t n;
        AUTO_BUF(got);
        (void) snprintf(in, sizeof in, "%s/%s", dir, name);
        result_of(in, &got, &ok);
        (void) snprintf(want, sizeof want, "%s/%.*s.%s", dir, (int) (strlen(name) - 3), name,
                        ok ? "ok" : "err");
        char *text = read_file(want, &n);
        bool same = text && strcmp(text, buf_str(&got)) == 0;
        if (!same && getenv("CORDON_GOLDEN"))
                write_golden(want, &got);
        else if (!same)
                printf("# %s differs from what it gives now:\n%s\n", want, buf_str(&got));
        CHECK(same || getenv("CORDON_GOLDEN"));
        free(text);
}

static void test_golden__every_input_gives_its_output(void)
{
        char dir[2048];
        int count = 0;
        DIR *d = opendir(test_data("golden", dir, sizeof dir));
        CHECK(d != NULL);
        for (struct dirent *x; d && (x = readdir(d));) {
                size_t n = strlen(x->d_name);
                if (n < 4 || strcmp(x->d_name + n - 3, ".in") != 0)
                        continue;
                check_golden(dir, x->d_name);
                count++;
        }
        if (d)
                (void) closedir(d);
        CHECK(count >= 20);
}

static const struct test_case cases[] = {
        CASE(test_golden__every_input_gives_its_output),
};
TEST_MAIN(cases)
