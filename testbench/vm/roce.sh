# SPDX-License-Identifier: Apache-2.0
# Checks of Ethernet ports: Linux's unmodified mlx4_en and mlx4_ib in two guests, with a VLAN. The judges are Linux's network stack, which drops
# what has a wrong checksum, and rdma-core's programs. Sourced by bash, after checks.sh and qib.sh.
# Guest a is 192.168.5.1, b is 192.168.5.2; over VLAN 7 they are 192.168.7.1 and 192.168.7.2.
roce=(roce_frames roce_jumbo roce_tcp roce_udp roce_vlan roce_self_test roce_mac roce_filters roce_pingpong roce_services roce_cm roce_multicast roce_perf roce_losses
	roce_nvme roce_nfs roce_cable roce_reload)
roce_dev=eth1

# roce_ping GUEST ADDRESS OPTION...: the address answers each time
roce_ping() { must "$1" 60 "ping -W 5 ${*:3} $2" && said ' 0% packet loss' "guest $1: ping ${*:3} $2 lost packets"; }
# they_ping OPTION...: both ways, without and with the VLAN
they_ping()
{
	roce_ping a 192.168.5.2 "$@" && roce_ping b 192.168.5.1 "$@" && roce_ping a 192.168.7.2 "$@" && roce_ping b 192.168.7.1 "$@"
}

# set_up: addresses, and a VLAN
roce_set_up()
{
	local g n=0
	for g in a b; do
		n=$((n + 1))
		must $g 90 "modprobe mlx4_en && ip link set $roce_dev up && ip addr add 192.168.5.$n/24 dev $roce_dev &&
			ip link add link $roce_dev name vlan7 type vlan id 7 && ip addr add 192.168.7.$n/24 dev vlan7 && ip link set vlan7 up" || return
	done
	for g in a b; do
		must $g 30 "until ethtool $roce_dev | grep 'Link detected: yes'; do sleep 0.2; done; until ! ip -6 addr | grep tentative; do sleep 0.2; done" ||
			return
	done
}

# NVMe and NFS over RoCE, drained in the same ways as over InfiniBand
roce_storage_network()
{
	local g n=0
	for g in a b; do
		n=$((n + 1))
		must $g 20 "ip addr replace 10.78.0.$n/24 dev $roce_dev" || return
	done
	roce_ping a 10.78.0.2 -c 3
}
check_roce_nvme() { storage_network=roce_storage_network storage nvme; }
check_roce_nfs() { storage_network=roce_storage_network storage nfs; }

# roce_up: the drivers load without complaint, and the interface has a carrier
check_roce_up()
{
	local g
	for g in "${names[@]}"; do must $g 90 driver_load || return; done
	roce_set_up || return
	for g in "${names[@]}"; do
		# mlx4_en says how many rings it has, and what this device does not offer, as if these were warnings
		run $g 20 "driver_complaints | grep -vE 'LSO not supported|UDP RSS is not supported|Using [0-9]+ [RT]X rings|Initializing port'"
		[ -z "$on_output" ] || { detail="guest $g: ${on_output%%$'\n'*}"; return 1; }
		must $g 30 "ethtool -i $roce_dev; ethtool $roce_dev; ibv_devinfo -v; rdma link" || return
		said 'driver: mlx4_en' 'another driver has the interface' && said 'Speed: 40000Mb/s' 'not 40 Gb/s' &&
			said 'link_layer:\s+Ethernet' 'the link layer is not Ethernet' && said 'state:\s+PORT_ACTIVE' 'the port is not ACTIVE' || return
	done
}

check_roce_frames()
{
	they_ping -c 3 -i 0.2 && roce_ping a 192.168.5.2 -f -c 1000 && roce_ping b 192.168.7.1 -f -c 300 -s 1400 &&
		must a 20 "ping -c 2 -W 3 ff02::1%$roce_dev" || return
	detail='ping, ping -f, ff02::1'
}

roce_mtu() { must a 30 "ip link set $roce_dev mtu $1; sleep 1" && must b 30 "ip link set $roce_dev mtu $1; sleep 1"; }

