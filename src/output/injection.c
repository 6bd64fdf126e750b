/* SPDX-License-Identifier: MIT */
/* output/injection.c - phrases and marks of texts that address a model. Whoever writes such a text can avoid
 * them all: what is found is noted, what is not found proves nothing. "steer" is text that
 * speaks of the answer that its reader is about to give. Pure. */
#include "output/keywords.h"
#include "output/lines.h"

#include <stdlib.h>

enum { PHRASES_MAX = 20 };
static const struct {
        const char *name, *phrases[PHRASES_MAX + 1]; /* the last is NULL */
} kinds[] = {
        { "override",
          { "ignore previous instructions",
            "ignore all previous instructions",
            "ignore the previous instructions",
            "ignore the above",
            "ignore all prior",
            "ignore any previous",
            "ignore your instructions",
            "disregard previous",
            "disregard all previous",
            "disregard the above",
            "disregard your",
            "forget previous instructions",
            "forget all previous",
            "forget everything above",
            "forget your instructions",
            "override your instructions",
            "new instructions:",
            "updated instructions:",
            "instead of the above",
            "before you continue, you must" } },
        { "frame",
          { "<information>", "this is an important message from me", "important message to you",
            "end of context", "begin system prompt", "end of system prompt" } },
        { "persona",
          { "you are now", "act as if you", "pretend you are", "from now on you", "developer mode",
            "jailbreak", "do anything now" } },
        { "address",
          { "as an ai language model", "as a language model", "dear assistant", "attention ai",
            "note to the ai", "if you are an ai", "if you are a language model",
            "large language model reading this" } },
        { "steer",
          { "your response", "your answer", "your reply", "following code snippet", "following code block",
            "following code excerpt", "following code section", "following code segment",
            "below code snippet", "below code block", "below code excerpt", "below code section",
            "below code segment", "subsequent code snippet", "subsequent code block",
            "subsequent code excerpt", "subsequent code section", "subsequent code segment",
            "in the code you" } },
        { "turn-mark",
          { "<|im_start|>", "<|im_end|>", "<|system|>", "<|user|>", "<|assistant|>", "<|endoftext|>",
            "<|eot_id|>", "<|start_header_id|>", "[inst]", "[/inst]", "<<sys>>", "### instruction",
            "### system" } },
        { "tool-call", { "<function_calls>", "<tool_call>", "\"tool_calls\"", "<invoke name=" } },
        { "extract",
          { "reveal your system prompt", "print your system prompt", "repeat your system prompt",
            "show me your instructions", "your initial instructions" } },
        { "conceal",
          { "do not tell the user", "don't tell the user", "without telling the user",
            "without informing the user", "do not mention this", "keep this secret from" } },
        { "exfiltrate",
          { "send the following to", "exfiltrate", "send all the", "append the conversation",
            "include the contents of" } },
};
enum { KINDS = sizeof kinds / sizeof *kinds };

struct injection {
        struct keywords *words;
        const char *names[KINDS * PHRASES_MAX]; /* of each word's kind */
};

struct injection *injection_new(void)
{
        const char *words[KINDS * PHRASES_MAX];
        size_t n = 0;
        struct injection *x = calloc(1, sizeof *x);
        for (size_t i = 0; x && i < KINDS; i++)
                for (const char *const *p = kinds[i].phrases; *p; p++) {
                        x->names[n] = kinds[i].name;
                        words[n++] = *p;
                }

        if (x && !(x->words = keywords_new(words, n))) {
                free(x);
                x = NULL;
        }
        return x;
}

void injection_free(struct injection *i)
{
        if (!i)
                return;
        keywords_free(i->words);
        free(i);
}

void injection_line(const struct injection *i, struct span line, uint64_t number, struct findings *f)
{
        struct keywords_place place = { 0 };
        for (int word; (word = keywords_next(i->words, line, &place)) >= 0;)
                findings_add(f, FINDING_INJECTION, span_str(i->names[word]), number);
}
