/* SPDX-License-Identifier: MIT */
/* policy/internal.h - shared by the files of this folder. Not included from other folders. */
#pragma once
#include "base/arena.h"
#include "base/date.h"
#include "base/limits.h"
#include "base/str.h"
#include "base/vec.h"
#include "policy/policy.h"

#define COUNT(a) (sizeof(a) / sizeof *(a))

/* ---- policy_fail.c ---- */
/* "FILE:LINE:COL: sentence", or "--flag: sentence" when line is 0. Returns -1. */
int fail_at(struct err *e, const struct source_place *at, const char *fmt, ...)
        __attribute__((format(printf, 3, 4)));
int fail_memory(struct err *e);
/* A token made inert and cut for a message. */
struct shown {
        char text[100];
};
struct shown show_text(const char *s);
/* Adds the hint 'did you mean "X"?' when a word of the list is near enough. */
/* "did you mean ...?", of `count` words, or of rows that begin with one. */
#define hint_nearest(e, wrong, rows, count) hint_nearest_row(e, wrong, rows, count, sizeof *(rows))
void hint_nearest_row(struct err *e, const char *wrong, const void *rows, size_t count, size_t size);

/* ---- lex.c ---- */
struct token {
        char *text;
        struct source_place at;
        bool quoted;   /* "in quotes": never a keyword, never a pattern */
        bool optional; /* a quoted token followed by ? */
};
struct tokens {
        struct token *v;
        size_t n, cap;
};
struct lexer {
        struct arena *mem;
        const char *file;
        struct tokens *out;
        struct err *e;
};
/* One line without its newline; `from` is the position of its first character. */
int lex_line(const struct lexer *x, struct span line, struct source_place from);
/* No control, no direction mark, no invisible character, valid UTF-8. */
int lex_check(const struct lexer *x, struct span line, struct source_place from);
int tokens_add(struct tokens *t, const struct token *k);

/* ---- written.c: struct policy ---- */
struct use_line {
        char *name;
        const char *pin; /* SHA-256 of the used text, in hex; NULL: not pinned */
        struct source_place at;
};
struct unpinned_use { /* an own policy that may change unnoticed */
        const char *name;
        char digest[65];
        struct source_place at;
};
struct expect_line {
        enum answer want;
        struct token *tok; /* the effect's tokens */
        size_t n;
        struct source_place at;
};
struct text_line {  /* box, doc */
        char *text; /* NULL: not stated */
        struct source_place at;
};
struct wall_line {
        bool stated;
        enum wall_kind kind;
        unsigned without;
        struct source_place at;
};
struct policy {
        struct arena mem;
        struct door *doors; /* paths as written: expanded by gather.c */
        size_t n_doors, cap_doors;
        struct use_line *uses;
        size_t n_uses, cap_uses;
        struct expect_line *expects;
        size_t n_expects, cap_expects;
        struct text_line box, doc, root;
        struct text_line warm[WARM__COUNT]; /* canonical: "python3 import json" */
        struct wall_line wall;
        unsigned local;
        struct source_place local_at; /* of the first line */
        unsigned rules;               /* POLICY_RULE_* */
        struct policy_limits limits;
        struct source_place limit_at[LIMIT_KEY__COUNT];
        const char *file; /* the first that something came from; NULL: all of it came from flags */
};
/* A file's name for positions in it, inert; NULL: out of memory. */
char *policy_file_name(struct policy *p, const char *file);
/* Moves everything of `from` into `p`, or nothing. */
int policy_absorb(struct policy *p, struct policy *from, struct err *e);

/* ---- reader.c ---- */
struct reader { /* one line being read */
        struct policy *p;
        const struct policy_word_help *word; /* its row of the table */
        const struct token *tok;
        size_t n, i;
        struct source_place at; /* of the word */
        int64_t until;
        struct door_ask ask;
        struct door_flow flow;
        struct err *e;
};
const struct token *reader_next(struct reader *r);                   /* NULL: no more */
const struct token *reader_need(struct reader *r, const char *what); /* NULL with *e set: no more */
int fail_missing(struct reader *r, const char *what);                /* -1; the hint is the word's synopsis */
bool token_is(const struct token *t, const char *keyword);           /* unquoted */
struct door *reader_door(struct reader *r, enum door_kind kind, const struct token *at);
int reader_end(struct reader *r);

