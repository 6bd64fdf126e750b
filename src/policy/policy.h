/* SPDX-License-Identifier: MIT */
/* policy/policy.h - door lines -> checked policy -> decisions. Pure: no system call, clock, environment or
 * log.
 *
 * Three stages, three types, and no way around them:
 *   struct policy          lines as written (files, flags, JSON), each with its source, line and column
 *   struct checked_policy  roots expanded, `use` resolved, expired doors closed, `expect` lines held. Only
 *                          policy_check() makes one, and only a checked policy can become a plan.
 *   struct decision        what one effect gets, through which door, or which door was nearest
 */
#pragma once
#include "base/buf.h"
#include "base/err.h"
#include "base/span.h"
#include "effect/effect.h"
#include "effect/label/label.h"
#include "wall/kinds/kinds.h"

enum door_kind { /* the door kinds */
                 DOOR_NONE = 0,
                 DOOR_READ,
                 DOOR_EDIT,
                 DOOR_WRITE,
                 DOOR_RUN,
                 DOOR_ENV,
                 DOOR_NET,
                 DOOR_SOCK,
                 DOOR_SIGN,    /* a key of an agent of the caller: signatures, */
                 DOOR_DECRYPT, /* and what was encrypted to it */
                 DOOR_DEV,
                 DOOR_LISTEN,
                 DOOR_TOOL,
                 DOOR_IN,
                 DOOR_OUT,
                 DOOR_KIND__COUNT
};

enum limit_key {
        LIMIT_TIME = 0, /* ms */
        LIMIT_CPU,      /* ms, all processes of the box together */
        LIMIT_MEMORY,   /* bytes */
        LIMIT_PROCS,
        LIMIT_FILES,   /* open descriptors of one process */
        LIMIT_DISK,    /* bytes of private files */
        LIMIT_OUTPUT,  /* bytes of stdout and stderr together */
        LIMIT_EGRESS,  /* bytes that leave */
        LIMIT_INGRESS, /* bytes that come in */
        LIMIT_EFFECTS,
        LIMIT_RATE,  /* of them, those of any hour */
        LIMIT_RENEW, /* how often `time` can be renewed; 0: never. It goes with the time beside it */
        LIMIT_KEY__COUNT
};

/* The content of a handle or a stream. */
enum handle_type {
        HANDLE_BINARY = 0, /* any bytes */
        HANDLE_TEXT,
        HANDLE_JSON,
        HANDLE_IMAGE, /* any of the known types */
        HANDLE_JSONL, /* a JSON value per line */
        HANDLE_CSV,
        HANDLE_PNG,
        HANDLE_JPEG,
        HANDLE_GIF,
        HANDLE_WEBP,
        HANDLE_PDF,
        HANDLE_ZIP,
        HANDLE_GZIP,
        HANDLE_TYPE__COUNT
};
const char *policy_handle_type(enum handle_type t);
/* The `out` doors with these names are the box's own streams: no handle, but what it may print. */
bool policy_is_stream(const char *name); /* "stdout", "stderr" */

/* Features that a policy may give up by name: layers (`wall namespace without landlock`; the others are not
 * optional), and the compiler of the wasm wall, which makes that wall narrower. */
enum {
        WITHOUT_LANDLOCK = 1 << 0,
        WITHOUT_CGROUP = 1 << 1,   /* limits by rlimit and sampling only */
        WITHOUT_COMPILER = 1 << 2, /* modules are interpreted: no memory becomes executable */
        WITHOUT_LAYERS = WITHOUT_LANDLOCK | WITHOUT_CGROUP,
};

/* `local`: facilities that the box's own processes may use among themselves. */
enum {
        LOCAL_LOOPBACK = 1 << 0, /* its own 127.0.0.1 and ::1 */
        LOCAL_UNIX = 1 << 1,     /* Unix sockets that the box itself made */
        LOCAL_PTY = 1 << 2,      /* pseudo-terminals */
        LOCAL_TRACE = 1 << 3,    /* ptrace: debuggers */
        LOCAL_PROC = 1 << 4,     /* /proc/cpuinfo and the like, made for the box */
};

enum net_form { NET_HOST_PORT = 0, NET_URL, NET_PLACE };

/* Facts about a door that only its author knows: whom an effect finally reaches, and what else it moves.
 * They permit nothing. The ledger records them, and such an effect waits for its record. */
