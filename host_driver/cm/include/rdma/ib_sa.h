/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Paths, and queries for them to the subnet's administration: names and arguments of Linux
 * (include/rdma/ib_sa.h). A query is a SubnAdmGet(PathRecord) MAD from QP1 to the port's SM LID.
 * Source: IBA vol. 1, 15.2.5.16.
 */
#ifndef RDMA_IB_SA_H
#define RDMA_IB_SA_H

#include <rdma/ib_verbs.h>

enum ib_sa_selector { IB_SA_GT, IB_SA_LT, IB_SA_EQ, IB_SA_BEST };
enum sa_path_rec_type {
	SA_PATH_REC_TYPE_IB,
	SA_PATH_REC_TYPE_ROCE_V1,
	SA_PATH_REC_TYPE_ROCE_V2,
};

struct sa_path_rec_ib {
	__be16 dlid, slid;
	uint8_t raw_traffic;
};

struct sa_path_rec_roce {
	uint8_t dmac[MAC_BYTES];
};

struct sa_path_rec {
	union ib_gid dgid, sgid;
	__be64 service_id;
	__be32 flow_label;
	__be16 pkey, qos_class;
	uint8_t hop_limit, traffic_class, reversible, numb_path, sl;
	uint8_t mtu_selector, mtu;   /* enum ib_mtu */
	uint8_t rate_selector, rate; /* enum ib_rate of model/interface/cm.h */
	uint8_t packet_life_time_selector;
	uint8_t packet_life_time; /* 4.096 us * 2^n */
	uint8_t preference;
	enum sa_path_rec_type rec_type;
	struct sa_path_rec_ib ib;
	struct sa_path_rec_roce roce;
};

/* Which members are given; the bits are those on the wire. */
typedef uint64_t ib_sa_comp_mask;

#define IB_SA_COMP_MASK(n)                       (UINT64_C(1) << (n))
#define IB_SA_PATH_REC_SERVICE_ID                (IB_SA_COMP_MASK(0) | IB_SA_COMP_MASK(1))
#define IB_SA_PATH_REC_DGID                      IB_SA_COMP_MASK(2)
#define IB_SA_PATH_REC_SGID                      IB_SA_COMP_MASK(3)
#define IB_SA_PATH_REC_DLID                      IB_SA_COMP_MASK(4)
#define IB_SA_PATH_REC_SLID                      IB_SA_COMP_MASK(5)
#define IB_SA_PATH_REC_RAW_TRAFFIC               IB_SA_COMP_MASK(6)
#define IB_SA_PATH_REC_FLOW_LABEL                IB_SA_COMP_MASK(8)
#define IB_SA_PATH_REC_HOP_LIMIT                 IB_SA_COMP_MASK(9)
#define IB_SA_PATH_REC_TRAFFIC_CLASS             IB_SA_COMP_MASK(10)
#define IB_SA_PATH_REC_REVERSIBLE                IB_SA_COMP_MASK(11)
#define IB_SA_PATH_REC_NUMB_PATH                 IB_SA_COMP_MASK(12)
#define IB_SA_PATH_REC_PKEY                      IB_SA_COMP_MASK(13)
#define IB_SA_PATH_REC_QOS_CLASS                 IB_SA_COMP_MASK(14)
#define IB_SA_PATH_REC_SL                        IB_SA_COMP_MASK(15)
#define IB_SA_PATH_REC_MTU_SELECTOR              IB_SA_COMP_MASK(16)
#define IB_SA_PATH_REC_MTU                       IB_SA_COMP_MASK(17)
#define IB_SA_PATH_REC_RATE_SELECTOR             IB_SA_COMP_MASK(18)
#define IB_SA_PATH_REC_RATE                      IB_SA_COMP_MASK(19)
#define IB_SA_PATH_REC_PACKET_LIFE_TIME_SELECTOR IB_SA_COMP_MASK(20)
#define IB_SA_PATH_REC_PACKET_LIFE_TIME          IB_SA_COMP_MASK(21)
#define IB_SA_PATH_REC_PREFERENCE                IB_SA_COMP_MASK(22)

struct ib_sa_client {
	unsigned queries; /* number that are under way */
};

struct ib_sa_query;

void ib_sa_register_client(struct ib_sa_client *client);
/* None of its queries may be under way. */
void ib_sa_unregister_client(struct ib_sa_client *client);

/*
 * Sends a query. `callback` is called later, in a thread that may sleep but must not wait for
 * another answer. Its status is 0 with the path; -EINVAL: the SA has none, or refuses; -ETIMEDOUT:
 * no answer to IB_SA_TRIES queries of timeout_ms ms each; -EIO: the query cannot be sent;
 * -ECANCELED.
 *
 * Returns a number > 0 for ib_sa_cancel_query. -ENODEV: connection management is not attached to
 * the device (ib_cm_attach); -EINVAL: there is no such port; -ENOMEM. `gfp_mask` is not used.
 */
enum { IB_SA_TRIES = 3, GFP_KERNEL = 0 };
int ib_sa_path_rec_get(struct ib_sa_client *client, struct ib_device *device, uint32_t port_num,
		       const struct sa_path_rec *rec, ib_sa_comp_mask comp_mask,
		       unsigned long timeout_ms, unsigned gfp_mask,
		       void (*callback)(int status, struct sa_path_rec *resp, unsigned num_prs,
					void *context),
		       void *context, struct ib_sa_query **query);
/* Only before the callback has been called. It is then called with -ECANCELED, and after that the
 * query does not exist any more. */
void ib_sa_cancel_query(int id, struct ib_sa_query *query);

#endif
