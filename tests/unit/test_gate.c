/* SPDX-License-Identifier: MIT */
/* tests/unit/test_gate.c - approvals: what is approved is what leaves, once. Mutations and replays after a
 * yes, votes, scopes, templates, batches. */
#include "effect/gate/gate.h"
#include "harness.h"

#include <stdio.h>

enum { USER = 1000, OTHER = 1001, THIRD = 1002 };
static const int64_t now = 1000000;

static struct gate_envelope sample(void)
{
        return (struct gate_envelope){ .field = {
                                               [GATE_BODY] = "sha256:00aa",
                                               [GATE_BOX] = "agent",
                                               [GATE_CREDENTIAL] = "api-key",
                                               [GATE_DOOR] = "net https://api.test/v1/** POST ask",
                                               [GATE_EXPIRES] = "1700000000",
                                               [GATE_HEADERS] = "sha256:11bb",
                                               [GATE_INPUTS] = "sha256:22cc",
                                               [GATE_KIND] = "request",
                                               [GATE_LABELS] = "private:repo",
                                               [GATE_LENGTH] = "120",
                                               [GATE_METHOD] = "POST",
                                               [GATE_NONCE] = "run-1.7",
                                               [GATE_PATH] = "/v1/pay",
                                               [GATE_PLACE] = "api.test:443",
                                               [GATE_POLICY] = "33dd",
                                               [GATE_QUERY] = "a=1&b=2",
                                               [GATE_REACH] = "public",
                                               [GATE_RUN] = "run-1",
                                               [GATE_STAGE] = "live",
                                               [GATE_TENANT] = "acme",
                                               [GATE_TO] = "api.test:443",
                                               [GATE_VERSION] = "1",
                                       } };
}

static void id_of(const struct gate_envelope *e, char id[GATE_ID])
{
        AUTO_BUF(json);
        id[0] = '\0';
        if (gate_envelope_json(e, &json) == 0)
                gate_effect_id(buf_span(&json), id);
}

static struct gate_item pending(void)
{
        struct gate_envelope e = sample();
        struct gate_item it = { .state = gate_next(GATE_PROPOSED, GATE_HOLD), .expires_ms = now + 60000 };
        id_of(&e, it.id);
        CHECK_INT(gate_template_id(&e, 0, it.template), 0);
        return it;
}

static const struct gate_rule plain = { .requester = USER };
static const struct gate_voter user = { .uid = USER, .at_terminal = true };

static struct gate_vote yes_to(const struct gate_item *it)
{
        return (struct gate_vote){ .who = user,
                                   .yes = true,
                                   .id = it->id,
                                   .challenge = "",
                                   .reason = "",
                                   .now_ms = now,
                                   .shown_ms = now - 5000,
                                   .chars = 60 };
}

static struct gate_item approved(void)
{
        struct gate_item it = pending();
        struct gate_vote v = yes_to(&it);
        CHECK_INT(gate_vote(&it, &plain, &v), GATE_DECIDED);
        CHECK_INT(it.state, GATE_APPROVED);
        return it;
}

/* ---- mutations ---- */

/* Six kinds of change to one text. */
static void mutate(const char *text, unsigned kind, char *out, size_t cap)
{
        size_t n = strlen(text);
        switch (kind) {
        case 0: /* one byte */
                (void) snprintf(out, cap, "%s", text);
                out[0] ^= 1;
                break;
        case 1:
                (void) snprintf(out, cap, "%s ", text);
                break;
        case 2:
                (void) snprintf(out, cap, "%.*s", (int) (n - 1), text);
                break;
        case 3:
                out[0] = '\0';
                break;
        case 4: /* what ends a JSON string */
                (void) snprintf(out, cap, "%s\",\"method\":\"GET", text);
                break;
        default: /* characters that nobody sees */
                (void) snprintf(out, cap, "%s\xe2\x80\x8b", text);
                break;
        }
}

