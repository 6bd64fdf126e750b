/* SPDX-License-Identifier: MIT */
/* face/mcp/handles.c - names that cannot be guessed. */
#include "face/mcp/internal.h"

#include <stdio.h>
#include <string.h>
#include <sys/random.h>

int mcp_handle_new(char ret[MCP_HANDLE])
{
        uint8_t bits[16];
        if (getrandom(bits, sizeof bits, 0) != sizeof bits)
                return -1;

        memcpy(ret, "cs-", 4);
        for (size_t i = 0; i < sizeof bits; i++)
                (void) snprintf(ret + 3 + 2 * i, 3, "%02x", bits[i]);
        return 0;
}

/* In a time that does not depend on how much of it is right. */
bool mcp_handle_is(const char *a, const char *b)
{
        unsigned char differs = 0;
        if (strlen(a) != MCP_HANDLE - 1 || strlen(b) != MCP_HANDLE - 1)
                return false;

        for (size_t i = 0; i < MCP_HANDLE - 1; i++)
                differs |= (unsigned char) (a[i] ^ b[i]);
        return differs == 0;
}
