/* SPDX-License-Identifier: MIT */
/* selftest/audit/live.c - negative tests of an audit: each tries what must be refused, with the programs that
 * are installed here. State goes to a directory of its own, which is removed; no name is reached, nothing of
 * the user's is changed. */
#include "base/fd.h"
#include "base/str.h"
#include "selftest/audit/audit.h"
#include "selftest/audit/live_state.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum { REFUSED = AUDIT_REFUSED, WENT_THROUGH = AUDIT_WENT_THROUGH, NOT_TRIED = AUDIT_NOT_TRIED };

#define WHY(...) ((void) snprintf(why, 200, __VA_ARGS__))

static int add_record(const cordon_context *cx, char id[64], cordon_error *e)
{
        return cordon_audit_add(cx, &(cordon_audit_record){ .what = "trial", .result = "tried", .debt = -1 },
                                id, e);
}

/* ---- validators ---- */

/* The bytes that pass as `as`; NULL: refused. The caller frees. */
static char *passes(const char *as, const char *text, size_t n, uint64_t max, size_t *ret_n, cordon_error *e)
{
        char *out = NULL;
        cordon_check c = { .as = as, .max = max };
        return cordon_check_bytes(cli_context(), &c, text, n, &out, ret_n, NULL, e) == 0 ? out : NULL;
}

/* Must not come out as it is. */
static int must_change(const char *as, const char *text, const char *live, char *why)
{
        cordon_error e = { 0 };
        size_t n = 0;
        char *out = passes(as, text, strlen(text), 0, &n, &e);
        bool through = out && memmem(out, n, live, strlen(live));
        WHY("%.190s", through ? "it came out as it went in" : out ? "it came out inert" : e.what);
        cordon_free(out);
        return through ? WENT_THROUGH : out ? REFUSED : NOT_TRIED;
}

static int must_refuse(const char *as, const char *text, size_t n, uint64_t max, char *why)
{
        cordon_error e = { 0 };
        size_t got = 0;
        char *out = passes(as, text, n, max, &got, &e);
        WHY("%.190s", out ? "it passed" : e.what);
        cordon_free(out);
        return out ? WENT_THROUGH : e.code == 13 ? NOT_TRIED : REFUSED;
}

static int try_escapes(char *why) { return must_change("text", "a\033]0;x\a\033[2Jb\n", "\033", why); }
static int try_hidden(char *why) { return must_change("text", "a\342\200\256b\n", "\342\200\256", why); }
static int try_links(char *why)
{
        return must_change("text", "![x](https://audit.invalid/p.png)\n", "https://audit", why);
}
static int try_formulas(char *why) { return must_change("csv", "a,b\n1,=cmd()\n", ",=cmd", why); }
static int try_secrets(char *why)
{
        return must_change("text", "AKIAIOSFODNN7EXAMPLE\n", "AKIAIOSFODNN7EXAMPLE", why);
}
static int try_json(char *why) { return must_refuse("json", "{\"a\":1} x", 9, 0, why); }
static int try_types(char *why) { return must_refuse("png", "GIF89a text", 11, 0, why); }
static int try_size(char *why) { return must_refuse("text", "0123456789", 10, 4, why); }

static int try_depth(char *why)
{
        enum { DEEP = 200000 };
        char *text = malloc(DEEP);
        if (!text)
                return NOT_TRIED;
        memset(text, '[', DEEP);
        int r = must_refuse("json", text, DEEP, 0, why);
        free(text);
        return r;
}

static int try_words(char *why)
{
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

static int must_not_load(const char *text, char *why)
{
        cordon_error e = { 0 };
        cordon_policy *p = policy_of(text, &e);
        WHY("%.180s", p ? "it loaded" : e.what);
        cordon_policy_free(p);
        return p ? WENT_THROUGH : REFUSED;
}

static int try_expect(char *why) { return must_not_load("read /etc\nexpect deny read /etc/passwd\n", why); }
static int try_schema(char *why) { return must_not_load("{\"doors\":[{\"reed\":\"/\"}]}", why); }
static int try_unasked(char *why)
{
        return must_not_load("net https://a.invalid/** POST ask\nexpect allow net POST https://a.invalid/\n",
                             why);
}

static int try_until(char *why)
{
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

static int must_be_limited(const char *limit, const char *script, char *why)
{
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

static int try_time(char *why) { return must_be_limited("time 50ms", "sleep 20", why); }
static int try_output(char *why)
{
        return must_be_limited("output 1K", "while :; do echo 0123456789; done", why);
}

/* ---- the state, the ledger and the vault ---- */

static int try_open_state(char *why)
{
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

static int try_altered(char *why)
{
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

static int try_proof(char *why)
{
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

static int try_class(char *why)
{
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

static const struct {
        const char *name;
        int (*run)(char *why);
} trials[] = {
        { "caps.time", try_time },
        { "caps.output", try_output },
        { "envelope.until", try_until },
        { "envelope.expect", try_expect },
        { "lifetimes.class", try_class },
        { "gates.unasked", try_unasked },
        { "validators.escapes", try_escapes },
        { "validators.hidden", try_hidden },
        { "validators.secrets", try_secrets },
        { "validators.links", try_links },
        { "validators.formulas", try_formulas },
        { "validators.json", try_json },
        { "validators.depth", try_depth },
        { "validators.types", try_types },
        { "validators.size", try_size },
        { "validators.words", try_words },
        { "tenants.open-state", try_open_state },
        { "tenants.names", audit_try_names },
        { "tenants.expired", audit_try_expired },
        { "tenants.lines", audit_try_lines },
        { "tenants.removed", audit_try_heads },
        { "schemas.altered", try_altered },
        { "schemas.proof", try_proof },
        { "schemas.policy", try_schema },
};

int audit_trial(const char *name, char ret_why[200])
{
        for (size_t i = 0; i < sizeof trials / sizeof *trials; i++)
                if (strcmp(trials[i].name, name) == 0)
                        return trials[i].run(ret_why);
        (void) snprintf(ret_why, 200, "no such trial");
        return NOT_TRIED;
}
