/* SPDX-License-Identifier: MIT */
/* broker/signer/signer.h - the protocol between the keeper and cordon-signer, which speaks the protocols of
 * ssh-agent and gpg-agent with a box that has `sign` or `decrypt` doors. It reads the box's requests, shows
 * it the keys that doors name and no others, and asks the keeper about each use; it decides about none.
 *
 *   keeper: KEY for each door, AGENT (with a connection to the agent) for each agent, then START
 *           signer: READY, or MISSING (a door names a key that the agent does not have), or SEVERAL (more
 than one key of the agent has the comment that a door names)
 *   keeper: LISTENER (with a socket that listens in the box)
 *           signer: ASK, keeper: ANSWER, signer: RESULT; signer: DENIED
 *
 * It ends when its socket closes, and with it every connection of the box to it. */
#pragma once
#include "base/wire/wire.h"
#include "effect/effect.h"

#include <stdint.h>

enum { SIGNER_CONTROL = 3 }; /* its only descriptor at its start */
#define SIGNER_PROGRAM "cordon-signer"

enum signer_agent { SIGNER_SSH = 0, SIGNER_GPG, SIGNER_AGENT__COUNT };
enum { SIGNER_KEYS_MAX = 64, SIGNER_KEY_TEXT = 320, SIGNER_DENIED_MAX = 1000 };

enum signer_command {
        SIGNER_NOTHING = 0,
        SIGNER_KEY,
        SIGNER_AGENT,
        SIGNER_START,
        SIGNER_LISTENER,
        SIGNER_ANSWER,
};
struct signer_order {
        uint32_t command; /* enum signer_command */
        uint32_t agent;   /* enum signer_agent */
        uint32_t decrypt; /* KEY: the door is a `decrypt` door */
        uint32_t number;  /* ANSWER */
        uint32_t yes;     /* ANSWER */
        uint32_t become;  /* START: an id that owns nothing; 0: stay */
        char key[SIGNER_KEY_TEXT];
};

enum signer_word {
        SIGNER_SAYS_NOTHING = 0,
        SIGNER_SAYS_READY,
        SIGNER_SAYS_MISSING,
        SIGNER_SAYS_SEVERAL,
        SIGNER_SAYS_ASK,
        SIGNER_SAYS_RESULT,
        SIGNER_SAYS_DENIED,
};
struct signer_message {
        uint32_t word; /* enum signer_word */
        uint32_t agent;
        uint32_t decrypt;
        uint32_t number;               /* ASK, RESULT: from 1 on */
        uint32_t done;                 /* RESULT: the agent did it */
        uint64_t bytes;                /* ASK: of the request */
        char key[SIGNER_KEY_TEXT];     /* fingerprint or keygrip; MISSING, SEVERAL: as the door names it */
        char comment[SIGNER_KEY_TEXT]; /* of an ssh key, or "" */
        char what[512];                /* for what, or what was denied; inert; SEVERAL: fingerprints */
        char digest[72];               /* ASK: of the exact bytes */
};

/* signer_forms.c: their encodings. */
extern const struct wire_form signer_order_form, signer_message_form;
