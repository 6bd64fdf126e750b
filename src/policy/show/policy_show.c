/* SPDX-License-Identifier: MIT */
/* policy/show/policy_show.c - a checked policy as door lines that parse to the same policy. */
#include "policy/internal.h"

static void show_path(const struct door *d, struct buf *out)
{
        if (d->kind == DOOR_RUN && strcmp(d->path, "*") == 0)
                buf_puts(out, "any");
        else if (d->directory) {
                AUTO_BUF(tree);
                buf_printf(&tree, "%s/", d->path);
                out->failed = out->failed || tree.failed;
                show_token(out, buf_str(&tree));
        } else
                show_token(out, d->path);

        if (d->optional && strcmp(d->path, "*") != 0)
                buf_putc(out, '?');

        if (d->except)
                buf_puts(out, " except");

        for (char **x = d->except; x && *x; x++) {
                buf_putc(out, ' ');
                show_token(out, *x);
        }
}

static void show_env(const struct door *d, struct buf *out)
{
        AUTO_BUF(pair);
        buf_puts(&pair, d->name);
        if (d->value)
                buf_printf(&pair, "=%s", d->value);
        out->failed = out->failed || pair.failed;
        show_token(out, buf_str(&pair));
}

static void show_net(const struct net_dest *n, struct buf *out)
{
        char cap[NET_CAP_TEXT];
        net_print(n, out);
        for (char **m = n->methods; m && *m; m++)
                buf_printf(out, " %s", *m);

        if (n->credential)
                buf_printf(out, " with %s", n->credential);

        for (unsigned c = 0; c < NET_CAP__COUNT; c++)
                if (n->cap[c])
                        buf_printf(out, " cap %s", net_cap_text(n, c, cap));

        if (n->reach)
                buf_printf(out, " reach %s", net_reach_word(n->reach));

        if (n->touches)
                buf_puts(out, " touches");

        for (unsigned i = 0; i < NET_TOUCH__COUNT; i++)
                if (n->touches & 1u << i)
                        buf_printf(out, " %s", net_touch_word(i));

        bounds_show(n, out);
}

/* "json", "json(/etc/a.schema)". */
void policy_put_type(const struct door *d, struct buf *out)
{
        buf_puts(out, policy_handle_type(d->type));
        if (d->value)
                buf_printf(out, "(%s)", d->value);
}

static void show_handle(const struct door *d, struct buf *out)
{
        char size[32];
        buf_printf(out, "%s max %s", d->name, str_from_size(d->max, size));
        if (d->type == HANDLE_BINARY)
                return;

        AUTO_BUF(type);
        policy_put_type(d, &type);
        out->failed |= type.failed;
        buf_puts(out, " as ");
        policy_put_token(out, buf_str(&type));
}

static void show_answer(const struct door *d, struct buf *out)
{
        char size[32];
        AUTO_BUF(type);
        if (d->type == HANDLE_BINARY)
                return;

        policy_put_type(d, &type);
        buf_puts(out, " as ");
        policy_put_token(out, buf_str(&type));
        buf_printf(out, " max %s", str_from_size(d->max, size));
}

static void show_tool(const struct door *d, struct buf *out)
{
        if (strcmp(d->name, "*") == 0)
                buf_puts(out, "any");
        else
                show_token(out, d->name);

        bounds_show(&d->net, out);
}

static void show_key(const struct door *d, struct buf *out)
{
        policy_put_token(out, d->name);
        if (d->max)
                buf_printf(out, " max %llu", (unsigned long long) d->max);
}