enum net_reach { NET_REACH_UNSAID = 0, NET_REACH_SELF, NET_REACH_TENANT, NET_REACH_NAMED, NET_REACH_PUBLIC };
enum net_touch { NET_TOUCH_QUOTA = 0, NET_TOUCH_MONEY, NET_TOUCH_TICKET, NET_TOUCH_PERSON, NET_TOUCH__COUNT };

/* The range of one parameter of a request and its position: `where amount=int:1..5000 in body`. */
enum bound_place { BOUND_ANYWHERE = 0, BOUND_IN_BODY, BOUND_IN_QUERY };
enum bound_type {
        BOUND_NONE = 0,
        BOUND_INT,
        BOUND_NUM, /* a decimal fraction, in units of 1/10000 */
        BOUND_ONE,
        BOUND_TEXT,
        BOUND_LINES, /* a text of several lines */
        BOUND_BOOL,
        BOUND_ABSENT, /* and optional: the parameter must be missing */
        BOUND_TYPE__COUNT
};
enum { BOUND_NUM_WHOLE = 11, BOUND_NUM_AFTER = 4, BOUND_NUM_UNIT = 10000, BOUND_LIST_MAX = 64 };
struct net_bound {
        char *name; /* "amount"; "card.number": a member of a member */
        char *fold; /* names that lenient servers treat as equal: see struct param */
        enum bound_type type;
        enum bound_place place;
        bool optional;       /* NAME?: it may be missing */
        uint8_t list;        /* a list of at most so many of the type; 0: one value */
        int64_t least, most; /* INT NUM; TEXT LINES: bytes at most */
        char **one;          /* ONE: sorted, NULL-terminated */
};

/* `cap 600M`: bytes both ways together; `cap 10M/out`, `cap 1G/in`: one way; `cap 2000/h`: connections and
 * requests of any hour. */
enum net_cap { NET_CAP_BYTES = 0, NET_CAP_OUT, NET_CAP_IN, NET_CAP_HOUR, NET_CAP__COUNT };
enum { NET_CAP_TEXT = 40 };

struct net_dest {
        enum net_form form;
        bool tls;        /* https URL */
        bool wildcard;   /* *.name: one or more labels in front */
        bool is_address; /* a literal address */
        bool path_tail;  /* path ended in double star: everything below */
        uint16_t port;
        char *host;       /* canonical: lower case, A-labels, no trailing dot; or place name; or address */
        char *path;       /* canonical, starts with '/'; NULL: no L7 rule (host:port form) */
        char **methods;   /* NULL-terminated, upper case; NULL: any */
        char *credential; /* `with NAME`, or NULL */
        uint64_t cap[NET_CAP__COUNT]; /* 0: none */
        uint8_t reach;                /* enum net_reach */
        uint8_t touches;              /* `touches money person`: a bit for each enum net_touch */
        struct net_bound *bounds;     /* `where`: sorted by position and name; NULL: values are not checked */
        size_t bound_count;
        bool only; /* ... and any other parameter is denied */
};

struct source_place {
        const char *file; /* "policy.cordon", "--read", "base/python3"; owned by the policy */
        unsigned line;    /* 1-based; 0: a flag */
        unsigned column;
};

/* "FILE:LINE:COL", or just the flag: for the front of a message. Returns buf. */
char *policy_place(const struct source_place *at, char *buf, size_t cap);

/* `ask`: a person must approve each effect through the door before it leaves. */
struct door_ask {
        bool on;
        bool labelled;     /* only if the run's label does not let it pass otherwise */
        bool first;        /* only the first effect of a run: an approval of the door itself */
        uint8_t need;      /* `by N of GROUP`; 0: the user */
        uint8_t vary;      /* a bit for each enum gate_vary that one approval may leave open */
        uint32_t within_s; /* the time to answer */
        char *group;
};
enum { ASK_WITHIN_S = 600, ASK_WITHIN_MAX_S = 24 * 3600 };

/* Information flow (src/effect/label): canonical label texts; NULL: none. */
struct door_flow {
        char *label;      /* of what comes in */
        char *accepts;    /* what may leave without a question, */
        char *declassify; /* and with one */
        uint16_t endorse; /* OUT: bits of a bounded output that may lose `untrusted`; 0: none */
};
enum { POLICY_RULE_TWO = 1 << 0, POLICY_RULE_TOUCH = 1 << 1 }; /* `rule two`, `rule touch` */