static void test_use__every_mutation_after_the_yes_is_refused(void)
{
        unsigned kinds = 0;
        for (unsigned f = 0; f < GATE_FIELD__COUNT; f++)
                for (unsigned kind = 0; kind < 6; kind++, kinds++) {
                        char text[256], id[GATE_ID];
                        struct gate_item it = approved();
                        struct gate_envelope e = sample();
                        mutate(e.field[f], kind, text, sizeof text);
                        e.field[f] = text;
                        id_of(&e, id);
                        CHECK_INT(gate_use(&it, id, now + 1), GATE_DRIFTED);
                        CHECK_INT(gate_use(&it, it.id, now + 1), GATE_NONE); /* and the old one with it */
                }
        CHECK(kinds >= 100);
}

static void test_use__fields_that_swap_their_values_are_another_effect(void)
{
        for (unsigned a = 0; a < GATE_FIELD__COUNT; a++)
                for (unsigned b = a + 1; b < GATE_FIELD__COUNT; b++) {
                        char id[GATE_ID];
                        struct gate_item it = approved();
                        struct gate_envelope e = sample();
                        const char *t = e.field[a];
                        e.field[a] = e.field[b];
                        e.field[b] = t;
                        id_of(&e, id);
                        bool same = strcmp(e.field[a], e.field[b]) == 0;
                        CHECK_INT(gate_use(&it, id, now + 1), same ? GATE_CONSUMED : GATE_DRIFTED);
                }
}

static void test_use__a_replay_is_refused_in_every_state(void)
{
        struct gate_item it = approved(), other;
        CHECK_INT(gate_use(&it, it.id, now + 1), GATE_CONSUMED);
        CHECK_INT(gate_use(&it, it.id, now + 2), GATE_NONE);
        for (unsigned s = 0; s < GATE_STATE__COUNT; s++) {
                other = approved();
                other.state = (enum gate_state) s;
                CHECK_INT(gate_use(&other, other.id, now + 1),
                          s == GATE_APPROVED ? GATE_CONSUMED : GATE_NONE);
        }

        other = approved();
        CHECK_INT(gate_use(&other, other.id, now + 60000), GATE_EXPIRED);
        other = approved();
        other.state = gate_next(other.state, GATE_REVOKE);
        CHECK_INT(gate_use(&other, other.id, now + 1), GATE_NONE);
        other = approved();
        CHECK_INT(gate_use(&other, NULL, now + 1), GATE_DRIFTED);
        other = approved();
        CHECK_INT(gate_use(&other, "", now + 1), GATE_DRIFTED);
}

static void test_envelope__bytes_that_are_not_text_cannot_be_approved(void)
{
        static const char *const bad[] = { "\xff", "a\xc0\xaf", "\xed\xa0\x80" };
        for (unsigned f = 0; f < GATE_FIELD__COUNT; f++)
                for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
                        AUTO_BUF(json);
                        char id[GATE_ID];
                        struct gate_envelope e = sample();
                        e.field[f] = bad[i];
                        CHECK_INT(gate_envelope_json(&e, &json), -1);
                        if (f != GATE_NONCE && f != GATE_EXPIRES)
                                CHECK_INT(gate_template_id(&e, 0, id), -1);
                }
}

static void test_envelope__only_its_own_form_is_read(void)
{
        AUTO_BUF(json);
        struct arena mem = { 0 };
        struct gate_envelope e = sample(), got = { 0 };
        CHECK_INT(gate_envelope_json(&e, &json), 0);
        CHECK_INT(gate_envelope_read(buf_span(&json), &mem, &got), 0);
        for (unsigned f = 0; f < GATE_FIELD__COUNT; f++)
                CHECK_STR(got.field[f], e.field[f]);

        for (size_t n = 0; n < json.n; n++)
                CHECK_INT(gate_envelope_read(span_of(json.p, n), &mem, &got), -1);

        buf_putc(&json, ' ');
        CHECK_INT(gate_envelope_read(buf_span(&json), &mem, &got), -1);
        json.p[json.n - 1] = '\n';
        json.p[0] = '[';
        CHECK_INT(gate_envelope_read(buf_span(&json), &mem, &got), -1);
        arena_done(&mem);
}

/* ---- states ---- */

