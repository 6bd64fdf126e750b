/* SPDX-License-Identifier: MIT */
/* selftest/claims_file.c - claims as files: signed by the ledger (FILE.proof shows that a record with the
 * file's digest is under a signed checkpoint), valid for a day, and compared with others of other hosts or
 * days. A file that comes from elsewhere is hostile text. */
#include "base/buf.h"
#include "base/clock.h"
#include "base/fd.h"
#include "base/hash.h"
#include "selftest/claims_compare.h"
#include "selftest/selftest.h"

#include <stdio.h>
#include <time.h>
#include <unistd.h>

enum { FILE_MOST = 4 << 20 };

void claims_time(int64_t s, char ret[32])
{
        time_t t = (time_t) s;
        struct tm tm;
        if (!gmtime_r(&t, &tm) || strftime(ret, 32, "%Y-%m-%dT%H:%M:%SZ", &tm) == 0)
                ret[0] = '\0';
}

/* ---- signing ---- */

int claims_sign(const char *file, const struct buf *json)
{
        char digest[72] = "sha256:", path[4096], id[64];
        cordon_error e = { 0 };
        sha256_hex(buf_span(json), digest + 7);
        if (snprintf(path, sizeof path, "%s.proof", file) >= (int) sizeof path)
                return cli_usage("--sign: the name is too long");

        if (cli_new_file_may(file, "name another") || cli_new_file_may(path, "name another"))
                return EXIT_CORDON;

        if (cordon_audit_add(cli_context(),
                             &(cordon_audit_record){
                                     .what = "claims", .result = "signed", .digest = digest, .debt = -1 },
                             id, &e) < 0)
                return cli_error(&e);

        char *proof = cordon_log(cli_context(), CORDON_LOG_PROOF, id, &e);
        if (!proof)
                return cli_error(&e);

        int status = cli_new_file(file, 0644, buf_span(json), "name another");
        if (status == 0)
                status = cli_new_file(path, 0644, span_str(proof), "name another");
        cordon_free(proof);
        if (status == 0)
                cli_note("written: %s and %s", file, path);
        return status;
}

/* ---- reading ---- */

struct claims_file {
        struct claims_text of;
        struct buf text;
};

/* A missing file is an empty one if it may miss. */
static int read_file(const char *path, bool may_miss, struct buf *out)
{
        char part[1 << 14];
        ssize_t n = 0;
        if (may_miss && access(path, F_OK) < 0)
                return 0;

        AUTO_FD(fd, cli_open_input(NULL, path));
        while (fd >= 0 && out->n < FILE_MOST && (n = read(fd, part, sizeof part)) > 0)
                buf_add(out, part, (size_t) n);
        return fd < 0 ? EXIT_CORDON : n < 0 || out->failed ? cli_problem("%s cannot be read", path) : 0;
}

static void judge_signature(struct claims_file *c, const struct buf *proof, const char *key)
{
        cordon_error e = { 0 };
        int ok = 0;
        char *said =
                proof->n ? cordon_verify_proof(cli_context(), buf_str(proof), proof->n, key, &ok, &e) : NULL;
        cordon_free(said);
        c->of.bad = proof->n > 0 && !(ok && claims_proof_names(buf_str(proof), buf_span(&c->text)));
        c->of.standing = proof->n == 0 ? "not signed" : c->of.bad ? "THE SIGNATURE DOES NOT FIT" : "signed";
}

static int load_claims(struct claims_file *c, const char *key)
{
        char path[4096];
        AUTO_BUF(proof);
        if (read_file(c->of.name, false, &c->text) ||
            snprintf(path, sizeof path, "%s.proof", c->of.name) >= (int) sizeof path ||
            read_file(path, true, &proof))
                return EXIT_CORDON;

        c->of.doc = claims_parse(c->of.name, buf_span(&c->text));
        if (!c->of.doc)
                return cli_problem("%s is not what `cordon selftest claims --json` prints", c->of.name);

        judge_signature(c, &proof, key);
        return 0;
}

static int compare_claims(const struct claims_text *a, const struct claims_text *b)
{
        char now[32];
        AUTO_BUF(o);
        claims_time(clock_wall_s(), now);
        unsigned n = claims_compare(a, b, now, &o);
        int status = cli_put(&o);
        return status ? status : a->bad || b->bad || n > 0;
}

int claims_diff(const char *old, const char *new, const char *key)
{
        struct claims_file a = { .of.name = old }, b = { .of.name = new };
        int status = load_claims(&a, key);
        if (status == 0)
                status = load_claims(&b, key);
        if (status == 0)
                status = compare_claims(&a.of, &b.of);
        json_free(a.of.doc);
        json_free(b.of.doc);
        buf_done(&a.text);
        buf_done(&b.text);
        return status;
}
