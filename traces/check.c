/* SPDX-License-Identifier: Apache-2.0 */
/* Checks a capture: each packet is judged by its own bytes. */
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "host_driver/iwarp/tcp_frame.h"
#include "model/engine/wire/crc.h"
#include "model/engine/wire/roce_crc.h"
#include "traces/decode.h"
#include "traces/pcapng_format.h"
#include "traces/records.h"

struct counts {
	uint64_t good, bad, harmed;
	uint64_t cut; /* packets that the capture has cut: judged without payload and CRCs */
};

static void fault_add(struct trace_text *t, const char *what)
{
	trace_text_add(t, "%s%s", t->len ? ", " : "", what);
}

static bool is_mtu(int n)
{
	return n == 256 || n == 512 || n == 1024 || n == 2048 || n == 4096;
}

static void check_grh(struct trace_text *t, const struct packet_view *v, uint32_t len)
{
	if (grh_get_ip_ver(v->grh) != 6)
		fault_add(t, "grh ip version");
	if (grh_get_next_hdr(v->grh) != 0x1b)
		fault_add(t, "grh next header");
	if (grh_get_pay_len(v->grh) + LRH_BYTES + GRH_BYTES + VCRC_BYTES != len)
		fault_add(t, "grh length");
}

static void check_payload(struct trace_text *t, const struct packet_view *v, const uint8_t *bytes,
			  uint32_t len, uint32_t kept)
{
	uint32_t pad = bth_get_pad(v->bth);
	int payload = (int)len - (int)v->headers - CRC_BYTES - (int)pad;

	if (!v->op->name) {
		fault_add(t, "unknown opcode");
		return;
	}
	if (payload < 0) {
		fault_add(t, "too short for its headers");
		return;
	}
	if (!bth_op_is(v->op, BTH_PAYLOAD) && (payload || pad))
		fault_add(t, "payload where none is allowed");
	if ((bth_op_is(v->op, BTH_FIRST) || bth_op_is(v->op, BTH_MIDDLE)) &&
	    (pad || !is_mtu(payload)))
		fault_add(t, "first or middle packet is not a full MTU");
	for (uint32_t i = 0; i < pad && kept == len; i++)
		if (bytes[len - CRC_BYTES - 1 - i]) {
			fault_add(t, "pad is not zero");
			break;
		}
}

/* Adds to t what is wrong with a packet of len bytes, of which the capture has kept the first
 * `kept` bytes. Adds nothing when the packet is right. */
static void check_packet(struct trace_text *t, const uint8_t *bytes, uint32_t len, uint32_t kept)
{
	const struct packet_bytes p = {bytes, kept, false};
	struct packet_view v;
	bool parsed = packet_view_make(&v, &p);
	unsigned int crc;

	if (!parsed || len < v.headers - v.op->ext_bytes + CRC_BYTES) {
		fault_add(t, "not a transport packet");
		return;
	}
	if (lrh_get_lver(v.lrh))
		fault_add(t, "lrh version");
	if (v.total != len)
		fault_add(t, "lrh length");
	if (v.grh)
		check_grh(t, &v, len);
	if (bth_get_tver(v.bth))
		fault_add(t, "transport version");
	check_payload(t, &v, bytes, len, kept);
	if (kept < len)
		return;
	crc = crc_check(bytes, len);
	if (crc & CRC_BAD_ICRC)
		fault_add(t, "icrc");
	if (crc & CRC_BAD_VCRC)
		fault_add(t, "vcrc");
}

/* A frame of an Ethernet port of an HCA. */
static void check_roce(struct trace_text *t, const struct pcapng_packet *p)
{
	const struct packet_bytes bytes = {p->bytes, p->len, true};
	struct packet_view v;
	const bool whole = p->len == p->wire_len;

	if (whole && !frame_fcs_is_right(p->bytes, p->len))
		fault_add(t, "fcs");
	if (whole && p->len < ETHERNET_MIN)
		fault_add(t, "runt");
	if (!packet_view_make(&v, &bytes)) {
		if (v.frame.kind != ROCE_NONE)
			fault_add(t, "not a transport packet");
		return;
	}
	if (v.total != p->wire_len)
		fault_add(t, "length");
	if (bth_get_tver(v.bth))
		fault_add(t, "transport version");
	if (v.frame.kind == ROCE_V2_IPV4 &&
	    ip_sum(p->bytes + v.frame.l3_off, IPV4_BYTES, 0) != 0xffff)
		fault_add(t, "ipv4 checksum");
	if (whole && !roce_icrc_is_right(p->bytes, &v.frame))
		fault_add(t, "icrc");
	check_payload(t, &v, p->bytes, v.frame.end + (uint32_t)VCRC_BYTES,
		      whole ? v.frame.end + (uint32_t)VCRC_BYTES : p->len);
}

