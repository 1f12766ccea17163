/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Packets to packets.pcapng. InfiniBand has link type ERF, record type InfiniBand, for that is what
 * Wireshark decodes as a native InfiniBand packet; Ethernet frames have link type Ethernet. The rows
 * of links say what differs. An interface a port, described when its first packet
 * comes. A packet stands twice: out when its last bit leaves, in when it arrives. Times
 * are cut to nanoseconds: of picoseconds Wireshark 4.0 makes wrong times (a 64-bit product
 * overflows); the log has them all. The file says nothing about machine or date. Source:
 * draft-ietf-opsawg-pcapng, Endace ERF types.
 */
#include <endian.h>
#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "model/interface/ethernet.h"
#include "traces/pcapng_format.h"
#include "traces/trace_impl.h"

enum {
	PORTS_MAX = 2,
	PORTS = 256 * (PORTS_MAX + 1), /* hca, port; 0 for a device as a whole */
	COMMENT_MAX = 256,
	COMMENT_TEXT_MAX = 130, /* room for "fault=...;"; the comment also holds three numbers */
	OPTION_HEAD = 4,
	FLAGS_BYTES = 4,
};

/* What follows a packet in its block, except the block's length. It is usually the same as for the
 * packet before. */
struct options {
	uint64_t args[4]; /* args[] of the record that these options were made from */
	bool last;        /* the options depend on nothing else of the record */
	uint32_t len;
	uint8_t bytes[3 * OPTION_HEAD + COMMENT_MAX + FLAGS_BYTES];
};

enum { LINK_INFINIBAND, LINK_ETHERNET, LINK_ROCE, LINKS };

/* A kind of link. */
struct link {
	uint16_t linktype;
	uint32_t header;     /* bytes in front of a packet: put_erf() */
	uint32_t packet_max; /* bytes */
	uint8_t fcs;         /* bytes of FCS at the end of a frame */
	const char *name;    /* of an interface: host, port */
};

static const struct link links[LINKS] = {
	[LINK_INFINIBAND] = {PCAPNG_LINKTYPE_ERF, ERF_HEADER, ERF_PACKET_MAX, 0, "hca%u.port%u"},
	[LINK_ETHERNET] = {PCAPNG_LINKTYPE_ETHERNET, 0, ETHERNET_FRAME_MAX, 0, "host%u.eth%u"},
	[LINK_ROCE] = {PCAPNG_LINKTYPE_ETHERNET, 0, ETHERNET_FRAME_MAX, FCS_BYTES, "hca%u.port%u"},
};

struct interface {
	uint32_t number;
	struct options options[2]; /* index 1: for packets that go out */
};

struct pcapng {
	struct trace_file file;
	uint32_t snap;                              /* bytes of a packet at most */
	struct interface *interfaces[LINKS][PORTS]; /* NULL: not described */
	uint32_t ninterfaces;
};

/* A pcapng block has the byte order of the machine that wrote it. Our blocks are always
 * little-endian. */
static uint8_t *put16(uint8_t *p, uint16_t v)
{
	v = htole16(v);
	memcpy(p, &v, sizeof(v));
	return p + sizeof(v);
}

static uint8_t *put32(uint8_t *p, uint32_t v)
{
	v = htole32(v);
	memcpy(p, &v, sizeof(v));
	return p + sizeof(v);
}

static uint8_t *put64(uint8_t *p, uint64_t v)
{
	v = htole64(v);
	memcpy(p, &v, sizeof(v));
	return p + sizeof(v);
}

static uint8_t *put_be16(uint8_t *p, uint16_t v)
{
	v = htobe16(v);
	memcpy(p, &v, sizeof(v));
	return p + sizeof(v);
}

static uint8_t *put_padded(uint8_t *p, const void *bytes, size_t n)
{
	uint8_t *end = p + PCAPNG_PAD(n);

	if (n)
		put32(end - 4, 0);
	memcpy(p, bytes, n);
	return end;
}

static uint8_t *put_option(uint8_t *p, uint16_t code, const void *bytes, size_t n)
{
	p = put16(p, code);
	p = put16(p, (uint16_t)n);
	return put_padded(p, bytes, n);
}

/* Completes the block from `block` to p with its total length, in its head and at its end, and
 * writes it. */