# jumbo: frames of 9,000 bytes; afterwards RoCE's own MTU follows from it
check_roce_jumbo()
{
	roce_mtu 9000 && they_ping -c 2 -i 0.2 && roce_ping a 192.168.5.2 -c 20 -i 0.05 -s 8972 -M do && roce_ping b 192.168.5.1 -c 20 -i 0.05 -s 8972 -M do || return
	must a 30 'ibv_devinfo -v' && said 'active_mtu:\s+4096' 'RoCE has no MTU of 4096' || return
	detail='MTU 9000: ping -s 8972 both ways, RoCE of 4096 bytes'
}

# tcp: iperf3 both ways. The sender's card makes the checksums, the receiver's card checks them, and so says that most are right.
check_roce_tcp()
{
	local row good
	detail=
	must a 20 "ethtool -K $roce_dev tx on rx on; ethtool -k $roce_dev" && said 'tx-checksumming: on' 'no checksums when sending' || return
	for row in '' -R; do
		on_start b 60 'exec iperf3 -s -1'
		must b 20 'listening 5201' && must a 60 "iperf3 -c 192.168.5.2 $iperf_much $row" || return
		detail="$detail$(awk '/receiver/ { print $7, $8 }' <<<"$on_output") "
	done
	must a 20 "ethtool -S $roce_dev; nstat -az TcpInCsumErrors" && said 'TcpInCsumErrors +0 ' 'TCP found a wrong checksum' || return
	good=$(awk '$1 == "rx_csum_good:" { print $2 }' <<<"$on_output")
	detail="$detail, $good right checksums found"
	[ "${good:-0}" -gt 100 ]
}

# rings_used PROGRAM: guest a runs this Python program; $used is how many receive rings of guest b got 30 packets or more
rings_used()
{
	must b 20 "ethtool -S $roce_dev" || return
	local before=$on_output
	must a 60 "python3 -c 'import socket
$1'" && must b 20 "ethtool -S $roce_dev" || return
	used=$(awk '$1 ~ /^rx[0-9]+_packets:$/ { if (NR == FNR) was[$1] = $2; else n += $2 - was[$1] >= 30 } END { print n + 0 }' <(echo "$before") <(echo "$on_output"))
}

