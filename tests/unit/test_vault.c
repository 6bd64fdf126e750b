/* SPDX-License-Identifier: MIT */
/* The vault: bindings, sealing, placeholders, and the program cordon-vault at work in a state directory of
 * the test's own. */
#include "../context.h"
#include "base/fd.h"
#include "broker/egress/http/http_internal.h"
#include "broker/vault/vault_seal.h"
#include "test_policy_common.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static char state[256];

/* A state directory of its own; cordon-vault stands in the build tree. */
static void begin(void)
{
        char exe[PATH_MAX], libexec[PATH_MAX + 64];
        (void) snprintf(state, sizeof state, "/tmp/cordon-test-vault.XXXXXX");
        CHECK(mkdtemp(state) != NULL);
        ssize_t n = readlink("/proc/self/exe", exe, sizeof exe - 1);
        exe[n > 0 ? n : 0] = '\0';
        (void) snprintf(libexec, sizeof libexec, "%s/../../src/broker/egress", dirname(exe));
        (void) setenv("CORDON_LIBEXEC", libexec, 1);
        (void) setenv("CORDON_STATE", state, 1);
}

static void end(void)
{
        char command[300];
        (void) snprintf(command, sizeof command, "rm -rf %s", state);
        CHECK_INT(system(command), 0);
}

static int pipe_of(const char *text)
{
        int p[2];
        CHECK_INT(pipe2(p, O_CLOEXEC), 0);
        CHECK_INT(fd_write_all(p[1], text, strlen(text)), 0);
        (void) close(p[1]);
        return p[0];
}

static struct vault_request request(enum vault_op op, const char *name)
{
        struct vault_request q = {
                .op = op,
                .meta = { .where = GRANT_HEADER, .live = 1, .field = "Authorization", .before = "Bearer " }
        };
        (void) snprintf(q.meta.name, sizeof q.meta.name, "%s", name);
        (void) snprintf(q.meta.env, sizeof q.meta.env, "TOKEN");
        (void) snprintf(q.key_file, sizeof q.key_file, "%.200s/keys/vault.key", state);
        q.meta.expires = (int64_t) time(NULL) + 3600;
        return q;
}

static int add(struct vault_request *q, const char *secret, const char *passphrase, struct err *e)
{
        AUTO_FD(in, pipe_of(secret));
        AUTO_FD(pass, passphrase ? pipe_of(passphrase) : -1);
        *e = (struct err){ 0 };
        return vault_work(test_context(), q, in, pass, e);
}

/* Until the vault has ended. */
static int give_all(struct vault_request *q, int grants, int passphrase, struct vault_told *told,
                    struct err *e)
{
        struct vault_giving g = VAULT_NOT_GIVING;
        AUTO_FD(words, memfd_create("words", MFD_CLOEXEC));
        int r = vault_give(test_context(), q, &(struct vault_lines){ grants, words, passphrase }, &g, e);
        if (r < 0)
                return -1;
        while ((r = vault_given(&g, told, q->count, e)) == 0)
                (void) fd_await(g.child.pidfd, POLLIN, 1000);
        vault_giving_end(&g); /* of one that has ended: nothing happens */
        return r == 1 ? 0 : -1;
}

static int give_for(const char *asked, const char *name, bool live, const char *passphrase,
                    struct vault_told *told, struct http_grants **ret, struct err *e)
{
        static struct vault_request q;
        q = (struct vault_request){ .stage_live = live, .count = 1, .policy = "a digest" };
        int p[2];
        (void) snprintf(q.asked[0], sizeof q.asked[0], "%s", asked);
        (void) snprintf(q.names[0], sizeof q.names[0], "%s", name);
        CHECK_INT(pipe2(p, O_CLOEXEC), 0);
        AUTO_FD(pass, passphrase ? pipe_of(passphrase) : -1);
        *e = (struct err){ 0 };
        *ret = NULL;
        int r = give_all(&q, p[1], pass, told, e);
        (void) close(p[1]);
        struct err ignored;
        *ret = http_grants_read(p[0], &ignored);
        (void) close(p[0]);
        size_t n = 0;
        if (r < 0 && *ret) { /* nothing went out */
                (void) http_grants_get(*ret, &n);
                http_grants_free(*ret);
                *ret = NULL;
        }
        CHECK_INT(n, 0);
        return r;
}

#define DOOR "https://api.test/** GET\n"
static int give(const char *name, bool live, const char *passphrase, struct vault_told *told,
                struct http_grants **ret, struct err *e)
{
        return give_for(DOOR, name, live, passphrase, told, ret, e);
}

/* One line of visible ASCII: what a header, a URL or a file of the box can hold as it is. */
static void test_vault__what_is_no_secret_is_not_taken(void)
{
        static const char *const bad[] = { "two words of it",
                                           "a\ttab-in-the-middle",
                                           "first-line\nsecond-line",
                                           "a\x01control-character",
                                           "the-last-is-a-delete\x7f",
                                           "an-umlaut-\xc3\xa4-in-it",
                                           "carriage\rreturn",
                                           " leading-space",
                                           "\n\n",
                                           "" };
        struct err e;
        begin();
        for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
                struct vault_request q = request(VAULT_ADD, "bad");
                CHECK_INT(add(&q, bad[i], NULL, &e), -1);
                if (!strstr(e.what, "visible ASCII") && !strstr(e.what, "empty secret"))
                        CHECK_STR(e.what, bad[i]);
        }
        struct vault_request q = request(VAULT_ADD, "bad"); /* and none of it was stored */
        CHECK_INT(add(&q, "a-secret-that-is-one\r\n", NULL, &e), 0);
        end();
}

