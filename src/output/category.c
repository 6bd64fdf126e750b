/* SPDX-License-Identifier: MIT */
/* output/category.c - general categories of code points and their names. Pure tables. */
#include "output/category.h"

enum {
        Cn = 0,
        Lu,
        Ll,
        Lt,
        Lm,
        Lo,
        Mn,
        Mc,
        Me,
        Nd,
        Nl,
        No,
        Pc,
        Pd,
        Ps,
        Pe,
        Pi,
        Pf,
        Po,
        Sm,
        Sc,
        Sk,
        So,
        Zs,
        Zl,
        Zp,
        Cc,
        Cf,
        Cs,
        Co,
        CATEGORY__COUNT
};

static const struct {
        uint32_t first, last;
        uint8_t category;
} rows[] = {
#define C(first, last, category) { first, last, category },
#include "output/category.inc"
#undef C
};

uint32_t category_of(uint32_t c)
{
        size_t low = 0, high = sizeof rows / sizeof *rows;
        while (low < high) {
                size_t mid = low + (high - low) / 2;
                if (c > rows[mid].last)
                        low = mid + 1;
                else if (c < rows[mid].first)
                        high = mid;
                else
                        return UINT32_C(1) << rows[mid].category;
        }

        return UINT32_C(1) << Cn;
}

#define BIT(x)         (UINT32_C(1) << (x))
#define SPAN(from, to) (BIT((to) + 1) - BIT(from))

static const struct {
        const char *brief, *name;
        uint32_t bits;
} names[] = {
        { "L", "Letter", SPAN(Lu, Lo) },
        { "LC", "Cased_Letter", SPAN(Lu, Lt) },
        { "Lu", "Uppercase_Letter", BIT(Lu) },
        { "Ll", "Lowercase_Letter", BIT(Ll) },
        { "Lt", "Titlecase_Letter", BIT(Lt) },
        { "Lm", "Modifier_Letter", BIT(Lm) },
        { "Lo", "Other_Letter", BIT(Lo) },
        { "M", "Mark", SPAN(Mn, Me) },
        { "Mn", "Nonspacing_Mark", BIT(Mn) },
        { "Mc", "Spacing_Mark", BIT(Mc) },
        { "Me", "Enclosing_Mark", BIT(Me) },
        { "N", "Number", SPAN(Nd, No) },
        { "Nd", "Decimal_Number", BIT(Nd) },
        { "digit", "digit", BIT(Nd) },
        { "Nl", "Letter_Number", BIT(Nl) },
        { "No", "Other_Number", BIT(No) },
        { "P", "Punctuation", SPAN(Pc, Po) },
        { "punct", "punct", SPAN(Pc, Po) },
        { "Pc", "Connector_Punctuation", BIT(Pc) },
        { "Pd", "Dash_Punctuation", BIT(Pd) },
        { "Ps", "Open_Punctuation", BIT(Ps) },
        { "Pe", "Close_Punctuation", BIT(Pe) },
        { "Pi", "Initial_Punctuation", BIT(Pi) },
        { "Pf", "Final_Punctuation", BIT(Pf) },
        { "Po", "Other_Punctuation", BIT(Po) },
        { "S", "Symbol", SPAN(Sm, So) },
        { "Sm", "Math_Symbol", BIT(Sm) },
        { "Sc", "Currency_Symbol", BIT(Sc) },
        { "Sk", "Modifier_Symbol", BIT(Sk) },
        { "So", "Other_Symbol", BIT(So) },
        { "Z", "Separator", SPAN(Zs, Zp) },
        { "Zs", "Space_Separator", BIT(Zs) },
        { "Zl", "Line_Separator", BIT(Zl) },
        { "Zp", "Paragraph_Separator", BIT(Zp) },
        { "C", "Other", SPAN(Cc, Co) | BIT(Cn) },
        { "Cc", "Control", BIT(Cc) },
        { "cntrl", "cntrl", BIT(Cc) },
        { "Cf", "Format", BIT(Cf) },
        { "Cs", "Surrogate", BIT(Cs) },
        { "Co", "Private_Use", BIT(Co) },
        { "Cn", "Unassigned", BIT(Cn) },
        { "Any", "Any", BIT(CATEGORY__COUNT) - 1 },
};

uint32_t category_find(struct span name)
{
        static const char *const keys[] = { "gc=", "General_Category=" };
        for (size_t i = 0; i < 2; i++)
                if (span_starts(name, keys[i]))
                        name = span_of(name.p + strlen(keys[i]), name.n - strlen(keys[i]));

        for (size_t i = 0; i < sizeof names / sizeof *names; i++)
                if (span_is(name, names[i].brief) || span_is(name, names[i].name))
                        return names[i].bits;

        return 0;
}
