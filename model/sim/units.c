/* SPDX-License-Identifier: Apache-2.0 */
#include "model/sim/units.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* A suffix and its value in the smallest unit; or a name and the value it stands for. */
struct scale {
	const char *text;
	uint64_t value;
};

/* Largest first. A value is written with the first suffix that divides it. */
static const struct scale times[] = {{"s", CFG_S(1)},   {"ms", CFG_MS(1)}, {"us", CFG_US(1)},
				     {"ns", CFG_NS(1)}, {"ps", 1},         {0}};
static const struct scale sizes[] = {
	{"GiB", CFG_GIB(1)}, {"MiB", CFG_MIB(1)}, {"KiB", CFG_KIB(1)}, {"B", 1}, {"", 1}, {0}};
static const struct scale freqs[] = {
	{"GHz", 1000000000}, {"MHz", 1000000}, {"kHz", 1000}, {"Hz", 1}, {0}};
static const struct scale rates[] = {
	{"Gb/s", 1000000000}, {"Mb/s", 1000000}, {"kb/s", 1000}, {"b/s", 1}, {0}};
static const struct scale numbers[] = {{"", 1}, {0}};

/* A value is written with its first name. */
static const struct scale bools[] = {{"true", 1}, {"false", 0}, {"on", 1}, {"off", 0},
				     {"1", 1},    {"0", 0},     {0}};
static const struct scale widths[] = {{"1x", 1}, {"4x", 4}, {"8x", 8},  {"12x", 12}, {"1", 1},
				      {"4", 4},  {"8", 8},  {"12", 12}, {0}};
static const struct scale pcies[] = {
	{"2.5GT/s", 2500}, {"5GT/s", 5000}, {"8GT/s", 8000}, {"16GT/s", 16000}, {0}};
static const struct scale memory_orders[] = {{"program", CFG_ORDER_PROGRAM},
					     {"x86", CFG_ORDER_X86},
					     {"arm64", CFG_ORDER_ARM64},
					     {"adversarial", CFG_ORDER_ADVERSARIAL},
					     {0}};
static const struct scale speeds[] = {
#define CFG_SPEED_SCALE(name, kbps, data, wire) {#name, CFG_SPEED_##name},
	CFG_LINK_SPEEDS(CFG_SPEED_SCALE)
#undef CFG_SPEED_SCALE
		{0}};

static const struct scale personalities[] = {
#define CFG_PERSONALITY_SCALE(name) {#name, CFG_PERSONALITY_##name},
	CFG_PERSONALITIES(CFG_PERSONALITY_SCALE)
#undef CFG_PERSONALITY_SCALE
		{0}};

static const struct scale devices[] = {{"cx3", CFG_DEVICE_CX3}, {"cx3pro", CFG_DEVICE_CX3PRO}, {0}};
static const struct scale port_types[] = {
	{"ib", CFG_PORT_IB}, {"eth", CFG_PORT_ETH}, {"auto", CFG_PORT_AUTO}, {0}};

static const struct scale roces[] = {
	{"v1", CFG_ROCE_V1}, {"v2_ipv4", CFG_ROCE_V2_IPV4}, {"v2_ipv6", CFG_ROCE_V2_IPV6}, {0}};

/* The value of the first one is 0. */
static const struct scale wires[] = {{"cable", 0}, {"dgram", 1}, {"replay", 1}, {0}};

enum { SCALED, NAMED, TEXT };

static const struct unit {
	const char *name;
	int how;
	const struct scale *scales;
	const char *expects;
} units[CFG_UNIT_COUNT] = {
#define CFG_UNIT_INFO(name, how, scales, expects) [CFG_##name] = {#name, how, scales, expects},
	CFG_UNITS(CFG_UNIT_INFO)
#undef CFG_UNIT_INFO
};