static void test_vault__of_a_secret_without_letters_or_digits_nothing_is_shown(void)
{
        static struct vault_told told;
        struct http_grants *g;
        struct err e;
        begin();
        struct vault_request q = request(VAULT_ADD, "signs");
        CHECK_INT(add(&q, "-_-_-_-_-_-_-_-_-_-_", NULL, &e), 0);
        CHECK_INT(give("signs", true, NULL, &told, &g, &e), 0);
        CHECK_INT(strlen(told.placeholder), 20);
        CHECK(!strpbrk(told.placeholder, "-_"));
        http_grants_free(g);
        end();
}

static void test_vault__what_a_killed_writer_left_goes_with_the_next(void)
{
        struct err e;
        char half[300];
        begin();
        struct vault_request q = request(VAULT_ADD, "one");
        CHECK_INT(add(&q, "a-secret-that-is-one", NULL, &e), 0);
        (void) snprintf(half, sizeof half, "%.200s/vault/.new.gone", state);
        CHECK(close(open(half, O_WRONLY | O_CREAT | O_CLOEXEC, 0600)) == 0);
        q = request(VAULT_ADD, "two");
        CHECK_INT(add(&q, "a-secret-that-is-two", NULL, &e), 0);
        CHECK(access(half, F_OK) < 0);
        end();
}

static void test_vault__a_secret_in_and_to_the_broker(void)
{
        static const char secret[] = "ghp_abcdefghijKLMNOP0123456789";
        static struct vault_told told;
        struct http_grants *g;
        struct err e;
        begin();
        struct vault_request q = request(VAULT_ADD, "gh");
        q.meta.max_uses = 7;
        CHECK_INT(add(&q, "ghp_abcdefghijKLMNOP0123456789\n", NULL, &e), 0);
        if (e.code)
                printf("# %s\n", e.what);
        CHECK_INT(give("gh", true, NULL, &told, &g, &e), 0);
        CHECK(g != NULL);
        size_t n = 0;
        const struct http_credential *c = g ? http_grants_get(g, &n) : NULL;
        CHECK_INT(n, 1);
        if (c) {
                CHECK(span_is(c->secret, secret));
                CHECK(span_is(c->placeholder, told.placeholder));
                CHECK(!span_eq(c->secret, c->placeholder));
                CHECK(strncmp(told.placeholder, "ghp_", 4) == 0);
                CHECK_STR(told.env, "TOKEN");
                CHECK_STR(c->name, "gh");
                CHECK_STR(c->before, "Bearer ");
                CHECK_INT(c->max_uses, 7);
                CHECK_INT(c->class, POLICY_STAGE_LIVE);
        }
        http_grants_free(g);
        char first[100];
        (void) snprintf(first, sizeof first, "%s", told.placeholder);
        CHECK_INT(give("gh", true, NULL, &told, &g, &e), 0);
        CHECK_STR(told.placeholder, first); /* of the same policy */
        http_grants_free(g);
        CHECK_INT(give("none", true, NULL, &told, &g, &e), -1);
        CHECK_INT(e.code, ERR_GONE);
        end();
}

static void test_vault__live_ones_stay_out_of_other_stages_and_old_ones_out_of_all(void)
{
        static struct vault_told told;
        struct http_grants *g;
        struct err e;
        begin();
        struct vault_request live = request(VAULT_ADD, "live"), test = request(VAULT_ADD, "test"),
                             old = request(VAULT_ADD, "old");
        test.meta.live = 0;
        old.meta.live = 0;
        old.meta.expires = 1000;
        CHECK_INT(add(&live, "live-secret-1", NULL, &e), 0);
        CHECK_INT(add(&test, "test-secret-1", NULL, &e), 0);
        CHECK_INT(add(&old, "old-secret-11", NULL, &e), 0);
        CHECK_INT(give("live", false, NULL, &told, &g, &e), -1);
        CHECK(strstr(e.what, "cannot be used in this stage"));
        CHECK_INT(give("test", false, NULL, &told, &g, &e), 0);
        http_grants_free(g);
        CHECK_INT(give("old", true, NULL, &told, &g, &e), -1);
        CHECK(strstr(e.what, "has expired"));
        end();
}

