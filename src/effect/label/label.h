/* SPDX-License-Identifier: MIT */
/* effect/label/label.h - information flow: what data may meet, and where it may go. Pure.
 *
 *   label      secrecy: a set of tags (`private:repo`); integrity: one bit, `untrusted`
 *   join       of what a run, a session or a file has received: union, or
 *   sink       a door that leads out, with what it accepts
 *   decision   may a subject with this label send through that sink? Yes, only with a person, or no
 *   capacity   how many bits an output of a given JSON Schema can carry: an endorsement is paid in bits
 */
#pragma once
#include "base/buf.h"
#include "base/span.h"

enum {
        LABEL_TAGS_MAX = 16,
        LABEL_NAME_MAX = 32,  /* bytes of one tag's name, with its NUL */
        LABEL_TEXT_MAX = 704, /* of label_text(), with its NUL */
        LABEL_BITS_MAX = 4096,
        LABEL_BITS_DEFAULT = 8,
};

/* Zero: public and trusted. */
struct label {
        bool untrusted;
        bool all; /* more tags than fit, or unreadable: no sink accepts it */
        uint8_t count;
        char tag[LABEL_TAGS_MAX][LABEL_NAME_MAX]; /* sorted, without "private:" */
};

/* ---- label.c ---- */

/* "untrusted", "private:NAME". Returns false if `word` is neither. */
bool label_add(struct label *l, struct span word);
/* Words between spaces. Returns 0, or -1 if one is not a label; *ret is untouched then. */
int label_parse(struct span text, struct label *ret);
/* The canonical text: sorted tags, then `untrusted`; "" if empty. Returns buf. */
const char *label_text(const struct label *l, char buf[LABEL_TEXT_MAX]);
/* The label in place of a broken one: everything that is bad. */
struct label label_worst(void);
/* As label_parse(), but a broken text is the worst label. NULL: empty. */
struct label label_of(const char *text);
void label_join(struct label *l, const struct label *with);
/* Takes away the tags of `what`, and `untrusted` if it has it. */
void label_drop(struct label *l, const struct label *what);
bool label_is_empty(const struct label *l);
bool label_has_secrecy(const struct label *l);
/* Are all tags of `l` among those of `in`? `untrusted` is not compared. */
bool label_secrecy_within(const struct label *l, const struct label *in);
bool label_within(const struct label *l, const struct label *in); /* the same with `untrusted` */
bool label_equal(const struct label *a, const struct label *b);

/* ---- label_decide.c ---- */

enum label_verdict { LABEL_DENY = 0, LABEL_ASK, LABEL_ALLOW };
enum label_why {
        LABEL_FINE = 0,
        LABEL_SECRECY,    /* a tag that the sink does not accept */
        LABEL_TRIFECTA,   /* ... in a subject that read foreign text */
        LABEL_ACTION,     /* a subject that read foreign text acts */
        LABEL_DECLASSIFY, /* a tag that the sink accepts if a person approves */
        LABEL_WHY__COUNT
};
struct label_sink {
        struct label source;     /* what the same door gives: it may get it back, unless it acts */
        struct label accepts;    /* without a question */
        struct label declassify; /* with one */
        bool acts;               /* it changes something beyond the box, for real */
        bool two;                /* `rule two`: of private data, foreign text and a way out, two may meet */
};
struct label_answer {
        enum label_verdict verdict;
        enum label_why why;
};
struct label_answer label_decide(const struct label *l, const struct label_sink *s);

/* ---- label_capacity.c ---- */

/* The most bits that a valid value of this JSON Schema carries; -1: no bound is known (free text, numbers
 * without limits, references, anything not understood). */
struct json;
int label_capacity(const struct json *schema);