/* One granted power: one path, program, variable, destination, socket or handle. */
struct door {
        enum door_kind kind;
        struct source_place at;
        char *path; /* READ EDIT WRITE RUN SOCK DEV: absolute, lexically clean; RUN may be a bare name; "*" is
                     * `run any`;    RUN with a trailing slash is every program below that directory */
        char **except;   /* READ EDIT: absolute sub-paths; NULL-terminated; or NULL */
        bool optional;   /* PATH? */
        bool directory;  /* EDIT WRITE: PATH/, which is made as a directory if it does not exist */
        bool from_stock; /* came in by `use base/...` */
        char *name;      /* ENV: variable; IN OUT: handle; LISTEN: port of the host's loopback; SIGN DECRYPT:
                            AGENT:KEY; TOOL: its name, "*" is `tool any`; `net` then has the bounds of its
                            arguments */
        char *value;  /* ENV NAME=VALUE; NULL: pass the caller's. LISTEN: port in the box; NULL: the same. IN
                         OUT NET: path of its JSON Schema, or NULL */
        uint64_t max; /* IN OUT: bytes; NET: of an answer with a type; SIGN DECRYPT: uses in a run, 0: any */
        bool max_stated;       /* written, not the default */
        enum handle_type type; /* NET: of answers */
        struct net_dest net;
        int64_t until; /* unix seconds; 0: no expiry */
        struct door_ask ask;
        struct door_flow flow;
};

struct policy_limits {
        uint64_t value[LIMIT_KEY__COUNT];
        bool stated[LIMIT_KEY__COUNT]; /* written in the policy, not the default */
        bool renew_asks;               /* `renew N ask`: a person approves each renewal */
};

enum param_kind {
        PARAM_NULL = 0,
        PARAM_TEXT,   /* of a query or a form, which have no types */
        PARAM_STRING, /* the rest is JSON */
        PARAM_INT,
        PARAM_NUMBER, /* not an integer of 64 bits */
        PARAM_BOOL,
        PARAM_ARRAY,
        PARAM_OBJECT, /* an empty one: of another each member is a parameter */
        PARAM_KIND__COUNT
};

/* One parameter of a request. `fold` is the name as the most lenient server could read it: lower case,
 * only letters and digits, a dot between the parts of a.b, a[b] and a.b[0] alike. A parameter that has a
 * bound's fold but not its name is denied. */
struct param {
        struct param *next;
        char *name, *fold, *value; /* unescaped, no NUL inside; other JSON types: as written */
        enum param_kind kind;
        bool in_body;
        bool odd;    /* an invalid name: a dot or bracket in a JSON key */
        bool shadow; /* and odd: of a JSON body that is read as a form, as some servers read every body; or,
                        not in_body, a cookie, which some take for a parameter */
        bool hidden; /* the value must never be shown */
        struct param *items; /* ARRAY: its members, up to one more than a list can permit */
};

/* All parameters of one request. Empty: it has none. */
struct params {
        struct param *first, *last;
        size_t count;
        const char *unread; /* why they cannot be read exactly, one clause; NULL: they were */
        bool failed;        /* ... because memory ran out */
};

/* devices.c: devices that a `dev` door can open, by their names. */
struct policy_device {
        const char *name; /* "/dev/kvm"; a last '#' stands for a number */
        int32_t major;    /* -1: the driver chooses it */
        int32_t minor;    /* -1: any */
        const char *cost; /* what the door gives away: one clause */
};
/* NULL: a box never has it. */
const struct policy_device *policy_device(const char *path);
/* Why a box never has it: one clause. */
const char *policy_device_refused(const char *path);
const char *policy_dev_cost(const char *path);

/* gpu.c: `gpu`, `gpu 0` and `gpu GPU-UUID` are the devices /dev/gpu, /dev/gpu/0 and /dev/gpu/GPU-UUID. What
 * stands behind /dev/gpu/, "": all GPUs; NULL: the path is another device's. */
const char *policy_gpu(const char *path);
/* The same of a door that a `gpu` line can be: what stands in it. */
const char *policy_gpu_line(const struct door *d);
/* Is this node one of that door's? A UUID is resolved when a box starts: none of its numbers is covered. */
bool policy_gpu_covers(const char *door, const char *node);
/* One GPU's own node, not one that they share. */
bool policy_gpu_is_card(const char *node);
/* Where images of clusters mount NVIDIA's libraries; ld.so does not look there by itself. */
#define POLICY_GPU_LIBRARIES "/usr/local/nvidia/lib64"
enum { POLICY_GPUS_MAX = 64 };
struct policy_gpu_ask {
        const char *chosen;                       /* a number, or "" */
        bool (*has)(void *ctx, const char *path); /* does the host have it, for this caller? */
        void *ctx;
};
struct policy_gpu_nodes {
        char path[POLICY_GPUS_MAX + 8][32]; /* nodes, and directories of the driver's files */
        size_t n;                           /* 0: the host has no such GPU */
};
/* The nodes of the first of several makers: NVIDIA before AMD and Intel. They are listed even if the
 * host does not have it. */