static void put_end(struct trace_file *f, uint8_t *block, uint8_t *p)
{
	uint32_t total = (uint32_t)(p - block) + 4;

	put32(block + 4, total);
	put32(p, total);
	trace_file_write(f, block, total);
}

static void write_section(struct trace_file *f)
{
	static const char app[] = "hcasim";
	uint8_t block[64], *p = block;

	p = put32(p, PCAPNG_SECTION);
	p = put32(p, 0);
	p = put32(p, PCAPNG_MAGIC);
	p = put16(p, 1);
	p = put16(p, 0);
	p = put32(put32(p, UINT32_MAX), UINT32_MAX); /* the length of the section is not given */
	p = put_option(p, PCAPNG_OPT_USERAPPL, app, sizeof(app) - 1);
	p = put32(p, 0);
	put_end(f, block, p);
}

static void write_interface(struct trace_file *f, const struct link *link, uint8_t hca,
			    uint8_t port, uint32_t snap)
{
	static const uint8_t tsresol = PCAPNG_TSRESOL;
	uint8_t block[96], *p = block;
	char name[32];
	int n = snprintf(name, sizeof(name), link->name, hca, port);

	p = put32(p, PCAPNG_INTERFACE);
	p = put32(p, 0);
	p = put16(p, link->linktype);
	p = put16(p, 0);
	p = put32(p, snap < link->packet_max ? link->header + snap : 0); /* 0: no limit */
	p = put_option(p, PCAPNG_OPT_IF_NAME, name, (size_t)n);
	p = put_option(p, PCAPNG_OPT_IF_TSRESOL, &tsresol, 1);
	if (link->fcs)
		p = put_option(p, PCAPNG_OPT_IF_FCSLEN, &link->fcs, 1);
	p = put32(p, 0);
	put_end(f, block, p);
}

static int pcapng_open(void **sink, const char *path, uint32_t snap)
{
	struct pcapng *s = calloc(1, sizeof(*s));
	int ret;

	if (!s)
		return -ENOMEM;
	ret = trace_file_open(&s->file, path);
	if (ret) {
		free(s);
		return ret;
	}
	s->snap = snap;
	write_section(&s->file);
	*sink = s;
	return 0;
}

/* Writes "key=value;". printf would cost more than all the rest of a packet's block. */
static inline char *put_number(char *s, const char *key, uint64_t value)
{
	char *end;

	memcpy(s, key, strlen(key));
	s += strlen(key);
	end = s + 1;
	for (uint64_t v = value; v > 9; v /= 10)
		end++;
	for (char *digit = end; digit > s; value /= 10)
		*--digit = (char)('0' + value % 10);
	*end = ';';
	return end + 1;
}

/* Writes "key=value;..." with what is known about the packet besides its bytes. */
static size_t comment_text(char *text, const struct trace_record *r)
{
	char *s = text;

	if (r->args[0] & TRACE_PACKET_WR_ID)
		s = put_number(s, "wr_id=", r->args[1]);
	if (r->args[0] & TRACE_PACKET_WQE)
		s = put_number(s, "wqe=", r->args[2]);
	if (r->args[3] > 1)
		s = put_number(s, "try=", r->args[3]);
	if (r->text)
		s += snprintf(s, COMMENT_TEXT_MAX, "fault=%.*s;", 120, r->text);
	return (size_t)(s - text);
}

static void __attribute__((noinline))
options_make(struct options *o, const struct trace_record *r, bool out)
{
	uint8_t *p = o->bytes, *text = p + OPTION_HEAD;
	size_t n = comment_text((char *)text, r);

	memcpy(o->args, r->args, sizeof(o->args));
	o->last = !r->text;
	if (n) {
		put16(put16(p, PCAPNG_OPT_COMMENT), (uint16_t)n);
		put32(text + n, 0); /* the padding */
		p = text + PCAPNG_PAD(n);
	}
	p = put16(put16(p, PCAPNG_OPT_PACKET_FLAGS), FLAGS_BYTES);
	p = put32(p, out ? PCAPNG_OUTBOUND : PCAPNG_INBOUND);
	p = put32(p, 0);
	o->len = (uint32_t)(p - o->bytes);
}

static inline bool options_fit(const struct options *o, const struct trace_record *r)
{
	const uint64_t *a = o->args, *b = r->args;

	return o->last && !r->text &&
	       !((a[0] ^ b[0]) | (a[1] ^ b[1]) | (a[2] ^ b[2]) | (a[3] ^ b[3]));
}

