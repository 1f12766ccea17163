// SPDX-License-Identifier: Apache-2.0
/* See given.h. */
#include "testbench/dsan/device/given.h"

#include "testbench/dsan/asked/asked_impl.h"
#include "testbench/dsan/hear/chain.h"
#include "testbench/dsan/held/claims_impl.h"
#include "testbench/dsan/hear/trail.h"

#include "model/engine/base/engine.h"
#include "model/interface/commands.h"
#include "model/interface/contexts.h"
#include "model/interface/fwregs.h"
#include "model/interface/macros.h"
#include "model/interface/qp_transitions.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum {
	PAGE = 4096,
	NUMBER_MASK = 0xffffff,
	/* that CONF_SPECIAL_QP takes. Source: Linux mlx4_init_qp_table, aligned to 8 */
	SPECIAL_NUMBERS = 8,
};

static void report_now(struct checker *c, enum guest_rule rule, struct guest_object object,
		       const char *text)
{
	char names[CHAIN_BYTES];
	struct calls now;

	chain_take(&now);
	chain_format(&now, names, sizeof(names));
	checker_report(c, &(struct breach){rule, object, NULL, NULL}, "%s, by %s", text, names);
}

/* --- reserved numbers --- */

static void reserved_given(struct checker *c, struct guest_object object, uint32_t index,
			   const char *why)
{
	const struct ask *a = ask_running();
	const void *taken = a ? a->numbers_by : NULL;
	/* the context of a queue pair follows in a later call */
	const void *maker = !taken && a && a->made ? a->made->numbers_by : taken;
	char text[CHAIN_BYTES], made[CHAIN_BYTES / 4];

	checker_functions(&maker, !!maker, made, sizeof(made));
	snprintf(text, sizeof(text),
		 "number %u is given to an object, and %s; the allocator was made by %s", index,
		 why, *made ? made : "another call");
	report_now(c, RULE_number_reserved, object, text);
}

static void reserved_check(struct checker *c, struct guest_object object, uint32_t index,
			   uint32_t reserved)
{
	char why[64];

	if (!c->given.has_cap || index >= reserved)
		return;
	snprintf(why, sizeof(why), "QUERY_DEV_CAP reserves those below %u", reserved);
	reserved_given(c, object, index, why);
}

static void special_check(struct checker *c, struct guest_object object, uint32_t index)
{
	const struct ask *a = ask_running();
	const uint32_t base = c->given.special_base;
	char why[96];

	if (!base || index - base >= SPECIAL_NUMBERS || !a || !a->made || a->made->special)
		return;
	snprintf(why, sizeof(why), "CONF_SPECIAL_QP takes %u numbers from %u on for QP0 and QP1",
		 SPECIAL_NUMBERS, base);
	reserved_given(c, object, index, why);
}

/* Source: Linux mlx4_init_eq_table: reserved UAR pages have the doorbells of four EQs each */
uint32_t given_reserved_eqs(const struct dev_cap *cap)
{
	const uint32_t by_uar = UAR_EQS_PER_PAGE * dev_cap_get_num_rsvd_uars(cap);
	const uint32_t said = 1u << dev_cap_get_log_rsvd_eqs(cap);

	return said > by_uar ? said : by_uar;
}

static void number_check(struct checker *c, uint32_t opcode, uint32_t number)
{
	const struct dev_cap *cap = &c->given.cap;
	struct hca *hca = c->host.hca;

	switch (opcode) {
	case HCR_SW2HW_CQ:
		reserved_check(c, (struct guest_object){GUEST_CQ, number},
			       object_index(hca, HCA_CQ, number),
			       1u << dev_cap_get_log_rsvd_cqs(cap));
		break;
	case HCR_SW2HW_SRQ:
		reserved_check(c, (struct guest_object){GUEST_SRQ, number},
			       object_index(hca, HCA_SRQ, number),
			       1u << dev_cap_get_log_rsvd_srqs(cap));
		break;
	case HCR_SW2HW_EQ:
		reserved_check(c, (struct guest_object){GUEST_EQ, number}, number,
			       given_reserved_eqs(cap));
		break;
	case HCR_SW2HW_MPT:
		reserved_check(c, (struct guest_object){GUEST_MPT, number}, number,
			       1u << dev_cap_get_log_rsvd_mpts(cap));
		break;
	case HCR_RST2INIT_QP:
		reserved_check(c, (struct guest_object){GUEST_QP, number},
			       object_index(hca, HCA_QP, number),
			       1u << dev_cap_get_log_rsvd_qps(cap));
		special_check(c, (struct guest_object){GUEST_QP, number},
			      object_index(hca, HCA_QP, number));
		break;
	default:
		break;
	}
}

