# SPDX-License-Identifier: Apache-2.0
"""A queue pair of ib_qib that opinion.py brings packets to.

opinion_guest.py DEVICE FOLDER    answers FOLDER/N.ask with FOLDER/N.answer, for N from 0 on; both are JSON

The queue pair, its memory and its receives are those of the fuzz target transport (fuzz/transport_pair.c).
"""

import json
import os
import socket
import sys
import time
import zlib

import pyverbs.enums as e
from pyverbs.addr import AHAttr
from pyverbs.cq import CQ
from pyverbs.device import Context
from pyverbs.mr import MR
from pyverbs.pd import PD
from pyverbs.pyverbs_error import PyverbsError
from pyverbs.qp import QP, QPAttr, QPCap, QPInitAttr
from pyverbs.srq import SRQ, SrqAttr, SrqInitAttr
from pyverbs.wr import SGE, RecvWR

AREA, ZEROED, MEMORY = 8192, 1024, 16384
RECEIVES, STRIDE, RECEIVE_BYTES, GRH_BYTES, IMM_BYTES = 4, 1024, 600, 40, 4
PSN, QKEY, PEER_QPN, DEPTH, RNR_CODE, TIMEOUT = 0xFFFFF0, 0x1234, 0x7FFFF7, 3, 5, 11
SETTLE = 0.03  # seconds until ib_qib has done what a packet asks for
TYPES = {"RC": e.IBV_QPT_RC, "UC": e.IBV_QPT_UC, "UD": e.IBV_QPT_UD}
REMOTE = e.IBV_ACCESS_REMOTE_WRITE | e.IBV_ACCESS_REMOTE_READ | e.IBV_ACCESS_REMOTE_ATOMIC