/* ---- gate_words.c: `ask [labelled] [first] [by N of GROUP] [within TIME] [vary FIELD...]` ---- */
int ask_read(struct reader *r); /* takes it off the end of a door line */
void ask_show(const struct door_ask *a, struct buf *out);
/* Its clauses, each as text: at most ASK_CLAUSES. Returns how many. */
enum { ASK_CLAUSES = 5 };
size_t ask_clauses(const struct door_ask *a, struct buf out[ASK_CLAUSES]);
bool ask_same(const struct door_ask *a, const struct door_ask *b);
/* Is everything that a door with `d` lets through also let through with `s`? */
bool ask_covers(const struct door_ask *s, const struct door_ask *d);

/* ---- flow_words.c: `label LABEL...`, `accepts LABEL...`, `declassify TAG...`, `endorse [BITS]` ---- */
int flow_read(struct reader *r); /* takes them out of a door line */
void flow_show(const struct door_flow *f, struct buf *out);
bool flow_same(const struct door_flow *a, const struct door_flow *b);
/* Is everything that a door with `d` lets pass also let pass with `s`? */
/* flow_plan.c: may a run with this label send through a `net` door, by the method that does most? */
struct policy_flow flow_answer(const struct checked_policy *c, const struct door *d, const struct label *l);
/* Does a run with this label send nothing through the door, with whatever method? */
bool flow_closed(const struct checked_policy *c, const struct door *d, const struct label *l);
const char *policy_rule_name(unsigned bit); /* of POLICY_RULE_*; NULL: no such bit */
bool flow_covers(const struct door_flow *s, const struct door_flow *d);

/* ---- words.c; tok[0] is the word ---- */
int words_read(struct policy *p, const struct token *tok, size_t n, struct err *e);

/* ---- door_lines.c, net_line.c: handlers of the word table ---- */
int line_box(struct reader *r);
int line_root(struct reader *r);
int line_warm(struct reader *r); /* warm_line.c */
int line_doc(struct reader *r);
int line_use(struct reader *r);
int line_read(struct reader *r);
int line_edit(struct reader *r);
int line_write(struct reader *r);
int line_run(struct reader *r);
int line_env(struct reader *r);
int line_net(struct reader *r);
/* door_lines.c: what follows `max` and `as`. */
int door_read_max(struct reader *r, struct door *d);
int door_read_type(struct reader *r, struct door *d);
int line_sock(struct reader *r);
int line_sign(struct reader *r);
int line_decrypt(struct reader *r);
int line_dev(struct reader *r);
int line_gpu(struct reader *r);
int line_listen(struct reader *r);
int line_tool(struct reader *r);
int line_in(struct reader *r);
int line_out(struct reader *r);
int line_stdout(struct reader *r);
int line_stderr(struct reader *r);
int line_limit(struct reader *r);
int line_wall(struct reader *r);
int line_local(struct reader *r);
int line_rule(struct reader *r);
int line_expect(struct reader *r);

/* ---- json_in.c ---- */
int json_read_policy(struct policy *p, const char *file, struct span text, struct err *e);

/* ---- path.c ---- */
struct scope { /* the inputs of expansion */
        const struct policy_context *ctx;
        struct arena *mem;
        struct err *e;
};
/* Takes a trailing ? off; refuses patterns and emptiness. */
int path_token(const struct token *t, struct arena *mem, char **ret_raw, bool *ret_optional, struct err *e);
/* {root}, ~ and relative paths made absolute and clean. Returns NULL on error with *e set. */
/* session_sockets.c. 1: `sock wayland` or the like, at *ret_path; 0: another door; -1: it is nowhere. */
int session_socket(const struct scope *s, const struct door *raw, char **ret_path);
char *path_expand(const struct scope *s, const struct source_place *at, const char *raw);
char *path_program(const struct scope *s, const struct source_place *at, const char *raw);
bool path_in_box_tmp(const char *raw);                  /* {tmp} or below */
bool path_inside(const char *dir, const char *path);    /* equal or below */
bool path_has_part(const char *path, const char *part); /* "a/b", as whole components */
char *path_roots_in_text(const struct scope *s, const struct source_place *at, const char *text);