/* Seconds with 32 fractional bits: the smallest number that converts back to this many
 * nanoseconds. */
static uint64_t erf_time(uint64_t ns)
{
	const uint64_t second = 1000000000;

	return (ns / second << 32) + (((ns % second) << 32) + second - 1) / second;
}

/* kept: bytes that the file has; len: bytes of the packet on the wire. */
static uint8_t *put_erf(uint8_t *p, uint64_t ns, uint32_t kept, uint32_t len, uint32_t interface)
{
	p = put64(p, erf_time(ns));
	*p++ = ERF_TYPE_INFINIBAND;
	*p++ = (uint8_t)(ERF_FLAG_VARYING | (interface & ERF_FLAG_INTERFACE));
	p = put_be16(p, (uint16_t)kept);
	p = put_be16(p, 0);
	return put_be16(p, (uint16_t)len);
}

static inline struct interface *interface_find(struct pcapng *s, const struct link *link,
					       const struct trace_record *r)
{
	struct interface **slot = &s->interfaces[link - links][r->hca * (PORTS_MAX + 1U) + r->port];

	if (*slot)
		return *slot;
	*slot = calloc(1, sizeof(**slot));
	if (!*slot)
		return NULL;
	(*slot)->number = s->ninterfaces++;
	write_interface(&s->file, link, r->hca, r->port, s->snap);
	return *slot;
}

/* It is made once for each link, so that the facts of the link are constants. */
static inline __attribute__((always_inline)) int
packet_write(struct pcapng *s, const struct link *link, const struct trace_record *r, bool out)
{
	const uint64_t ns = r->time_ps / PCAPNG_PS;
	struct interface *interface;
	struct options *options;
	uint32_t len, data, total;
	uint8_t *p;

	if (r->port > PORTS_MAX || r->len > link->packet_max)
		return -EINVAL;
	interface = interface_find(s, link, r);
	if (!interface)
		return -ENOMEM;
	options = &interface->options[out];
	if (!options_fit(options, r))
		options_make(options, r, out);
	len = r->len < s->snap ? r->len : s->snap;
	data = link->header + len;
	total = (uint32_t)(PCAPNG_PACKET_HEAD + PCAPNG_PAD(data) + options->len + sizeof(total));
	p = trace_file_reserve(&s->file, total);
	p = put32(p, PCAPNG_PACKET);
	p = put32(p, total);
	p = put32(p, interface->number);
	p = put32(put32(p, (uint32_t)(ns >> 32)), (uint32_t)ns);
	p = put32(put32(p, data), link->header + r->len);
	if (link->header)
		p = put_erf(p, ns, data, r->len, interface->number);
	/* the ERF header is a multiple of four, so the padding is that of the packet */
	p = put_padded(p, r->bytes, len);
	memcpy(p, options->bytes, options->len);
	p += options->len;
	put32(p, total);
	return s->file.err;
}

static int pcapng_record(void *sink, const struct trace_record *r)
{
	if (__builtin_expect(r->point == TP_PKT_OUT || r->point == TP_PKT_IN, 1)) {
		if (r->args[0] & TRACE_PACKET_ETHERNET)
			return packet_write(sink, &links[LINK_ROCE], r, r->point == TP_PKT_OUT);
		return packet_write(sink, &links[LINK_INFINIBAND], r, r->point == TP_PKT_OUT);
	}
	if (r->point == TP_ETH_OUT || r->point == TP_ETH_IN)
		return packet_write(sink, &links[LINK_ETHERNET], r, r->point == TP_ETH_OUT);
	return 0;
}

static int pcapng_close(void *sink)
{
	struct pcapng *s = sink;
	int ret = trace_file_close(&s->file);

	for (unsigned i = 0; i < LINKS * PORTS; i++)
		free(s->interfaces[i / PORTS][i % PORTS]);
	free(s);
	return ret;
}

const struct trace_sink_ops trace_pcapng_ops = {
	.name = "pcapng",
	.file = "packets.pcapng",
	.kinds = 1 << TRACE_PACKET | 1 << TRACE_ETHERNET,
	.open = pcapng_open,
	.record = pcapng_record,
	.close = pcapng_close,
};