void policy_gpu_expand(const struct policy_gpu_ask *ask, struct policy_gpu_nodes *ret);

enum answer { ANSWER_DENY = 0, ANSWER_ASK, ANSWER_ALLOW };

struct checked_policy;
struct decision {
        enum answer answer;
        enum effect_reason reason;  /* why no door covered it: at most REASON_DECIDED__LAST */
        const struct door *door;    /* the door that covers it, or NULL */
        const struct door *nearest; /* when denied: the door that came nearest, or NULL */
        const char *built_in;       /* when allowed by what every box has ("the private /tmp"), or NULL */
};

/* Does a person have to approve it? The answer is then ANSWER_ALLOW: a door covers it. */
bool policy_asks(const struct decision *d);

/* ---- information flow (flow_check.c) ---- */
struct policy_flow {
        enum answer answer;
        enum effect_reason reason; /* why not without a question */
};
/* May a subject with the effect's label send through this `net` door? */
struct policy_flow policy_flow(const struct checked_policy *c, const struct door *d, const struct effect *f);
/* The answer to an effect that a door covers, or not (policy_decide()): what label and `ask` make of it. Sets
 * the door that decides, and with a label's denial or question its reason. */
enum answer policy_answer(const struct checked_policy *c, const struct effect *f, struct decision *d);
/* Does a door label what comes in? */
bool policy_has_labels(const struct checked_policy *c);
bool policy_rule(const struct checked_policy *c, unsigned rule); /* POLICY_RULE_* */
bool policy_door_hands(const struct door *d);
bool policy_door_begins(const struct checked_policy *c,
                        const struct door *d); /* ... as `rule touch` has it */
/* The label of a run at its start; with all that it may read later. */
struct label policy_label_handed(const struct checked_policy *c);
struct label policy_label_most(const struct checked_policy *c);
/* The label of a run at this effect: that of its start, joined with the effect's `after`. */
struct label policy_label_held(const struct checked_policy *c, const struct effect *f);
/* A `sock` or `listen` door that does not accept all of it; NULL: none. */
const struct door *policy_label_spills(const struct checked_policy *c, const struct label *most);
/* How long a person has time to answer, also behind a door that asks only because of labels. */
static inline uint32_t policy_ask_within_s(const struct door *d)
{
        return d->ask.within_s ? d->ask.within_s : ASK_WITHIN_S;
}

/* Prints the flows between boxes that run one after the other, as text or JSON. */
enum { POLICY_PLAN_MAX = 16 };
void policy_plan(const struct checked_policy *const *c, size_t n, bool json, struct buf *out);

/* ---- as written ---- */
struct policy;
struct policy *policy_new(void);
void policy_free(struct policy *p);
/* A whole file: door lines, or JSON when its first character is '{'. Nothing is added when it fails. */
int policy_add_text(struct policy *p, const char *file, struct span text, struct err *e);
/* One flag of the command line. `word` without dashes. For read, edit, write, run, sock and env the argument
 * is one token, spaces and all; for the other words it is cut into tokens like a line. */
int policy_add_flag(struct policy *p, const char *word, const char *arg, struct err *e);
/* Has a line of its own a `tool` door? */
bool policy_names_tool(const struct policy *p);
/* Does a line name a wall, and which? */
bool policy_states_wall(const struct policy *p, enum wall_kind *ret);
bool policy_gives_up(const struct policy *p, unsigned without); /* WITHOUT_* */
/* Does the command line take --WORD for a word of the language? It has the word's own name, but for `root`.
 */
bool policy_is_word(const char *flag);
const char *policy_word_flag(const char *word);
/* E126: no line lets a box write there, and none that a link leads there. */
bool policy_is_kernels(const char *path);
/* The words with their one-line help, for --help and completions. */
struct policy_word_help {
        const char *word, *synopsis, *help;
};
const struct policy_word_help *policy_words(size_t *ret_count);

