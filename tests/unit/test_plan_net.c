/* SPDX-License-Identifier: MIT */
/* What `net` doors need before the box exists: ports, loopback literals, files; and what cannot be held. */
#include "base/limits.h"
#include "test_plan_common.h"

#include <stdio.h>

static void test_net__without_a_door_there_is_no_network(void)
{
        SCENE(s);
        MUST_PLAN(s, "use none\n");
        CHECK(!s.p->net);
        CHECK_INT(s.p->port_count, 0);
        CHECK_INT(s.p->local_count, 0);
}

static void test_net__each_port_is_listened_on_once_and_in_order(void)
{
        SCENE(s);
        MUST_PLAN(s, "use none\nnet b.example:8443\nnet a.example:443\nnet c.example:443\nnet "
                     "https://d.example/x/** GET\nnet http://e.example/**\n");
        CHECK(s.p->net);
        CHECK_INT(s.p->port_count, 3);
        CHECK_INT(s.p->ports[0], 80);
        CHECK_INT(s.p->ports[1], 443);
        CHECK_INT(s.p->ports[2], 8443);
        CHECK_INT(s.p->local_count, 0);
}

static void test_net__a_loopback_literal_is_listened_for_in_the_box(void)
{
        SCENE(s);
        MUST_PLAN(s, "use none\nnet 127.0.0.1:80\nnet 127.9.9.9:81\nnet [::1]:82\nnet 192.0.2.7:83\n");
        CHECK_INT(s.p->local_count, 3);
        unsigned v6 = 0, v4 = 0;
        for (size_t i = 0; i < s.p->local_count; i++) {
                const struct plan_local *l = &s.p->locals[i];
                v6 += l->v6 && l->address[15] == 1 && l->port == 82;
                v4 += !l->v6 && l->address[0] == 127 && (l->port == 80 || l->port == 81);
        }
        CHECK_INT(v6, 1);
        CHECK_INT(v4, 2);
}

static void test_net__an_address_of_our_own_range_is_refused(void)
{
        static const char *const ours[] = { "198.18.0.1:80", "198.19.255.1:53", "[fd53:c0d0::1]:80",
                                            "[fd53:c0d1::1]:53" };
        for (size_t i = 0; i < sizeof ours / sizeof *ours; i++) {
                char line[128];
                (void) snprintf(line, sizeof line, "use none\nnet %s\n", ours[i]);
                SCENE(s);
                CHECK(!scene_plan(&s, line));
                CHECK_INT(s.e.code, ERR_POLICY);
                CHECK(strstr(s.e.what, "range that names get") != NULL);
        }
}

/* Both lists have a fixed length in the broker. */
static bool plan_with(unsigned n, const char *before, const char *after, struct scene *s)
{
        AUTO_BUF(text);
        buf_puts(&text, "use none\n");
        for (unsigned i = 1; i <= n; i++)
                buf_printf(&text, "net %s%u%s\n", before, i, after);
        return scene_plan(s, buf_str(&text));
}

static void test_net__more_ports_or_loopback_addresses_than_fit_are_refused(void)
{
        static const struct {
                unsigned most;
                const char *before, *after, *what;
        } rows[] = { { NET_PORTS_MAX, "a.example:", "", "more different ports" },
                     { NET_LOCALS_MAX, "127.0.0.", ":80", "more loopback addresses" } };
        for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
                SCENE(fits);
                CHECK(plan_with(rows[i].most, rows[i].before, rows[i].after, &fits));
                SCENE(s);
                CHECK(!plan_with(rows[i].most + 1, rows[i].before, rows[i].after, &s));
                CHECK_INT(s.e.code, ERR_POLICY);
                CHECK(strstr(s.e.what, rows[i].what) != NULL);
        }
}

static void test_net__the_process_wall_holds_no_net_door(void)
{
        SCENE(s);
        s.r.wall = WALL_PROCESS;
        CHECK(!scene_plan(&s, "use none\nnet a.example:443\n"));
        CHECK_INT(s.e.code, ERR_HOST);
        CHECK_INT(strncmp(s.e.what, "t:2:", 4), 0);
        CHECK(strstr(s.e.what, "process wall") != NULL);
}

static void test_net__the_box_finds_its_name_server(void)
{
        SCENE(s);
        MUST_PLAN(s, "use none\nnet a.example:443\n");
        bool resolv = false, order = false;
        for (size_t i = 0; i < s.p->step_count; i++) {
                const struct plan_step *x = &s.p->steps[i];
                if (x->kind == STEP_FILE && strcmp(x->path, "/etc/resolv.conf") == 0)
                        resolv = strstr(x->text, "nameserver " BOX_GATEWAY4 "\n") != NULL;
                if (x->kind == STEP_FILE && strcmp(x->path, "/etc/nsswitch.conf") == 0)
                        order = strstr(x->text, "hosts: files dns") != NULL;
        }
        CHECK(resolv && order);
}

static const struct test_case cases[] = {
        CASE(test_net__without_a_door_there_is_no_network),
        CASE(test_net__each_port_is_listened_on_once_and_in_order),
        CASE(test_net__a_loopback_literal_is_listened_for_in_the_box),
        CASE(test_net__an_address_of_our_own_range_is_refused),
        CASE(test_net__more_ports_or_loopback_addresses_than_fit_are_refused),
        CASE(test_net__the_process_wall_holds_no_net_door),
        CASE(test_net__the_box_finds_its_name_server),
};

int main(void) { return test_main(cases, sizeof cases / sizeof *cases); }
