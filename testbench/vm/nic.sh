# SPDX-License-Identifier: Apache-2.0
# Checks of an Ethernet port whose cable leaves the simulator (hca0.port1.wire=dgram:...): guest a has mlx4_en and mlx4_ib, guest b a network card of
# QEMU and Linux's soft-RoCE over it. Sourced by bash, after roce.sh and rxe.sh. The addresses are those of roce.sh, without a VLAN.
nic=(nic_ping nic_udp nic_tcp nic_rc nic_cm nic_losses nic_gone)

check_nic_up()
{
	local g n=0
	must a 90 'driver_load && modprobe mlx4_en' || return
	for g in a b; do
		n=$((n + 1))
		must $g 60 "ip link set $roce_dev up mtu 4200 && ip addr add 192.168.5.$n/24 dev $roce_dev" || return
	done
	must a 60 "until ethtool $roce_dev | grep 'Link detected: yes'; do sleep 0.2; done" || return
	must b 60 "modprobe -a rdma_rxe rdma_ucm && rdma link add rxe0 type rxe netdev $roce_dev && ibv_devinfo -v -d rxe0" &&
		said 'state:\s+PORT_ACTIVE' 'the port of rxe is not ACTIVE' && must a 30 'modprobe rdma_ucm; rdma link' || return
	must b 30 "until ! ip -6 addr | grep tentative; do sleep 0.2; done" || return
	grep 'is there, the cable is plugged' "$VM_DIR/serve.log" || { detail='serve does not say that the peer is there'; return 1; }
}

check_nic_ping()
{
	roce_ping a 192.168.5.2 -c 5 -i 0.2 && roce_ping b 192.168.5.1 -c 5 -i 0.2 && roce_ping a 192.168.5.2 -f -c 500 && roce_ping b 192.168.5.1 -f -c 500 &&
		roce_ping a 192.168.5.2 -c 5 -i 0.2 -s 4100 -M do || return
	detail='ping, ping -f, 4,100 bytes'
}

# udp: what is sent arrives, but for what a slow reader loses
check_nic_udp()
{
	local row lost
	detail=
	for row in '' -R; do
		on_start b 60 'exec iperf3 -s -1'
		must b 20 'listening 5201' && must a 60 "iperf3 -c 192.168.5.2 -u -b 10M -l 1400 -t 3 $row" || return
		lost=$(sed -n 's/.*(\([0-9.]*\)%).*receiver.*/\1/p' <<<"$on_output")
		detail="$detail${lost:-?} % lost "
		awk -v lost="${lost:-100}" 'BEGIN { exit lost > 5 }' || return
	done
	detail="$detail of 10 Mb/s UDP, each way"
}

check_nic_tcp()
{
	local row
	detail=
	for row in '' -R; do
		on_start b 60 'exec iperf3 -s -1'
		must b 20 'listening 5201' && must a 60 "iperf3 -c 192.168.5.2 $iperf_much $row" || return
		detail="$detail$(awk '/receiver/ { print $7, $8 }' <<<"$on_output") "
	done
	must a 20 'nstat -az TcpInCsumErrors' && said 'TcpInCsumErrors +0 ' 'TCP found a wrong checksum'
}

nic_pairs() { both_ways pingpong ibv_rc_pingpong "$1 -s 64 -n 1000 -c" && both_ways pingpong ibv_rc_pingpong "$1 -s 20000 -m 4096 -n 30 -e -c"; }
check_nic_rc() { over_gids nic_pairs "${rxe_gids[@]}"; }

check_nic_cm()
{
	rxe_connects 192.168.5.1 || return
	detail='rping ucmatose udaddy'
}

# losses: the fault plan works on a cable that leaves the simulator, too
check_nic_losses()
{
	local status before=$share/linger.so
	${CC:-gcc} -shared -fPIC -O2 -o "$before" "$vm_src/linger.c" || { detail='linger.c does not compile'; return 1; }
	before='env LD_PRELOAD=/share/linger.so LINGER=2'
	ctl drop 1% || { detail='serve refused the drop command'; return 1; }
	over_gids nic_pairs "${rxe_gids[0]}"
	status=$?
	ctl faults | tee "$share/faults"
	ctl faults clear
	detail="$detail $(sed -n 's/.*seen \([0-9]*\), fired \([0-9]*\).*/\2 of \1 frames lost/p' "$share/faults")"
	[ $status -eq 0 ] && grep -qE 'fired [1-9]' "$share/faults"
}

nic_carrier() { must a 30 "until [ \"\$(cat /sys/class/net/$roce_dev/carrier)\" = $1 ]; do sleep 0.2; done"; }

# gone: the peer's socket is away for some seconds, as if its QEMU had ended
check_nic_gone()
{
	mv "$run_dir/b.wire" "$run_dir/b.away" && nic_carrier 0 || return
	mv "$run_dir/b.away" "$run_dir/b.wire" && nic_carrier 1 && roce_ping a 192.168.5.2 -c 3 -i 0.2 || return
	grep 'the cable is out' "$VM_DIR/serve.log" || { detail='serve does not say that the peer is gone'; return 1; }
	detail='no carrier while the peer is away'
}