static void test_vault__what_was_changed_does_not_open(void)
{
        static struct vault_told told;
        struct http_grants *g;
        struct err e;
        char a[300], b[300];
        begin();
        struct vault_request one = request(VAULT_ADD, "one"), two = request(VAULT_ADD, "two");
        one.meta.live = 0;
        CHECK_INT(add(&one, "one-secret-1", NULL, &e), 0);
        CHECK_INT(add(&two, "two-secret-2", NULL, &e), 0);
        /* One entry under the name of another. */
        (void) snprintf(a, sizeof a, "%.200s/vault/c.one", state);
        (void) snprintf(b, sizeof b, "%.200s/vault/c.two", state);
        CHECK_INT(rename(a, b), 0);
        CHECK_INT(give("two", true, NULL, &told, &g, &e), -1);
        CHECK(strstr(e.what, "damaged"));
        CHECK_INT(rename(b, a), 0);
        /* Every byte counts: of the binding in the clear as much as of the sealed part. */
        int fd = open(a, O_RDWR);
        char text[2000];
        ssize_t n = read(fd, text, sizeof text);
        CHECK(n > 100);
        for (ssize_t i = 0; i < n; i += 9) {
                char was = text[i], now = (char) (was == 'a' ? 'b' : was ^ 1);
                CHECK_INT(pwrite(fd, &now, 1, i), 1);
                CHECK_INT(give("one", true, NULL, &told, &g, &e), -1);
                http_grants_free(g);
                CHECK_INT(pwrite(fd, &was, 1, i), 1);
        }
        CHECK_INT(give("one", true, NULL, &told, &g, &e), 0);
        http_grants_free(g);
        (void) close(fd);
        end();
}

static void test_vault__a_passphrase_protects_it(void)
{
        static struct vault_told told;
        struct http_grants *g;
        struct err e;
        begin();
        struct vault_request q = request(VAULT_ADD, "a");
        q.protect = VAULT_BY_PASSPHRASE;
        CHECK_INT(add(&q, "some-secret-1", "short\n", &e), -1);
        CHECK(strstr(e.what, "8 characters"));
        CHECK_INT(add(&q, "some-secret-1", "correct horse\n", &e), 0);
        CHECK_INT(give("a", true, "wrong horse\n", &told, &g, &e), -1);
        CHECK(strstr(e.what, "cannot open the vault"));
        CHECK_INT(give("a", true, "correct horse\n", &told, &g, &e), 0);
        http_grants_free(g);
        struct vault_request other = request(VAULT_ADD, "b");
        other.protect = VAULT_BY_FILE;
        CHECK_INT(add(&other, "some-secret-1", "correct horse\n", &e), -1);
        CHECK(strstr(e.what, "protected by passphrase already"));
        end();
}

static void test_vault__the_keyring_protects_it(void)
{
        static struct vault_told told;
        struct http_grants *g;
        struct err e;
        begin();
        struct vault_request q = request(VAULT_ADD, "a");
        q.protect = VAULT_BY_KEYRING;
        int r = add(&q, "some-secret-1", NULL, &e);
        if (r < 0 && e.code == ERR_HOST) {
                end();
                SKIP("this kernel or container has no user keyring for us");
        }
        CHECK_INT(r, 0);
        CHECK_INT(give("a", true, NULL, &told, &g, &e), 0);
        http_grants_free(g);
        end();
}

static void test_vault__a_key_file_must_be_private(void)
{
        static struct vault_told told;
        struct http_grants *g;
        struct err e;
        begin();
        struct vault_request q = request(VAULT_ADD, "a");
        CHECK_INT(add(&q, "some-secret-1", NULL, &e), 0);
        CHECK_INT(chmod(q.key_file, 0644), 0);
        CHECK_INT(give("a", true, NULL, &told, &g, &e), -1);
        CHECK(strstr(e.what, "key file"));
        CHECK_INT(chmod(q.key_file, 0600), 0);
        CHECK_INT(give("a", true, NULL, &told, &g, &e), 0);
        http_grants_free(g);
        CHECK_INT(unlink(q.key_file), 0);
        CHECK_INT(give("a", true, NULL, &told, &g, &e), -1);
        struct vault_request again =
                request(VAULT_ADD, "b"); /* no new key behind the back of what is sealed */
        CHECK_INT(add(&again, "some-secret-1", NULL, &e), -1);
        end();
}

static void test_vault__secrets_of_a_wrong_form_are_refused(void)
{
        static const char *const bad[] = { "",
                                           "short",
                                           "has a space in",
                                           "two\nlines-of-it",
                                           "tab\there-and-there",
                                           "caf\xc3\xa9-caf\xc3\xa9" };
        struct err e;
        begin();
        for (size_t i = 0; i < COUNT(bad); i++) {
                struct vault_request q = request(VAULT_ADD, "a");
                CHECK_INT(add(&q, bad[i], NULL, &e), -1);
                CHECK_INT(e.code, ERR_USAGE);
        }
        char *big = malloc(GRANT_SECRET_MAX + 2);
        memset(big, 'x', GRANT_SECRET_MAX + 1);
        big[GRANT_SECRET_MAX + 1] = '\0';
        struct vault_request q = request(VAULT_ADD, "a");
        CHECK_INT(add(&q, big, NULL, &e), -1);
        big[GRANT_SECRET_MAX] = '\0';
        CHECK_INT(add(&q, big, NULL, &e), 0);
        free(big);
        end();
}

static void test_vault__rotating_keeps_the_binding(void)
{
        static struct vault_told told;
        struct http_grants *g;
        struct err e;
        size_t n;
        begin();
        struct vault_request q = request(VAULT_ADD, "a");
        CHECK_INT(add(&q, "first-secret", NULL, &e), 0);
        struct vault_request r = request(VAULT_ROTATE, "a");
        memset(r.meta.field, 0, sizeof r.meta.field);
        CHECK_INT(add(&r, "second-secret", NULL, &e), 0);
        CHECK_INT(give("a", true, NULL, &told, &g, &e), 0);
        CHECK(span_is(http_grants_get(g, &n)->secret, "second-secret"));
        CHECK_STR(http_grants_get(g, &n)->field, "Authorization");
        http_grants_free(g);
        struct vault_request none = request(VAULT_ROTATE, "none");
        CHECK_INT(add(&none, "second-secret", NULL, &e), -1);
        end();
}

