/* SPDX-License-Identifier: Apache-2.0 */
/* Reads captures of either byte order, block by block. It trusts no length in the file. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "model/sim/file.h"
#include "traces/pcapng_format.h"

enum {
	INTERFACES_MAX = 64,
};

struct interface {
	uint16_t linktype;
	uint8_t tsresol, fcs;
	char name[32];
};

struct pcapng_reader {
	FILE *f;
	char *path;
	uint64_t offset; /* where the next block begins */
	bool swapped, started;
	bool ethernet; /* frames are wanted */
	uint32_t ninterfaces;
	struct interface interfaces[INTERFACES_MAX];
	uint8_t block[PCAPNG_BLOCK_MAX];
};

static uint16_t get16(const struct pcapng_reader *rd, const uint8_t *p)
{
	return (uint16_t)(rd->swapped ? p[0] << 8 | p[1] : p[1] << 8 | p[0]);
}

static uint32_t get32(const struct pcapng_reader *rd, const uint8_t *p)
{
	uint32_t a = get16(rd, p), b = get16(rd, p + 2);

	return rd->swapped ? a << 16 | b : b << 16 | a;
}

static int damaged(const struct pcapng_reader *rd, FILE *err, const char *what)
{
	fprintf(err, "%s: byte %llu: %s\n", rd->path, (unsigned long long)rd->offset, what);
	return -EINVAL;
}

int pcapng_reader_open(struct pcapng_reader **out, const char *path, FILE *err)
{
	struct pcapng_reader *rd = calloc(1, sizeof(*rd));
	int ret = -ENOMEM;

	if (rd)
		rd->path = strdup(path);
	if (!rd || !rd->path)
		fprintf(err, "%s: %s\n", path, strerror(ENOMEM));
	else
		ret = file_open(&rd->f, path, FILE_ANY, err);
	if (ret)
		pcapng_reader_close(rd);
	else
		*out = rd;
	return ret;
}

void pcapng_reader_close(struct pcapng_reader *rd)
{
	if (!rd)
		return;
	if (rd->f)
		fclose(rd->f);
	free(rd->path);
	free(rd);
}

void pcapng_reader_ethernet(struct pcapng_reader *rd)
{
	rd->ethernet = true;
}

/* The section's magic number says the byte order; it stands behind a type that reads the same in
 * both. */
static int section_order(struct pcapng_reader *rd, FILE *err)
{
	static const uint8_t little[4] = {0x4d, 0x3c, 0x2b, 0x1a},
			     big[4] = {0x1a, 0x2b, 0x3c, 0x4d};

	if (!memcmp(rd->block + 8, little, 4))
		rd->swapped = false;
	else if (!memcmp(rd->block + 8, big, 4))
		rd->swapped = true;
	else
		return damaged(rd, err, "no pcapng section header");
	rd->started = true;
	rd->ninterfaces = 0;
	return 0;
}

/* Reads one block. 1: rd->block has all of it, and *len is its length; 0: end of the file. */
static int block_read(struct pcapng_reader *rd, uint32_t *type, uint32_t *len, FILE *err)
{
	static const uint8_t section[4] = {0x0a, 0x0d, 0x0d, 0x0a};
	size_t n = fread(rd->block, 1, 12, rd->f);

	if (!n && !ferror(rd->f))
		return rd->started ? 0 : damaged(rd, err, "empty file");
	if (ferror(rd->f))
		return damaged(rd, err, strerror(errno));
	if (n < 12)
		return damaged(rd, err, "the file ends inside a block");
	if (!memcmp(rd->block, section, 4)) {
		int ret = section_order(rd, err);

		if (ret)
			return ret;
	} else if (!rd->started) {
		return damaged(rd, err, "not a pcapng file");
	}
	*type = get32(rd, rd->block);
	*len = get32(rd, rd->block + 4);
	if (*len < 12 || *len % 4 || *len > PCAPNG_BLOCK_MAX)
		return damaged(rd, err, "impossible block length");
	if (fread(rd->block + 12, 1, *len - 12, rd->f) != *len - 12)
		return damaged(rd, err, "the file ends inside a block");
	if (get32(rd, rd->block + *len - 4) != *len)
		return damaged(rd, err, "the two lengths of a block differ");
	return 1;
}

/*
 * Steps through the options in [*at, end). 1: an option, with code, value and length; 0: there are
 * no more; -1: they do not fit.
 */
static int option_next(const struct pcapng_reader *rd, uint32_t *at, uint32_t end, uint16_t *code,
		       const uint8_t **value, uint16_t *len)
{
	const uint8_t *p = rd->block + *at;

	if (*at == end)
		return 0;
	if (end - *at < 4)
		return -1;
	*code = get16(rd, p);
	*len = get16(rd, p + 2);
	if (!*code)
		return 0;
	if (PCAPNG_PAD(*len) > end - *at - 4)
		return -1;
	*value = p + 4;
	*at += 4 + (uint32_t)PCAPNG_PAD(*len);
	return 1;
}

static void text_copy(char *to, size_t room, const uint8_t *from, size_t n)
{
	if (n > room - 1)
		n = room - 1;
	memcpy(to, from, n);
	to[n] = 0;
}

