/* SPDX-License-Identifier: Apache-2.0 */
/* Values derived from the rows of [hca.pcie] and [host.pcie]: the rate of the link, the sizes at
 * which TLPs are split, the number of requests and credits. See pcie.h. */
#include "model/engine/host/pcie_impl.h"
#include "model/interface/macros.h"
#include "model/sim/params.h"
#include "model/sim/params/hca_pcie.h"

#include <stdlib.h>

/* Bits a lane sends and bits of them that are data, by rate: PCI Express Base 4.2. */
static const struct coding {
	uint32_t mt_s, wire, data;
} codings[] = {{2500, 10, 8}, {5000, 10, 8}, {8000, 130, 128}, {16000, 130, 128}};

static uint64_t byte_time(const struct hca_params *p)
{
	const uint64_t ps_mt =
		8 * UINT64_C(1000000); /* bits of a byte; ps of a transfer at 1 MT/s */
	const struct coding *c = codings;

	while (c->mt_s != param_pcie_speed(p) && c < codings + ARRAY_SIZE(codings) - 1)
		c++;
	return (ps_mt << PCIE_FRACTION_BITS) * c->wire /
	       (c->data * param_pcie_speed(p) * param_pcie_lanes(p));
}

/* How many requests can be outstanding: each needs a tag, and room for its completions. */
static unsigned tags_count(const struct pcie *pcie)
{
	const struct hca_params *p = pcie->hca->params;
	const uint64_t completions = pcie->max_read_request > pcie->max_payload
					     ? pcie->max_read_request / pcie->max_payload
					     : 1;
	uint64_t tags = param_pcie_tags(p);

	if (tags > param_pcie_completion_headers(p) / completions)
		tags = param_pcie_completion_headers(p) / completions;
	if (tags > param_pcie_completion_data(p) / pcie->max_read_request)
		tags = param_pcie_completion_data(p) / pcie->max_read_request;
	return tags ? (unsigned)tags : 1;
}

/* Header credits are computed for the smallest TLPs, which need most of them; data credits for full
 * ones. */
static void credits_set(struct pcie *pcie, struct pcie_credits *c, uint64_t headers, uint64_t data,
			uint64_t latency_ps)
{
	const struct hca_params *p = pcie->hca->params;
	const uint64_t full_ps =
		pcie_bytes_ps(pcie, pcie->max_payload + param_pcie_request_overhead(p));

	c->round_ps = 2 * (param_pcie_device_latency(p) + pcie->root.latency_ps) + latency_ps;
	c->header_ps = pcie_credit_ps(headers, c->round_ps, pcie->request_ps, pcie->request_ps);
	c->data_ps = pcie_credit_ps(data, c->round_ps, full_ps,
				    full_ps * PCIE_CREDIT_BYTES / pcie->max_payload);
	c->enough = 0;
	while (pcie_bytes_ps(pcie, c->enough + param_pcie_request_overhead(p)) < c->header_ps)
		c->enough++;
	if (c->data_ps)
		c->enough = UINT32_MAX;
}

/* Derives what depends on the sizes of TLPs and on latencies. */
static void pcie_derive(struct pcie *pcie)
{
	const struct hca_params *p = pcie->hca->params;
	const struct pcie_root *root = &pcie->root;
	const unsigned tags = tags_count(pcie);

	pcie->read_way_ps = param_pcie_device_latency(p) + root->latency_ps + root->read_latency_ps;
	credits_set(pcie, &pcie->posted, root->posted_headers, root->posted_data, root->credit_ps);
	credits_set(pcie, &pcie->host_posted, param_pcie_posted_headers(p),
		    param_pcie_posted_data(p), param_pcie_credit_latency(p));
	/* where there are not more tags than credits, requests never wait for a credit */
	credits_set(pcie, &pcie->nonposted,
		    root->nonposted_headers < tags ? root->nonposted_headers : 0, 0,
		    root->credit_ps);
	pcie->row_request = pcie->nonposted.header_ps ? 0 : pcie->max_read_request;
	if (tags != pcie->tags.total)
		pcie_tags_reset(&pcie->tags, tags, pcie_tags_free_ps(&pcie->tags));
}

/* Both are powers of two. */
static void pcie_sizes_set(struct pcie *pcie, uint32_t max_payload, uint32_t max_read_request)
{
	pcie->max_payload = max_payload;
	pcie->log_max_payload = (unsigned)__builtin_ctz(max_payload);
	pcie->max_read_request = max_read_request;
	pcie_derive(pcie);
}

struct pcie *pcie_create(struct hca *hca)
{
#define P(section, key, unit, def, ...) .section##_##key = (def),
	static const struct host_params usual = {HOST_PARAMS(P)};
#undef P
	struct pcie *pcie = memory_create(1, sizeof(*pcie), "a PCIe link");

	pcie->hca = hca;
	pcie->byte_time = byte_time(hca->params);
	pcie->request_ps = pcie_bytes_ps(pcie, param_pcie_request_overhead(hca->params));
	pcie->root = (struct pcie_root){.posted_headers = usual.pcie_posted_headers,
					.posted_data = usual.pcie_posted_data,
					.nonposted_headers = usual.pcie_nonposted_headers,
					.credit_ps = usual.pcie_credit_latency,
					.latency_ps = usual.pcie_latency,
					.read_latency_ps = usual.pcie_read_latency,
					.write_latency_ps = usual.pcie_write_latency};
	pcie_sizes_set(pcie, (uint32_t)param_pcie_mps(hca->params),
		       (uint32_t)param_pcie_mrrs(hca->params));
	return pcie;
}

void pcie_root_set(struct hca *hca, const struct pcie_root *root)
{
	hca->pcie->root = *root;
	pcie_derive(hca->pcie);
}

void pcie_master_set(struct hca *hca, bool master)
{
	hca->pcie->master = master;
}

void pcie_configure(struct hca *hca, uint32_t max_payload, uint32_t max_read_request)
{
	pcie_sizes_set(hca->pcie, max_payload, max_read_request);
}
