/* SPDX-License-Identifier: MIT */
/* tests/unit/test_policy_why.c - what is said of a denied effect: layer, answer, nearest door, difference,
 * cost. tests/cli/t1002-why-probes.sh holds the same answers against real boxes. */
#include "test_policy_common.h"

static enum refusal_look nothing_optional(const char *path)
{
        return strcmp(path, "/opt/dir") == 0 ? REFUSAL_DIRECTORY : REFUSAL_NOTHING;
}

static struct refusal refusal_of(const char *text, const char *effect)
{
        struct checked_policy *c = load(text);
        struct refusal_facts facts = { .wall = policy_wall(c), .look = nothing_optional };
        struct effect f;
        struct err e;
        struct refusal r = { 0 };
        CHECK_INT(policy_effect_parse(effect, &fixed_context, &f, &e), 0);
        struct decision d = policy_decide(c, &f);
        CHECK_INT(d.answer, ANSWER_DENY);
        r = policy_refusal(c, &f, &d, &facts);
        policy_effect_done(&f);
        policy_checked_free(c);
        return r;
}

static void test_refusal__each_way_of_saying_no(void)
{
        static const struct {
                const char *policy, *effect;
                const char *layer, *answer;
        } rows[] = {
                { "use none\n", "read /opt/x", "mount", "ENOENT" },
                { "use none\n", "read /opt/dir", "mount", "ENOENT" },
                { "use none\nread /opt/a/b\n", "read /opt/a", "mount", "empty" },
                { "use none\nread /opt/a/b?\n", "read /opt/a", "mount", "ENOENT" },
                { "use none\nread /opt/a/b\n", "write /opt/a/c", "mount", "EROFS" },
                { "use none\nread /opt/a/b\n", "write /opt/a/b/c", "mount", "EROFS" },
                { "use none\nread /opt/a\n", "write /srv/x/y", "mount", "ENOENT" },
                { "use none\nread /opt/a except b\n", "read /opt/a/b", "mount", "empty" },
                { "use none\nread /opt/a except b\n", "read /opt/a/b/c", "mount", "ENOENT" },
                { "use none\nread /opt/a except b\n", "run /opt/a/b", "mount", "EACCES" },
                { "use none\nread /opt/a\n", "run /opt/a/x", "mount", "EACCES" },
                { "use none\nwrite /opt/a\nrun ls\n", "run /opt/a/x", "mount", "EACCES" },
                { "use base/python3\n", "run /usr/lib/python3/x", "landlock", "EACCES" },
                { "use base/python3\n", "run sh", "mount", "ENOENT" },
                { "use none\n", "net GET https://example.com/", "seccomp", "EAFNOSUPPORT" },
                { "use none\nnet a.example:443\n", "net b.example:443", "egress", "NXDOMAIN" },
                { "use none\nnet a.example:443\n", "net a.example:80", "egress", "ECONNREFUSED" },
                { "use none\nnet a.example:443\n", "net 192.0.2.7:443", "egress", "ECONNREFUSED" },
                { "use none\nnet https://a.example/x GET\n", "net POST https://a.example/x", "egress",
                  "403" },
                { "use base/system\n", "net 127.0.0.1:80", "net", "ECONNREFUSED" },
                { "use base/system\n", "net [::1]:80", "net", "ECONNREFUSED" },
                { "use base/system\n", "net 192.0.2.7:80", "net", "ENETUNREACH" },
                { "use base/system\n", "net a.example:80", "net", "EAI_AGAIN" },
                { "use base/system\nwall process\n", "net 127.0.0.1:80", "seccomp", "EAFNOSUPPORT" },
                { "use none\nlocal unix\n", "sock /run/x", "mount", "ENOENT" },
                { "use none\n", "sock /run/x", "seccomp", "EAFNOSUPPORT" },
                { "use none\nread /opt\n", "sock /opt/x", "seccomp", "EAFNOSUPPORT" },
                { "use none\nsock /run/y\n", "sock /run/x", "mount", "ENOENT" },
                { "use base/system\n", "sock /run/x", "mount", "ENOENT" },
                { "use base/system\nread /opt\n", "sock /opt/x", "seccomp", "EACCES" },
                { "use none\n", "env SECRET", "environment", "unset" },
                { "use none\nwall process\n", "read /opt/x", "landlock", "EACCES" },
                { "use none\nwall process\n", "write /tmp/x", "landlock", "EACCES" },
                { "use none\nwall process\n", "run sh", "landlock", "EACCES" },
                { "use none\nwall process\n", "sock /run/x", "seccomp", "EAFNOSUPPORT" },
                { "use none\nwall process\n", "net a.example:1", "seccomp", "EAFNOSUPPORT" },
        };
        for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
                struct refusal r = refusal_of(rows[i].policy, rows[i].effect);
                if (strcmp(r.layers[0], rows[i].layer) != 0 || strcmp(r.answer, rows[i].answer) != 0)
                        printf("# %s with %s\n", rows[i].effect, rows[i].policy);
                CHECK_STR(r.layers[0], rows[i].layer);
                CHECK_STR(r.answer, rows[i].answer);
        }
}