/* ---- checked ---- */
struct policy_context {
        const char *work,
                *home; /* absolute; the values of {work} and {home}. {tmp} is the box's private /tmp */
        int64_t now;   /* unix seconds, for `until` */
        /* Finds an own policy for `use NAME` that is not base/...: gives a borrowed text, or -1. May be NULL.
         */
        int (*load)(void *ctx, const char *name, struct span *ret_text, struct err *e);
        void *load_ctx;
        /* Returns true if a symlink on the way to `path`, which is written below `work`, leads out of it
         * on this host; `ret` then holds the target. NULL: not checked. */
        bool (*leads_out)(void *ctx, const char *path, char *ret, size_t cap);
        void *leads_ctx;
        /* Returns true if another user owns `path` on this host, so that a box of this caller could not
         * change it behind a door of this kind; `ret` then holds the owner. NULL: not checked. */
        bool (*foreign)(enum door_kind kind, const char *path, char *ret, size_t cap);
        /* Returns true if a file that controls a run (the policy, its places, a program of cordon) is at
         * or below `path` on this host; `ret` then holds that file. NULL: not checked. */
        bool (*rules_below)(void *ctx, const char *path, char *ret, size_t cap);
        void *rules_ctx;
        /* The caller's variables, for `sock wayland` and the like; NULL: none is known. */
        const char *(*variable)(const void *ctx, const char *name);
        const void *variable_ctx;
        bool hold_writes; /* a trial: `write` doors are held back as `edit` doors, so nothing reaches the host
                           */
        bool default_system; /* with no `use` line at all: `use base/system` (cordon run with no policy file)
                              */
};

struct policy_note {  /* a lint; W warns, E stops the load */
        char level;   /* 'E' or 'W' */
        char code[8]; /* "W103": stable */
        struct source_place at;
        char text[680]; /* also an error and its hint */
};

struct checked_policy;
/* Returns NULL on error with *e set. Lint notes are kept inside and read with policy_notes(). */
struct checked_policy *policy_check(const struct policy *p, const struct policy_context *c, struct err *e);
void policy_checked_free(struct checked_policy *c);

const char *policy_box(const struct checked_policy *c); /* never NULL: "box" when unnamed */
const char *policy_doc(const struct checked_policy *c); /* never NULL */
/* The image that is the box's root: an absolute path, or a name without a leading '/'; NULL: none. */
const char *policy_root(const struct checked_policy *c);
const struct source_place *policy_root_place(const struct checked_policy *c);
/* `warm`: the interpreters that a parked box can hold started. */
enum policy_warm { WARM_PYTHON3 = 0, WARM_NODE, WARM__COUNT };
struct policy_warm_row {
        const char *name, *loads; /* "python3", "import" */
};
const struct policy_warm_row *policy_warm_row(enum policy_warm kind);
/* The line without its word: "python3 import json re"; NULL: not stated. */
const char *policy_warm(const struct checked_policy *c, enum policy_warm kind);
const struct door *policy_doors(const struct checked_policy *c, size_t *ret_count);
/* The door after `d`, or with NULL the first; of all, or of one kind. NULL: no more. */
const struct door *policy_door_next(const struct checked_policy *c, const struct door *d);
const struct door *policy_door_of(const struct checked_policy *c, enum door_kind kind, const struct door *d);
/* One of the kind, with exactly this path, name or host. */
bool policy_has_door(const struct checked_policy *c, enum door_kind kind, const char *key);
/* Which of them come from a stock policy, a digit each; and the same of a policy that was read from the
 * canonical JSON of the first, which does not have it. */
void policy_stock_mask(const struct checked_policy *c, struct buf *out);
void policy_mark_stock(struct checked_policy *c, const char *mask);
/* Those whose `until` is over: they open nothing. */
const struct door *policy_doors_closed(const struct checked_policy *c, size_t *ret_count);
/* A door as a line without its `until`, and the date alone ("": none). For callers that count the days of
 * either. */
void policy_door_without_end(const struct door *d, struct buf *out, char ret_until[32]);
/* The doors of one kind with exactly this path (or name, or host): policy_doors()[*ret_lo ... *ret_hi -
 * 1]. Binary search, so looking up the neighbours of every door does not compare all pairs. */
bool policy_doors_at(const struct checked_policy *c, enum door_kind kind, struct span key, size_t *ret_lo,
                     size_t *ret_hi);
/* The first door of a kind whose path begins with `prefix` ("/a/": below /a), in policy_doors(); doors
 * with the prefix are adjacent. Returns the count of doors if none has it. */
size_t policy_doors_from(const struct checked_policy *c, enum door_kind kind, struct span prefix);
const struct policy_limits *policy_limits(const struct checked_policy *c);
/* The same as `none`, unless the policy states it. */
void policy_limit_lift(struct policy_limits *l, enum limit_key k);
/* " ask" behind the value of `renew`, or "". */
const char *policy_limit_ask(const struct policy_limits *l, enum limit_key k);
enum wall_kind policy_wall(const struct checked_policy *c);
/* `run any` is in force: every program that the box sees may start, also files it wrote. Else only
 * programs in `run` lines start, and no file that the box can write. */