static void test_states__nothing_leads_back(void)
{
        for (unsigned s = 0; s < GATE_STATE__COUNT; s++)
                for (unsigned e = 0; e < GATE_EVENT__COUNT; e++) {
                        enum gate_state t = gate_next((enum gate_state) s, (enum gate_event) e);
                        CHECK(t == GATE_NONE || t > s);
                        CHECK(t != GATE_APPROVED || (s == GATE_PENDING && e == GATE_YES));
                        CHECK(t != GATE_CONSUMED || (s == GATE_APPROVED && e == GATE_USE));
                }
        CHECK_INT(gate_next(GATE_STATE__COUNT, GATE_YES), GATE_NONE);
        CHECK_INT(gate_next(GATE_CLEAN, GATE_HARM), GATE_INCIDENT);
}

/* ---- votes ---- */

static enum gate_verdict try_vote(const struct gate_rule *r, void (*change)(struct gate_vote *))
{
        struct gate_item it = pending();
        struct gate_vote v = yes_to(&it);
        change(&v);
        enum gate_verdict got = gate_vote(&it, r, &v);
        if (got != GATE_DECIDED)
                CHECK_INT(it.state, GATE_PENDING);
        return got;
}

static void other_id(struct gate_vote *v) { v->id = "00"; }
static void no_id(struct gate_vote *v) { v->id = NULL; }
static void late(struct gate_vote *v) { v->now_ms = now + 60000; }
static void stranger(struct gate_vote *v) { v->who.uid = OTHER; }
static void root(struct gate_vote *v) { v->who.uid = 0; }
static void from_pipe(struct gate_vote *v) { v->who.at_terminal = false; }
static void unseen(struct gate_vote *v) { v->shown_ms = 0; }
static void from_future(struct gate_vote *v) { v->shown_ms = now + 1; }
static void too_many(struct gate_vote *v) { v->scope.uses = GATE_USES_MAX + 1; }
static void too_long(struct gate_vote *v) { v->scope.until_ms = now + GATE_UNTIL_MAX_MS + 1; }
static void in_past(struct gate_vote *v) { v->scope.until_ms = now; }
static void fast(struct gate_vote *v) { v->shown_ms = now - 1000; }
static void nothing(struct gate_vote *v) { (void) v; }
static void wrong(struct gate_vote *v) { v->challenge = "xxxx"; }
static void right(struct gate_vote *v) { v->challenge = v->id + strlen(v->id) - 4; }
static void whole(struct gate_vote *v) { v->challenge = v->id; }
static void because(struct gate_vote *v) { v->reason = "the invoice of May"; }

static void test_vote__who_may_not_is_refused(void)
{
        struct gate_rule high = plain, slow = plain, reason = plain, closed = plain;
        high.high = slow.slow = reason.reason = closed.closed = true;
        CHECK_INT(try_vote(&plain, nothing), GATE_DECIDED);
        CHECK_INT(try_vote(&plain, other_id), GATE_OTHER_ID);
        CHECK_INT(try_vote(&plain, no_id), GATE_OTHER_ID);
        CHECK_INT(try_vote(&plain, late), GATE_TOO_LATE);
        CHECK_INT(try_vote(&plain, stranger), GATE_NOT_YOU);
        CHECK_INT(try_vote(&plain, root), GATE_NOT_YOU);
        CHECK_INT(try_vote(&plain, from_pipe), GATE_NO_TERMINAL);
        CHECK_INT(try_vote(&plain, unseen), GATE_UNREAD);
        CHECK_INT(try_vote(&plain, from_future), GATE_UNREAD);
        CHECK_INT(try_vote(&plain, too_many), GATE_SCOPE_WRONG);
        CHECK_INT(try_vote(&plain, too_long), GATE_SCOPE_WRONG);
        CHECK_INT(try_vote(&plain, in_past), GATE_SCOPE_WRONG);
        CHECK_INT(try_vote(&plain, fast), GATE_DECIDED);
        CHECK_INT(try_vote(&slow, fast), GATE_TOO_FAST);
        CHECK_INT(try_vote(&high, nothing), GATE_CHALLENGE_WRONG);
        CHECK_INT(try_vote(&high, wrong), GATE_CHALLENGE_WRONG);
        CHECK_INT(try_vote(&high, whole), GATE_CHALLENGE_WRONG);
        CHECK_INT(try_vote(&high, right), GATE_DECIDED);
        CHECK_INT(try_vote(&reason, nothing), GATE_REASON_MISSING);
        CHECK_INT(try_vote(&reason, because), GATE_DECIDED);
        CHECK_INT(try_vote(&closed, nothing), GATE_IS_CLOSED);
}

