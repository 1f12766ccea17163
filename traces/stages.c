/* SPDX-License-Identifier: Apache-2.0 */
/* The stages of a message: the times between its points. See messages.h. */
#include <inttypes.h>
#include <string.h>

#include "traces/messages.h"

bool message_stage(const struct message *m, enum message_point end, uint64_t *ps)
{
	uint64_t begin = MESSAGE_NEVER;

	if (m->at_ps[end] == MESSAGE_NEVER)
		return false;
	/* An interrupt may come before what it announces. No stage may become negative. */
	for (unsigned i = 0; i < end; i++)
		if (m->at_ps[i] != MESSAGE_NEVER && (begin == MESSAGE_NEVER || m->at_ps[i] > begin))
			begin = m->at_ps[i];
	if (begin == MESSAGE_NEVER)
		return false;
	*ps = m->at_ps[end] > begin ? m->at_ps[end] - begin : 0;
	return true;
}

const char *message_stage_word(enum message_point end)
{
	static const char *const words[] = {
#define M(name, word, meaning) word,
		MESSAGE_POINTS(M)
#undef M
	};

	return words[end];
}

const char *message_stage_meaning(enum message_point end)
{
	static const char *const meanings[] = {
#define M(name, word, meaning) meaning,
		MESSAGE_POINTS(M)
#undef M
	};

	return meanings[end];
}

static bool is_wanted(const struct run_files *run, const struct message *m, const char *phase)
{
	unsigned in = run->phase_count;

	while (in > 1 && run->phase_ps[in - 1] > m->at_ps[MESSAGE_WQE])
		in--;
	if (phase)
		return !strcmp(phase, run->phases[in - 1]);
	return strcmp(run->phases[in - 1], "bring-up") && strcmp(run->phases[in - 1], "tear-down");
}

static void print_ns(FILE *out, const char *word, uint64_t ps)
{
	fprintf(out, " %s %" PRIu64 ".%03u", word, ps / 1000, (unsigned)(ps % 1000));
}

void messages_print(const struct messages *all, const struct run_files *run, const char *phase,
		    FILE *out)
{
	uint64_t sums[MESSAGE_POINT_COUNT] = {0}, n = 0, total = 0;

	for (size_t i = 0; i < all->count; i++) {
		const struct message *m = all->messages[i];
		uint64_t ps, sum = 0;

		if (!is_wanted(run, m, phase))
			continue;
		fprintf(out, "hca%u qpn 0x%x wqe %u %s, %" PRIu64 " bytes:", m->hca, m->qpn,
			m->index, m->opcode, m->bytes);
		for (unsigned s = 0; s < MESSAGE_POINT_COUNT; s++)
			if (message_stage(m, s, &ps)) {
				sums[s] += ps;
				sum += ps;
				print_ns(out, message_stage_word(s), ps);
				fputc(',', out);
			}
		print_ns(out, "sum", sum);
		fputc('\n', out);
		total += sum;
		n++;
	}
	if (n < 2)
		return;
	fprintf(out, "mean of %" PRIu64 ":", n);
	for (unsigned s = 0; s < MESSAGE_POINT_COUNT; s++)
		if (sums[s]) {
			print_ns(out, message_stage_word(s), sums[s] / n);
			fputc(',', out);
		}
	print_ns(out, "sum", total / n);
	fputc('\n', out);
}
