/* SPDX-License-Identifier: MIT */
/* broker/signer/assuan.c - see assuan.h. A table of commands; one that is not in it is refused and reported.
 */
#include "broker/signer/assuan.h"
#include "base/str.h"

#include <ctype.h>
#include <string.h>

#define OK        "OK\n"
#define NO_KEY    "ERR 67108881 No secret key <GPG Agent>\n"
#define FORBIDDEN "ERR 67109115 Not permitted by the box's policy <GPG Agent>\n"
#define WRONG     "ERR 67109144 IPC parameter error <GPG Agent>\n"

struct call {
        struct assuan_client *c;
        struct span args;
        const struct assuan_keys *keys;
        struct buf *out;
        const char *what;
};

static enum assuan_request answer_call(const struct call *k, const char *text)
{
        buf_puts(k->out, text);
        return ASSUAN_ANSWERED;
}

static enum assuan_request deny_call(struct call *k, const char *what)
{
        k->what = what;
        buf_puts(k->out, FORBIDDEN);
        return ASSUAN_DENIED;
}

/* ---- arguments ---- */

static bool is_hex(struct span s)
{
        for (size_t i = 0; i < s.n; i++)
                if (!isxdigit(s.p[i]))
                        return false;
        return s.n > 0;
}

/* In capitals, as doors write it. */
static bool take_grip(struct span s, char ret[GRIP_HEX + 1])
{
        if (s.n != GRIP_HEX || !is_hex(s))
                return false;
        for (size_t i = 0; i < GRIP_HEX; i++)
                ret[i] = (char) toupper(s.p[i]);
        ret[GRIP_HEX] = '\0';
        return true;
}

static bool is_known(const struct call *k, const char *grip)
{
        return k->keys->permitted(k->keys->ctx, grip, false) || k->keys->permitted(k->keys->ctx, grip, true);
}

/* ---- commands ---- */

static enum assuan_request call_nothing(struct call *k) { return answer_call(k, OK); }

static enum assuan_request call_bye(struct call *k)
{
        buf_puts(k->out, "OK closing connection\n");
        return ASSUAN_BYE;
}

static enum assuan_request call_reset(struct call *k)
{
        assuan_client_done(k->c);
        return answer_call(k, OK);
}

/* gpg asks for the version, and whether the agent is restricted; nothing else is a box's concern. */
static enum assuan_request call_getinfo(struct call *k)
{
        struct span what = str_word(&k->args);
        if (span_is(what, "version"))
                return answer_call(k, "D 2.2.40\n" OK);
        if (span_is(what, "restricted"))
                return answer_call(k, OK);
        return answer_call(k, WRONG);
}

static void put_list(const struct call *k)
{
        const char *grip;
        static const char hex[] = "0123456789ABCDEF";
        buf_puts(k->out, "D ");
        for (size_t i = 0; (grip = k->keys->at(k->keys->ctx, i)); i++)
                for (size_t at = 0; at < GRIP_HEX; at += 2) {
                        const char *high = strchr(hex, grip[at]), *low = strchr(hex, grip[at + 1]);
                        buf_printf(k->out, "%%%02X", (unsigned) ((high - hex) << 4 | (low - hex)));
                }
        buf_puts(k->out, "\n" OK);
}

static enum assuan_request call_havekey(struct call *k)
{
        char grip[GRIP_HEX + 1];
        struct span word = str_word(&k->args);
        if (span_starts(word, "--list")) {
                put_list(k);
                return ASSUAN_ANSWERED;
        }

        for (; word.n; word = str_word(&k->args))
                if (take_grip(word, grip) && is_known(k, grip))
                        return answer_call(k, OK);
        return answer_call(k, NO_KEY);
}

static void put_info(const struct call *k, const char *grip)
{
        buf_printf(k->out, "S KEYINFO %s D - - - P - - -\n", grip);
}