void show_door(const struct door *d, struct buf *out)
{
        char date[32];
        bool stream = d->kind == DOOR_OUT && policy_is_stream(d->name); /* its name is its word */
        const char *gpu = policy_gpu_line(d);
        if (gpu)
                buf_printf(out, "gpu%s%s", gpu[0] ? " " : "", gpu);
        else if (!stream)
                buf_printf(out, "%s ", policy_door_word(d->kind));

        switch (d->kind) {
        case DOOR_READ:
        case DOOR_EDIT:
        case DOOR_WRITE:
        case DOOR_SOCK:
        case DOOR_DEV:
        case DOOR_RUN:
                if (!gpu)
                        show_path(d, out);
                break;
        case DOOR_ENV:
                show_env(d, out);
                break;
        case DOOR_LISTEN:
                buf_printf(out, "%s%s%s", d->name, d->value ? ":" : "", d->value ? d->value : "");
                break;
        case DOOR_SIGN:
        case DOOR_DECRYPT:
                show_key(d, out);
                break;
        case DOOR_TOOL:
                show_tool(d, out);
                break;
        case DOOR_NET:
                show_net(&d->net, out);
                show_answer(d, out);
                break;
        case DOOR_IN:
        case DOOR_OUT:
                show_handle(d, out);
                break;
        case DOOR_NONE:
        case DOOR_KIND__COUNT:
                break;
        }
        flow_show(&d->flow, out);
        ask_show(&d->ask, out);
        if (d->until)
                buf_printf(out, " until %s", date_print(d->until, date));
}

void policy_door_without_end(const struct door *d, struct buf *out, char ret_until[32])
{
        struct door plain = *d;
        plain.until = 0;
        policy_door_line(&plain, out);
        ret_until[0] = '\0';
        if (d->until)
                (void) date_print(d->until, ret_until);
}

static void show_wall(const struct checked_policy *c, struct buf *out)
{
        size_t count;
        const struct without_row *rows = without_rows(&count);
        buf_printf(out, "wall %s", wall_name(c->wall));
        if (c->without)
                buf_puts(out, " without");

        for (size_t i = 0; i < count; i++)
                if (c->without & rows[i].bit)
                        buf_printf(out, " %s", rows[i].name);

        buf_putc(out, '\n');
}

static void show_local(const struct checked_policy *c, struct buf *out)
{
        size_t count;
        const struct policy_local_row *rows = policy_local_rows(&count);
        if (!c->local)
                return;

        buf_puts(out, "local");
        for (size_t i = 0; i < count; i++)
                if (c->local & rows[i].bit)
                        buf_printf(out, " %s", rows[i].name);

        buf_putc(out, '\n');
}

static void show_warm(const struct checked_policy *c, struct buf *out)
{
        for (int i = 0; i < WARM__COUNT; i++)
                if (c->warm[i].text)
                        buf_printf(out, "warm %s\n", c->warm[i].text);
}

/* `use none`: everything that was used is already listed as lines. */
void policy_show(const struct checked_policy *c, struct buf *out)
{
        char value[32];
        buf_puts(out, "box ");
        show_token(out, c->box.text);
        if (c->doc.text[0]) {
                buf_puts(out, "\ndoc ");
                show_token(out, c->doc.text);
        }

        if (c->root.text) {
                buf_puts(out, "\nroot ");
                show_token(out, c->root.text);
        }

        buf_puts(out, "\nuse none\n");
        for (size_t i = 0; i < c->live.n; i++) {
                show_door(&c->live.v[i], out);
                buf_putc(out, '\n');
        }

        for (int k = 0; k < LIMIT_KEY__COUNT; k++)
                if (c->limits.value[k] > 0)
                        buf_printf(out, "limit %s %s%s\n", policy_limit_name((enum limit_key) k),
                                   limit_print((enum limit_key) k, c->limits.value[k], value),
                                   policy_limit_ask(&c->limits, (enum limit_key) k));

        show_local(c, out);
        for (unsigned i = 0; policy_rule_name(i); i++)
                if (c->rules & 1u << i)
                        buf_printf(out, "rule %s\n", policy_rule_name(i));

        show_warm(c, out);
        show_wall(c, out);
        for (size_t i = 0; i < c->n_expects; i++)
                buf_printf(out, "%s\n", c->expects[i]);
}

void policy_limit_line(enum limit_key k, uint64_t value, struct buf *out)
{
        char text[32];
        buf_printf(out, "limit %s %s", policy_limit_name(k), limit_print(k, value, text));
}

void policy_put_token(struct buf *out, const char *text) { show_token(out, text); }

void policy_door_line(const struct door *d, struct buf *out) { show_door(d, out); }