static void test_vault__a_broker_that_is_gone_ends_the_giving(void)
{
        static struct vault_told told;
        struct err e;
        begin();
        struct vault_request q = request(VAULT_ADD, "a"), w = {
                .stage_live = 1, .count = 1, .policy = "a digest", .names = { "a" }, .asked = { DOOR }
        };
        CHECK_INT(add(&q, "first-secret", NULL, &e), 0);
        int p[2];
        CHECK_INT(pipe2(p, O_CLOEXEC), 0);
        (void) close(p[0]);
        (void) signal(SIGPIPE, SIG_IGN);
        CHECK_INT(give_all(&w, p[1], -1, &told, &e), -1);
        CHECK(e.what[0] != '\0');
        (void) close(p[1]);
        end();
}

/* A keeper with a bug, or a policy that grew: what is asked for is more than what it is for. Nothing goes
 * out. */
static void test_vault__no_more_is_handed_out_than_it_is_for(void)
{
        static struct vault_told told;
        static const struct {
                const char *asked;
                bool given;
        } rows[] = {
                { "https://api.test/repos/** GET POST\n", true },
                { "https://api.test/repos/** GET\n", true },
                { "https://api.test/repos/a POST\n", true },
                { "https://api.test/repos/a/** GET\nhttps://api.test/repos/b POST\n", true },
                { "@mail/send POST\n", true },
                { "https://api.test/repos/** GET DELETE\n", false }, /* a method more */
                { "https://api.test/repos/**\n", false },            /* every method */
                { "https://api.test/** GET\n", false },              /* a path more */
                { "https://api.test/repos2/** GET\n", false },
                { "https://api.test/Repos/** GET\n", false },
                { "https://evil.test/repos/** GET\n", false }, /* another host */
                { "https://api.test.evil.test/repos/** GET\n", false },
                { "https://*.test/repos/** GET\n", false },
                { "https://api.test:8443/repos/** GET\n", false }, /* another port */
                { "http://api.test/repos/** GET\n", false },       /* in the clear */
                { "api.test:443\n", false },                       /* bytes */
                { "@other/send POST\n", false },                   /* another place */
                { "@mail/** POST\n", false },
                { "https://api.test/repos/** GET\nhttps://evil.test/** GET\n", false }, /* one of two */
                { "https://evil.test/** GET\nhttps://api.test/repos/** GET\n", false },
                { "https://api.test/repos/../** GET\n", false }, /* what cannot be read */
                { "nonsense\n", false },
                { "\n", false },
                { "", false },
        };
        struct http_grants *g;
        struct err e;
        begin();
        struct vault_request q = request(VAULT_ADD, "gh");
        CHECK_INT(vault_scope_read("https://api.test/repos/** POST GET\n@mail/send POST\n", q.meta.scope, &e),
                  0);
        CHECK_INT(add(&q, "some-secret-1", NULL, &e), 0);
        for (size_t i = 0; i < COUNT(rows); i++) {
                int r = give_for(rows[i].asked, "gh", true, NULL, &told, &g, &e);
                if ((r == 0) != rows[i].given)
                        printf("# %s: %s\n", rows[i].asked, e.what);
                CHECK_INT(r == 0, rows[i].given);
                CHECK_INT(g != NULL, rows[i].given);
                CHECK(rows[i].given || e.code == ERR_DOOR);
                http_grants_free(g);
        }
        CHECK_INT(give_for("https://api.test/repos/a GET\nhttps://evil.test/x GET\n", "gh", true, NULL, &told,
                           &g, &e),
                  -1);
        CHECK_STR(e.what, "credential gh is not bound to this door: net https://evil.test/x GET");
        /* One that is for bounded requests goes to doors that bound them as much, and to no others. */
        static const struct {
                const char *asked;
                bool given;
        } bounded[] = {
                { "https://pay.test/c POST where amount=int:1..50\n", true },
                { "https://pay.test/c POST where amount=int:2..9 to=one:x only\n", true },
                { "https://pay.test/c POST where amount=int:1..51\n", false },
                { "https://pay.test/c POST where amount?=int:1..50\n", false },
                { "https://pay.test/c POST where to=one:x\n", false },
                { "https://pay.test/c POST\n", false },
        };
        struct vault_request pay = request(VAULT_ADD, "pay");
        CHECK_INT(vault_scope_read("https://pay.test/c POST where amount=int:1..50", pay.meta.scope, &e), 0);
        CHECK_INT(add(&pay, "some-secret-1", NULL, &e), 0);
        for (size_t i = 0; i < COUNT(bounded); i++) {
                CHECK_INT(give_for(bounded[i].asked, "pay", true, NULL, &told, &g, &e) == 0,
                          bounded[i].given);
                http_grants_free(g);
        }
        /* Without a scope any door will do, but there must be one. */
        struct vault_request any = request(VAULT_ADD, "any");
        CHECK_INT(add(&any, "some-secret-1", NULL, &e), 0);
        CHECK_INT(give_for("https://evil.test/** GET\n", "any", true, NULL, &told, &g, &e), 0);
        http_grants_free(g);
        CHECK_INT(give_for("", "any", true, NULL, &told, &g, &e), -1);
        end();
}