static enum assuan_request call_keyinfo(struct call *k)
{
        char grip[GRIP_HEX + 1];
        const char *one;
        bool list = false;
        for (struct span word; (word = str_word(&k->args)).n;) {
                if (span_starts(word, "--list")) {
                        list = true;
                } else if (!span_starts(word, "--")) {
                        if (!take_grip(word, grip) || !is_known(k, grip))
                                return answer_call(k, NO_KEY);
                        put_info(k, grip);
                        return answer_call(k, OK);
                }
        }

        for (size_t i = 0; list && (one = k->keys->at(k->keys->ctx, i)); i++)
                put_info(k, one);
        return answer_call(k, list ? OK : WRONG);
}

/* Which key, checked when it is used. */
static enum assuan_request call_key(struct call *k)
{
        char grip[GRIP_HEX + 1];
        if (!take_grip(str_word(&k->args), grip))
                return answer_call(k, WRONG);
        if (!is_known(k, grip))
                return answer_call(k, NO_KEY);
        memcpy(k->c->key, grip, sizeof grip);
        return answer_call(k, OK);
}

static const struct {
        const char *name;
        size_t bytes;
} algorithms[] = {
        { "2", 20 },  { "--hash=sha1", 20 },   { "3", 20 },  { "--hash=rmd160", 20 },
        { "8", 32 },  { "--hash=sha224", 28 }, { "9", 48 },  { "--hash=sha256", 32 },
        { "10", 64 }, { "--hash=sha384", 48 }, { "11", 28 }, { "--hash=sha512", 64 },
};

static enum assuan_request call_sethash(struct call *k)
{
        struct span algorithm = str_word(&k->args), hash = str_word(&k->args);
        for (size_t i = 0; i < sizeof algorithms / sizeof *algorithms; i++) {
                if (!span_is(algorithm, algorithms[i].name) || hash.n != 2 * algorithms[i].bytes ||
                    !is_hex(hash) || str_word(&k->args).n)
                        continue;
                memcpy(k->c->algorithm, algorithms[i].name, strlen(algorithms[i].name) + 1);
                memcpy(k->c->hash, hash.p, hash.n);
                k->c->hash[hash.n] = '\0';
                return answer_call(k, OK);
        }
        return answer_call(k, WRONG);
}

static enum assuan_request call_pksign(struct call *k)
{
        if (!k->c->key[0] || !k->c->hash[0])
                return answer_call(k, WRONG);
        return k->keys->permitted(k->keys->ctx, k->c->key, false) ? ASSUAN_SIGN
                                                                  : deny_call(k, "sign with a key");
}

static enum assuan_request call_pkdecrypt(struct call *k)
{
        if (!k->c->key[0])
                return answer_call(k, WRONG);
        if (!k->keys->permitted(k->keys->ctx, k->c->key, true))
                return deny_call(k, "decrypt with a key");
        buf_done(&k->c->cipher);
        k->c->inquires = true;
        buf_puts(k->out, "S INQUIRE_MAXLEN 4096\nINQUIRE CIPHERTEXT\n");
        return ASSUAN_ANSWERED;
}

static enum assuan_request call_readkey(struct call *k)
{
        char grip[GRIP_HEX + 1];
        struct span word = str_word(&k->args);
        if (span_is(word, "--"))
                word = str_word(&k->args);
        if (!take_grip(word, grip) || !is_known(k, grip))
                return answer_call(k, NO_KEY);
        memcpy(k->c->key, grip, sizeof grip);
        return ASSUAN_READ_KEY;
}

/* No smart card: gpg asks for one before it signs, and goes on without. */
static enum assuan_request call_no_card(struct call *k)
{
        return answer_call(k, "ERR 67108983 No SmartCard daemon <GPG Agent>\n");
}