/* ---- host_name.c, url.c ---- */
struct host_why {
        const char *what, *hint;
};
enum { HOST_MAX = 253 };
struct host_name {
        char text[HOST_MAX + 3];
        bool is_address, wildcard;
};
/* puny.c: is the text after xn--, in lower case, valid Punycode for a name? */
bool puny_valid(struct span label);
/* The canonical form of a host name or address. Returns -1 with the reason if it is invalid. */
int host_parse(struct span raw, struct host_name *ret_host, struct host_why *why);
/* The canonical form of a URL path; `ret_path` holds at least raw.n + 1 bytes. */
int url_path_parse(struct span raw, char *ret_path, bool *ret_tail, struct host_why *why);
enum {
        NET_IN_EFFECT = 1,    /* one concrete request: no wildcard, no tail */
        NET_AS_WEBSOCKET = 2, /* wss:// and ws:// are https:// and http:// with the method WEBSOCKET */
};
bool net_is_websocket(const struct token *t); /* such a URL: the method is the caller's to add */
int net_dest_parse(struct arena *mem, const struct token *t, unsigned flags, struct net_dest *ret,
                   struct err *e);
/* net_methods.c: between these two calls each method of the line is read. `websocket`: the destination if it
 * is a wss:// or ws:// URL. */
int net_begin_methods(struct reader *r, struct net_dest *d);
int net_read_method(struct reader *r, struct net_dest *d, const struct token *t);
int net_end_methods(struct reader *r, struct net_dest *d, const struct token *websocket);
bool net_method_known(const char *method);
bool net_method_unnamed(const char *method); /* does a door that names no method cover it? */
/* cover_net.c: is everything that `d` grants by this method granted by `s`? NULL: by any method. */
bool net_covers(const struct net_dest *s, const struct net_dest *d, const char *method);
char *net_cap_text(const struct net_dest *d, enum net_cap c, char buf[NET_CAP_TEXT]); /* as in a line */
const char *net_reach_word(unsigned reach);                                           /* NULL: not stated */
const char *net_touch_word(unsigned touch);
void net_print(const struct net_dest *d, struct buf *out); /* the destination alone */

/* ---- places_file.c ---- */
char *place_name(const struct policy_places *p, size_t index); /* as policy_place_name() */
struct label place_label(const struct policy_places *p, const char *place);

/* ---- staged.c: the places that doors name ---- */
void staged_text(const struct checked_policy *c, const struct policy_staged *s, struct buf *out);
void staged_json(const struct checked_policy *c, const struct policy_staged *s, struct buf *out);

/* ---- bound_type.c: what follows NAME= ---- */
struct bound_in { /* one word being read */
        struct reader *r;
        const struct token *t;
        struct net_bound *b;
};
int bound_refuse(const struct bound_in *x, const char *what, const char *hint); /* -1 */
int bound_read_type(const struct bound_in *x, const char *text);
void bound_print(const struct net_bound *b, struct buf *out);             /* as one word, never quoted */
void bound_number(const struct net_bound *b, int64_t v, struct buf *out); /* an end of its range */

/* ---- bound.c: `where` ---- */
enum { BOUNDS_MAX = 32, BOUND_TEXT_MAX = 65536 };
int bounds_read(struct reader *r, struct net_dest *d); /* the tokens after `where` */
int bounds_copy(const struct scope *s, struct net_dest *to, const struct net_dest *from);
void bounds_show(const struct net_dest *d, struct buf *out); /* " where a=int:1..5 only", or empty */
/* "in body" if this bound is the last one with that position, else NULL. */
const char *bounds_place_ends(const struct net_dest *d, size_t i);
void bounds_sort(struct net_bound *b, size_t n);
int bounds_order(const struct net_dest *a, const struct net_dest *b);
/* Is every request that `d` permits permitted by `s`, as far as parameters go? */
bool bounds_cover(const struct net_dest *s, const struct net_dest *d);
bool bound_name_ok(const char *name);