void given_mtts_check(struct checker *c, uint64_t first, const struct calls *by)
{
	char names[CHAIN_BYTES];
	const unsigned reserved =
		c->given.has_cap ? 1u << dev_cap_get_log_rsvd_mtts(&c->given.cap) : 0;

	if (first >= reserved)
		return;
	chain_format(by, names, sizeof(names));
	checker_report(c, &(struct breach){RULE_number_reserved, {0}, NULL, NULL},
		       "a buffer has MTT entries from 0x%llx on, and QUERY_DEV_CAP reserves those "
		       "below 0x%x; made by %s",
		       (unsigned long long)first, reserved, names);
}

/* Source: Linux mlx4_init_uar_table: mlx4_uar_alloc gives none below num_reserved_uar, and the pages of
 * the doorbells of EQs are among those */
void given_page_check(struct checker *c, struct guest_object object, uint32_t page)
{
	const uint32_t said = c->given.has_cap ? dev_cap_get_num_rsvd_uars(&c->given.cap) : 0,
		       reserved = said > HCA_UAR_EQ_PAGES ? said : HCA_UAR_EQ_PAGES;

	reserved_check(c, object, page, reserved);
}

/* --- events --- */

/* Source: Linux MLX4_ASYNC_EVENT_MASK, get_async_ev_mask */
static const uint8_t needed_events[] = {
	EVENT_PATH_MIG,           EVENT_COMM_EST,
	EVENT_SQ_DRAINED,         EVENT_CQ_ERROR,
	EVENT_WQ_CATAS_ERROR,     EVENT_PATH_MIG_FAILED,
	EVENT_PORT_CHANGE,        EVENT_CMD,
	EVENT_WQ_INVAL_REQ_ERROR, EVENT_WQ_ACCESS_ERROR,
	EVENT_SRQ_CATAS_ERROR,    EVENT_SRQ_QP_LAST_WQE,
	EVENT_SRQ_LIMIT,          EVENT_PORT_MNG_CHG,
	EVENT_EEC_CATAS_ERROR,    EVENT_ECC_DETECT,
	EVENT_OP_REQUIRED,        EVENT_FATAL_WARNING,
};

static bool has_port_events(const struct checker *c)
{
	return c->given.has_cap &&
	       dev_cap_get_flags(&c->given.cap) & UINT64_C(1) << DEV_CAP_PORT_MNG_CHG;
}

static void mask_check(struct checker *c, uint64_t mask)
{
	char text[CHAIN_BYTES], names[CHAIN_BYTES / 2];

	if (c->given.has_cap && !has_port_events(c) && mask >> EVENT_PORT_MNG_CHG & 1) {
		trail_format(names, sizeof(names));
		snprintf(text, sizeof(text),
			 "the mask of events has bit %u, and the device has no such event; behind "
			 "%s",
			 EVENT_PORT_MNG_CHG, names);
		report_now(c, RULE_context_differs,
			   (struct guest_object){GUEST_COMMAND, HCR_MAP_EQ}, text);
	}
	for (size_t i = 0; i < ARRAY_SIZE(needed_events); i++) {
		const unsigned type = needed_events[i];

		if (mask >> type & 1 || (type == EVENT_PORT_MNG_CHG && !has_port_events(c)))
			continue;
		trail_format(names, sizeof(names));
		snprintf(text, sizeof(text),
			 "the mask of events has no bit %u, so users are never told of it; behind "
			 "%s",
			 type, names);
		report_now(c, RULE_context_differs,
			   (struct guest_object){GUEST_COMMAND, HCR_MAP_EQ}, text);
		return;
	}
}