static int interface_read(struct pcapng_reader *rd, uint32_t len, FILE *err)
{
	struct interface *itf = &rd->interfaces[rd->ninterfaces];
	const uint8_t *value = NULL;
	uint16_t code, n;
	uint32_t at = 16;
	int ret;

	if (len < 20)
		return damaged(rd, err, "interface block too short");
	if (rd->ninterfaces == INTERFACES_MAX)
		return damaged(rd, err, "too many interfaces");
	*itf = (struct interface){.linktype = get16(rd, rd->block + 8), .tsresol = 6};
	while ((ret = option_next(rd, &at, len - 4, &code, &value, &n)) > 0) {
		if (code == PCAPNG_OPT_IF_NAME)
			text_copy(itf->name, sizeof(itf->name), value, n);
		if (code == PCAPNG_OPT_IF_TSRESOL && n)
			itf->tsresol = value[0];
		if (code == PCAPNG_OPT_IF_FCSLEN && n)
			itf->fcs = value[0];
	}
	if (ret < 0)
		return damaged(rd, err, "options do not fit their block");
	if (itf->tsresol > PCAPNG_TSRESOL_PS)
		return damaged(rd, err, "time resolution is not a power of ten down to 1 ps");
	rd->ninterfaces++;
	return 0;
}

/* Unwraps the ERF record in [data, data + len); `cut`: the capture has cut it. 1: an InfiniBand
 * packet; 0: something else; -1: damaged. */
static int erf_read(struct pcapng_packet *pkt, const uint8_t *data, uint32_t len, bool cut)
{
	uint32_t head = ERF_HEADER, wlen;
	bool more;

	if (len < ERF_HEADER)
		return -1;
	if ((data[8] & 0x7f) != ERF_TYPE_INFINIBAND)
		return 0;
	wlen = (uint32_t)data[14] << 8 | data[15];
	/* extension headers: bit 7 of the type and of each header says that one follows */
	for (more = data[8] & 0x80; more; head += 8) {
		if (len - head < 8)
			return -1;
		more = data[head] & 0x80;
	}
	if (wlen > len - head && !cut)
		return -1;
	pkt->bytes = data + head;
	pkt->len = wlen < len - head ? wlen : len - head;
	pkt->wire_len = wlen;
	return 1;
}

static int frame_read(struct pcapng_packet *pkt, const uint8_t *data, uint32_t len,
		      uint32_t wire_len)
{
	if (wire_len < len)
		return -1;
	pkt->ethernet = true;
	pkt->bytes = data;
	pkt->len = len;
	pkt->wire_len = wire_len;
	return 1;
}

static int packet_options(struct pcapng_reader *rd, uint32_t at, uint32_t len,
			  struct pcapng_packet *pkt, FILE *err)
{
	const uint8_t *value = NULL;
	uint16_t code, n;
	int ret;

	while ((ret = option_next(rd, &at, len - 4, &code, &value, &n)) > 0) {
		if (code == PCAPNG_OPT_COMMENT)
			text_copy(pkt->comment, sizeof(pkt->comment), value, n);
		if (code == PCAPNG_OPT_PACKET_FLAGS && n == 4)
			pkt->flags = get32(rd, value);
	}
	return ret < 0 ? damaged(rd, err, "options do not fit their block") : 0;
}

static int packet_read(struct pcapng_reader *rd, uint32_t len, struct pcapng_packet *pkt, FILE *err)
{
	const struct interface *itf;
	const uint8_t *data = rd->block + PCAPNG_PACKET_HEAD;
	uint32_t captured, wire_len;
	int ret = 0;

	if (len < PCAPNG_PACKET_HEAD + 4)
		return damaged(rd, err, "packet block too short");
	*pkt = (struct pcapng_packet){.interface = get32(rd, rd->block + 8)};
	if (pkt->interface >= rd->ninterfaces)
		return damaged(rd, err, "packet of an interface that is not described");
	itf = &rd->interfaces[pkt->interface];
	memcpy(pkt->name, itf->name, sizeof(pkt->name));
	pkt->time_ps = (uint64_t)get32(rd, rd->block + 12) << 32 | get32(rd, rd->block + 16);
	for (int i = itf->tsresol; i < PCAPNG_TSRESOL_PS; i++)
		pkt->time_ps *= 10;
	captured = get32(rd, rd->block + 20);
	if (captured > len - PCAPNG_PACKET_HEAD - 4)
		return damaged(rd, err, "packet longer than its block");
	wire_len = get32(rd, rd->block + 24);
	if (itf->linktype == PCAPNG_LINKTYPE_ERF)
		ret = erf_read(pkt, data, captured, wire_len > captured);
	else if (itf->linktype == PCAPNG_LINKTYPE_ETHERNET && (rd->ethernet || itf->fcs))
		ret = frame_read(pkt, data, captured, wire_len);
	pkt->fcs = itf->fcs;
	if (ret < 0)
		return damaged(rd, err, "packet longer than its packet block");
	if (ret > 0 &&
	    packet_options(rd, PCAPNG_PACKET_HEAD + (uint32_t)PCAPNG_PAD(captured), len, pkt, err))
		return -EINVAL;
	return ret;
}

int pcapng_reader_next(struct pcapng_reader *rd, struct pcapng_packet *pkt, FILE *err)
{
	uint32_t type, len;
	int ret;

	while ((ret = block_read(rd, &type, &len, err)) > 0) {
		ret = 0;
		if (type == PCAPNG_INTERFACE)
			ret = interface_read(rd, len, err);
		else if (type == PCAPNG_PACKET)
			ret = packet_read(rd, len, pkt, err);
		if (ret < 0)
			return ret;
		rd->offset += len;
		if (ret > 0)
			return 1;
	}
	return ret;
}
