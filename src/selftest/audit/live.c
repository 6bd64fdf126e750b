/* SPDX-License-Identifier: MIT */
/* selftest/audit/live.c - negative tests of an audit: each tries what must be refused, with the programs that
 * are installed here. State goes to a directory of its own, which is removed; no name is reached, nothing of
 * the user's is changed. */
#include "base/fd.h"
#include "base/str.h"
#include "face/serve/serve.h"
#include "selftest/audit/audit.h"

#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum { REFUSED = AUDIT_REFUSED, WENT_THROUGH = AUDIT_WENT_THROUGH, NOT_TRIED = AUDIT_NOT_TRIED };

#define WHY(...) ((void) snprintf(why, 200, __VA_ARGS__))

/* One attempt. `text` goes in, as `as`; `live` is what must not come out. */
struct trial {
        const char *name;
        int (*run)(const struct trial *t, char *why);
        const char *as, *text, *live;
        uint64_t max;
};

/* Records are written without a sealer in the background, which would write there after the end. */
struct own_state {
        char dir[64], home[96], variable[96], libexec[4200];
        char *environment[6], *alone[6];
        cordon_context *cx, *writer; /* with our other programs, and without */
};

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *at)
{
        (void) st;
        (void) at;
        return type == FTW_DP ? rmdir(path) : unlink(path);
}

static void own_state_done(struct own_state *s)
{
        cordon_context_free(s->cx);
        cordon_context_free(s->writer);
        if (s->dir[0])
                (void) nftw(s->dir, remove_one, 8, FTW_DEPTH | FTW_PHYS | FTW_MOUNT);
}

static int own_state_make(struct own_state *s, mode_t mode)
{
        static char path[] = "PATH=/usr/sbin:/usr/bin:/sbin:/bin", quiet[] = "CORDON_LEDGER=off",
                    none[] = "CORDON_LIBEXEC=/nonexistent";
        const char *libexec = getenv("CORDON_LIBEXEC");
        *s = (struct own_state){ .dir = "/tmp/cordon-audit.XXXXXX" };
        if (!mkdtemp(s->dir) || chmod(s->dir, mode) < 0) {
                s->dir[0] = '\0';
                return -1;
        }

        (void) snprintf(s->home, sizeof s->home, "HOME=%s", s->dir);
        (void) snprintf(s->variable, sizeof s->variable, "CORDON_STATE=%s", s->dir);
        (void) snprintf(s->libexec, sizeof s->libexec, "CORDON_LIBEXEC=%.4000s", libexec ? libexec : "");
        char *with[] = { s->variable, path, s->home, quiet, libexec ? s->libexec : NULL, NULL },
             *without[] = { s->variable, path, s->home, quiet, none, NULL };
        memcpy(s->environment, with, sizeof with);
        memcpy(s->alone, without, sizeof without);
        s->cx = cordon_context_new(s->environment);
        s->writer = cordon_context_new(s->alone);
        return s->cx && s->writer ? 0 : -1;
}

static int try_names(const struct trial *t, char *why)
{
        (void) t;
        static const char *const bad[] = { "../x", "a/b", ".", "", "a\n", "-a" };
        struct own_state s;
        cordon_error e = { 0 };
        int r = own_state_make(&s, 0700) == 0 ? REFUSED : NOT_TRIED;
        for (size_t i = 0; r == REFUSED && i < sizeof bad / sizeof *bad; i++)
                if (serve_tenant_new(s.dir, bad[i], &e) == 0)
                        r = WENT_THROUGH;
        WHY("a tenant named ../x: %.150s", r == WENT_THROUGH ? "it was made" : e.what);
        own_state_done(&s);
        return r;
}

static int try_expired(const struct trial *t, char *why)
{
        (void) t;
        return serve_try_expired(why);
}

static int try_lines(const struct trial *t, char *why)
{
        (void) t;
        return serve_try_lines(why);
}