static void test_refusal__a_layer_given_up_is_not_named(void)
{
        struct refusal r = refusal_of("use none\nwall namespace without landlock\n", "read /opt/x");
        CHECK_STR(r.layers[0], "mount");
        CHECK(!r.layers[1]);
}

static void check_near(const char *text, const char *effect, const char *door, const char *difference)
{
        struct checked_policy *c = load(text);
        struct effect f;
        struct err e;
        struct buf line = { 0 }, diff = { 0 };
        CHECK_INT(policy_effect_parse(effect, &fixed_context, &f, &e), 0);
        struct decision d = policy_decide(c, &f);
        const struct door *near = policy_nearest(c, &f, &d);
        if (near)
                policy_door_line(near, &line);
        policy_difference(c, &f, &d, &diff);
        CHECK_STR(buf_str(&line), door);
        CHECK_STR(buf_str(&diff), difference);
        buf_done(&line);
        buf_done(&diff);
        policy_effect_done(&f);
        policy_checked_free(c);
}

static void test_line__none_is_proposed_that_no_box_could_open(void)
{
        static const struct {
                const char *effect, *line;
        } rows[] = {
                { "read /dev/tty", "" },
                { "read /dev/disk/by-id/x", "" },
                { "read /dev", "read /dev" },
                { "write /dev/sda", "" },
                { "write /proc/sys/x", "" },
                { "read /", "" },
                { "read /dev2/x", "read /dev2/x" },
        };
        struct checked_policy *c = load("use none\n");
        for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
                AUTO_BUF(line);
                struct effect f;
                struct err e;
                CHECK_INT(policy_effect_parse(rows[i].effect, &fixed_context, &f, &e), 0);
                struct decision d = policy_decide(c, &f);
                policy_smallest_line(&f, &d, &line);
                CHECK_STR(buf_str(&line), rows[i].line);
                policy_effect_done(&f);
        }
        policy_checked_free(c);
}

static void test_nearest__tells_what_differs(void)
{
        check_near("use none\n", "read /a/b", "", "no door covers it");
        check_near("use none\nread /srv/data/a\n", "read /srv/data/b", "read /srv/data/a",
                   "the door is another");
        check_near("use none\nread /srv/data\n", "read /srv2/data", "", "no door covers it");
        check_near("use none\nread /srv\n", "write /srv/x", "read /srv",
                   "the door lets it be read, not changed");
        check_near("use none\nread /srv except x\n", "read /srv/x", "read /srv except /srv/x",
                   "the door's own `except` takes it out");
        check_near("use none\nread /srv\n", "run /srv/x", "read /srv",
                   "it can be seen, but no `run` line names it");
        check_near("use none\nread /srv until 2001-01-01\n", "read /srv/x",
                   "read /srv until 2001-01-01T00:00Z", "the door closed on 2001-01-01T00:00Z");
        check_near("use none\nnet https://a.example/v1/** GET\n", "net POST https://a.example/v1/x",
                   "net https://a.example/v1/** GET", "the door permits GET, not POST");
        check_near("use none\nnet https://a.example/v1/**\n", "net WEBSOCKET https://a.example/v1/x",
                   "net https://a.example/v1/**", "the door permits all methods but WEBSOCKET");
        check_near("use none\nnet https://a.example/v1/**\n", "net GET https://a.example/v2",
                   "net https://a.example/v1/**", "the door covers /v1/**, not /v2");
        check_near("use none\nnet https://a.example/\n", "net GET http://a.example/",
                   "net https://a.example/", "the door is https, not http");
        check_near("use none\nnet a.example:443\n", "net a.example:80", "net a.example:443",
                   "the door has port 443, not 80");
        check_near("use none\nnet api.acme.example:443\n", "net app.acme.example:443",
                   "net api.acme.example:443", "the door names the host api.acme.example");
        check_near("use none\nenv API_KEY\n", "env APIKEY", "env API_KEY", "the door is another");
}