static void test_vote__a_no_needs_nothing(void)
{
        struct gate_rule r = {
                .requester = USER, .high = true, .slow = true, .reason = true, .closed = true
        };
        struct gate_item it = pending();
        struct gate_vote v = yes_to(&it);
        v.yes = false;
        v.shown_ms = 0;
        v.who.at_terminal = false;
        CHECK_INT(gate_vote(&it, &r, &v), GATE_DECIDED);
        CHECK_INT(it.state, GATE_DENIED);
        v.yes = true;
        v.shown_ms = now - 5000;
        CHECK_INT(gate_vote(&it, &plain, &v), GATE_REFUSED);
        it = pending();
        v.yes = false;
        v.who.uid = OTHER;
        CHECK_INT(gate_vote(&it, &r, &v), GATE_NOT_YOU);
}

static void test_vote__two_persons_are_two_and_not_the_requester(void)
{
        const struct gate_rule r = { .requester = USER, .group = true, .need = 2 };
        struct gate_item it = pending();
        struct gate_vote v = yes_to(&it);
        v.who = (struct gate_voter){ .uid = USER, .in_group = true, .at_terminal = true };
        CHECK_INT(gate_vote(&it, &r, &v), GATE_NOT_YOU);
        v.who = (struct gate_voter){ .uid = OTHER, .at_terminal = true };
        CHECK_INT(gate_vote(&it, &r, &v), GATE_NOT_YOU);
        v.who.in_group = true;
        v.scope = (struct gate_scope){ .uses = 50, .until_ms = now + 9000 };
        CHECK_INT(gate_vote(&it, &r, &v), GATE_COUNTED);
        CHECK_INT(it.state, GATE_PENDING);
        CHECK_INT(gate_vote(&it, &r, &v), GATE_TWICE);
        v.who.uid = THIRD;
        v.scope = (struct gate_scope){ .uses = 3, .until_ms = 0 };
        CHECK_INT(gate_vote(&it, &r, &v), GATE_DECIDED);
        CHECK_INT(it.state, GATE_APPROVED);
        CHECK_INT(it.scope.uses, 3); /* the narrower of both */
        CHECK(it.scope.until_ms == now + 9000);
}

/* A face's person: not the one who asked, unless the operator said so, and never in place of a group. */
static void test_vote__of_a_face_another_person_approves(void)
{
        const struct gate_people asked = { .v = { gate_person("ann") }, .n = 1 }, full = { .n = 9 };
        const struct gate_rule r = { .requester = USER, .askers = &asked };
        const struct gate_rule group = { .requester = USER, .askers = &asked, .group = true };
        const struct gate_rule many = { .requester = USER, .askers = &full };
        const struct {
                const struct gate_rule *rule;
                struct gate_voter who;
                enum gate_verdict want;
        } rows[] = {
                { &r, { .uid = gate_person("ann"), .name = "ann" }, GATE_NOT_YOU },
                { &r, { .uid = gate_person("ann"), .name = "ann", .own = true }, GATE_DECIDED },
                { &r, { .uid = gate_person("bob"), .name = "bob" }, GATE_DECIDED },
                { &r, { .uid = gate_person("bob") }, GATE_NOT_YOU },
                { &r, { .uid = USER }, GATE_NO_TERMINAL },
                { &r, { .uid = USER, .at_terminal = true }, GATE_DECIDED },
                { &plain, { .uid = gate_person("bob"), .name = "bob" }, GATE_NOT_YOU },
                { &plain, { .uid = USER, .name = "user" }, GATE_NOT_YOU },
                { &many, { .uid = gate_person("bob"), .name = "bob" }, GATE_NOT_YOU },
                { &group, { .uid = gate_person("bob"), .name = "bob" }, GATE_NOT_YOU },
                { &group, { .uid = gate_person("bob"), .name = "bob", .in_group = true }, GATE_DECIDED },
                { &group,
                  { .uid = gate_person("ann"), .name = "ann", .in_group = true, .own = true },
                  GATE_NOT_YOU },
                { &group, { .uid = gate_person("ann"), .in_group = true }, GATE_NOT_YOU },
        };
        for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
                struct gate_item it = pending();
                struct gate_vote v = yes_to(&it);
                v.who = rows[i].who;
                CHECK_INT(gate_vote(&it, rows[i].rule, &v), rows[i].want);
        }
        CHECK(gate_person("ann") >= GATE_FACE && gate_person("ann") != gate_person("bob"));
}

