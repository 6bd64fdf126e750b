/* SPDX-License-Identifier: MIT */
/* run/api/internal.h - the bodies behind cordon.h's handles. */
#pragma once
#include "base/buf.h"
#include "base/grant.h"
#include "base/host/host.h"
#include "broker/vault/vault.h"
#include "cordon.h"
#include "files/image/image.h"
#include "files/work/work.h"
#include "policy/policy.h"
#include "run/keeper/keeper.h"

_Static_assert(sizeof(cordon_error) == sizeof(struct err),
               "cordon_error is struct err under its public name");

enum { ROOT_MAX = 4096 };

struct cordon_policy {
        const struct cordon_context *cx; /* of the caller */
        struct policy *lines;
        struct checked_policy *checked;      /* made on demand, dropped when a line is added */
        char work[ROOT_MAX], home[ROOT_MAX]; /* the values of {work} and {home}; "": not set yet */
        bool hold_writes;                    /* see struct policy_context */
        char *stock;                         /* policy_mark_stock(); or NULL */
        bool from_file;                      /* a file was given: nothing is opened by default */
        char typed[96];                      /* its options, cut; no values of variables */
        struct policy_places *places;
        struct policy_staged staged;
        bool has_stage;  /* `places` or a stage was given, and questions are answered as in it */
        char *rules[32]; /* files that it came from, and those of its places */
        unsigned rule_count;
        struct box_schema schemas[HANDLES_MAX]; /* of the doors of `checked` */
        unsigned schema_count;
};
/* api_schemas.c: reads and compiles the schemas that doors of the checked policy name. */
int api_schemas(cordon_policy *p, struct err *e);
void api_schemas_drop(cordon_policy *p);
/* The text of a schema that is one, which the caller frees. -1 with e->sys: it cannot be read. */
int api_schema_read(const char *path, struct span *ret, struct err *e);
/* It was checked before it was complete: the next check is new. */
void api_policy_changed(cordon_policy *p);
/* This file defines what a run may do. */
void api_rules_come_from(cordon_policy *p, const char *file);
/* `ctx` is a cordon_policy: does one of them lie at or below `path`? */
bool api_rules_below(void *ctx, const char *path, char *ret, size_t cap);

/* Credentials of a box that is learned or mocked: never the vault's (dummies.c). */
struct api_dummies {
        uint8_t seed[32];
        bool in_files; /* also in the files in which tools look for them: the stage mock */
        struct {
                char name[NAME_MAX_BYTES];
        } v[GRANTS_MAX];
        unsigned count;
};

/* A box without a run, and what it was made from. */
struct api_parked {
        struct box *box; /* NULL: none */
        struct plan *plan;
        struct checked_policy *checked;
        uint8_t key[32];
        struct host_confinement *by; /* this process, when it was parked */
};

struct api_recipe { /* texts of struct pool_recipe */
        struct buf policy, places;
};

/* A secret that exists only to be found. */
enum { API_CANARIES_OWN = 4, API_CANARIES_MAX = 16, CANARY_VALUE = 72 };
struct api_canary {
        char name[128]; /* where it lies */
        char value[CANARY_VALUE];
        size_t form; /* 1 and more: the box's own; 0: in a file of the caller's */
};

/* A service of cordon-output, and the order that it was given, as a digest. */
struct cordon_checks {
        struct api_checks *ready; /* NULL: none */
        uint8_t key[32];
        unsigned started; /* so many, of which some died */
};

/* What begins: a bit each. */
enum api_begin {
        API_BEGIN_NEW = 1,
        API_BEGIN_PARKED = 2,  /* a box is parked */
        API_BEGIN_SESSION = 4, /* a session is started */
        API_BEGIN_RUN_IN = 8,  /* a run in one */
        API_BEGIN_SHELF = 16,  /* the resident parks boxes of it */
        API_BEGIN_VIEW = 32    /* only its plan is shown */
};

