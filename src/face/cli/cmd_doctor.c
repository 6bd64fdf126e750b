/* SPDX-License-Identifier: MIT */
/* face/cli/cmd_doctor.c - `cordon doctor`: the features that this host can enforce. */
#include "face/cli/cli.h"

int verb_doctor(int argc, char **argv)
{
        struct cli_shared asked = { 0 };
        cordon_error e = { 0 };
        int ok = 0;
        if (cli_take(argc, argv, &asked) < 0)
                return EXIT_CORDON;

        unsigned swept = cordon_sweep();
        if (swept > 0)
                cli_note("note: removed %u control groups whose keeper had been killed", swept);

        int status = cli_give(cordon_doctor(cli_context(), asked.json, &ok), &e);
        return status ? status : !ok;
}