static const struct {
        const char *name;
        enum assuan_request (*serve)(struct call *k);
        const char *denied; /* what it would do */
} commands[] = {
        { "NOP", call_nothing, NULL },
        { "OPTION", call_nothing, NULL }, /* terminals and locales of the box concern no pinentry outside */
        { "SETKEYDESC", call_nothing, NULL }, /* what a person reads is ours to write */
        { "BYE", call_bye, NULL },
        { "RESET", call_reset, NULL },
        { "GETINFO", call_getinfo, NULL },
        { "HAVEKEY", call_havekey, NULL },
        { "KEYINFO", call_keyinfo, NULL },
        { "SIGKEY", call_key, NULL },
        { "SETKEY", call_key, NULL },
        { "SETHASH", call_sethash, NULL },
        { "PKSIGN", call_pksign, NULL },
        { "PKDECRYPT", call_pkdecrypt, NULL },
        { "READKEY", call_readkey, NULL },
        { "SCD", call_no_card, NULL },
        { "GENKEY", NULL, "make a key" },
        { "IMPORT_KEY", NULL, "import a key" },
        { "EXPORT_KEY", NULL, "export a key" },
        { "KEYWRAP_KEY", NULL, "export a key" },
        { "DELETE_KEY", NULL, "delete a key" },
        { "PASSWD", NULL, "change a passphrase" },
        { "PRESET_PASSPHRASE", NULL, "store a passphrase" },
        { "GET_PASSPHRASE", NULL, "ask the person for a passphrase" },
        { "CLEAR_PASSPHRASE", NULL, "forget a passphrase" },
        { "GET_CONFIRMATION", NULL, "ask the person for a confirmation" },
        { "PUTVAL", NULL, "store a value" },
        { "GETVAL", NULL, "read a stored value" },
        { "UPDATESTARTUPTTY", NULL, "change the agent's terminal" },
        { "KILLAGENT", NULL, "end the agent" },
        { "RELOADAGENT", NULL, "make the agent read its configuration" },
};

static bool same_name(struct span word, const char *name)
{
        if (word.n != strlen(name))
                return false;
        for (size_t i = 0; i < word.n; i++)
                if (toupper(word.p[i]) != name[i])
                        return false;
        return true;
}

static enum assuan_request take_cipher(struct assuan_client *c, struct span line, struct buf *out)
{
        if (span_starts(line, "D ") && c->cipher.n + line.n <= CIPHER_MAX) {
                buf_add(&c->cipher, line.p, line.n);
                buf_putc(&c->cipher, '\n');
                return ASSUAN_ANSWERED;
        }

        c->inquires = false;
        if (span_is(line, "END") && !c->cipher.failed)
                return ASSUAN_DECRYPT;
        buf_puts(out, WRONG);
        return ASSUAN_ANSWERED;
}

enum assuan_request assuan_read(struct assuan_client *c, struct span line, const struct assuan_keys *keys,
                                struct buf *out, const char **ret_what)
{
        struct call k = { .c = c, .args = line, .keys = keys, .out = out };
        if (c->inquires)
                return take_cipher(c, line, out); /* binary: any byte but a newline */

        if (line.n && line.p[line.n - 1] == '\r')
                line.n--;
        if (memchr(line.p, '\0', line.n)) {
                buf_puts(out, WRONG);
                return ASSUAN_BYE;
        }

        k.args = line;
        struct span word = str_word(&k.args);
        if (word.n == 0 || word.p[0] == '#')
                return ASSUAN_ANSWERED;

        enum assuan_request r = ASSUAN_DENIED;
        k.what = "use a command that the box has no door for";
        size_t i = 0;
        while (i < sizeof commands / sizeof *commands && !same_name(word, commands[i].name))
                i++;
        if (i == sizeof commands / sizeof *commands || !commands[i].serve)
                r = deny_call(&k, i < sizeof commands / sizeof *commands ? commands[i].denied : k.what);
        else
                r = commands[i].serve(&k);
        *ret_what = k.what;
        return r;
}

void assuan_client_done(struct assuan_client *c)
{
        buf_done(&c->cipher);
        *c = (struct assuan_client){ 0 };
}

void assuan_put_escaped(struct buf *out, const char *text)
{
        for (const char *s = text; *s; s++)
                if (isalnum((unsigned char) *s) || strchr("-_.:", *s))
                        buf_putc(out, *s);
                else
                        buf_printf(out, "%%%02X", (unsigned char) *s);
}