/* The other side: a broker whose policy has more doors than the vault was asked for does not start. */
static void test_grants__a_policy_with_more_doors_than_were_granted_does_not_hold(void)
{
        static const struct {
                const char *asked, *policy;
                bool holds;
        } rows[] = {
                { DOOR, "net https://api.test/** GET with gh cap 5M cap 9/h until 2099-01-01\n", true },
                { DOOR "https://b.test/x POST\n", "net https://b.test/x POST with gh\n", true },
                { DOOR, "net https://other.test/** with nobody\nnet https://api.test/** GET with gh\n",
                  true },
                { DOOR, "net https://other.test/** GET\n", true }, /* has none */
                { DOOR, "net https://api.test/** GET POST with gh\n", false },
                { DOOR, "net https://api.test/x GET with gh\n",
                  false }, /* narrower, and not what was asked */
                { DOOR, "net https://evil.test/** GET with gh\n", false },
                { DOOR, "net https://api.test/** GET with gh\nnet https://evil.test/** GET with gh\n",
                  false },
                { "xhttps://api.test/** GET\n", "net https://api.test/** GET with gh\n", false },
                { "https://api.test/** GET", "net https://api.test/** GET with gh\n", false },
                { "", "net https://api.test/** GET with gh\n", false },
        };
        static struct grant g;
        struct err e;
        for (size_t i = 0; i < COUNT(rows); i++) {
                int p[2];
                char text[512];
                g = (struct grant){
                        .size = sizeof g, .where = GRANT_HEADER, .length = 10, .name = "gh", .field = "f"
                };
                (void) snprintf(g.scope, sizeof g.scope, "%s", rows[i].asked);
                (void) snprintf(text, sizeof text, "use none\n%s", rows[i].policy);
                CHECK_INT(pipe2(p, O_CLOEXEC), 0);
                CHECK_INT(fd_write_all(p[1], &g, sizeof g), 0);
                (void) close(p[1]);
                struct http_grants *x = http_grants_read(p[0], &e);
                (void) close(p[0]);
                struct checked_policy *c = load(text);
                CHECK(x && c);
                int r = x && c ? http_grants_hold(x, c, &e) : -2;
                if (r != (rows[i].holds ? 0 : -1))
                        printf("# %s", rows[i].policy);
                CHECK_INT(r, rows[i].holds ? 0 : -1);
                http_grants_free(x);
                policy_checked_free(c);
        }
}

static void test_scope__only_destinations_with_methods(void)
{
        static const struct {
                const char *lines, *scope;
        } rows[] = {
                { "https://A.Test/x/**  post get", NULL },
                { "https://a.test/x/** POST GET", "https://a.test/x/** GET POST\n" },
                { "@p/** PUT\nhttps://b.test/", "https://b.test/\n@p/** PUT\n" },
                { "https://a.test/ POST where b=bool a=int:1..5",
                  "https://a.test/ POST where a=int:1..5 b=bool\n" },
                { "a.test:443", NULL },
                { "https://a.test/ GET with key", NULL },
                { "https://a.test/ GET cap 5M", NULL },
                { "https://a.test/ until 2099-01-01", NULL },
                { "https://a.test/ GET ask", NULL }, /* a term of the box's policy */
                { "https://a.test/ GET as json", NULL },
                { "https://a.test/ GET label untrusted", NULL },
                { "https://a.test/../b", NULL },
                { "https://a.test/ GET\nnonsense", NULL },
                { "", NULL },
                { "\n\n", NULL },
        };
        char scope[GRANT_SCOPE];
        struct err e;
        for (size_t i = 0; i < COUNT(rows); i++) {
                e = (struct err){ 0 };
                int r = vault_scope_read(rows[i].lines, scope, &e);
                if ((r == 0) != (rows[i].scope != NULL))
                        printf("# %s: %s\n", rows[i].lines, e.what);
                CHECK_INT(r == 0, rows[i].scope != NULL);
                if (r == 0)
                        CHECK_STR(scope, rows[i].scope);
                else
                        CHECK(e.what[0]);
        }
}

