/* SPDX-License-Identifier: MIT */
/* Where an address lies: every range that a name must not lead to, its first and last address, and the public
 * neighbours on both sides. */
#include "broker/egress/egress.h"
#include "harness.h"

#include <arpa/inet.h>

static const struct {
        const char *address;
        enum egress_reach reach;
} rows[] = {
        { "1.0.0.0", REACH_PUBLIC },
        { "9.255.255.255", REACH_PUBLIC },
        { "0.0.0.0", REACH_RESERVED },
        { "0.255.255.255", REACH_RESERVED },
        { "10.0.0.0", REACH_PRIVATE },
        { "10.255.255.255", REACH_PRIVATE },
        { "11.0.0.0", REACH_PUBLIC },
        { "100.63.255.255", REACH_PUBLIC },
        { "100.64.0.0", REACH_SHARED },
        { "100.127.255.255", REACH_SHARED },
        { "100.100.100.200", REACH_METADATA },
        { "100.128.0.0", REACH_PUBLIC },
        { "126.255.255.255", REACH_PUBLIC },
        { "127.0.0.0", REACH_LOOPBACK },
        { "127.255.255.255", REACH_LOOPBACK },
        { "128.0.0.0", REACH_PUBLIC },
        { "168.63.129.16", REACH_METADATA },
        { "168.63.129.17", REACH_PUBLIC },
        { "169.253.255.255", REACH_PUBLIC },
        { "169.254.0.1", REACH_METADATA },
        { "169.254.169.254", REACH_METADATA },
        { "169.254.170.2", REACH_METADATA },
        { "169.255.0.0", REACH_PUBLIC },
        { "172.15.255.255", REACH_PUBLIC },
        { "172.16.0.0", REACH_PRIVATE },
        { "172.31.255.255", REACH_PRIVATE },
        { "172.32.0.0", REACH_PUBLIC },
        { "192.0.0.1", REACH_RESERVED },
        { "192.0.0.192", REACH_METADATA },
        { "192.0.2.255", REACH_DOCUMENTATION },
        { "192.0.3.0", REACH_PUBLIC },
        { "192.88.99.1", REACH_TRANSLATED },
        { "192.167.255.255", REACH_PUBLIC },
        { "192.168.0.0", REACH_PRIVATE },
        { "192.169.0.0", REACH_PUBLIC },
        { "198.17.255.255", REACH_PUBLIC },
        { "198.18.0.1", REACH_RESERVED },
        { "198.19.255.255", REACH_RESERVED },
        { "198.20.0.0", REACH_PUBLIC },
        { "198.51.100.7", REACH_DOCUMENTATION },
        { "203.0.113.7", REACH_DOCUMENTATION },
        { "223.255.255.255", REACH_PUBLIC },
        { "224.0.0.1", REACH_MULTICAST },
        { "239.255.255.255", REACH_MULTICAST },
        { "240.0.0.1", REACH_RESERVED },
        { "255.255.255.254", REACH_RESERVED },
        { "255.255.255.255", REACH_BROADCAST },
        { "::", REACH_RESERVED },
        { "::1", REACH_LOOPBACK },
        { "::2", REACH_TRANSLATED },
        { "::127.0.0.1", REACH_TRANSLATED },
        { "::ffff:127.0.0.1", REACH_TRANSLATED },
        { "::ffff:8.8.8.8", REACH_TRANSLATED },
        { "64:ff9b::7f00:1", REACH_TRANSLATED },
        { "64:ff9b:1::a00:1", REACH_TRANSLATED },
        { "64:ff9c::1", REACH_RESERVED },
        { "100::1", REACH_RESERVED },
        { "2001::1", REACH_TRANSLATED },
        { "2001:0:ffff::1", REACH_TRANSLATED },
        { "2001:2::1", REACH_RESERVED },
        { "2001:db8::1", REACH_DOCUMENTATION },
        { "2001:4860:4860::8888", REACH_PUBLIC },
        { "2002:7f00:1::1", REACH_TRANSLATED },
        { "2003::1", REACH_PUBLIC },
        { "2606:4700::1111", REACH_PUBLIC },
        { "3fff::1", REACH_DOCUMENTATION },
        { "3fff:1000::1", REACH_PUBLIC },
        { "4000::1", REACH_RESERVED },
        { "5f00::1", REACH_RESERVED },
        { "fc00::1", REACH_PRIVATE },
        { "fd00:ec2::254", REACH_METADATA },
        { "fd20:ce::254", REACH_METADATA },
        { "fdff::1", REACH_PRIVATE },
        { "fe00::1", REACH_RESERVED },
        { "fe80::1", REACH_LINK },
        { "febf::1", REACH_LINK },
        { "fec0::1", REACH_PRIVATE },
        { "ff02::1", REACH_MULTICAST },
};