/* ---- templates, scopes, batches ---- */

static void test_template__only_declared_fields_vary(void)
{
        static const enum gate_field of[GATE_VARY__COUNT] = { [GATE_VARY_BODY] = GATE_BODY,
                                                              [GATE_VARY_HEADERS] = GATE_HEADERS,
                                                              [GATE_VARY_PATH] = GATE_PATH,
                                                              [GATE_VARY_QUERY] = GATE_QUERY };
        for (unsigned v = 0; v < GATE_VARY__COUNT; v++)
                for (unsigned f = 0; f < GATE_FIELD__COUNT; f++) {
                        char first[GATE_ID], second[GATE_ID];
                        struct gate_envelope e = sample();
                        CHECK_INT(gate_template_id(&e, 1u << v, first), 0);
                        e.field[f] = "another";
                        CHECK_INT(gate_template_id(&e, 1u << v, second), 0);
                        bool may = f == of[v] || f == GATE_NONCE || f == GATE_EXPIRES ||
                                   (f == GATE_LENGTH && v == GATE_VARY_BODY);
                        CHECK_INT(strcmp(first, second) == 0, may);
                }
}

static void test_template__what_varies_is_part_of_it(void)
{
        char one[GATE_ID], two[GATE_ID];
        struct gate_envelope e = sample();
        CHECK_INT(gate_template_id(&e, 1u << GATE_VARY_PATH, one), 0);
        CHECK_INT(gate_template_id(&e, 1u << GATE_VARY_PATH | 1u << GATE_VARY_QUERY, two), 0);
        CHECK(strcmp(one, two) != 0);
}

static void test_grant__500_like_requests_take_5_decisions(void)
{
        struct gate_grant g = { 0 };
        unsigned decisions = 0, left = 0;
        for (unsigned i = 0; i < 500; i++) {
                char body[32];
                struct gate_item it = pending();
                struct gate_envelope e = sample();
                (void) snprintf(body, sizeof body, "sha256:%u", i);
                e.field[GATE_BODY] = e.field[GATE_NONCE] = body;
                id_of(&e, it.id);
                CHECK_INT(gate_template_id(&e, 1u << GATE_VARY_BODY, it.template), 0);
                if (gate_grant_use(&g, it.template, now)) {
                        left++;
                        continue;
                }
                struct gate_vote v = yes_to(&it);
                v.scope.uses = GATE_USES_MAX;
                CHECK_INT(gate_vote(&it, &plain, &v), GATE_DECIDED);
                CHECK(gate_grant_of(&it, &g));
                CHECK_INT(gate_use(&it, it.id, now), GATE_CONSUMED);
                decisions++;
                left++;
        }
        CHECK_INT(left, 500);
        CHECK(decisions <= 5);
}

static void test_grant__ends_with_its_uses_its_time_and_its_template(void)
{
        struct gate_item it = approved();
        struct gate_grant g;
        CHECK(!gate_grant_of(&it, &g)); /* once */
        it.scope = (struct gate_scope){ .uses = 1 };
        CHECK(!gate_grant_of(&it, &g));
        it.scope = (struct gate_scope){ .uses = 3 };
        CHECK(gate_grant_of(&it, &g));
        CHECK(!gate_grant_use(&g, "00", now));
        CHECK(gate_grant_use(&g, it.template, now));
        CHECK(gate_grant_use(&g, it.template, now));
        CHECK(!gate_grant_use(&g, it.template, now));
        it.scope = (struct gate_scope){ .until_ms = now + 10 };
        CHECK(gate_grant_of(&it, &g));
        CHECK(gate_grant_use(&g, it.template, now + 9));
        CHECK(!gate_grant_use(&g, it.template, now + 10));
        CHECK(gate_grant_of(&it, &g));
        g.revoked = true;
        CHECK(!gate_grant_use(&g, it.template, now));
        it.state = GATE_DENIED;
        CHECK(!gate_grant_of(&it, &g));
        memset(&g, 0, sizeof g);
        CHECK(!gate_grant_use(&g, "", now));
}