/* Source: Linux mlx4_cleanup_eq_table: the mask is that of mlx4_init_eq_table */
static void unmap_check(struct checker *c, const struct hcr *command)
{
	const uint64_t mask = hcr_get_in_param(command);
	char names[CHAIN_BYTES], text[2 * CHAIN_BYTES];

	if (!c->given.events || mask == c->given.events)
		return;
	chain_format(&c->given.events_by, names, sizeof(names));
	snprintf(text, sizeof(text),
		 "the mask of events that are taken away is 0x%" PRIx64 ", and 0x%" PRIx64
		 " were given by %s",
		 mask, c->given.events, names);
	report_now(c, RULE_context_differs, (struct guest_object){GUEST_COMMAND, HCR_MAP_EQ}, text);
}

static void events_given(struct checker *c, const struct hcr *command)
{
	struct given *g = &c->given;

	if (hcr_get_in_mod(command) >> 31)
		unmap_check(c, command);
	g->events = hcr_get_in_mod(command) >> 31 ? 0 : hcr_get_in_param(command);
	g->event_eqn = hcr_get_in_mod(command) & NUMBER_MASK;
	chain_take(&g->events_by);
	if (!(hcr_get_in_mod(command) >> 31))
		mask_check(c, hcr_get_in_param(command));
}

void given_event_lack(const struct checker *c, char *text, size_t size)
{
	char names[CHAIN_BYTES];

	*text = 0;
	if (c->given.events & UINT64_C(1) << EVENT_CMD)
		return;
	chain_format(&c->given.events_by, names, sizeof(names));
	snprintf(text, size, "; no EQ takes the completions of commands, MAP_EQ was given by %s",
		 names);
}

/* Source: Linux mlx4_cleanup_eq_table: MAP_EQ takes the events away, then the EQs go */
static void eq_goes(struct checker *c, uint32_t number)
{
	if (c->given.events && number == c->given.event_eqn)
		report_now(
			c, RULE_object_in_use, (struct guest_object){GUEST_EQ, number},
			"the EQ is taken back, and MAP_EQ still sends asynchronous events to it");
}

/* --- ICM --- */

/* The first entry of each table is the firmware's. Source: Linux mlx4_close_hca: CLOSE_HCA, then
 * mlx4_free_icms */
static void icm_goes(struct checker *c, const struct hcr *command)
{
	static const unsigned tables[] = {FW_TABLE_QPC, FW_TABLE_CQC, FW_TABLE_SRQC,
					  FW_TABLE_EQC, FW_TABLE_MPT, FW_TABLE_MTT};
	const uint64_t first = hcr_get_in_param(command),
		       bytes = (uint64_t)hcr_get_in_mod(command) * PAGE;
	char names[CHAIN_BYTES / 2], text[2 * CHAIN_BYTES];

	for (size_t i = 0; c->given.runs && i < ARRAY_SIZE(tables); i++) {
		if (hca_icm_address(c->host.hca, tables[i], 0) - first >= bytes)
			continue;
		chain_format(&c->given.runs_by, names, sizeof(names));
		snprintf(
			text, sizeof(text),
			"UNMAP_ICM takes entries that the firmware keeps for itself, and CLOSE_HCA "
			"was not given; INIT_HCA was, by %s",
			names);
		report_now(c, RULE_command_sequence,
			   (struct guest_object){GUEST_COMMAND, HCR_UNMAP_ICM}, text);
		return;
	}
}

/* --- multicast groups --- */

/* A chain must not lead to an entry that was never written. Source: Linux mlx4_qp_attach_common writes
 * the new entry, then the one before it */
static void group_given(struct checker *c, const struct hcr *command)
{
	const uint32_t index = hcr_get_in_mod(command) & (GIVEN_GROUPS - 1);
	struct mcg_entry e;

	if (!checker_read(c, hcr_get_in_param(command), &e, sizeof(e)))
		return;
	c->given.groups[index / 8] |= (uint8_t)(1 << index % 8);
	if (mcg_entry_get_next_index(&e) &&
	    !(c->given.groups[mcg_entry_get_next_index(&e) % GIVEN_GROUPS / 8] &
	      1 << mcg_entry_get_next_index(&e) % 8))
		report_now(c, RULE_object_dead, (struct guest_object){GUEST_MCG, index},
			   "its chain goes on to an entry that WRITE_MCG has not written");
}

/* --- ports --- */