bool policy_runs_any(const struct checked_policy *c);
/* Did own `run` lines narrow the programs that a stock policy starts by default? Then no other program may
 * start, not even the command. */
bool policy_narrowed(const struct checked_policy *c);
unsigned policy_without(const struct checked_policy *c); /* WITHOUT_* */
/* May the box make Unix sockets, behind the namespace wall? */
bool policy_makes_sockets(const struct checked_policy *c);
unsigned policy_local(const struct checked_policy *c); /* LOCAL_* */
/* The position of the first of them that an own line states. NULL: all come from a stock policy. */
const struct source_place *policy_local_stated(const struct checked_policy *c, unsigned bit);
/* Name and words of one, by index, until NULL. */
struct policy_local_row {
        const char *name, *words;
        unsigned bit;
};
const struct policy_local_row *policy_local_rows(size_t *ret_count);
const struct policy_note *policy_notes(const struct checked_policy *c, size_t *ret_count);
/* SHA-256 of the canonical JSON, as 64 hex digits. */
const char *policy_digest(const struct checked_policy *c); /* "": no memory */
/* Canonical JSON: sorted keys, sorted doors, no spaces, roots expanded, `use` resolved. */
void policy_canonical_json(const struct checked_policy *c, struct buf *out);
/* Pretty JSON of the same. */
void policy_json(const struct checked_policy *c, struct buf *out);
/* Door lines that parse to the same checked policy. */
void policy_show(const struct checked_policy *c, struct buf *out);

/* ---- decisions ---- */
/* "read PATH", "write PATH", "run PROG", "net METHOD URL" or "net HOST:PORT", "env NAME", "sock PATH". */
int policy_effect_parse(const char *text, const struct policy_context *c, struct effect *ret_effect,
                        struct err *e);
void policy_effect_done(struct effect *f);
struct decision policy_decide(const struct checked_policy *c, const struct effect *f); /* compiled */
struct decision policy_decide_ref(const struct checked_policy *c,
                                  const struct effect *f); /* plain reference */
/* Does this one net door cover it? policy_decide() names one door; others may bring a credential. */
bool policy_net_covers(const struct door *d, const struct effect *f);
/* The broker takes the most specific door that covers a request, which supplies the
 * credential. `depth`: length of the path of the place through which the request is read. Returns true if
 * a door more specific than *best is open at `now` (0: any door that was open when the policy was loaded). */
struct policy_choice {
        const struct door *door; /* NULL: none yet */
        size_t weight;
};
bool policy_net_choose(const struct checked_policy *c, const struct effect *f, size_t depth, int64_t now,
                       struct policy_choice *best);
/* Does the door cover it except for its `where`? Then the parameters must be known before it can be
 * decided. */
bool policy_net_asks_params(const struct door *d, const struct effect *f);
/* Why the line for it is not proposed to a user who only wants a command to work: keys, tokens ..., a
 * home, the system; REASON_NONE: it may be proposed. */
enum effect_reason policy_never_hinted(const struct effect *f, const char *home);
/* "host:port", a URL or a name: does it lead to the metadata service of a cloud? */
bool policy_names_metadata(const char *destination);
/* The smallest line that would permit the effect ("read /a/b"), into out. */
void policy_smallest_line(const struct effect *f, const struct decision *d, struct buf *out);
/* Is the box's own /proc, /dev or home at or below this path, so that no door can show the host's? The
 * process wall has no such places. */
bool policy_is_own_place(const char *path);
/* The caller's variables that every box of this host's programs gets without a door, and which values of
 * them. */
const char *const *policy_passed_vars(size_t *ret_count);
bool policy_passes(const char *value);
/* One sentence: what adding that line would let a hostile payload do. */
void policy_line_cost(const struct effect *f, struct buf *out);

/* ---- parameters (params.c): parsed exactly, or marked unreadable ---- */
struct arena;
enum { PARAMS_MAX = 512 }; /* of one request: some servers ignore parameters after the thousandth */
/* A query or a form: a=b&c=d. Added parameters live in `mem`. */
void policy_params_form(struct params *p, struct arena *mem, struct span text, bool in_body);
/* A JSON object; its members, and those of its members. */
void policy_params_json(struct params *p, struct arena *mem, struct span text);
/* The bytes of such a body that came compressed: some servers read them as a form. */
void policy_params_packed(struct params *p, struct arena *mem, struct span bytes);
/* Default PHP has cookies in $_REQUEST, before the rest: a cookie with the name of a bound is denied. */
void policy_params_cookies(struct params *p, struct arena *mem, struct span text);
/* Why this door's `where` denies the effect: one clause without a full stop that names the parameter.
 * Writes nothing if it permits it. */