/* A tenant's ledger, its head in another, and then the ledger is gone. */
static int try_heads(const struct trial *t, char *why)
{
        (void) t;
        struct own_state host, tenant;
        cordon_error e = { 0 };
        char id[64], was[128], *proof = NULL;
        const cordon_audit_record record = { .what = "trial", .result = "tried", .debt = -1 };
        int r = NOT_TRIED, ok = 1;
        bool made = own_state_make(&host, 0700) == 0, both = made && own_state_make(&tenant, 0700) == 0;
        if (both && cordon_audit_add(tenant.writer, &record, id, &e) == 0)
                proof = cordon_log(tenant.cx, CORDON_LOG_PROOF, id, &e); /* which seals it */
        const cordon_head head = { .tenant = "trial", .state = both ? tenant.dir : "" };
        if (proof && cordon_heads_add(host.writer, &head, 1, "start", &e) == 0) {
                char *fits = cordon_verify(host.cx, NULL, 0, &ok, &e);
                int before = fits && ok;
                (void) snprintf(was, sizeof was, "%s/ledger", tenant.dir);
                char to[160];
                (void) snprintf(to, sizeof to, "%s/elsewhere", tenant.dir);
                char *said = before && rename(was, to) == 0 ? cordon_verify(host.cx, NULL, 0, &ok, &e) : NULL;
                r = !said ? NOT_TRIED : ok ? WENT_THROUGH : REFUSED;
                cordon_free(said);
                cordon_free(fits);
        }
        WHY("%.190s", r == NOT_TRIED ? e.what
                      : r            ? "a tenant's ledger that was removed is found"
                                     : "a tenant's ledger that was removed is not missed");
        cordon_free(proof);
        own_state_done(&host);
        if (made)
                own_state_done(&tenant);
        return r;
}

static int add_record(const cordon_context *cx, char id[64], cordon_error *e)
{
        return cordon_audit_add(cx, &(cordon_audit_record){ .what = "trial", .result = "tried", .debt = -1 },
                                id, e);
}

/* ---- validators ---- */

/* The bytes that pass as `as`; NULL: refused. The caller frees. */
static char *checked_bytes(const char *as, const char *text, size_t n, uint64_t max, size_t *ret_n,
                           cordon_error *e)
{
        char *out = NULL;
        cordon_check c = { .as = as, .max = max };
        return cordon_check_bytes(cli_context(), &c, text, n, &out, ret_n, NULL, e) == 0 ? out : NULL;
}

/* Must not come out as it is. */
static int must_change(const struct trial *t, char *why)
{
        cordon_error e = { 0 };
        size_t n = 0;
        char *out = checked_bytes(t->as, t->text, strlen(t->text), 0, &n, &e);
        bool through = out && memmem(out, n, t->live, strlen(t->live));
        WHY("%.190s", through ? "it came out as it went in" : out ? "it came out inert" : e.what);
        cordon_free(out);
        return through ? WENT_THROUGH : out ? REFUSED : NOT_TRIED;
}

static int must_refuse(const struct trial *t, char *why)
{
        cordon_error e = { 0 };
        size_t got = 0;
        char *out = checked_bytes(t->as, t->text, strlen(t->text), t->max, &got, &e);
        WHY("%.190s", out ? "it passed" : e.what);
        cordon_free(out);
        return out ? WENT_THROUGH : e.code == 13 ? NOT_TRIED : REFUSED;
}

static int try_depth(const struct trial *t, char *why)
{
        enum { DEEP = 200000 };
        struct trial deep = *t;
        char *text = calloc(DEEP + 1, 1);
        if (!text)
                return NOT_TRIED;
        memset(text, '[', DEEP);
        deep.text = text;
        int r = must_refuse(&deep, why);
        free(text);
        return r;
}

static int try_words(const struct trial *t, char *why)
{
        (void) t;
        static const char text[] = "a'; rm -rf / #";
        cordon_error e = { 0 };
        char *out = cordon_encode("sh", text, sizeof text - 1, &e);
        bool inert = out && out[0] == '\'' && !strstr(out, "a'; rm");
        WHY("%.150s", out ? out : e.what);
        cordon_free(out);
        return !out ? NOT_TRIED : inert ? REFUSED : WENT_THROUGH;
}

/* ---- policies ---- */