uint64_t cfg_link_speed_mbps(enum cfg_link_speed speed)
{
	static const uint64_t mbps[CFG_SPEED_COUNT] = {
#define CFG_SPEED_MBPS(name, kbps, data, wire)                                                     \
	[CFG_SPEED_##name] = UINT64_C(kbps) * (data) / (wire) / 1000,
		CFG_LINK_SPEEDS(CFG_SPEED_MBPS)
#undef CFG_SPEED_MBPS
	};

	return mbps[speed];
}

const char *cfg_unit_name(enum cfg_unit unit)
{
	return units[unit].name;
}

const char *cfg_unit_expects(enum cfg_unit unit)
{
	return units[unit].expects;
}

static const char *skip_blanks(const char *s)
{
	while (*s == ' ' || *s == '\t')
		s++;
	return s;
}

static size_t length_without_blanks(const char *s)
{
	size_t n = strlen(s);

	while (n && (s[n - 1] == ' ' || s[n - 1] == '\t'))
		n--;
	return n;
}

/* Parses digits of that base at *s, and moves *s past them. */
static int parse_digits(const char **s, unsigned int base, uint64_t *value)
{
	static const char digits[] = "0123456789abcdef";
	const char *from = *s, *d;
	uint64_t v = 0;

	for (; **s && (d = strchr(digits, tolower((unsigned char)**s))); (*s)++) {
		if (d - digits >= (int)base)
			break;
		if (__builtin_mul_overflow(v, base, &v) ||
		    __builtin_add_overflow(v, d - digits, &v))
			return -EINVAL;
	}
	*value = v;
	return *s == from ? -EINVAL : 0;
}

/* The value of "0.digits" times the scale, if that is a whole number. */
static int parse_fraction(const char *digits, uint64_t scale, uint64_t *value)
{
	uint64_t numerator = 0, denominator = 1;
	size_t n = strspn(digits, "0123456789");
	unsigned __int128 product;

	while (n && digits[n - 1] == '0')
		n--;
	/* No scale is larger than 10^18 of the smallest unit. */
	if (n > 18)
		return -EINVAL;
	for (; n; n--, digits++) {
		numerator = 10 * numerator + (*digits - '0');
		denominator *= 10;
	}
	product = (unsigned __int128)numerator * scale;
	if (product % denominator)
		return -EINVAL;
	*value = product / denominator;
	return 0;
}

static int parse_scaled(const struct scale *scales, const char *s, uint64_t *value)
{
	bool hex = s[0] == '0' && (s[1] == 'x' || s[1] == 'X');
	const char *fraction = NULL, *suffix;
	const struct scale *scale;
	uint64_t whole, part = 0;
	size_t n;

	if (hex)
		s += 2;
	if (parse_digits(&s, hex ? 16 : 10, &whole))
		return -EINVAL;
	if (*s == '.' && !hex) {
		fraction = ++s;
		s += strspn(s, "0123456789");
		if (s == fraction)
			return -EINVAL;
	}
	suffix = skip_blanks(s);
	n = length_without_blanks(suffix);
	for (scale = scales; scale->text; scale++)
		if (strlen(scale->text) == n && !memcmp(scale->text, suffix, n))
			break;
	if (!scale->text) {
		if (n || whole || fraction)
			return -EINVAL;
		*value = 0;
		return 0;
	}
	if (fraction && parse_fraction(fraction, scale->value, &part))
		return -EINVAL;
	if (__builtin_mul_overflow(whole, scale->value, &whole) ||
	    __builtin_add_overflow(whole, part, &whole))
		return -EINVAL;
	*value = whole;
	return 0;
}

static int parse_named(const struct scale *names, const char *s, uint64_t *value)
{
	size_t n = length_without_blanks(s);

	for (; names->text; names++) {
		if (strlen(names->text) == n && !strncasecmp(names->text, s, n)) {
			*value = names->value;
			return 0;
		}
	}
	return -EINVAL;
}

/* The texts of all TEXT parameters that were ever given: entry n has the text of value n + 1. */
static char **texts;
static size_t texts_count;

const char *cfg_text(uint64_t value)
{
	return value && value <= texts_count ? texts[value - 1] : "";
}

/* The number of a text, which is kept if it is new. */
static int text_number(const char *s, size_t n, uint64_t *value)
{
	char **grown;
	size_t i;

	for (i = 0; i < texts_count; i++)
		if (strlen(texts[i]) == n && !memcmp(texts[i], s, n))
			break;
	if (i == texts_count) {
		grown = realloc(texts, (texts_count + 1) * sizeof(*texts));
		if (!grown)
			return -ENOMEM;
		texts = grown;
		texts[i] = strndup(s, n);
		if (!texts[i])
			return -ENOMEM;
		texts_count++;
	}
	*value = i + 1;
	return 0;
}

/* Characters that would not come back from an ini file: those of comments, and control characters. */
static bool text_is_plain(const char *s, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if ((unsigned char)s[i] < ' ' || s[i] == ';' || s[i] == '#')
			return false;
	return n < CFG_VALUE_CHARS;
}

static int parse_text(const struct scale *names, const char *s, uint64_t *value)
{
	const size_t n = length_without_blanks(s), kind = strcspn(s, ":");

	if (!parse_named(names, s, value))
		return *value ? -EINVAL : 0; /* only the first name stands alone */
	for (names++; names->text; names++)
		if (strlen(names->text) == kind && kind + 1 < n && !memcmp(names->text, s, kind) &&
		    text_is_plain(s, n))
			return text_number(s, n, value);
	return -EINVAL;
}

static int parse_as(const struct unit *u, const char *text, uint64_t *value)
{
	if (u->how == NAMED)
		return parse_named(u->scales, text, value);
	return u->how == TEXT ? parse_text(u->scales, text, value)
			      : parse_scaled(u->scales, text, value);
}

int cfg_value_parse(enum cfg_unit unit, const char *text, uint64_t *value)
{
	uint64_t v;
	int err = parse_as(&units[unit], skip_blanks(text), &v);

	if (!err && (unit == CFG_POW2 || unit == CFG_COUNT2) && (!v || v & (v - 1)))
		err = -EINVAL;
	if (!err)
		*value = v;
	return err;
}

char *cfg_value_format(enum cfg_unit unit, uint64_t value, char buf[CFG_VALUE_CHARS])
{
	const struct unit *u = &units[unit];
	const struct scale *scale = u->scales;

	if (u->how == TEXT && value) {
		snprintf(buf, CFG_VALUE_CHARS, "%s", cfg_text(value));
	} else if (u->how != SCALED) {
		while (scale->text && scale->value != value)
			scale++;
		snprintf(buf, CFG_VALUE_CHARS, "%s", scale->text ? scale->text : "?");
	} else if (unit == CFG_HEX) {
		snprintf(buf, CFG_VALUE_CHARS, "0x%" PRIx64, value);
	} else {
		/* Zero is divisible by every scale, so it is written in the smallest unit. */
		while (scale[1].text && *scale[1].text && (value % scale->value || !value))
			scale++;
		snprintf(buf, CFG_VALUE_CHARS, "%" PRIu64 "%s", value / scale->value, scale->text);
	}
	return buf;
}