/* ---- bound_judge.c ---- */
enum fault_kind {
        FAULT_NONE = 0,
        FAULT_UNREAD,
        FAULT_SPELLED, /* another spelling of the name */
        FAULT_NEST,    /* it lies in the other, or the other in it */
        FAULT_TWICE,
        FAULT_PLACE, /* in the query and not in the body, or the other way round */
        FAULT_MISSING,
        FAULT_TYPE,  /* not a value of that type at all */
        FAULT_VALUE, /* of the type, and not permitted */
        FAULT_COUNT, /* a list with too many items */
        FAULT_EXTRA, /* `only` */
};
struct fault {
        enum fault_kind kind;
        const struct net_bound *bound; /* NULL: EXTRA */
        const struct param *param;     /* NULL: MISSING, UNREAD */
};
struct fault bounds_judge(const struct net_dest *d, const struct params *p);

/* ---- param_value.c ---- */
int param_int(const char *text, int64_t *ret_value); /* plain decimal: no sign but -, nothing left over */
/* The same with at most 4 digits after a point and 11 before it: as many as every server's numbers hold. */
int param_num(const char *text, int64_t *ret_units);
bool param_is_text(const char *text);  /* UTF-8 without controls */
bool param_is_lines(const char *text); /* the same, but for tabs and line ends */

/* ---- bound_words.c ---- */
void bound_in_words(const struct net_bound *b, struct buf *out); /* "1 to 5000" */
/* The `where` of a door, widened as little as possible so that these parameters pass; false: no `where`
 * can. */
bool bounds_widened(const struct net_dest *d, const struct params *p, struct buf *out);

/* ---- param_fold.c ---- */
char *param_fold(struct arena *mem, const char *name); /* NULL: out of memory */
bool param_fold_same(const char *a, const char *b);    /* equal names for at least one server */
bool param_fold_inside(const char *outer, const char *inner);

/* ---- tables (policy_names.c) ---- */
struct limit_row {
        const char *name;
        enum { UNIT_MS, UNIT_BYTES, UNIT_COUNT, UNIT_PER_HOUR } unit;
        uint64_t fallback; /* the finite default */
        uint64_t most;
};
const struct limit_row *limit_row(enum limit_key k);
int limit_key_find(const char *name, enum limit_key *ret_key);
char *limit_print(enum limit_key k, uint64_t value, char buf[32]);
int wall_kind_find(const char *name, enum wall_kind *ret_kind);
void policy_put_type(const struct door *d, struct buf *out); /* "json(/etc/a.schema)" */
int handle_type_find(const char *name, enum handle_type *ret_type);
struct without_row {
        const char *name;
        unsigned bit;
};
const struct without_row *without_rows(size_t *ret_count);

/* ---- builtin.c: files that every box has; data for both evaluators ---- */
struct builtin_file {
        const char *path;
        bool tree, writable;
        bool process; /* also behind the process wall, which shows the host's view */
        const char *name;
        unsigned local; /* LOCAL_*: only if the policy opens that; or 0 */
};
const struct builtin_file *builtin_files(size_t *ret_count);
const char *const *builtin_vars(size_t *ret_count);
/* The door that opens effects of this kind; DOOR_NONE: none does. */
enum door_kind builtin_door_of(enum effect_kind kind);
const char *const *builtin_bin_dirs(size_t *ret_count); /* the directories searched for a bare program name */
extern const char builtin_var_name[];

