/* SPDX-License-Identifier: MIT */
/* wall/init/main.c - cordon-init: pid 1 of a box, and under another name its janitor. The program `cordon`
 * can be its own (self.c). It links the walls and what they stand on, and has the memory of no caller. */
#include "wall/init/enter.h"

/* In the form of a note, so that linkers place it in the first page. */
static const struct {
        uint32_t name_size, text_size, type;
        char name[8], text[(sizeof HOST_INIT_MARK + 3) & ~3UL];
} mark __attribute__((section(".note.cordon"), used, aligned(4))) = {
        .name_size = 7, .text_size = sizeof mark.text, .type = 1, .name = "cordon", .text = HOST_INIT_MARK
};

int main(int argc, char **argv)
{
        init_enter(argc > 0 ? argv[0] : "");
        wall_init_enter();
}