struct cordon_box {
        cordon_policy *policy;
        struct box_config c; /* what is asked for; what a start finds out is added to it */
        char **argv;
        char *cwd; /* the requested name; or NULL */
        char term[64];
        bool tty, root_inside, cwd_made;
        int blind; /* what its result says, once it was asked */
        bool dry;  /* only a plan is made, not a box: nothing may be created on the host */
        bool places_later;
        struct api_canary canaries[API_CANARIES_MAX];
        struct box_canary canary_words[API_CANARIES_MAX];
        struct box_handle handles[HANDLES_MAX];
        char handle_names[HANDLES_MAX][NAME_MAX_BYTES];
        char *record_file; /* or NULL */
        struct policy_places *places;
        struct vault_giving giving; /* while the vault is opened */
        struct vault_told *told;    /* placeholders of the credentials that doors name */
        size_t told_count;
        const struct api_dummies *dummies; /* not NULL: these, and the vault is not used; borrowed */
        int passphrase;     /* of the vault: a descriptor of the caller's, or -1: prompt on the terminal */
        int grants;         /* the pipe with the credentials themselves, for the broker; or -1 */
        int words;          /* a file in memory with the same, for cordon-output; or -1 */
        struct image image; /* of the policy's `root` */
        bool has_image, judges_only;
        uint64_t fuel;
        char *entry; /* of a module; or NULL */
        bool no_wasi, interpret;
        uint64_t prepared_ms, prepared_cpu_ms;    /* of the run's limits, used by cordon_box_prepare() */
        bool checks;                              /* cordon_box_check() follows */
        cordon_checks own_checks, *checks_shared; /* processes for them; shared: or NULL */
        struct api_functions *functions;          /* of cordon_wasm_export(); or NULL */
        bool is_unpacker;                         /* cordon's own: it writes below the state directory */
        struct plan *plan;
        struct api_made *made; /* targets of doors that did not exist, the newest first */
        struct box *box;
        struct api_parked parked; /* for the next start */
        bool any_command;         /* and its command was none of the caller's */
        bool plans_pool;          /* a box is planned whose command is not known */
        enum api_pool { API_POOL_OFF = 0, API_POOL_AUTO, API_POOL_REQUIRE } pool;
        unsigned parked_most;       /* boxes that are parked automatically for its tenant; 0: any number */
        char cold_why[320];         /* why a parked box was not used; or "" */
        bool unserved;              /* because there is no resident */
        struct cordon_box *session; /* this is a run in it; or NULL */
        char remote[64];            /* a session of another process: its run id; or "" */
        cordon_policy *own_policy;  /* and its policy, which goes with this handle; or NULL */
        bool has_words;             /* the session has `words`, which are fetched */
        struct buf recipe;          /* of a session: see session_recipe.c */
        bool over;
        bool opens_vault; /* the start goes on after that, and `box` does not exist yet */
        int epoll;        /* of cordon_box_fd(), or -1 */
        struct host_facts facts;
        unsigned begins;                /* as what: enum api_begin */
        unsigned step;                  /* of its start, in api_start.c */
        unsigned tried;                 /* walls, of those that the policy lets choose from */
        struct err first_error;         /* why the first wall could not be raised */
        _Atomic uint64_t early_signals; /* came before a payload ran; set by signal handlers */
        cordon_result result;
        bool start_failed; /* for a reason that the box itself could not keep */
        cordon_error start_error;
        struct arena texts; /* the reported texts */
};

static inline struct err *to_err(cordon_error *e) { return (struct err *) (void *) e; }

/* policy.c: the current values of a policy's roots and the clock; `use` of own files is not in it. */
struct policy_context api_context(const cordon_policy *p);
/* The policy as it is, or was, at that time; the caller frees. NULL with e set. */
struct checked_policy *api_check_at(cordon_policy *p, int64_t now, struct err *e);
/* rules.c: the directory of own policies, as `use NAME` finds them. */
int api_config_path(const cordon_policy *p, char *ret, size_t cap);
/* look.c: a regular file that may be executed. Finds a bare name in the box's PATH, which is ours to choose,
 * or in the caller's own. */