static void port_given(struct checker *c, const struct hcr *command, bool open)
{
	const uint32_t port = hcr_get_in_mod(command);

	if (port >= ARRAY_SIZE(c->given.port_open))
		return;
	if (open && c->given.port_open[port])
		report_now(c, RULE_command_sequence, (struct guest_object){GUEST_PORT, port},
			   "INIT_PORT is given for a port that is open");
	c->given.port_open[port] = open;
	if (open)
		chain_take(&c->given.port_by[port]);
}

/* Source: Linux mlx4_dev_port, mlx4_set_port_mask: suggested_type counts where a port can be both */
static void protocol_check(struct checker *c, const struct hcr *command)
{
	const uint32_t port = hcr_get_in_mod(command) & 0xff;
	const bool ethernet = hcr_get_op_mod(command) == HCR_OM_SET_PORT_ETH;
	const struct ask *a = ask_running();
	const struct query_port *q;
	unsigned types;

	if (port >= ARRAY_SIZE(c->given.can) || !a || strcmp(a->call, "drv_probe"))
		return;
	q = &c->given.can[port];
	types = query_port_get_types(q);
	if (!types || ethernet == (types == PORT_TYPE_ETH ||
				   (types != PORT_TYPE_IB && query_port_get_suggested_eth(q))))
		return;
	report_now(c, RULE_context_differs, (struct guest_object){GUEST_PORT, port},
		   ethernet ? "SET_PORT makes it an Ethernet port, and QUERY_PORT does not say so"
			    : "SET_PORT makes it an InfiniBand port, and QUERY_PORT says Ethernet");
}

static void can_keep(struct checker *c, const struct hcr *command)
{
	const uint32_t port = hcr_get_in_mod(command);

	if (port < ARRAY_SIZE(c->given.can))
		checker_read(c, hcr_get_out_param(command), &c->given.can[port],
			     sizeof(c->given.can[port]));
}

/* `by`: who asked for it, NULL: a user of the driver. */
static void left_report(struct checker *c, struct guest_object object, const char *what,
			const struct calls *by)
{
	char names[CHAIN_BYTES], asked[CHAIN_BYTES] = "";
	struct calls now;

	chain_take(&now);
	chain_format(&now, names, sizeof(names));
	if (by)
		chain_format(by, asked, sizeof(asked));
	checker_report(c, &(struct breach){RULE_object_left, object, NULL, NULL},
		       "CLOSE_HCA is given, and %s, by %s%s%s", what, names,
		       by ? "; that was asked for by " : "", asked);
}

/* Source: Linux mlx4_remove_one: mlx4_unregister_device stops the poll of the error buffer, then
 * mlx4_CLOSE_PORT for each port, mlx4_cleanup_qp_table gives CONF_SPECIAL_QP 0, and CLOSE_HCA is the last */
static void closing_check(struct checker *c)
{
	const struct given *g = &c->given;

	for (unsigned port = 1; port < ARRAY_SIZE(g->port_open); port++)
		if (g->port_open[port])
			left_report(c, (struct guest_object){GUEST_PORT, port},
				    "the port is still open", &g->port_by[port]);
	if (g->special_base)
		left_report(c, (struct guest_object){GUEST_QP, g->special_base},
			    "the special queue pairs still have their block of numbers",
			    &g->special_by);
	if (c->dead.watched)
		left_report(c, (struct guest_object){0}, "a thread still reads the error buffer",
			    NULL);
}

static void special_given(struct checker *c, const struct hcr *command)
{
	c->given.special_wanted = hcr_get_in_mod(command) & NUMBER_MASK;
	chain_take(&c->given.special_by);
}

bool given_port_is_open(const struct checker *c, unsigned port)
{
	return port < ARRAY_SIZE(c->given.port_open) && c->given.port_open[port];
}

static unsigned ports_of(const struct checker *c)
{
	const unsigned ports = c->given.has_cap ? dev_cap_get_num_ports(&c->given.cap) : 0;

	return ports < ARRAY_SIZE(c->given.port_open) ? ports : ARRAY_SIZE(c->given.port_open) - 1;
}

