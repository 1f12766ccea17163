# SPDX-License-Identifier: Apache-2.0
"""What no program of Debian does: path migration, and the limit of a shared receive queue.

peer.py DEVICE apm|srq_limit [SERVER]    without SERVER it waits for the other one at port 18515
"""

import json
import socket
import sys
import time

import pyverbs.enums as e
from pyverbs.addr import AHAttr
from pyverbs.cq import CQ
from pyverbs.device import Context
from pyverbs.mr import MR
from pyverbs.pd import PD
from pyverbs.qp import QP, QPAttr, QPCap, QPInitAttr
from pyverbs.srq import SRQ, SrqAttr, SrqInitAttr
from pyverbs.wr import SGE, RecvWR, SendWR

PORT = 18515
BYTES = 64
RECEIVES = 16
LIMIT = 8


class Peer:
    """One RC queue pair, the memory for its messages, and a TCP connection to the other peer."""

    def __init__(self, device, server, shared):
        link = self.meet(server)
        # a file for both directions would forget at each write what it has read ahead
        self.lines, self.words = link.makefile("r"), link.makefile("w")
        self.context = Context(name=device)
        self.pd = PD(self.context)
        self.cq = CQ(self.context, 4 * RECEIVES)
        self.mr = MR(self.pd, BYTES * (RECEIVES + 1), e.IBV_ACCESS_LOCAL_WRITE)
        self.srq = SRQ(self.pd, SrqInitAttr(SrqAttr(max_wr=RECEIVES, max_sge=1))) if shared else None
        cap = QPCap(max_send_wr=RECEIVES, max_recv_wr=0 if shared else RECEIVES, max_send_sge=1, max_recv_sge=1)
        self.qp = QP(self.pd, QPInitAttr(qp_type=e.IBV_QPT_RC, scq=self.cq, rcq=self.cq, srq=self.srq, cap=cap, sq_sig_all=1))
        for number in range(RECEIVES):
            self.receive(number)
        self.connect()

    def meet(self, server):
        if server:
            return socket.create_connection((server, PORT))
        return socket.create_server(("", PORT)).accept()[0]

    def tell(self, what):
        """A line of JSON goes to the other peer, and one comes back."""
        self.words.write(json.dumps(what) + "\n")
        self.words.flush()
        return json.loads(self.lines.readline())

    def connect(self):
        lid = self.context.query_port(1).lid
        other = self.tell({"lid": lid, "qpn": self.qp.qp_num})
        self.path = AHAttr(dlid=other["lid"], port_num=1)
        attr = QPAttr(port_num=1)
        attr.dest_qp_num = other["qpn"]
        attr.path_mtu = e.IBV_MTU_1024
        attr.max_rd_atomic = attr.max_dest_rd_atomic = 1
        attr.min_rnr_timer = 12
        attr.ah_attr = self.path
        attr.timeout = 18
        attr.retry_cnt = attr.rnr_retry = 7
        self.qp.to_rts(attr)
        self.tell("connected")

    def receive(self, number):
        wr = RecvWR(number, 1, [SGE(self.mr.buf + number * BYTES, BYTES, self.mr.lkey)])
        if self.srq:
            self.srq.post_recv(wr)
        else:
            self.qp.post_recv(wr)

    def send(self, text):
        self.mr.write(text.ljust(BYTES).encode(), BYTES, RECEIVES * BYTES)
        self.qp.post_send(SendWR(0, num_sge=1, sg=[SGE(self.mr.buf + RECEIVES * BYTES, BYTES, self.mr.lkey)], opcode=e.IBV_WR_SEND))

    def completion(self, seconds=20):
        end = time.time() + seconds
        while time.time() < end:
            count, done = self.cq.poll(1)
            if count:
                if done[0].status != e.IBV_WC_SUCCESS:
                    sys.exit(f"completion with status {done[0].status}")
                return done[0]
        sys.exit("no completion")

    def talk(self, messages):
        """Each peer sends and gets so many messages, and compares them."""
        sent = received = 0
        for number in range(messages):
            self.send(f"message {number}")
            # the other peer may be one message ahead
            while sent <= number or received <= number:
                done = self.completion()
                if not done.opcode & e.IBV_WC_RECV:
                    sent += 1
                    continue
                text = self.mr.read(BYTES, done.wr_id * BYTES).decode().strip()
                if text != f"message {received}":
                    sys.exit(f"got '{text}', expected 'message {received}'")
                self.receive(done.wr_id)
                received += 1
        self.tell("talked")

    def migration(self):
        return self.qp.query(e.IBV_QP_PATH_MIG_STATE)[0].path_mig_state

    def event(self, wanted, name):
        """Waits for it; events of the port may come before, because the subnet manager is at work."""
        event_type = None
        while event_type != wanted:
            event = self.context.get_async_event()
            event_type = event.event_type
            event.ack()
            print(name if event_type == wanted else f"event {event_type}")


def apm(peer, server):
    """Both arm an alternate path; the one that knows a server migrates, and its packets make the other one follow."""
    peer.talk(3)
    attr = QPAttr(port_num=1)
    attr.alt_ah_attr = peer.path
    attr.alt_port_num = 1
    attr.alt_timeout = 18
    attr.path_mig_state = e.IBV_MIG_REARM
    peer.qp.modify(attr, e.IBV_QP_ALT_PATH | e.IBV_QP_PATH_MIG_STATE)
    peer.tell("rearmed")
    peer.talk(3)
    if peer.migration() != e.IBV_MIG_ARMED:
        sys.exit(f"migration state {peer.migration()}, expected ARMED")
    peer.tell("armed")
    if server:
        attr = QPAttr(port_num=1)
        attr.path_mig_state = e.IBV_MIG_MIGRATED
        peer.qp.modify(attr, e.IBV_QP_PATH_MIG_STATE)
    peer.tell("migrates")
    peer.talk(5)
    if not server:
        peer.event(e.IBV_EVENT_PATH_MIG, "PATH_MIG")
    if peer.migration() != e.IBV_MIG_MIGRATED:
        sys.exit(f"migration state {peer.migration()}, expected MIGRATED")
    peer.tell("migrated")


def srq_limit(peer, server):
    """The one that waits hears of it when fewer than LIMIT receives are left."""
    if not server:
        peer.srq.modify(SrqAttr(srq_limit=LIMIT), e.IBV_SRQ_LIMIT)
    peer.tell("limited")
    for number in range(RECEIVES - LIMIT + 1):
        if server:
            peer.send(f"message {number}")
        peer.completion()
    if not server:
        peer.event(e.IBV_EVENT_SRQ_LIMIT_REACHED, "SRQ_LIMIT_REACHED")
    peer.tell("reached")


def main():
    device, what = sys.argv[1:3]
    server = sys.argv[3] if len(sys.argv) > 3 else None
    peer = Peer(device, server, what == "srq_limit")
    {"apm": apm, "srq_limit": srq_limit}[what](peer, server)


if __name__ == "__main__":
    main()