bool api_is_program(const char *path);
bool api_find_program(const char *name, char *ret, size_t cap);
bool api_find_on_path(const struct cordon_context *cx, const char *name, char *ret, size_t cap);
int api_roots(cordon_policy *p, struct err *e); /* policy.c: {work} and {home}, if not set */
/* policy.c: which of its doors are stock, as policy_mark_stock() takes it. -1: no memory. */
int api_stock_set(cordon_policy *p, const char *stock);
/* api_text.c: the text, which is the caller's from now on, or NULL with e (which may be NULL) when it is not
 * whole. */
char *api_give(struct buf *b, struct err *e);

/* api_start.c: the keeper is done: the box is over, or another wall is tried. */
void api_box_over(struct cordon_box *b);
/* The vault is still being opened: goes on with the start when it is. */
void api_box_begin(struct cordon_box *b);
/* api_plan.c: looks at what the doors name, and makes the plan for one wall. */
struct plan *api_plan(struct cordon_box *b, enum wall_kind wall, struct err *e);
/* host_hint.c: completes the hint of a start that failed. `next_holds`: another wall holds its doors here. */
void api_host_hint(const struct cordon_box *b, bool next_holds, struct err *e);

/* api_image.c: finds the image of the policy's `root`, if it has one. */
int api_image_open(struct cordon_box *b, struct err *e);
int api_image_is_there(const struct cordon_box *b,
                       struct err *e); /* -1: its files are not known, only its name */
bool api_is_tree(const char *ref);     /* a directory with an unpacked root */
bool api_image_key(const struct image_store *s, const char *ref, char ret_key[65]);
/* image_add.c: unpacks it into the store, or finds that it is there. `names`: the names that an archive
 * states lead to it from now on, if they are free. */
int api_image_add(const struct cordon_context *cx, const struct image_store *s, const char *ref, bool names,
                  char ret_key[65], struct err *e);

/* box.c: the command of a box that is parked for any. */
int api_any_command(struct cordon_box *b, cordon_error *pe);
/* api_park.c: why a box of this plan and these options cannot be parked; NULL: it can. */
const char *api_unparkable(const struct cordon_box *b);
/* The parked box, if it fits the plan; NULL: none, or b->cold_why says why not. */
struct box *api_parked_take(struct cordon_box *b, const struct plan *plan);
int api_parked_keep(struct cordon_box *b, struct err *e); /* b->box becomes b->parked */
void api_parked_free(struct api_parked *p);
/* A box of the resident's that fits the plan; NULL: none, and b->cold_why says why, if there is a resident.
 */
struct box *api_pool_take(struct cordon_box *b, const struct plan *plan);
/* The key of a plan with this box's options; sends the resident what it needs to park boxes of it: `size` of
 * them, or with 0 as many as it likes. */
int api_park_key(const struct cordon_box *b, const struct plan *p, uint8_t ret[32]);
int api_park_send(const struct cordon_box *b, int fd, const struct plan *p, unsigned size,
                  const uint8_t key[32], struct err *e);
void api_plan_set(struct cordon_box *b, const struct plan *p); /* b->c has it, and what follows from it */
bool api_signals_stay_in(const struct cordon_box *b, const struct plan *p); /* see struct box_config */
enum box_observe api_observe(const struct cordon_box *b);                   /* what its tripwires need */
/* api_start.c: begins it; 0 also while the vault is opened. */
int api_begin(struct cordon_box *b, unsigned as, struct err *e);

/* session_recipe.c: what a process has to know to run something in a session of another one. */
int api_recipe_make(struct cordon_box *b, struct err *e);
int api_recipe_read(struct cordon_box *b, struct span text, struct err *e);

/* explain.c: a hint for a command that could not be started. */
void api_explain_exec(const struct cordon_box *b);
/* The interpreter of a script, by the path in its first line; false: it is not a script. */
bool api_interpreter(const char *script, char *ret, size_t cap);
/* ledger.c: the options, and the trace context of a run, from the caller's environment. */
int api_set_ledger(struct cordon_box *b, const char *value);
int api_set_cause(struct cordon_box *b, const char *run);
int api_set_run_before(struct cordon_box *b, const char *run);
void api_prepare_ledger(struct cordon_box *b);

/* api_text.c: a whole file of at most 1 MB; the caller frees. NULL with e set. */
char *api_slurp(const char *path, size_t *ret_len, struct err *e);
char *api_slurp_up_to(const char *path, size_t most, size_t *ret_len, struct err *e);