static void test_secret__kinds_by_name(void)
{
        static const struct {
                const char *path, *kind;
        } rows[] = {
                { "/home/u/.ssh/id_rsa", "keys" },
                { "/home/u/.aws/credentials", "tokens" },
                { "/w/proj/.env", "tokens" },
                { "/home/u/.bash_history", "history" },
                { "/home/u/.mozilla/x", "passwords" },
                { "/etc/shadow", "tokens" },
                { "/run/docker.sock", "agent" },
                { "/run/user/1000/bus", "agent" },
                { "/proc/kcore", "kernel" },
                { "/usr/lib/modules/6.1/x.ko", "kernel" },
                { "/var/log/auth.log", "host-files" },
                { "/root", "host-files" },
                { "/root/proj/a.c", NULL },
                { "/w/proj/environment.py", NULL },
                { "/w/proj/sshd.c", NULL },
                { "/usr/share/zoneinfo", NULL },
                { "/etc/ssl/certs/ca.crt", NULL },
                { "/etc/ca-certificates/extracted/tls-ca-bundle.pem", NULL },  /* Arch */
                { "/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem", NULL }, /* Fedora */
                { "/var/lib/ca-certificates/ca-bundle.pem", NULL },            /* openSUSE */
                { "/etc/pki/tls/private/localhost.key", "keys" },
                { "/etc/ssl/private/x", "keys" },
        };
        for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
                enum effect_reason secret = policy_secret_reason(rows[i].path);
                const char *kind = secret ? effect_reason_name(secret) : NULL;
                if (!kind != !rows[i].kind || (kind && strcmp(kind, rows[i].kind) != 0))
                        printf("# %s is %s\n", rows[i].path, kind ? kind : "nothing");
                CHECK(!kind == !rows[i].kind && (!kind || strcmp(kind, rows[i].kind) == 0));
        }
}

static void test_secret__a_name_speaks_for_its_own_kind_alone(void)
{
        static const struct {
                const char *path, *real;
                bool more;
        } rows[] = {
                { "/w/notes", "/home/u/.ssh", true },
                { "/w/notes", "/w/other", false },
                { "/w/.env", "/home/u/.ssh/id_rsa", true }, /* what is named holds secrets, but others */
                { "/w/.env", "/w/shared/.env", false },
                { "/w/id_rsa", "/home/u/.ssh/id_rsa", true },
                { "/w/test.pem", "/etc/ssl/private/test.pem", true },
                { "/w/test.pem", "/w/certs/a.pem", false },
                { "/home/u/.ssh", "/data/u/.ssh", false },
                { "/home/u/.ssh/id_rsa", "/data/u/.ssh/id_rsa", false },
                { "/w/data", "/home/u/.config", true }, /* in which tokens lie */
                { "/w/data", "/home/u/.local/share", true },
                { "/w/data", "/home/u/.local/share/icons", false },
                { "/w/data", "/home/u/my.config", false },
                { "/home/u/.config", "/data/u/.config", false },
                { "/home/u/.config/gh", "/data/u/.config/gh", false },
                { "/w/.env", "/home/u/.config", true },
                { "/var/run/secrets/a", "/run/secrets/a", false }, /* two names of one place */
                { "/w/secrets", "/run/secrets", true },
        };
        for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
                bool more = policy_leads_to_secrets(rows[i].path, rows[i].real);
                if (more != rows[i].more)
                        printf("# %s -> %s\n", rows[i].path, rows[i].real);
                CHECK(more == rows[i].more);
        }
}

static void test_cost__says_where_keys_lie(void)
{
        struct effect f = { .kind = EFFECT_READ, .target = "/home/u/.ssh/id_rsa" };
        struct buf out = { 0 };
        policy_line_cost(&f, &out);
        CHECK(strstr(buf_str(&out), "Keys are usually stored there."));
        buf_done(&out);
}

static const struct test_case cases[] = {
        CASE(test_refusal__each_way_of_saying_no),
        CASE(test_refusal__a_layer_given_up_is_not_named),
        CASE(test_line__none_is_proposed_that_no_box_could_open),
        CASE(test_nearest__tells_what_differs),
        CASE(test_secret__kinds_by_name),
        CASE(test_secret__a_name_speaks_for_its_own_kind_alone),
        CASE(test_cost__says_where_keys_lie),
};
TEST_MAIN(cases)
