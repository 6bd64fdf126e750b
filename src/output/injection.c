/* SPDX-License-Identifier: MIT */
/* output/injection.c - phrases and marks of texts that address a model. Whoever writes such a text can avoid
 * them all: what is found is noted, what is not found proves nothing. "steer" is text that
 * speaks of the answer that its reader is about to give. Pure. */
#include "output/keywords.h"
#include "output/lines.h"

#include <stdlib.h>

static const struct {
        const char *phrase, *name;
} rows[] = {
        { "ignore previous instructions", "override" },
        { "ignore all previous instructions", "override" },
        { "ignore the previous instructions", "override" },
        { "ignore the above", "override" },
        { "ignore all prior", "override" },
        { "ignore any previous", "override" },
        { "ignore your instructions", "override" },
        { "disregard previous", "override" },
        { "disregard all previous", "override" },
        { "disregard the above", "override" },
        { "disregard your", "override" },
        { "forget previous instructions", "override" },
        { "forget all previous", "override" },
        { "forget everything above", "override" },
        { "forget your instructions", "override" },
        { "override your instructions", "override" },
        { "new instructions:", "override" },
        { "updated instructions:", "override" },
        { "instead of the above", "override" },
        { "before you continue, you must", "override" },
        { "<information>", "frame" },
        { "this is an important message from me", "frame" },
        { "important message to you", "frame" },
        { "end of context", "frame" },
        { "begin system prompt", "frame" },
        { "end of system prompt", "frame" },
        { "you are now", "persona" },
        { "act as if you", "persona" },
        { "pretend you are", "persona" },
        { "from now on you", "persona" },
        { "developer mode", "persona" },
        { "jailbreak", "persona" },
        { "do anything now", "persona" },
        { "as an ai language model", "address" },
        { "as a language model", "address" },
        { "dear assistant", "address" },
        { "attention ai", "address" },
        { "note to the ai", "address" },
        { "if you are an ai", "address" },
        { "if you are a language model", "address" },
        { "large language model reading this", "address" },
        { "your response", "steer" },
        { "your answer", "steer" },
        { "your reply", "steer" },
        { "following code snippet", "steer" },
        { "following code block", "steer" },
        { "following code excerpt", "steer" },
        { "following code section", "steer" },
        { "following code segment", "steer" },
        { "below code snippet", "steer" },
        { "below code block", "steer" },
        { "below code excerpt", "steer" },
        { "below code section", "steer" },
        { "below code segment", "steer" },
        { "subsequent code snippet", "steer" },
        { "subsequent code block", "steer" },
        { "subsequent code excerpt", "steer" },
        { "subsequent code section", "steer" },
        { "subsequent code segment", "steer" },
        { "in the code you", "steer" },
        { "<|im_start|>", "turn-mark" },
        { "<|im_end|>", "turn-mark" },
        { "<|system|>", "turn-mark" },
        { "<|user|>", "turn-mark" },
        { "<|assistant|>", "turn-mark" },
        { "<|endoftext|>", "turn-mark" },
        { "<|eot_id|>", "turn-mark" },
        { "<|start_header_id|>", "turn-mark" },
        { "[inst]", "turn-mark" },
        { "[/inst]", "turn-mark" },
        { "<<sys>>", "turn-mark" },
        { "### instruction", "turn-mark" },
        { "### system", "turn-mark" },
        { "<function_calls>", "tool-call" },
        { "<tool_call>", "tool-call" },
        { "\"tool_calls\"", "tool-call" },
        { "<invoke name=", "tool-call" },
        { "reveal your system prompt", "extract" },
        { "print your system prompt", "extract" },
        { "repeat your system prompt", "extract" },
        { "show me your instructions", "extract" },
        { "your initial instructions", "extract" },
        { "do not tell the user", "conceal" },
        { "don't tell the user", "conceal" },
        { "without telling the user", "conceal" },
        { "without informing the user", "conceal" },
        { "do not mention this", "conceal" },
        { "keep this secret from", "conceal" },
        { "send the following to", "exfiltrate" },
        { "exfiltrate", "exfiltrate" },
        { "send all the", "exfiltrate" },
        { "append the conversation", "exfiltrate" },
        { "include the contents of", "exfiltrate" },
};

struct injection {
        struct keywords *words;
};

struct injection *injection_new(void)
{
        const char *words[sizeof rows / sizeof *rows];
        for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
                words[i] = rows[i].phrase;

        struct injection *x = calloc(1, sizeof *x);
        if (x && !(x->words = keywords_new(words, sizeof rows / sizeof *rows))) {
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
                findings_add(f, FINDING_INJECTION, span_str(rows[word].name), number);
}
