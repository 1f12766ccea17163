# SPDX-License-Identifier: Apache-2.0
# Checks of RoCE v2 against a foreign transport: guest a has mlx4_ib over a ConnectX-3 Pro, guest b has Linux's soft-RoCE (rdma_rxe) over the
# interface of a plain ConnectX-3. That card has no RoCE v2 itself, so it gives the frames to the network stack, and rxe answers them.
# Sourced by bash, after roce.sh. rxe computes each ICRC in the guest's processor, so the runs are short.
rxe=(rxe_rc rxe_other rxe_perf rxe_cm rxe_losses)

check_rxe_up()
{
	local g
	for g in a b; do must $g 90 driver_load || return; done
	roce_set_up || return
	must b 60 "modprobe -r mlx4_ib && modprobe -a rdma_rxe rdma_ucm && rdma link add rxe0 type rxe netdev $roce_dev && ibv_devinfo -v -d rxe0" || return
	said 'state:\s+PORT_ACTIVE' 'the port of rxe is not ACTIVE' && must a 30 'modprobe rdma_ucm; rdma link' && roce_mtu 4200 || return
	they_ping -c 2 -i 0.2
}

# over IPv4 and over IPv6
rxe_gids=("v2 $roce_dev ffff:c0a8:05" "v2 $roce_dev ^fe80")

# 10,000 ping-pongs in each role and over each kind of GID, and messages of several packets; fewer in simulated time, where that many take half an hour
rxe_much=10000
[ "${TIME:-wall}" = wall ] || rxe_much=500
rxe_rc()
{
	row_seconds=300 both_ways pingpong ibv_rc_pingpong "$1 -s 64 -n $rxe_much -c" && both_ways pingpong ibv_rc_pingpong "$1 -s 20000 -m 1024 -n 50 -e -c"
}
check_rxe_rc() { over_gids rxe_rc "${rxe_gids[@]}"; }

rxe_other()
{
	both_ways pingpong ibv_uc_pingpong "$1 -s 20000 -m 2048 -n 50 -c" && both_ways pingpong ibv_ud_pingpong "$1 -s 1000 -n 200 -c" &&
		both_ways pingpong ibv_srq_pingpong "$1 -n 200 -c" || return
	detail='UC, UD, SRQ'
}
check_rxe_other() { over_gids rxe_other "${rxe_gids[@]}"; }

# -u 18: a transport in a guest's processor answers late when that processor has no time. -o 8: rxe offers 128 READs at a time, mlx4 takes 16.
rxe_runs()
{
	local more="-x \$(gid_index ${rxe_gids[0]}) -u 18"
	perf ib_send_bw "$more -s 65536 -n 50" "$more -c UD -s 1024 -n 100" && perf ib_write_bw "$more -s 65536 -n 50" "$more -b -s 4096 -n 50" &&
		perf ib_read_bw "$more -o 8 -s 65536 -n 20" && perf ib_atomic_bw "$more -o 8 -A FETCH_AND_ADD -n 100" "$more -o 8 -A CMP_AND_SWAP -n 100"
}
check_rxe_perf()
{
	local rows=0
	both_ways rxe_runs
}

# cm: connections to IP addresses; the server is rxe, then mlx4
rxe_connects()
{
	local to=$1
	cm "rping -s -a $to -C 20 -v -V" "rping -c -a $to -C 20 -v -V" && cm "ucmatose -b $to -C 10 -S 1000" "ucmatose -s $to -C 10 -S 1000" &&
		cm "udaddy -b $to" "udaddy -s $to"
}
check_rxe_cm()
{
	rxe_connects 192.168.5.1 && swapped rxe_connects 192.168.5.2 || return
	detail='rping ucmatose udaddy, in both roles'
}

rxe_reliable()
{
	local gid="\$(gid_index ${rxe_gids[0]})"
	before='env LD_PRELOAD=/share/linger.so LINGER=2' both_ways pingpong ibv_rc_pingpong "-g $gid -s 16384 -m 1024 -n 50 -c" &&
		both_ways perf ib_write_bw "-x $gid -u 18 -s 16384 -n 50" && both_ways perf ib_read_bw "-x $gid -u 18 -o 8 -s 16384 -n 20" &&
		both_ways perf ib_atomic_bw "-x $gid -u 18 -o 8 -A FETCH_AND_ADD -n 50"
}
check_rxe_losses()
{
	local rows=0
	${CC:-gcc} -shared -fPIC -O2 -o "$share/linger.so" "$vm_src/linger.c" || { detail='linger.c does not compile'; return 1; }
	each_fault rxe_reliable || return
	detail="$detail, $rows more; 1 % lost, duplicated, reordered, damaged"
}
