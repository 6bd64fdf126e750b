/* SPDX-License-Identifier: MIT */
/* run/keeper/lease.h - the time of a run as a lease: `limit time T renew N`. Pure: times are on the monotonic
 * clock, which no step of the wall clock moves, and are passed in. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

struct lease {
        uint64_t length_ns, ends_ns;
        unsigned most, renewed; /* renewals; most 0: it only ends */
        bool told, warned;      /* since the last renewal */
};

/* What is due. TELL: the caller hears that the end is near, and may renew. WARN: the payload gets SIGTERM, to
 * save its work. OVER: it is ended. */
enum lease_step { LEASE_NOTHING = 0, LEASE_TELL, LEASE_WARN, LEASE_OVER };

/* `late_ns`: another process ends it first, if it can. */
struct lease lease_of(uint64_t now_ns, uint64_t time_ms, uint64_t late_ns, uint64_t most);
/* Its last tenth: time to renew it, or to begin nothing long in it. */
bool lease_is_ending(const struct lease *l, uint64_t now_ns);
/* Each step but the last is due once in a lease. */
enum lease_step lease_step(struct lease *l, uint64_t now_ns);
uint64_t lease_next_ns(const struct lease *l); /* when the next one is due */
/* Adds one length to the end. False: all renewals are spent, or it is over. */
bool lease_renew(struct lease *l, uint64_t now_ns);