static cordon_policy *policy_of(const char *text, cordon_error *e)
{
        cordon_policy *p = cordon_policy_new(cli_context());
        if (p && cordon_policy_add_text(p, "audit", text, strlen(text), e) == 0 &&
            cordon_policy_check(p, e) == 0)
                return p;
        cordon_policy_free(p);
        return NULL;
}

static int must_not_load(const struct trial *t, char *why)
{
        cordon_error e = { 0 };
        cordon_policy *p = policy_of(t->text, &e);
        WHY("%.180s", p ? "it loaded" : e.what);
        cordon_policy_free(p);
        return p ? WENT_THROUGH : REFUSED;
}

static int try_until(const struct trial *t, char *why)
{
        (void) t;
        cordon_error e = { 0 };
        int allowed = 1;
        cordon_policy *p = policy_of("read /srv until 2020-01-01\n", &e);
        char *said = p ? cordon_policy_why(p, "read /srv/audit", 0, &allowed, &e) : NULL;
        WHY("%.190s", !said ? e.what : allowed ? "a closed door is open" : "a closed door stays closed");
        cordon_free(said);
        cordon_policy_free(p);
        return !said ? NOT_TRIED : allowed ? WENT_THROUGH : REFUSED;
}

/* ---- limits, by a box ---- */

static int must_be_limited(const struct trial *t, char *why)
{
        const char *limit = t->as, *script = t->text;
        cordon_error e = { 0 };
        cordon_policy *p = cordon_policy_new(cli_context());
        const char *argv[] = { "sh", "-c", script, NULL };
        int bad = p ? cordon_policy_add(p, "limit", limit, &e) : -1;
        cordon_box *b = bad ? NULL : cordon_box_new(p);
        bad = b ? cordon_box_command(b, argv) : -1;
        if (!bad) {
                cordon_box_on_output(b, cli_ignore_output, NULL);
                (void) cordon_box_set(b, CORDON_LEDGER, "off");
                bad = cordon_box_start(b, &e);
        }
        while (!bad && cordon_box_wait(b, -1) == 0)
                ;
        const cordon_result *r = bad ? NULL : cordon_box_result(b);
        bool limited = r && r->end == CORDON_LIMIT;
        WHY("limit %s: %.150s", limit, !r ? e.what : limited ? "it ended the box" : "it did not end the box");
        int tried = !r || r->error ? NOT_TRIED : limited ? REFUSED : WENT_THROUGH;
        cordon_box_free(b);
        cordon_policy_free(p);
        return tried;
}

/* ---- the state, the ledger and the vault ---- */

static int try_open_state(const struct trial *t, char *why)
{
        (void) t;
        struct own_state s;
        cordon_error e = { 0 };
        char id[64];
        int r = NOT_TRIED;
        if (own_state_make(&s, 0777) == 0)
                r = add_record(s.writer, id, &e) < 0 ? REFUSED : WENT_THROUGH;
        WHY("a state that others may enter: %.140s", r == WENT_THROUGH ? "it was used" : e.what);
        own_state_done(&s);
        return r;
}

static int flip_byte(const char *dir)
{
        char path[128];
        char byte;
        (void) snprintf(path, sizeof path, "%s/ledger/segments/00000001.seg", dir);
        AUTO_FD(fd, open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW));
        if (fd < 0 || pread(fd, &byte, 1, 60) != 1)
                return -1;
        byte ^= 1;
        return pwrite(fd, &byte, 1, 60) == 1 ? 0 : -1;
}

static int try_altered(const struct trial *t, char *why)
{
        (void) t;
        struct own_state s;
        cordon_error e = { 0 };
        char id[64];
        int r = NOT_TRIED, ok = 1;
        if (own_state_make(&s, 0700) == 0 && add_record(s.writer, id, &e) == 0 && flip_byte(s.dir) == 0) {
                char *said = cordon_verify(s.cx, NULL, 0, &ok, &e);
                r = said && ok ? WENT_THROUGH : REFUSED;
                cordon_free(said);
        }
        WHY("%.190s", r == NOT_TRIED ? e.what
                      : r            ? "a changed record is found"
                                     : "a changed record verifies");
        own_state_done(&s);
        return r;
}