class Responder:
    def __init__(self, device):
        self.context = Context(name=device)
        self.pd = PD(self.context)
        self.cq = CQ(self.context, 64)
        self.qp = self.srq = self.mr = self.weak = None
        self.lengths = {}  # of the datagrams with immediate data that have come, by receive

    def end(self):
        """What the stream had goes; a region does not go when ib_qib has lost count of its users."""
        for old in (self.qp, self.srq, self.weak, self.mr):
            if old:
                try:
                    old.close()
                except PyverbsError as error:
                    print(f"{type(old).__name__} does not go: {error}", flush=True)

    def begin(self, kind, shared, state, peer_lid):
        """A new queue pair, and memory as at the beginning."""
        self.end()
        self.mr = MR(self.pd, MEMORY, e.IBV_ACCESS_LOCAL_WRITE | REMOTE)
        self.weak = MR(self.pd, AREA, e.IBV_ACCESS_LOCAL_WRITE, address=self.mr.buf)
        self.type = TYPES[kind]
        self.ud = self.type == e.IBV_QPT_UD
        memory = bytes(i * 7 + (i >> 8) & 0xFF if ZEROED <= i < AREA else 0 for i in range(MEMORY))
        self.mr.write(memory, MEMORY)
        self.srq = SRQ(self.pd, SrqInitAttr(SrqAttr(max_wr=8, max_sge=1))) if shared else None
        cap = QPCap(max_send_wr=16, max_recv_wr=0 if shared else 8, max_send_sge=1, max_recv_sge=1)
        init = QPInitAttr(qp_type=self.type, scq=self.cq, rcq=self.cq, srq=self.srq, cap=cap, sq_sig_all=1)
        self.qp = QP(self.pd, init)
        self.to_state(state, peer_lid)
        self.completions()
        self.lengths = {}
        gid = self.context.query_gid(1, 0).gid.replace(":", "")
        return {
            "lid": self.context.query_port(1).lid,
            "qpn": self.qp.qp_num,
            "rkey": self.mr.rkey,
            "weak": self.weak.rkey,
            "va": self.mr.buf,
            "gid": gid,
        }

    def to_state(self, state, peer_lid):
        if state == e.IBV_QPS_RESET:
            return
        self.to_init()
        if state in (e.IBV_QPS_INIT, e.IBV_QPS_ERR):
            if state == e.IBV_QPS_ERR:
                self.modify(e.IBV_QPS_ERR, 0, QPAttr())
            return
        self.to_rtr(peer_lid)
        if state == e.IBV_QPS_RTR:
            return
        self.to_rts()
        if state == e.IBV_QPS_SQD:
            self.modify(e.IBV_QPS_SQD, 0, QPAttr())

    def modify(self, state, mask, attr):
        attr.qp_state = state
        self.qp.modify(attr, e.IBV_QP_STATE | mask)

    def to_init(self):
        attr = QPAttr(port_num=1)
        mask = e.IBV_QP_PKEY_INDEX | e.IBV_QP_PORT
        if self.ud:
            attr.qkey = QKEY
            mask |= e.IBV_QP_QKEY
        else:
            attr.qp_access_flags = REMOTE
            mask |= e.IBV_QP_ACCESS_FLAGS
        self.modify(e.IBV_QPS_INIT, mask, attr)
        for number in range(RECEIVES):
            sge = SGE(self.mr.buf + AREA + number * STRIDE, RECEIVE_BYTES, self.mr.lkey)
            wr = RecvWR(number, 1, [sge])
            if self.srq:
                self.srq.post_recv(wr)
            else:
                self.qp.post_recv(wr)

    def to_rtr(self, peer_lid):
        attr, mask = QPAttr(port_num=1), 0
        if not self.ud:
            attr.ah_attr = AHAttr(dlid=peer_lid, port_num=1)
            attr.path_mtu = e.IBV_MTU_256
            attr.dest_qp_num = PEER_QPN
            attr.rq_psn = PSN
            mask = e.IBV_QP_AV | e.IBV_QP_PATH_MTU | e.IBV_QP_DEST_QPN | e.IBV_QP_RQ_PSN
        if self.type == e.IBV_QPT_RC:
            attr.max_dest_rd_atomic, attr.min_rnr_timer = DEPTH, RNR_CODE
            mask |= e.IBV_QP_MAX_DEST_RD_ATOMIC | e.IBV_QP_MIN_RNR_TIMER
        self.modify(e.IBV_QPS_RTR, mask, attr)

    def to_rts(self):
        attr, mask = QPAttr(port_num=1), e.IBV_QP_SQ_PSN
        attr.sq_psn = PSN
        if self.type == e.IBV_QPT_RC:
            attr.timeout, attr.retry_cnt, attr.rnr_retry, attr.max_rd_atomic = TIMEOUT, 2, 2, 4
            mask |= e.IBV_QP_TIMEOUT | e.IBV_QP_RETRY_CNT | e.IBV_QP_RNR_RETRY | e.IBV_QP_MAX_QP_RD_ATOMIC
        self.modify(e.IBV_QPS_RTS, mask, attr)

    def completions(self):
        rows = []
        while True:
            count, done = self.cq.poll(16)
            if not count:
                return rows
            for wc in done:
                rows.append([wc.wr_id, wc.status, wc.opcode, wc.byte_len, wc.wc_flags, socket.ntohl(wc.imm_data)])

    def look(self):
        """What a packet has done. GRHs are left out, because GIDs differ from device to device. ib_qib counts the immediate data of a datagram
        as data, and so takes four bytes more than came: what stood in its buffer before. Those are left out, too."""
        time.sleep(SETTLE)
        done = self.completions()
        memory = bytearray(self.mr.read(MEMORY, 0))
        for number in range(RECEIVES if self.ud else 0):
            at = AREA + number * STRIDE
            memory[at:at + GRH_BYTES] = bytes(GRH_BYTES)
        if self.ud:
            self.lengths.update({number: length for number, _, _, length, flags, _ in done if flags & e.IBV_WC_WITH_IMM})
        for number, length in self.lengths.items():
            end = AREA + number * STRIDE + length
            memory[end - IMM_BYTES:end] = bytes(IMM_BYTES)
        state = self.qp.query(e.IBV_QP_STATE)[0].qp_state
        return {"wcs": done, "state": state, "memory": zlib.crc32(memory)}


def main():
    device, folder = sys.argv[1:]
    responder = Responder(device)
    number = 0
    while True:
        path = f"{folder}/{number}"
        while not os.path.exists(path + ".ask"):
            time.sleep(0.002)
        with open(path + ".ask") as file:
            ask = json.load(file)
        if ask[0] == "end":
            responder.end()
            return
        if ask[0] == "begin":
            print(number, *ask, flush=True)
        answer = responder.begin(*ask[1:]) if ask[0] == "begin" else responder.look()
        with open(path + ".new", "w") as file:
            json.dump(answer, file)
        os.rename(path + ".new", path + ".answer")
        number += 1


if __name__ == "__main__":
    main()