void policy_bound_fault(const struct door *d, const struct effect *f, struct buf *out);

/* Does a door that is open at `now` name this host (canonical), at any port? */
bool policy_names_host(const struct checked_policy *c, const char *host, int64_t now);

/* ---- canonical forms, for names and paths that arrive at run time ---- */
/* The canonical form of a host name or address. Returns -1 with the reason if it is invalid. No wildcard. */
int policy_host(struct span raw, char ret_host[256], bool *ret_is_address, const char **ret_why);
/* Is this a method that doors can name? */
bool policy_method_known(const char *method);
/* The path of a URL, without query; `ret_path` holds raw.n + 1 bytes. Returns -1 with the reason on error. */
int policy_url_path(struct span raw, char *ret_path, const char **ret_why);

/* ---- places (places_file.c): the target of @name in each stage ---- */

/* Zero reaches nothing: only recorded answers. */
enum policy_stage { POLICY_STAGE_MOCK = 0, POLICY_STAGE_TEST, POLICY_STAGE_LIVE, POLICY_STAGE__COUNT };
const char *policy_stage_name(enum policy_stage s);
int policy_stage_find(const char *name, enum policy_stage *ret_stage);

/* Lines `place NAME STAGE URL [label LABEL...]`; the URL is http(s)://host[:port]/[path/]. The live URL is
 * the place's identity: tools in the box ask for it in every stage, and the broker sends the request to the
 * stage's URL.
 */
struct policy_places;
struct policy_places *policy_places_parse(const char *file, struct span text, struct err *e);
void policy_places_free(struct policy_places *p);

struct policy_place_url {
        bool tls, is_address;
        uint16_t port;
        const char *host; /* canonical */
        const char *path; /* canonical; begins and ends with '/' */
};
/* The URL that the box asks for: the live URL, else the stage's own. NULL: unknown place. */
const struct policy_place_url *policy_place_asked(const struct policy_places *p, const char *place,
                                                  enum policy_stage stage);
/* The target of requests in this stage. NULL: none. */
const struct policy_place_url *policy_place_target(const struct policy_places *p, const char *place,
                                                   enum policy_stage stage);
/* The names, by index, until NULL. */
const char *policy_place_name(const struct policy_places *p, size_t index);
/* Is it this URL, or below it? */
bool policy_place_holds(const struct policy_place_url *u, const struct net_dest *n);

/* ---- places as one run has them (staged.c) ---- */
struct policy_staged {
        const struct policy_places *places; /* NULL: no file */
        enum policy_stage stage;
};
/* The innermost place that contains a URL. In each stage all of the place goes to the stage's target. */
const char *policy_place_of(const struct policy_staged *s, const struct net_dest *n,
                            const struct policy_place_url **ret_asked);
/* Each net door that leads to a labelled place has its label from here on. */
int policy_label_places(struct checked_policy *c, const struct policy_staged *s, struct err *e);
/* Decides as the broker does: by the URL, and as a request to each place that contains it; the door is the
 * one that the broker takes. If a place gives the better answer, *f, which has an arena, becomes the
 * request to it, with strings of `s`. */
struct decision policy_decide_staged(const struct checked_policy *c, const struct policy_staged *s,
                                     struct effect *f);
/* The target of a request in the stage. */
enum policy_leads {
        POLICY_LEADS_NOWHERE = 0, /* no place has a URL for it in this stage: the broker refuses it */
        POLICY_LEADS_MOCK,        /* only recorded exchanges answer */
        POLICY_LEADS_ITSELF,      /* no place is meant */
        POLICY_LEADS_THERE        /* to `url` */
};
/* The stage test reaches what a place leads to. Can a request through this door get anywhere? */
bool policy_stage_has_door(const struct policy_staged *s, const struct net_dest *n);
/* The same of a URL that is asked for by its own name, through no place: the target of one holds it. */
bool policy_stage_has_url(const struct policy_staged *s, const struct net_dest *n);
enum policy_leads policy_leads(const struct policy_staged *s, const struct net_dest *n, struct buf *url);
/* The reason why a path is sensitive by its name alone: keys, tokens, passwords, history, an agent (its
 * clients act for another user), the host's own files, the kernel's; REASON_NONE: it is not. Never
 * learned. */