static int try_proof(const struct trial *t, char *why)
{
        (void) t;
        struct own_state s;
        cordon_error e = { 0 };
        char id[64], *proof = NULL;
        int r = NOT_TRIED, ok = 1;
        if (own_state_make(&s, 0700) == 0 && add_record(s.writer, id, &e) == 0)
                proof = cordon_log(s.cx, CORDON_LOG_PROOF, id, &e);
        char *at = proof ? strstr(proof, "extra ") : NULL;
        if (at && at[10]) {
                at[10] = at[10] == 'A' ? 'B' : 'A';
                char *said = cordon_verify_proof(s.cx, proof, strlen(proof), NULL, &ok, &e);
                r = said && ok ? WENT_THROUGH : REFUSED;
                cordon_free(said);
        }
        WHY("%.190s", r == NOT_TRIED ? e.what
                      : r            ? "a changed proof is refused"
                                     : "a changed proof is accepted");
        cordon_free(proof);
        own_state_done(&s);
        return r;
}

static int try_class(const struct trial *t, char *why)
{
        (void) t;
        struct own_state s;
        cordon_error e = { 0 };
        int r = NOT_TRIED;
        AUTO_FD(secret, memfd_create("audit", MFD_CLOEXEC));
        if (secret >= 0 && write(secret, "not-a-secret", 12) == 12 && lseek(secret, 0, SEEK_SET) == 0 &&
            own_state_make(&s, 0700) == 0) {
                cordon_credential c = {
                        .name = "audit", .ttl_s = 400 * 86400, .secret_fd = secret, .passphrase_fd = -1
                };
                r = cordon_vault_add(s.cx, &c, &e) < 0 ? REFUSED : WENT_THROUGH;
                own_state_done(&s);
        }
        WHY("a credential for 400 days: %.140s", r == WENT_THROUGH ? "it was taken" : e.what);
        return r;
}

/* ---- */

static const struct trial trials[] = {
        { "caps.time", must_be_limited, "time 50ms", "sleep 20" },
        { "caps.output", must_be_limited, "output 1K", "while :; do echo 0123456789; done" },
        { "envelope.until", try_until },
        { "envelope.expect", must_not_load, .text = "read /etc\nexpect deny read /etc/passwd\n" },
        { "lifetimes.class", try_class },
        { "gates.unasked", must_not_load,
          .text = "net https://a.invalid/** POST ask\nexpect allow net POST https://a.invalid/\n" },
        { "validators.escapes", must_change, "text", "a\033]0;x\a\033[2Jb\n", "\033" },
        { "validators.hidden", must_change, "text", "a\342\200\256b\n", "\342\200\256" },
        { "validators.secrets", must_change, "text", "AKIAIOSFODNN7EXAMPLE\n", "AKIAIOSFODNN7EXAMPLE" },
        { "validators.links", must_change, "text", "![x](https://audit.invalid/p.png)\n", "https://audit" },
        { "validators.formulas", must_change, "csv", "a,b\n1,=cmd()\n", ",=cmd" },
        { "validators.json", must_refuse, "json", "{\"a\":1} x" },
        { "validators.depth", try_depth, "json" },
        { "validators.types", must_refuse, "png", "GIF89a text" },
        { "validators.size", must_refuse, "text", "0123456789", .max = 4 },
        { "validators.words", try_words },
        { "tenants.open-state", try_open_state },
        { "tenants.names", try_names },
        { "tenants.expired", try_expired },
        { "tenants.lines", try_lines },
        { "tenants.removed", try_heads },
        { "schemas.altered", try_altered },
        { "schemas.proof", try_proof },
        { "schemas.policy", must_not_load, .text = "{\"doors\":[{\"reed\":\"/\"}]}" },
};

int audit_trial(const char *name, char ret_why[200])
{
        for (size_t i = 0; i < sizeof trials / sizeof *trials; i++)
                if (strcmp(trials[i].name, name) == 0)
                        return trials[i].run(&trials[i], ret_why);
        (void) snprintf(ret_why, 200, "no such trial");
        return NOT_TRIED;
}
