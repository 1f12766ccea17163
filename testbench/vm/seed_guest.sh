# SPDX-License-Identifier: Apache-2.0
# What a driver with a seeded bug has to do, in a guest with both devices. Sourced in the guest.

# use_objects DEVICE: makes and destroys one of each object of a process, without traffic. A CQ gets larger meanwhile
use_objects()
{
	timeout 120 python3 -c "
import pyverbs.enums as e
from pyverbs.device import Context
from pyverbs.pd import PD
from pyverbs.mr import MR
from pyverbs.cq import CQ
from pyverbs.srq import SRQ, SrqInitAttr
from pyverbs.qp import QP, QPAttr, QPCap, QPInitAttr
context = Context(name='$1')
pd = PD(context)
mr = MR(pd, 65536, e.IBV_ACCESS_LOCAL_WRITE | e.IBV_ACCESS_REMOTE_WRITE)
cq = CQ(context, 100, None, None, 0)
cq.resize(1000)
srq = SRQ(pd, SrqInitAttr())
qp = QP(pd, QPInitAttr(qp_type=e.IBV_QPT_RC, scq=cq, rcq=cq, cap=QPCap(10, 10, 1, 1)), QPAttr(port_num=1))
for made in qp, srq, mr, cq, pd, context:
    made.close()"
}

# pingpong PROGRAM ARGUMENT...: between the two devices
pingpong()
{
	local server status
	timeout 60 "$@" -d mlx4_1 >/dev/null & server=$!
	listening 18515 30 && timeout 60 "$@" -d mlx4_0 localhost
	status=$?
	# the other end stays for a while: the host looks every two seconds at what waits
	[ $status -eq 0 ] || { sleep 5; kill $server; }
	wait $server && return $status
}

# many_mads: so many that the send queues of QP1 wrap
many_mads()
{
	local server status
	ibping -S -C mlx4_1 & server=$!
	sleep 1
	timeout 120 ibping -f -c 300 -C mlx4_0 "$(cat /sys/class/infiniband/mlx4_1/ports/1/lid)" | grep ' 0% packet loss'
	status=$?
	kill $server
	return $status
}

use_traffic()
{
	local subnet_manager status=1
	opensm >/dev/null 2>&1 & subnet_manager=$!
	if ! ports_are 4 90; then
		echo "the ports are not active"
	elif ! pingpong ibv_rc_pingpong -e -s 65536 -n 20; then
		echo "RC ping-pong failed"
	elif ! many_mads; then
		echo "ibping lost messages"
	else
		status=0
	fi
	kill $subnet_manager
	wait $subnet_manager
	return $status
}

# seed_work FOLDER objects|traffic: loads mlx4_core.ko and mlx4_ib.ko of this folder, uses the devices, and unloads the driver
seed_work()
{
	local status
	# mlx4_core asks the kernel for mlx4_ib, which would be Debian's
	echo >/proc/sys/kernel/modprobe
	modprobe -a ib_uverbs ib_umad && insmod "$1/mlx4_core.ko" && insmod "$1/mlx4_ib.ko" || return
	# twice: what is made behind a release may get what was released
	use_objects mlx4_0 && use_objects mlx4_0 && { [ "$2" = objects ] || use_traffic; }
	status=$?
	rmmod mlx4_ib mlx4_core && return $status
}