static void test_life__a_class_has_a_longest_lifetime(void)
{
        enum { DAY = 86400 };
        static const struct {
                int64_t ttl;
                bool live, good;
        } rows[] = {
                { 90 * DAY, true, true },   { 90 * DAY + 1, true, false },
                { 365 * DAY, false, true }, { 365 * DAY + 1, false, false },
                { 0, true, false }, /* for ever */
                { 0, false, false },        { 1, true, true },
        };
        struct err e;
        for (size_t i = 0; i < COUNT(rows); i++) {
                struct vault_meta m = { .name = "n", .live = rows[i].live, .created = 1000 };
                m.expires = rows[i].ttl ? m.created + rows[i].ttl : 0;
                e = (struct err){ 0 };
                CHECK_INT(vault_life_judge(&m, &e), rows[i].good ? 0 : -1);
                CHECK_INT(vault_owes(&m, VAULT_DEBT_LIFETIME, 0), !rows[i].good);
                CHECK(rows[i].good ||
                      (strstr(e.what, rows[i].live ? "class live allows a life of at most 90d"
                                                   : "class test allows a life of at most 365d") &&
                       strstr(e.hint, "rotate n")));
                CHECK(rows[i].ttl || strstr(e.what, "got for ever"));
        }
        struct vault_meta m = { .name = "n", .created = 1000, .expires = 2000 };
        CHECK_INT(vault_may_give(&m, true, 1999, "https://a.test/ GET\n", &e), 0);
        CHECK_INT(vault_may_give(&m, true, 2000, "https://a.test/ GET\n", &e), -1);
        CHECK(strstr(e.what, "has expired"));
        begin();
        struct vault_request q = request(VAULT_ADD, "a");
        q.meta.expires = (int64_t) time(NULL) + 91 * DAY;
        CHECK_INT(add(&q, "some-secret-1", NULL, &e), -1);
        CHECK(strstr(e.what, "at most 90d"));
        q.meta.expires = 0;
        CHECK_INT(add(&q, "some-secret-1", NULL, &e), -1);
        end();
}

static void test_life__growth_over_three_rotations_is_a_debt(void)
{
        static const struct {
                int64_t ttl[5]; /* the first is the one it was added with; 0: as it was */
                bool grew;
        } rows[] = {
                { { 10, 20, 30, 40 }, true },  { { 10, 20, 30, 30 }, false }, { { 10, 10, 20, 30 }, false },
                { { 40, 30, 20, 10 }, false }, { { 10, 20, 30, 0 }, false },  { { 5, 4, 6, 7, 8 }, true },
                { { 5, 6, 7, 8, 3 }, false },
        };
        for (size_t i = 0; i < COUNT(rows); i++) {
                struct vault_meta m = { .name = "n", .created = 1000, .expires = 1000 + rows[i].ttl[0] };
                for (unsigned k = 1; k < 5 && (k < 4 || rows[i].ttl[k]); k++)
                        vault_life_renew(&m, rows[i].ttl[k], 2000 * k);
                CHECK_INT(vault_owes(&m, VAULT_DEBT_GROWTH, 0), rows[i].grew);
        }
        struct vault_meta old = { .name = "n", .live = 1, .created = 1000 }; /* of before: for ever */
        vault_life_renew(&old, 0, 5000);
        CHECK_INT(old.expires - old.created, vault_life_most(true));
}

/* What is sealed comes back whole, and entries of before have neither scope nor past. */
static void test_meta__scope_and_past_are_kept(void)
{
        struct vault_meta m = request(VAULT_ADD, "a").meta, back;
        struct err e;
        AUTO_BUF(line);
        CHECK_INT(vault_scope_read("https://a.test/\"x\" GET\n@p/** PUT", m.scope, &e),
                  -1); /* no quotes in URLs */
        CHECK_INT(vault_scope_read("https://a.test/x GET\n@p/** PUT", m.scope, &e), 0);
        vault_life_renew(&m, 7200, 5000);
        vault_life_renew(&m, 0, 6000);
        vault_meta_print(&m, &line);
        CHECK_INT(vault_meta_parse(buf_span(&line), &back, &e), 0);
        CHECK(memcmp(&m, &back, sizeof m) == 0);
        CHECK_INT(back.ttl_count, 2);
        static const char *const bad[] = { "\"for\":[1]",         "\"for\":\"x\"",
                                           "\"for\":[\"a\\nb\"]", "\"for\":[\"\"]",
                                           "\"ttl_was\":[-1]",    "\"ttl_was\":[1,2,3,4]",
                                           "\"ttl_was\":[\"1\"]", "\"ttl_was\":1",
                                           "\"created\":1" /* good: neither is there */ };
        for (size_t i = 0; i < COUNT(bad); i++) {
                char text[600];
                (void) snprintf(text, sizeof text,
                                "{\"name\":\"n\",\"env\":\"\",\"where\":\"body\",\"field\":\"\",\"before\":"
                                "\"\",\"after\":\"\","
                                "\"class\":\"live\",%s\"expires\":0,\"max_uses\":0,%s}",
                                strstr(bad[i], "created") ? "" : "\"created\":1,", bad[i]);
                CHECK_INT(vault_meta_parse(span_str(text), &back, &e), i + 1 < COUNT(bad) ? -1 : 0);
        }
}

static void test_grants__broken_records_are_refused(void)
{
        static struct grant g;
        struct err e;
        for (int how = 0; how < 12; how++) {
                int p[2];
                g = (struct grant){ .size = sizeof g,
                                    .where = GRANT_HEADER,
                                    .length = GRANT_SECRET_MIN,
                                    .name = "n",
                                    .field = "f" };
                if (how == 1)
                        g.size--;
                if (how == 2)
                        g.length = GRANT_SECRET_MAX + 1;
                if (how == 3)
                        g.where = GRANT_WHERE__COUNT;
                if (how == 4)
                        memset(g.name, 'n', sizeof g.name);
                if (how == 6)
                        g.where = GRANT_NOWHERE;
                if (how == 7)
                        g.length--;
                if (how == 8)
                        memset(g.field, 'f', sizeof g.field);
                if (how == 9)
                        memset(g.before, 'b', sizeof g.before);
                if (how == 10)
                        memset(g.after, 'a', sizeof g.after);
                if (how == 11)
                        memset(g.scope, 's', sizeof g.scope);
                CHECK_INT(pipe2(p, O_CLOEXEC), 0);
                CHECK_INT(fd_write_all(p[1], &g, how == 5 ? sizeof g - 1 : sizeof g), 0);
                (void) close(p[1]);
                struct http_grants *x = http_grants_read(p[0], &e);
                CHECK_INT(x != NULL, how == 0);
                http_grants_free(x);
                (void) close(p[0]);
        }
}