/* ledger.c: this user's ledger for a question; `ret_dir` may be NULL. A writer for what is not a run. A
 * record that somebody looked. */
struct ledger_log *api_log_open(const struct cordon_context *cx, int *ret_dir, struct err *e);
bool api_log_off(const struct cordon_context *cx); /* the caller's environment wants no record */
struct ledger *api_log_as(const struct cordon_context *cx, const char *what, struct err *e);
void api_log_viewed(const struct cordon_context *cx, const char *how, const char *target);
struct ledger_filter api_log_filter(const cordon_log_filter *f);

/* vault_audit.c: lints that need the vault; they read bindings, and open nothing. */
int api_vault_notes(const struct cordon_context *cx, const struct checked_policy *c, enum policy_stage stage,
                    void (*each)(void *ctx, const struct policy_note *n), void *ctx, struct err *e);

/* grant_pipe.c: the doors that name this credential, as policy_net_scope() writes them. */
int api_grant_scope(const struct checked_policy *c, const char *name, char ret_scope[GRANT_ASKED],
                    struct err *e);
/* A way with room for so many, that is written before it is read. */
int api_grants_pipe(size_t count, int ret[2], struct err *e);

/* dummies.c */
int api_dummies_begin(struct api_dummies *d, const char *const *with, struct err *e);
int api_dummies_give(struct cordon_box *b, const struct api_dummies *d, struct err *e);
int api_dummies_mock(struct cordon_box *b, struct err *e); /* for the doors' credentials, in the stage mock */

/* grants.c: a door names a credential of the vault. */
bool api_names_credential(const struct cordon_box *b);
/* grants.c: has the vault write the credentials that doors name into b->grants. Returns 1 if done, 0 if
 * api_grants_given() reports it later, -1 on error. */
int api_grants(struct cordon_box *b, struct err *e);
int api_grants_given(struct cordon_box *b, struct err *e); /* 1; 0: not yet; -1 */
/* Adds "VARIABLE=placeholder" for each that has a variable; v has room for b->told_count more. False: no
 * memory. */
bool api_placeholders(const struct cordon_box *b, const char **v, size_t *n);
void api_grants_done(struct cordon_box *b);

/* api_recording.c: an unnamed file for the recorded exchanges. */
int api_recording(struct cordon_box *b, struct err *e);
/* api_work.c: records the outcome of an interrupted apply. */
bool api_work_settled(const struct work_settled *s);
void api_recording_done(struct cordon_box *b);

/* api_places.c: reads the places file and the recorded exchanges, if there are any. */
int api_places(struct cordon_box *b, struct err *e);
/* api_label.c: finds its label, and refuses a door that is not fit for what the run may read. */
int api_label(struct cordon_box *b, struct err *e);
struct label api_label_most(const struct cordon_box *b); /* with all that it may come to read; after that */
/* api_touch.c: with `rule touch`, the labelled places that the wall can keep shut. */
int api_touch(struct cordon_box *b, enum wall_kind wall, const char *cwd, struct err *e);
void api_touch_done(struct cordon_box *b);
/* api_gate.c */
char *api_gate_request(struct box *b, const cordon_person *who, const char *request, struct err *e);
/* api_apply_ask.c: lets a person approve an apply whose overlay asks for it. Fills `q`, and a->approved. */
int api_apply_ask(struct work_question *q, struct work_apply *a, const cordon_work_apply_options *o, bool off,
                  struct err *e);
struct api_label_apply { /* one apply of an overlay: zero at first */
        const struct cordon_context *cx;
        struct label label, before; /* of the overlay; what the tree had */
        char run[WORK_RUN_MAX], host[PATH_MAX_BYTES];
        unsigned count;
};
int api_label_apply_begin(struct api_label_apply *a, const struct cordon_context *cx, const char *run,
                          const char *host, struct err *e);
void api_label_apply_one(struct api_label_apply *a, const char *host, const char *path);
void api_label_apply_end(struct api_label_apply *a);