static void test_batch__is_of_one_kind_and_of_twenty(void)
{
        struct gate_batch_row rows[GATE_BATCH_MAX + 1];
        for (unsigned i = 0; i <= GATE_BATCH_MAX; i++)
                rows[i] = (struct gate_batch_row){ "door", "t", false };
        CHECK(gate_batch_fits(rows, GATE_BATCH_MAX));
        CHECK(!gate_batch_fits(rows, GATE_BATCH_MAX + 1));
        CHECK(!gate_batch_fits(rows, 0));
        rows[1].high = true;
        CHECK(!gate_batch_fits(rows, 2));
        rows[1] = (struct gate_batch_row){ "other", "t", false };
        CHECK(!gate_batch_fits(rows, 2));
        rows[1] = (struct gate_batch_row){ "door", "u", false };
        CHECK(!gate_batch_fits(rows, 2));
}

/* ---- what is shown ---- */

static void test_show__nothing_is_out_of_sight(void)
{
        static const struct {
                const char *text, *shown;
        } rows[] = {
                { "a\n\nb\n", "a\n\nb\n" },
                { "a\n\n  \n\n\nb", "a\n  \\{4 blank lines}\nb\n" },
                { "a  \n", "a\n" },
                { "\x1b[2Ja\x07", "\\x1b[2Ja\\x07\n" },
                { "a\xe2\x80\xae"
                  "b",
                  "a\\u{202e}b\n" },
                { "\xe3\x80\x80\xc2\xa0\xe2\xa0\x80", "\\u{3000}\\u{a0}\\u{2800}\n" },
                { "a                                                                         b",
                  "a\\{73 blanks}b\n" },
        };
        for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
                AUTO_BUF(out);
                CHECK_INT(gate_show(span_str(rows[i].text), &out), 0);
                CHECK_STR(buf_str(&out), rows[i].shown);
        }
}

static void test_show__what_fills_many_screens_is_not_shown(void)
{
        AUTO_BUF(text);
        AUTO_BUF(out);
        for (unsigned i = 0; i < GATE_ROWS_MAX; i++)
                buf_puts(&text, "x\n");
        CHECK_INT(gate_show(buf_span(&text), &out), 0);
        buf_puts(&text, "x\n");
        CHECK_INT(gate_show(buf_span(&text), &out), -1);
}

int main(void)
{
        static const struct test_case cases[] = {
                CASE(test_use__every_mutation_after_the_yes_is_refused),
                CASE(test_use__fields_that_swap_their_values_are_another_effect),
                CASE(test_use__a_replay_is_refused_in_every_state),
                CASE(test_envelope__bytes_that_are_not_text_cannot_be_approved),
                CASE(test_envelope__only_its_own_form_is_read),
                CASE(test_states__nothing_leads_back),
                CASE(test_vote__who_may_not_is_refused),
                CASE(test_vote__a_no_needs_nothing),
                CASE(test_vote__two_persons_are_two_and_not_the_requester),
                CASE(test_vote__of_a_face_another_person_approves),
                CASE(test_template__only_declared_fields_vary),
                CASE(test_template__what_varies_is_part_of_it),
                CASE(test_grant__500_like_requests_take_5_decisions),
                CASE(test_grant__ends_with_its_uses_its_time_and_its_template),
                CASE(test_batch__is_of_one_kind_and_of_twenty),
                CASE(test_show__nothing_is_out_of_sight),
                CASE(test_show__what_fills_many_screens_is_not_shown),
        };
        return test_main(cases, sizeof cases / sizeof *cases);
}