static void check_frame(struct trace_text *t, const struct pcapng_packet *p)
{
	struct tcp_segment segment;
	const char *wrong = p->len < p->wire_len ? NULL : tcp_frame_get(p->bytes, p->len, &segment);

	if (wrong)
		fault_add(t, wrong);
}

/* The comment is key=value;... */
static bool comment_has(const char *comment, const char *key)
{
	size_t n = strlen(key);

	while (*comment) {
		if (!strncmp(comment, key, n) && comment[n] == '=')
			return true;
		comment += strcspn(comment, ";");
		comment += *comment == ';';
	}
	return false;
}

static void print_packet(FILE *out, uint64_t n, const struct pcapng_packet *p, const char *wrong,
			 bool harmed)
{
	static const char *const directions[] = {"", " in", " out", ""};
	struct trace_text t = {0};

	trace_text_add(&t, "%" PRIu64 " ", n);
	trace_text_time(&t, p->time_ps);
	trace_text_add(&t, " %s%s", p->name, directions[p->flags & 3]);
	if (p->ethernet && !p->fcs) {
		trace_text_add(&t, " ");
		decode_ethernet_plain(&t, p->bytes, p->len);
	} else {
		decode_packet(&t, &(struct packet_bytes){p->bytes, p->len, p->ethernet});
	}
	if (*p->comment)
		trace_text_add(&t, ", %s", p->comment);
	if (*wrong)
		trace_text_add(&t, harmed ? ": harmed on purpose: %s" : ": bad: %s", wrong);
	fprintf(out, "%s\n", t.s ? t.s : "");
	trace_text_free(&t);
}

static int check_all(struct pcapng_reader *rd, bool verbose, FILE *out, struct counts *c)
{
	struct pcapng_packet p;
	struct trace_text wrong = {0};
	uint64_t n = 0;
	int ret;

	while ((ret = pcapng_reader_next(rd, &p, out)) > 0) {
		bool bad, harmed;

		n++;
		wrong.len = 0;
		if (p.ethernet && p.fcs)
			check_roce(&wrong, &p);
		else if (p.ethernet)
			check_frame(&wrong, &p);
		else
			check_packet(&wrong, p.bytes, p.wire_len, p.len);
		c->cut += p.len < p.wire_len;
		bad = wrong.len;
		harmed = bad && comment_has(p.comment, "fault");
		if (harmed)
			c->harmed++;
		else if (bad)
			c->bad++;
		else
			c->good++;
		if (verbose || (bad && !harmed))
			print_packet(out, n, &p, bad ? wrong.s : "", harmed);
	}
	trace_text_free(&wrong);
	return ret;
}

/* With `verbose`, prints the log that the records make. */
static int check_records(const char *path, bool verbose, FILE *out)
{
	struct trace_text line = {0};
	struct trace_record r;
	struct records *all;
	size_t at = 0, place;
	uint64_t n = 0;
	bool is_cut;
	int ret = records_load(&all, path, out);

	if (ret)
		return 2;
	for (; (ret = records_next(all, &at, &place, &r)) > 0; n++) {
		if (!verbose)
			continue;
		line.len = 0;
		trace_log_line(&line, &r);
		fputs(line.s ? line.s : "", out);
	}
	is_cut = records_are_cut(all);
	records_close(all);
	trace_text_free(&line);
	fprintf(out, "%s: %" PRIu64 " records\n", path, n);
	return ret ? 2 : is_cut;
}

static bool ends_in(const char *path, const char *end)
{
	size_t n = strlen(path), m = strlen(end);

	return n > m && !strcmp(path + n - m, end);
}

int trace_check_file(const char *path, bool verbose, FILE *out)
{
	struct pcapng_reader *rd;
	struct counts c = {0};
	int ret;

	if (ends_in(path, ".vcd") || ends_in(path, ".json"))
		return trace_check_view(path, ends_in(path, ".json"), out);
	if (ends_in(path, ".records"))
		return check_records(path, verbose, out);
	if (pcapng_reader_open(&rd, path, out))
		return 2;
	pcapng_reader_ethernet(rd);
	ret = check_all(rd, verbose, out, &c);
	pcapng_reader_close(rd);
	fprintf(out,
		"%s: %" PRIu64 " packets, %" PRIu64 " good, %" PRIu64 " bad, %" PRIu64
		" harmed on purpose\n",
		path, c.good + c.bad + c.harmed, c.good, c.bad, c.harmed);
	if (c.cut)
		fprintf(out, "%s: %" PRIu64 " of them are cut, so their CRCs are not checked\n",
			path, c.cut);
	if (ret < 0)
		return 2;
	return c.bad ? 1 : 0;
}