# udp: datagrams of one frame and of several come back as they were, one after the other, so that no reader can be too slow for them; and their checksums
# are right. Rings: the device says that it does not spread UDP by its ports, so datagrams between two addresses come to one ring, and TCP's flows to several.
check_roce_udp()
{
	local g id used udp='import socket, random
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
s.settimeout(10)'
	on_start b 90 "exec python3 -c '$udp
s.bind((\"192.168.5.2\", 5003))
while True:
    data, peer = s.recvfrom(65536)
    s.sendto(data, peer)
    if not data: break'"
	id=$on_id
	must b 20 "until grep -q :138B /proc/net/udp; do sleep 0.1; done" || return
	must a 80 "python3 -c '$udp
for n in [*range(1, 1473, 16), *range(1473, 9000, 500), 20000, 60000] * 2:
    data = random.randbytes(n)
    s.sendto(data, (\"192.168.5.2\", 5003))
    assert s.recv(65536) == data, n
s.sendto(b\"\", (\"192.168.5.2\", 5003))'" || return
	on_wait b $id || { detail="guest b: $on_output"; return 1; }
	for g in a b; do must $g 20 'nstat -az UdpInCsumErrors' && said 'UdpInCsumErrors +0 ' "guest $g: UDP found a wrong checksum" || return; done
	rings_used "for port in range(64):
    s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    for n in range(4): s.sendto(b\"x\" * 100, (\"192.168.5.2\", 9000 + port))" || return
	detail="datagrams of 1 to 60,000 bytes come back; UDP in $used ring,"
	[ "$used" -eq 1 ] || return
	rings_used "for port in range(200):
    socket.socket().connect_ex((\"192.168.5.2\", 9))" || return
	detail="$detail TCP in $used"
	[ "$used" -ge 2 ]
}

# vlan: tags that the card takes out, and tags that it leaves in
check_roce_vlan()
{
	local how
	for how in off on; do
		must a 20 "ethtool -K $roce_dev rxvlan $how" && they_ping -c 3 -i 0.2 || return
	done
	must b 20 'ip link set vlan7 down' || return
	! must a 20 'ping -c 2 -W 1 192.168.7.2' || { detail='a VLAN that is not there answers'; return 1; }
	must b 20 'ip link set vlan7 up; sleep 1' && they_ping -c 2 -i 0.2 || return
	detail='tags stripped, kept, filtered'
}

check_roce_self_test()
{
	local g
	for g in a b; do
		must $g 60 "ethtool -t $roce_dev" && said 'result is PASS' "guest $g: ${on_output//$'\n'/ }" && said 'Loopback Test\s+0' 'no loopback test' || return
	done
	they_ping -c 2 -i 0.2 || return
	must a 20 "ethtool -S $roce_dev" && said 'rx_packets_phy: [1-9]' 'no frame counted' && said 'tx_broadcast_packets: [1-9]' 'no broadcast counted' || return
	detail='ethtool -t with loopback, ethtool -S'
}

# mac: another address, and back. GIDs follow it.
check_roce_mac()
{
	local was
	must a 20 "cat /sys/class/net/$roce_dev/address" || return
	was=$on_output
	must a 30 "ip link set $roce_dev address 02:11:22:33:44:55; sleep 1" && they_ping -c 3 -i 0.2 && must a 20 "gid_index v2 $roce_dev 0011:22ff:fe33:4455" || return
	pingpong ibv_rc_pingpong "-g \$(gid_index v1 $roce_dev ^fe80) -c -n 100" || return
	must a 30 "ip link set $roce_dev address $was; sleep 1" && they_ping -c 3 -i 0.2 || return
	detail='another MAC, and back'
}

check_roce_filters()
{
	must b 20 "ip link set $roce_dev promisc on" && they_ping -c 2 -i 0.2 && must b 20 "ip link set $roce_dev promisc off" || return
	must b 20 "ip link set $roce_dev allmulticast on" && they_ping -c 2 -i 0.2 && must b 20 "ip link set $roce_dev allmulticast off" || return
	# guest b takes a frame to a strange address only while it is promiscuous
	must a 20 "ip neigh replace 192.168.5.9 lladdr 02:de:ad:be:ef:00 dev $roce_dev" || return
	must b 20 "cat /sys/class/net/$roce_dev/statistics/rx_packets" || return
	local before=$on_output after
	run a 20 'ping -c 5 -i 0.2 -W 1 192.168.5.9'
	must b 20 "cat /sys/class/net/$roce_dev/statistics/rx_packets" || return
	after=$on_output
	[ $((after - before)) -lt 5 ] || { detail="a filter let $((after - before)) strange frames in"; return 1; }
	must b 20 "ip link set $roce_dev promisc on; cat /sys/class/net/$roce_dev/statistics/rx_packets" || return
	before=$on_output
	run a 20 'ping -c 5 -i 0.2 -W 1 192.168.5.9'
	must b 20 "cat /sys/class/net/$roce_dev/statistics/rx_packets; ip link set $roce_dev promisc off" || return
	after=${on_output%%$'\n'*}
	detail="promiscuous: $((after - before)) of 5 strange frames, all groups, list of groups"
	[ $((after - before)) -ge 5 ]
}

# the GIDs of each kind of frame: RoCE v1, v2 over IPv4, v2 over IPv6, and in the VLAN
roce_gids=("v1 $roce_dev ^fe80" "v2 $roce_dev ffff:c0a8:05" "v2 $roce_dev ^fe80" "v2 vlan7 ffff:c0a8:07" "v1 vlan7 ffff:c0a8:07")
roce_two_gids=("${roce_gids[@]:0:2}")

# over_gids FUNCTION GID...: calls it with options for each GID
over_gids()
{
	local what=$1 gid; shift
	for gid in "$@"; do
		"$what" "-g \$(gid_index $gid)" || { detail="$gid: $detail"; return 1; }
	done
	detail="$detail for each of $# kinds of GID"
}

roce_rc() { pingpong ibv_rc_pingpong "$1 -e -c" "$1 -s 65536 -m 4096 -n 50 -c"; }
check_roce_pingpong() { over_gids roce_rc "${roce_gids[@]}"; }

roce_other()
{
	pingpong ibv_uc_pingpong "$1 -c -s 20000 -n 100" && pingpong ibv_ud_pingpong "$1 -c -s 1000 -n 100" && pingpong ibv_srq_pingpong "$1 -n 100 -c" &&
		pingpong ibv_xsrq_pingpong "$1 -n 100" || return
	detail='UC, UD, SRQ, XRC'
}
check_roce_services() { over_gids roce_other "${roce_two_gids[@]}"; }

# cm: connections to IP addresses
check_roce_cm()
{
	local g net
	for g in a b; do must $g 20 'modprobe rdma_ucm' || return; done
	for net in 5 7; do
		cm "rping -s -a 192.168.$net.1 -C 20 -v -V" "rping -c -a 192.168.$net.1 -C 20 -v -V" &&
			cm "ucmatose -b 192.168.$net.1 -C 10 -S 1000" "ucmatose -s 192.168.$net.1 -C 10 -S 1000" &&
			cm "udaddy -b 192.168.$net.1" "udaddy -s 192.168.$net.1" || { detail="192.168.$net.1: $detail"; return 1; }
	done
	detail='rping ucmatose udaddy, also over the VLAN'
}

check_roce_multicast()
{
	local id
	on_start a 60 'exec mckey -m 239.1.2.3 -b 192.168.5.1 -C 10'
	id=$on_id
	wait_until 30 grep -q joined "$share/out/$id" && must b 40 'mckey -m 239.1.2.3 -s -b 192.168.5.2 -C 10' && on_wait a $id
	set -- $?
	echo "$on_output"
	[ $1 -eq 0 ] || { detail="mckey: ${detail:-$on_output}"; return 1; }
	detail='mckey: 10 datagrams to 239.1.2.3'
}

check_roce_perf()
{
	local rows=0 gid="-x \$(gid_index v2 $roce_dev ffff:c0a8:05)"
	roce_mtu 9000 || return
	perf ib_send_bw "$gid -s 65536 -n 200" "$gid -c UD -s 2048 -n 200" && perf ib_write_bw "$gid -a -n 20" && perf ib_read_bw "$gid -s 65536 -n 100" &&
		perf ib_atomic_bw "$gid -A FETCH_AND_ADD -n 100" && perf ib_send_lat "$gid -n 100 -e" && perf ib_write_lat "$gid -n 100"
}

# losses: what is reliable hides that 1 % of the frames is lost, and TCP does
check_roce_losses()
{
	local status before=$share/linger.so
	${CC:-gcc} -shared -fPIC -O2 -o "$before" "$vm_src/linger.c" || { detail='linger.c does not compile'; return 1; }
	before='env LD_PRELOAD=/share/linger.so LINGER=2'
	roce_mtu 9000 || return
	ctl drop 1% || { detail='serve refused the drop command'; return 1; }
	over_gids roce_rc "${roce_two_gids[@]}" && ipoib_copy a b 192.168.5.2 2000000
	status=$?
	ctl faults | tee "$share/faults"
	ctl faults clear
	[ $status -eq 0 ] || return 1
	detail=$(sed -n 's/.*seen \([0-9]*\), fired \([0-9]*\).*/\2 of \1 frames lost/p' "$share/faults")
	grep -qE 'fired [1-9]' "$share/faults"
}

# cable: the carrier goes and comes
check_roce_cable()
{
	ctl link down || return
	must b 30 "until [ \"\$(cat /sys/class/net/$roce_dev/carrier)\" = 0 ]; do sleep 0.2; done" || return
	ctl link up || return
	must b 30 "until [ \"\$(cat /sys/class/net/$roce_dev/carrier)\" = 1 ]; do sleep 0.2; done; sleep 1" && they_ping -c 3 -i 0.2 || return
	detail='no carrier, and a carrier again'
}

check_roce_reload()
{
	local g
	for g in a b; do must $g 90 'modprobe -r rdma_ucm ib_umad mlx4_ib mlx4_en mlx4_core && ! grep -q ^mlx4 /proc/modules' || return; done
	for g in a b; do must $g 90 driver_load || return; done
	roce_set_up && they_ping -c 2 -i 0.2 && pingpong ibv_rc_pingpong "-g \$(gid_index v2 $roce_dev ffff:c0a8:05) -c -n 100" || return
	detail='drivers unloaded and loaded'
}