enum effect_reason policy_secret_reason(const char *path);
/* Does this host run what lies there without being asked: a start file, a hook, a shell's profile? With
 * `changes` also what it takes settings from that name programs. */
bool policy_is_start(const char *path, bool changes);
bool policy_holds_secrets(const char *path); /* keys, tokens, passwords, history: the subject of W122 */
/* Does a symlink lead from `path` to secrets that its own name does not suggest? A name `.env` does not
 * suggest `.ssh`. */
bool policy_leads_to_secrets(const char *path, const char *real);

/* The mechanism that denies an effect, in the box that this policy makes. */
struct refusal {
        const char *
                layers[3]; /* the one that answers first, then the ones behind it; NULL-terminated if fewer */
        const char *answer; /* the result that a program inside sees: an errno's name, "empty", "unset" or "no
                               such call" */
        const char *instead; /* another errno it may see, described by `instead_when`; or NULL */
        const char *instead_when;
};
enum refusal_look { REFUSAL_NOTHING = 0, REFUSAL_FILE, REFUSAL_DIRECTORY };
struct refusal_facts {
        enum wall_kind wall; /* the wall that is raised; `auto` has the features of its first choice */
        /* The file type at a path of this host. NULL: not checked; every door then counts as existing. */
        enum refusal_look (*look)(const char *path);
};
struct refusal policy_refusal(const struct checked_policy *c, const struct effect *f,
                              const struct decision *d, const struct refusal_facts *facts);
/* The nearest door: the decision's, or a similar one. NULL: none. */
const struct door *policy_nearest(const struct checked_policy *c, const struct effect *f,
                                  const struct decision *d);
/* The difference between the effect and the nearest door, one clause without a full stop. */
void policy_difference(const struct checked_policy *c, const struct effect *f, const struct decision *d,
                       struct buf *out);
/* Converts settings of another tool (sandbox-runtime, Claude Code, Codex, firejail, devcontainer.json, a
 * bwrap command line) into door lines, with comments on what they do not say. 0, or -1 with *e set. */
int policy_from(const char *file, struct span text, struct buf *out, struct err *e);
/* A token as a line writes it: quoted if necessary. */
void policy_put_token(struct buf *out, const char *text);
/* The argument of --WORD on the command line for this line; empty: it has no argument. */
void policy_put_argument(struct buf *out, const char *line);
/* "limit memory 512M". */
void policy_limit_line(enum limit_key k, uint64_t value, struct buf *out);
/* One door as a line, without a newline. */
void policy_door_line(const struct door *d, struct buf *out);
/* The destination, methods and bounds of a net door as a line with its newline, without `net`. The same form
 * is used to grant a credential and to check its use. */
void policy_net_scope(const struct door *d, struct buf *out);
/* decide/net_scope.c: is each line of `asked` covered by the lines of `scope`? Returns 1; 0 with the line
 * that is not in `ret_line`; -1 with *e set if one of them cannot be read. It links no other part of the
 * language. */
int policy_net_scope_covers(const char *scope, const char *asked, struct buf *ret_line, struct err *e);

/* ---- views ---- */
/* Every door in words, then the worst that a hostile guest could do with them, in sentences. */
/* `all`: also each path that a stock policy has in /etc. */
void policy_doors_text(const struct checked_policy *c, const struct policy_staged *s, bool all,
                       struct buf *out);
void policy_doors_json(const struct checked_policy *c, const struct policy_staged *s, struct buf *out);

enum policy_order { POLICY_EQUAL = 0, POLICY_WIDER, POLICY_NARROWER, POLICY_CROSSING };
/* Is b wider than a? The differing doors and limits are written to out, one line each, with + and -. */
enum policy_order policy_diff(const struct checked_policy *a, const struct checked_policy *b,
                              struct buf *out);

/* Is everything that this door line opens already open in c? False also if it does not parse. */
bool policy_covers_line(const struct checked_policy *c, const char *line, const struct policy_context *ctx);

/* ---- names ---- */
const char *policy_door_word(enum door_kind k);
const char *policy_limit_name(enum limit_key k);
void policy_limit_default(enum limit_key k, char ret[32]); /* "1h" */
/* The stock policies' names, and the text of one (NULL: unknown name). */
const char *const *policy_stock_names(size_t *ret_count);
const char *policy_stock_text(const char *name);
/* Is this a `read` door whose exact path is in a stock policy that also names its programs? True for lines
 * from any source. */
bool policy_shows_libraries(const struct door *d);
