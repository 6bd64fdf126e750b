/* SPDX-License-Identifier: MIT */
/* broker/signer/ssh_agent.h - the protocol of ssh-agent (draft-ietf-sshm-ssh-agent), as far as a box may
 * speak it. Pure: bytes in, bytes out. */
#pragma once
#include "base/buf.h"

enum { SSH_MESSAGE_MAX = 256 * 1024, SSH_FINGERPRINT = 64 };

enum ssh_request {
        SSH_BROKEN = 0, /* not a message: the connection ends */
        SSH_LIST,
        SSH_SIGN,
        SSH_QUIET, /* refused, as agents without extensions do */
        SSH_DENIED /* refused and reported */
};
struct ssh_sign {
        struct span key, data;
        uint32_t flags;
};

/* The length of the first message with its head; 0: not whole yet; -1: too long. */
ptrdiff_t ssh_message_length(struct span in);
/* `message`: without its length. Sets *ret_what for DENIED, *ret_sign for SIGN. */
enum ssh_request ssh_request_read(struct span message, struct ssh_sign *ret_sign, const char **ret_what);

/* "SHA256:..." as ssh-add -l prints it. */
void ssh_fingerprint(struct span key, char ret[SSH_FINGERPRINT]);
/* The purpose of a signature, as far as the bytes tell: one line, inert. */
void ssh_purpose(struct span data, struct buf *out);

typedef bool ssh_is_permitted(void *ctx, struct span key, struct span comment);
/* Copies a list of identities, as the agent sent it, with the permitted ones alone, as a whole message.
 * Returns how many, or -1 if it is not a list. */
int ssh_filter_list(struct span message, ssh_is_permitted *permitted, void *ctx, struct buf *out);
/* Is it the answer to a request to sign, with a signature? */
bool ssh_is_signature(struct span message);
void ssh_put_failure(struct buf *out);
void ssh_put_list_request(struct buf *out);