/* ---- checked ---- */
struct door_set { /* sorted by door_order: one kind is one range, sorted by its key */
        struct door *v;
        size_t n, cap;
        size_t start[DOOR_KIND__COUNT + 1];
};
struct checked_policy {
        struct arena mem;
        char *work, *home; /* the host's: a path below them means the host's file, even if /tmp is the box's
                              own */
        struct door_set live, closed;
        struct text_line box, doc, root; /* root: the path of an image, or its name; text NULL: none */
        struct text_line warm[WARM__COUNT];
        struct policy_limits limits;
        enum wall_kind wall;
        unsigned without;
        unsigned local, local_own; /* local_own: those that an own line states */
        struct source_place local_at;
        unsigned rules; /* POLICY_RULE_* */
        bool narrowed;  /* own `run` lines narrowed what a stock policy starts */
        char **expects; /* canonical lines of the policy's own, in order */
        size_t n_expects, cap_expects;
        struct unpinned_use *unpinned;
        size_t n_unpinned, cap_unpinned;
        struct policy_note *notes;
        size_t n_notes, cap_notes;
        char digest[65]; /* "": not asked for yet */
};
struct gather { /* one check under way */
        struct scope scope;
        struct checked_policy *c;
        const char *last_file; /* the newest name copied into c */
        const char **seen;     /* names of `use` that are in already */
        size_t n_seen, cap_seen;
        bool nested; /* only doors are wanted */
};
struct use_chain {
        const struct use_chain *up;
        const char *name;
        unsigned depth;
};
/* use.c: the doors of p and of all it uses, into g->c. */
int gather_policy(struct gather *g, const struct policy *p, bool stock, const struct use_chain *chain);
/* gather.c: raw door -> checked door. 1: it opens nothing new and is left out. */
int gather_door(struct gather *g, const struct door *raw, bool stock);
/* use.c: own `run` lines narrow what a stock policy starts by default. Before the doors are sealed. */
int gather_narrow(struct gather *g);
struct decision tool_decide(const struct checked_policy *c, const struct effect *f);
/* expects.c */
int check_expects(struct checked_policy *c, const struct policy *p, const struct scope *s, bool keep);

/* ---- door_order.c ---- */
const char *door_key(const struct door *d);
int door_set_add(struct door_set *s, const struct door *d, struct err *e);
/* Sorts, merges doors of equal power, builds the ranges; refuses contradictions. */
int door_set_seal(struct door_set *s, struct err *e);
/* The doors of one kind whose key is exactly `key`: [*ret_lo, *ret_hi). Only of a sealed set. */
bool door_set_find(const struct door_set *s, enum door_kind kind, struct span key, size_t *ret_lo,
                   size_t *ret_hi);
/* The position of the first door of a kind whose key is `key`, starts with it or sorts after it. */
size_t door_set_from(const struct door_set *s, enum door_kind kind, struct span key);

/* ---- effect.c ---- */
int effect_from_tokens(const struct scope *s, const struct token *tok, size_t n, struct effect *ret_effect);
void effect_print(const struct effect *f, struct buf *out);

/* ---- token.c ---- */
bool name_ok(const char *s, const char *extra);     /* letters, digits and `extra`, 1..NAME_MAX_BYTES-1 */
void show_token(struct buf *out, const char *text); /* quoted if necessary */

/* ---- policy_show.c ---- */
void show_door(const struct door *d, struct buf *out); /* one door line, no newline */

/* ---- cover.c: is what a door grants granted by a set of doors? ---- */
bool cover_door(const struct checked_policy *c, const struct door *d, const struct door *skip);

/* ---- lint.c, lint_note.c ---- */
struct lint_view {
        struct checked_policy *c;
        const struct policy *p;
        const struct policy_context *ctx;
        char work[PATH_MAX_BYTES], home[PATH_MAX_BYTES];
        struct err *e;
        int result;
        const char *what;            /* a word of the next note */
        char detail[PATH_MAX_BYTES]; /* its text, if it is of the host */
};
/* lint_files.c: what a client of this socket can do: "X11: it sees ..."; NULL: not known. */
const char *socket_danger(const char *path);
int lint_run(struct checked_policy *c, const struct policy *p, const struct policy_context *ctx,
             struct err *e);
/* Adds one note. */
struct lint_row;
void lint_note(struct lint_view *v, const struct lint_row *row, const struct source_place *at,
               const char *fmt, ...) __attribute__((format(printf, 4, 5)));

/* ---- stock_agents.c: texts of `agent/NAME` ---- */
extern const char policy_agent_aider[], policy_agent_claude[], policy_agent_cline[], policy_agent_codex[],
        policy_agent_crush[], policy_agent_gemini[], policy_agent_goose[], policy_agent_opencode[],
        policy_agent_other[], policy_agent_pi[], policy_agent_qwen[];