/* ---- pure ---- */

static void test_meta__it_comes_back_as_it_was(void)
{
        struct vault_meta m = { .name = "gh-read",
                                .env = "GITHUB_TOKEN",
                                .live = 1,
                                .created = 5,
                                .expires = 6,
                                .max_uses = 7 },
                          back;
        struct err e;
        CHECK_INT(vault_header_read("X-Key: a{}b", &m, &e), 0);
        CHECK_STR(m.field, "X-Key");
        CHECK_STR(m.before, "a");
        CHECK_STR(m.after, "b");
        AUTO_BUF(b);
        vault_meta_print(&m, &b);
        CHECK_INT(vault_meta_parse(buf_span(&b), &back, &e), 0);
        CHECK(memcmp(&m, &back, sizeof m) == 0);
}

static void test_meta__bindings_that_cannot_be_are_refused(void)
{
        static const char *const headers[] = {
                "",        "X-Key",    "X-Key: x",       "X Key: {}",          ": {}",          "X-Key: {}{}",
                "X-{}: y", "Host: {}", "connection: {}", "Content-Length: {}", "X: {}\r\nY: z", "X;Y: {}",
                "X@Y: {}"
        };
        static const char *const names[] = { "",    ".",   "..",  ".a",  "a/b", "a b", "a\n",
                                             "a:b", "a?b", "a@b", "a[b", "a`b", "a{b", "a\x7f" };
        struct err e;
        for (size_t i = 0; i < COUNT(headers); i++) {
                struct vault_meta m = { 0 };
                if (vault_header_read(headers[i], &m, &e) == 0)
                        printf("# taken: %s\n", headers[i]);
                CHECK_INT(vault_header_read(headers[i], &m, &e), -1);
        }
        for (size_t i = 0; i < COUNT(names); i++)
                CHECK(!vault_name_ok(names[i]));
        CHECK(vault_name_ok("09azAZ._-"));
        struct vault_meta m = { 0 };
        char header[sizeof m.field + 8];
        for (size_t n = sizeof m.field - 1; n <= sizeof m.field; n++) {
                memset(header, 'x', n);
                memcpy(header + n, ": {}", 5);
                CHECK_INT(vault_header_read(header, &m, &e), n < sizeof m.field ? 0 : -1);
        }
        CHECK_STR(m.before, "");
}

/* An entry says all of it, and nothing that no command could have made. */
static void test_meta__an_entry_is_whole(void)
{
        static const char *const parts[] = {
                "\"name\":\"n\",",   "\"env\":\"E\",",   "\"where\":\"header\",", "\"field\":\"X-Key\",",
                "\"before\":\"b\",", "\"after\":\"a\",", "\"class\":\"live\",",   "\"created\":1,",
                "\"expires\":2,",    "\"max_uses\":3,",
        };
        static const char *const other[COUNT(parts)] = {
                "\"name\":\"../n\",",  "\"env\":\"9\",",     "\"where\":\"nowhere\",", "\"field\":\"Host\",",
                "\"before\":\"\\n\",", "\"after\":\"\\n\",", "\"class\":1,",           "\"created\":-1,",
                "\"expires\":\"2\",",  "\"max_uses\":1.5,",
        };
        struct vault_meta m;
        struct err e;
        for (size_t left_out = 0; left_out <= COUNT(parts); left_out++)
                for (int how = 0; how < 2; how++) {
                        AUTO_BUF(text);
                        buf_putc(&text, '{');
                        for (size_t i = 0; i < COUNT(parts); i++)
                                buf_puts(&text, i != left_out ? parts[i] : how ? other[i] : "");
                        buf_puts(&text, "\"ttl_was\":[]}");
                        int r = vault_meta_parse(buf_span(&text), &m, &e);
                        if ((r == 0) != (left_out == COUNT(parts)))
                                printf("# %s\n", buf_str(&text));
                        CHECK_INT(r, left_out == COUNT(parts) ? 0 : -1);
                }
}

#define DIGITS "0123456789"
#define LOWER  "abcdefghijklmnopqrstuvwxyz"
#define UPPER  "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
#define ANY    UPPER LOWER DIGITS