/* Source: Linux mlx4_init_eq_table: eq_set_ci(eq, 1) for each EQ */
static void armed_check(struct checker *c)
{
	for (unsigned v = 0; v < FUNCTION_VECTORS; v++) {
		const struct vector *is = &c->function.vectors[v];
		const uint32_t eqn = c->eq_of_vector[v] - 1;
		char names[CHAIN_BYTES];

		if (!c->eq_of_vector[v] || own_eq_arms(c->own, eqn))
			continue;
		chain_format(is->handlers ? &is->handler_by : &is->by, names, sizeof(names));
		checker_report(c, &(struct breach){RULE_eq_not_armed, {GUEST_EQ, eqn}, NULL, NULL},
			       "the driver has come up, and has never armed it; its vector %u %s "
			       "by %s",
			       v,
			       is->handlers ? "got its handler" : "has no handler, and was written",
			       names);
	}
}

/* Source: Linux ib_mad_init_device: each InfiniBand port has its QP0, which opens it */
void given_up_check(struct ask *a, const struct drv_device *dev, bool closed)
{
	if (a->c)
		armed_check(a->c);
	for (unsigned port = 1; a->c && !closed && a->c->given.runs && port <= ports_of(a->c);
	     port++)
		if (!a->c->given.port_open[port] && !drv_port_is_ethernet(dev, port))
			ask_report(a, RULE_command_sequence,
				   (struct guest_object){GUEST_PORT, port},
				   "the driver has come up, and INIT_PORT was not given for the "
				   "port");
}

/* --- all --- */

void given_command(struct checker *c, const struct hcr *command)
{
	const uint32_t opcode = hcr_get_opcode(command);

	number_check(c, opcode, hcr_get_in_mod(command) & NUMBER_MASK);
	switch (opcode) {
	case HCR_MAP_EQ:
		events_given(c, command);
		break;
	case HCR_HW2SW_EQ:
		eq_goes(c, hcr_get_in_mod(command) & NUMBER_MASK);
		break;
	case HCR_UNMAP_ICM:
		icm_goes(c, command);
		break;
	case HCR_WRITE_MCG:
		group_given(c, command);
		break;
	case HCR_SET_PORT:
		protocol_check(c, command);
		break;
	case HCR_INIT_PORT:
		port_given(c, command, true);
		break;
	case HCR_CLOSE_PORT:
		port_given(c, command, false);
		break;
	case HCR_SYNC_TPT:
		c->given.synced = true;
		break;
	case HCR_HW2SW_MPT:
		c->given.synced = false;
		break;
	case HCR_NOP: /* Source: Linux mlx4_NOP: 0x1f */
		if (hcr_get_in_mod(command) != HCR_NOP_IM)
			report_now(c, RULE_context_differs,
				   (struct guest_object){GUEST_COMMAND, HCR_NOP},
				   "the modifier of NOP does not ask for an interrupt");
		break;
	case HCR_INIT_HCA:
		chain_take(&c->given.runs_by);
		break;
	case HCR_CONF_SPECIAL_QP:
		special_given(c, command);
		break;
	case HCR_CLOSE_HCA:
		if (c->given.runs)
			closing_check(c);
		c->given.runs = false;
		c->given.special_base = 0;
		c->given.events = 0;
		break;
	default:
		break;
	}
}

/* It is as if it had not been given. */
static void refused(struct checker *c, const struct hcr *command)
{
	if (hcr_get_opcode(command) == HCR_INIT_PORT)
		port_given(c, command, false);
	else if (hcr_get_opcode(command) == HCR_MAP_EQ && !(hcr_get_in_mod(command) >> 31))
		c->given.events = 0;
}

void given_command_done(struct checker *c, const struct hcr *command,
			const struct hca_command_answer *answer)
{
	if (answer->status) {
		refused(c, command);
		return;
	}
	if (hcr_get_opcode(command) == HCR_QUERY_DEV_CAP)
		c->given.has_cap = checker_read(c, hcr_get_out_param(command), &c->given.cap,
						sizeof(c->given.cap));
	if (hcr_get_opcode(command) == HCR_QUERY_PORT)
		can_keep(c, command);
	if (hcr_get_opcode(command) == HCR_SET_ICM_SIZE)
		c->given.aux_pages = answer->out_param;
	if (hcr_get_opcode(command) == HCR_CONF_SPECIAL_QP)
		c->given.special_base = c->given.special_wanted;
	if (hcr_get_opcode(command) != HCR_INIT_HCA)
		return;
	c->given.runs = true;
	c->given.special_base = 0;
	memset(c->given.port_open, 0, sizeof(c->given.port_open));
	memset(c->given.groups, 0, sizeof(c->given.groups));
}
