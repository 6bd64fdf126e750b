/* SPDX-License-Identifier: MIT */
/* broker/signer/signer_state.h - the state of cordon-signer: doors, agents outside, clients inside. One
 * thread, one poll().
 */
#pragma once
#include "broker/signer/assuan.h"
#include "broker/signer/signer.h"
#include "broker/signer/ssh_agent.h"

enum { CLIENTS_MAX = 32 };

enum client_state {
        CLIENT_READS = 0, /* its next request */
        CLIENT_ASKED,     /* the keeper */
        CLIENT_QUEUED,    /* for the agent */
        CLIENT_WORKS      /* the agent does */
};
enum client_job { JOB_LIST = 0, JOB_SIGN, JOB_DECRYPT, JOB_READ_KEY };

struct client {
        int fd; /* -1: it is gone, and the agent or the keeper is not done */
        enum signer_agent agent;
        enum client_state state;
        enum client_job kind;
        uint32_t number; /* of the last use that was asked for */
        uint64_t turn;   /* when it was queued */
        struct buf in, out;
        struct buf job;  /* for the agent: a message, or lines */
        size_t job_at;   /* lines that were sent */
        struct buf data; /* of the agent's answer so far */
        bool ends;       /* when its output is out */
        struct assuan_client gpg;
};

struct agent {        /* a connection outside */
        int fd;       /* -1: none, or it is lost */
        int listener; /* in the box, or -1 */
        struct buf in, out;
        struct client *busy;
};

struct signer_key { /* a door */
        enum signer_agent agent;
        bool decrypt;
        char text[SIGNER_KEY_TEXT];
};
struct known_key { /* of the agent, that a door names */
        char print[SSH_FINGERPRINT], comment[SIGNER_KEY_TEXT];
};

struct signer {
        int control;
        struct signer_key keys[SIGNER_KEYS_MAX];
        unsigned key_count;
        struct known_key known[SIGNER_KEYS_MAX + 1]; /* one more than doors: two keys of one door are seen */
        unsigned known_count;
        struct agent agents[SIGNER_AGENT__COUNT];
        struct client *clients[CLIENTS_MAX];
        uint32_t number;
        uint64_t turn;
        unsigned denied;
};

/* keys.c */
bool keys_permit_ssh(void *s, struct span key, struct span comment); /* and notes it as known */
bool keys_permit_gpg(void *s, const char *grip, bool decrypt);
const char *keys_gpg_at(void *s, size_t i);
const struct known_key *keys_known(const struct signer *s, const char *print);
/* Asks the agents, before the box starts, and binds each door to one key: what an agent gets later has none.
 * Fills in MISSING or SEVERAL for a door that names no key of its agent, or more than one, or READY. */
void keys_bind(struct signer *s, struct signer_message *ret);

/* requests of clients: client_requests.c */
void client_serve(struct signer *s, struct client *c); /* as many requests as are whole */
void client_answer(struct signer *s, uint32_t number, bool yes);
void client_refuse(struct client *c); /* what it asked for last */
void client_report(struct signer *s, struct signer_message *m);

/* agent_jobs.c */
void agents_begin(struct signer *s); /* jobs that wait */
void agent_heard(struct signer *s, enum signer_agent a);
void agent_lost(struct signer *s, enum signer_agent a);

/* signer_loop.c */
void signer_run(struct signer *s); /* returns when the keeper is gone */