static void test_shape__like_the_secret_and_not_it(void)
{
        static const struct {
                const char *secret, *kept, *alphabet;
        } rows[] = {
                { "ghp_abcdefghijKLMNOP0123456789abcdef", "ghp_", ANY },
                { "sk-ant-api03-AAAABBBBCCCCDDDDEEEEFFFFGGGG", "sk-ant-api03-", UPPER },
                { "xoxb-123456789012-ab0123456789012345cdef", "xoxb-", LOWER DIGITS "-" },
                { "AKIAABCDEFGHIJKLMNOP", "AKIA", UPPER },
                { "0123456789abcdef0123456789abcdef", "", "0123456789abcdef" },
                { "123e4567-e89b-12d3-a456-426614174000", "", "0123456789abcdef-" },
                { "hunter2hunter2", "", ANY },
                { "acme-secret-prefix-0123456789abcdefghijkl", "",
                  LOWER DIGITS "-" }, /* a kind nobody knows */
                { "my_long_password_a_person_chose", "", LOWER },
                { "Correct!Horse?Battery#Staple", "", UPPER LOWER },
                { "ghp_short", "", ANY }, /* too little would be left */
        };
        for (size_t i = 0; i < COUNT(rows); i++) {
                struct span s = span_str(rows[i].secret);
                size_t kept = strlen(rows[i].kept), same = 0;
                uint8_t random[100], out[100];
                for (int round = 0; round < 50; round++) {
                        CHECK_INT(seal_random(random, sizeof random), 0);
                        shape_placeholder(s, random, out);
                        CHECK(memcmp(out, rows[i].kept, kept) == 0);
                        for (size_t k = kept; k < s.n; k++) {
                                same += out[k] == s.p[k];
                                CHECK(strchr(rows[i].alphabet, out[k]));
                        }
                }
                CHECK(same < 50 * (s.n - kept) / 4); /* by chance, and at separators */
        }
}

/* Which letters are capitals, and where digits stand, is half of a password that a person chose. */
static void test_shape__classes_of_characters_do_not_stay_in_place(void)
{
        struct span s = span_str("AAAAAAAAAAAAAAAAaaaaaaaaaaaaaaaa");
        uint8_t random[32], out[32];
        size_t stayed = 0;
        for (int round = 0; round < 50; round++) {
                CHECK_INT(seal_random(random, sizeof random), 0);
                shape_placeholder(s, random, out);
                for (size_t k = 0; k < s.n; k++)
                        stayed += !strchr(UPPER, out[k]) == !strchr(UPPER, s.p[k]);
        }
        CHECK(stayed > 50 * s.n / 3 && stayed < 50 * s.n * 2 / 3);
}

static void test_seal__opens_only_whole(void)
{
        uint8_t key[SEAL_KEY], box[100], plain[100];
        CHECK_INT(seal_random(key, sizeof key), 0);
        CHECK_INT(seal_close(key, span_str("context"), span_str("the secret"), box), 0);
        size_t n = SEAL_NONCE + 10 + SEAL_TAG;
        CHECK_INT(seal_open(key, span_str("context"), span_of(box, n), plain), 0);
        CHECK(memcmp(plain, "the secret", 10) == 0);
        CHECK_INT(seal_open(key, span_str("contexT"), span_of(box, n), plain), -1);
        CHECK_INT(seal_open(key, span_str("context"), span_of(box, n - 1), plain), -1);
        for (size_t i = 0; i < n; i++) {
                box[i] ^= 1;
                CHECK_INT(seal_open(key, span_str("context"), span_of(box, n), plain), -1);
                CHECK(memcmp(plain, "\0\0\0\0\0\0\0\0\0", 10) == 0); /* nothing of what may be another's */
                box[i] ^= 1;
        }
        key[0] ^= 1;
        CHECK_INT(seal_open(key, span_str("context"), span_of(box, n), plain), -1);
}

int main(void)
{
        static const struct test_case cases[] = {
                CASE(test_vault__no_more_is_handed_out_than_it_is_for),
                CASE(test_grants__a_policy_with_more_doors_than_were_granted_does_not_hold),
                CASE(test_scope__only_destinations_with_methods),
                CASE(test_life__a_class_has_a_longest_lifetime),
                CASE(test_life__growth_over_three_rotations_is_a_debt),
                CASE(test_meta__scope_and_past_are_kept),
                CASE(test_vault__what_is_no_secret_is_not_taken),
                CASE(test_vault__of_a_secret_without_letters_or_digits_nothing_is_shown),
                CASE(test_vault__what_a_killed_writer_left_goes_with_the_next),
                CASE(test_vault__a_secret_in_and_to_the_broker),
                CASE(test_vault__live_ones_stay_out_of_other_stages_and_old_ones_out_of_all),
                CASE(test_vault__what_was_changed_does_not_open),
                CASE(test_vault__a_passphrase_protects_it),
                CASE(test_vault__the_keyring_protects_it),
                CASE(test_vault__a_key_file_must_be_private),
                CASE(test_vault__secrets_of_a_wrong_form_are_refused),
                CASE(test_vault__rotating_keeps_the_binding),
                CASE(test_vault__a_broker_that_is_gone_ends_the_giving),
                CASE(test_grants__broken_records_are_refused),
                CASE(test_meta__it_comes_back_as_it_was),
                CASE(test_meta__bindings_that_cannot_be_are_refused),
                CASE(test_meta__an_entry_is_whole),
                CASE(test_shape__like_the_secret_and_not_it),
                CASE(test_shape__classes_of_characters_do_not_stay_in_place),
                CASE(test_seal__opens_only_whole),
        };
        return test_main(cases, COUNT(cases));
}