static struct egress_address parse(const char *text)
{
        struct egress_address a = { .v6 = strchr(text, ':') != NULL };
        CHECK_INT(inet_pton(a.v6 ? AF_INET6 : AF_INET, text, a.bytes), 1);
        return a;
}

static void test_guard__every_row_holds(void)
{
        for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
                struct egress_address a = parse(rows[i].address);
                enum egress_reach got = egress_judge(&a);
                if (got != rows[i].reach)
                        printf("# %s is %s\n", rows[i].address, egress_reach_name(got));
                CHECK_INT(got, rows[i].reach);
        }
}

static void test_guard__an_address_of_this_host_is_not_public(void)
{
        struct egress_address a = parse("9.9.9.9"), b = parse("2606:4700::1111");
        a.own = b.own = true;
        CHECK_INT(egress_judge(&a), REACH_HOST);
        CHECK_INT(egress_judge(&b), REACH_HOST);
}

static void test_guard__zero_is_not_public(void)
{
        CHECK(REACH_UNKNOWN == 0 && REACH_UNKNOWN != REACH_PUBLIC);
}

static void test_guard__every_reach_has_a_name(void)
{
        for (unsigned i = 0; i < REACH__COUNT; i++)
                CHECK(strcmp(egress_reach_name(i), "?") != 0);
        CHECK_STR(egress_reach_name(REACH__COUNT), "?");
}

static void test_guard__whom_an_effect_reaches_has_one_answer(void)
{
        static const struct {
                const char *host;
                enum egress_reach where;
                enum ledger_reach whom;
        } table[] = {
                { "example.org", REACH_UNKNOWN, LEDGER_REACH_NAMED },
                { "example.org", REACH_PUBLIC, LEDGER_REACH_NAMED },
                { "example.org", REACH_PRIVATE, LEDGER_REACH_TENANT },
                { "example.org", REACH_LOOPBACK, LEDGER_REACH_SELF },
                { "localhost", REACH_UNKNOWN, LEDGER_REACH_SELF },
                { "a.localhost", REACH_UNKNOWN, LEDGER_REACH_SELF },
                { "localhost", REACH_LOOPBACK, LEDGER_REACH_SELF },
                { "localhost", REACH_PUBLIC, LEDGER_REACH_NAMED }, /* where it led counts, not what it says */
                { "localhost", REACH_PRIVATE, LEDGER_REACH_TENANT },
                { "notlocalhost", REACH_UNKNOWN, LEDGER_REACH_NAMED },
                { "evil.test", REACH_UNKNOWN, LEDGER_REACH_NAMED }, /* as long */
                { "localhost.evil.example", REACH_UNKNOWN, LEDGER_REACH_NAMED },
                { "", REACH_UNKNOWN, LEDGER_REACH_NAMED },
                { "10.0.0.1", REACH_PRIVATE, LEDGER_REACH_TENANT },
                { "100.64.0.1", REACH_SHARED, LEDGER_REACH_TENANT },
                { "fe80::1", REACH_LINK, LEDGER_REACH_TENANT },
                { "127.0.0.1", REACH_LOOPBACK, LEDGER_REACH_SELF },
                { "9.9.9.9", REACH_HOST, LEDGER_REACH_SELF },
                { "169.254.169.254", REACH_METADATA, LEDGER_REACH_NAMED },
                { "224.0.0.1", REACH_MULTICAST, LEDGER_REACH_NAMED },
                { "::ffff:10.0.0.1", REACH_TRANSLATED, LEDGER_REACH_NAMED },
                { "x", REACH__COUNT, LEDGER_REACH_NAMED },
        };
        for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
                enum ledger_reach got = egress_reaches(span_str(table[i].host), table[i].where);
                if (got != table[i].whom)
                        printf("# %s, %s\n", table[i].host, egress_reach_name(table[i].where));
                CHECK_INT(got, table[i].whom);
        }
}

static const struct test_case cases[] = {
        CASE(test_guard__whom_an_effect_reaches_has_one_answer),
        CASE(test_guard__every_row_holds),
        CASE(test_guard__an_address_of_this_host_is_not_public),
        CASE(test_guard__zero_is_not_public),
        CASE(test_guard__every_reach_has_a_name),
};

int main(void) { return test_main(cases, sizeof cases / sizeof *cases); }