const struct policy_staged *api_staged(const cordon_policy *p); /* NULL: none was given */
/* As the broker would, if a stage was given; *f may become the request to a place. */
struct decision api_decide(const cordon_policy *p, struct effect *f);

/* dry_box.c: what a start with these doors would make; zero: nothing. api_dry_done() also after an error. */
struct dry_box {
        struct cordon_box *box;
        struct plan *plan;
};
int api_dry_box(cordon_policy *p, struct dry_box *ret, struct err *e);
void api_dry_done(struct dry_box *d);

/* inside.c: the effect as the box would have it, whose symlinks and PATH decide which file is opened: *d is
 * decided anew, and f->path becomes in->path if symlinks lead elsewhere. */
struct api_inside {
        char path[4096];
        bool nowhere; /* a symlink loop */
        bool alone;   /* set before: programs that only the host's PATH has make no difference */
};
/* Does the answer lie in the plan? Then `b` has one, or else nothing is known beyond the doors. */
bool api_inside_asks_plan(const struct checked_policy *c, const struct effect *f);
void api_inside(const struct checked_policy *c, const struct dry_box *b, struct effect *f,
                struct api_inside *in, struct decision *d);
/* explain.c: the program that the kernel starts in the end: of a script its interpreter, of most others the
 * loader. */
bool api_starter(const char *path, char ret[static 4096]);
/* inside_image.c: of the image, where no door leads. */
void api_inside_image(const struct dry_box *b, struct effect *f, struct api_inside *in, struct decision *d);

/* look.c: inspects the host's files at the paths that doors and programs name. */
/* identity.c: the text of a ~/.gitconfig with the caller's name and mail, and with these repositories as safe
 * ones (NULL-terminated). The caller frees; NULL: no memory. */
enum { IDENTITY_MAX = 256 };
struct api_identity {
        char name[IDENTITY_MAX], mail[IDENTITY_MAX];
};
char *api_identity(const struct cordon_context *cx, const char *home, const char *const *repositories);
void api_identity_read(const char *text, struct api_identity *ret); /* fields that it does not set stay */

/* made.c: is this the target of a door that does not exist yet, and is to be created? */
bool api_is_made(const struct checked_policy *c, const struct door *d);
bool api_makes_directory(const struct door *d); /* of such a door */

int api_make_doors(struct cordon_box *b, struct err *e);
/* Removes files that are unchanged since they were created, except those below an edit door's overlay that
 * waits for review. */
void api_unmake_doors(struct cordon_box *b, bool layer_waits);

struct look;
/* script_engine.c: cordon-wasm, and the module that runs a script of JavaScript; "" if the command is none.
 */
struct api_engine {
        char program[ROOT_MAX], script[ROOT_MAX];
        char code[4096]; /* what was compiled of the module before; "": nothing */
};
bool api_is_javascript(const char *command);
int api_engine_find(const struct cordon_context *cx, const char *command, struct api_engine *ret,
                    struct err *e);
/* Whether the module of this box is not compiled (script_engine.c). */
bool api_interprets(const struct cordon_box *b);
/* The command of a wall without programs, and what runs it. */
void look_at_module(struct look *l, const char *name, const char *cwd, const struct api_engine *engine);
/* Doors whose targets will be made, as if they were there. */
void look_at_made(struct look *l, const struct checked_policy *c);
struct look *look_at_doors(const struct door *doors, size_t n, const char *const *argv, const char *cwd,
                           struct err *e);
/* look_gpu.c: of a `gpu` door. The number of the card with this UUID is read below `cards`. */
void look_at_gpu(struct arena *mem, const char *chosen, struct plan_seen *ret);
/* Of `cordon doctor`: what a `gpu` door would open. False: the host has no GPU. */
struct host_finding;
bool look_gpu_finding(struct host_finding *ret);
bool look_gpu_number(const char *cards, const char *uuid, char ret[4]);
void look_fill(const struct look *l, struct plan_request *r);
void look_free(struct look *l);

/* host_functions.c: functions of the caller for a module. */
struct api_functions {
        struct host_function v[HOST_FUNCTIONS];
        cordon_wasm_function calls[HOST_FUNCTIONS];
        unsigned count;
};
