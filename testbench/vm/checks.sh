# SPDX-License-Identifier: Apache-2.0
# The checks of make vm-test: functions named check_NAME, run by test.sh on guests that are up. Sourced by bash.
# A check writes what it does to its log (run) and puts the reason of its result into $detail. It returns 0 for pass, 77 for skip, else fail.

# the devices of the first and of the last guest; in one guest, of both ends
first_device=mlx4_0 last_device=mlx4_0

# run GUEST SECONDS COMMAND: like on, and writes command, output and status to the log
run()
{
	local status
	echo "$1# $3"
	on "$@"
	status=$?
	echo "$on_output"
	echo "[$1: status $status]"
	return $status
}

# must GUEST SECONDS COMMAND: like run; if it fails the check fails
must()
{
	run "$@" || { detail="guest $1: ${3%%$'\n'*}: ${on_output##*$'\n'}"; return 1; }
}

# said PATTERN WHAT: the last output matches the pattern
said()
{
	grep -qE -- "$1" <<<"$on_output" || { detail="$2"; return 1; }
}

# probe: the unmodified modules load without complaint
check_probe()
{
	local g t=$SECONDS
	load_began=$SECONDS
	for g in "${names[@]}"; do must "$g" 90 driver_load || return; done
	detail="loaded after $((SECONDS - t)) s"
	for g in "${names[@]}"; do
		run "$g" 20 driver_complaints
		[ -z "$on_output" ] || { detail="guest $g: ${on_output%%$'\n'*}"; return 1; }
		must "$g" 30 'lspci -vv -d 15b3:; lspci -vv -d 1fc1:; ibv_devinfo -v' || return
		said 'transport:\s+InfiniBand' 'not an InfiniBand device' &&
			said 'node_guid:\s+[0-9a-f]{4}:[0-9a-f]{4}:[0-9a-f]{4}:[0-9a-f]{4}' 'no node GUID' &&
			said 'phys_port_cnt:\s+[12]' 'no port' && said 'max_mtu:\s+4096' 'no 4096-byte MTU' &&
			said 'state:\s+PORT_(INIT|ACTIVE)' 'port neither INIT nor ACTIVE: link down?' &&
			said 'max_qp:\s+[1-9]' 'no QPs' || return
		! grep -qE 'node_guid:\s+0000:0000:0000:0000' <<<"$on_output" || { detail='node GUID is zero'; return 1; }
	done
}

# opensm: a subnet manager in one guest finds both, gives LIDs, and brings the ports up. It asks the nodes every ten seconds, and takes one that does not
# answer four times in 0.2 s for gone, and its neighbour's port down. A guest that answers itself (ib_qib) and waits for a processor of this machine needs longer.
check_opensm()
{
	local g t=$SECONDS lids
	on_start a 3600 'exec opensm -t 2000 -f /share/out/opensm.log'
	for g in "${names[@]}"; do
		must "$g" 90 'ports_are 4 60; grep -H . /sys/class/infiniband/*/ports/*/{state,lid,sm_lid}; port_states | grep -q ACTIVE' || {
			tail -n 30 "$share/out/opensm.log"
			detail="guest $g: $(grep -o '[0-9]: [A-Z]*' <<<"$on_output" | sort -u | tr '\n' ' ')"
			return 1
		}
	done
	lids=$(for g in "${names[@]}"; do on "$g" 20 'cat /sys/class/infiniband/*/ports/*/lid'; echo "$on_output"; done | sort -u | wc -l)
	[ "$lids" -ge 2 ] || { detail='the ports do not have different LIDs'; return 1; }
	if grep -E ' ERR ' "$share/out/opensm.log" | grep -vE "${opensm_known:-^$}"; then
		detail="opensm: $(grep -oE 'ERR .*' "$share/out/opensm.log" | head -n 1)"
		return 1
	fi
	active_seconds=$((SECONDS - load_began))
	detail="ACTIVE after $((SECONDS - t)) s, $active_seconds s after modprobe"
}

# diags: the subnet's tools agree with each other
check_diags()
{
	local lid_a lid_b guid_b
	on a 20 'cat /sys/class/infiniband/*/ports/1/lid'; lid_a=$((on_output))
	on b 20 'cat /sys/class/infiniband/*/ports/1/lid'; lid_b=$((on_output))
	must b 20 ibstat || return
	said 'State: Active' 'ibstat: not Active' && said 'Physical state: LinkUp' 'ibstat: no LinkUp' &&
		said "Base lid: $lid_b\$" 'ibstat and sysfs differ in the LID' || return
	guid_b=$(awk '/Port GUID:/ { print substr($3, 3); exit }' <<<"$on_output")
	must a 30 ibnetdiscover || return
	said "lid $lid_b " "ibnetdiscover does not name LID $lid_b" && said "\\(0*${guid_b#"${guid_b%%[!0]*}"}\\)" "ibnetdiscover does not name port GUID $guid_b" || return
	must a 30 iblinkinfo || return
	said 'Active/ +LinkUp' 'iblinkinfo: no active link' || return
	must a 30 'ibhosts' || return
	[ "$(grep -c '^Ca' <<<"$on_output")" -eq 2 ] || { detail='ibhosts does not see two hosts'; return 1; }
	must a 30 "smpquery nodeinfo $lid_b; smpquery portinfo $lid_b 1" || return
	said "Lid:\\.+$lid_b\$" 'smpquery portinfo has another LID' && said "PortGuid:\\.+0x$guid_b" 'smpquery nodeinfo has another GUID' || return
	must a 30 "saquery PR --src-to-dst $lid_a:$lid_b" || return
	must a 30 "perfquery $lid_b 1" || return
	said 'PortXmitPkts:\.+[1-9]' 'perfquery: no packet counted' || return
	on_start b 60 'exec ibping -S'
	must a 60 "for i in 1 2 3 4 5; do ibping -c 1 $lid_b && break; done; ibping -c 5 $lid_b" || return
	said ' 0% packet loss' 'ibping lost packets' || return
	detail='ibstat ibnetdiscover iblinkinfo ibhosts smpquery saquery perfquery ibping agree'
}

# pair NAME SECONDS SERVER CLIENT [PORT]: a server in one guest, a client in the other (in one guest when there is only one)
pair()
{
	local seconds=$1 server=$2 client=$3 port=${4:-18515} a=${names[0]} b=${names[-1]} id status
	on_start "$a" "$seconds" "exec $server"
	id=$on_id
	must "$a" 70 "listening $port 60" || { on_wait "$a" "$id"; echo "$on_output"; return 1; }
	must "$b" "$seconds" "$client"
	status=$?
	on_wait "$a" "$id"
	local server_status=$?
	printf '%s# %s\n%s\n[%s: status %s]\n' "$a" "$server" "$on_output" "$a" $server_status
	[ $status -eq 0 ] || return 1
	[ $server_status -eq 0 ] || { detail="server: $server: ${on_output##*$'\n'}"; return 1; }
}

# pingpong PROGRAM OPTIONS...: runs each row of options once, the same on both sides; $before: words before the program, $row_seconds: for one row, 60 by default
pingpong()
{
	local program=$1 row n=0; shift
	for row in "$@"; do
		pair ${row_seconds:-60} "${before:-} $program -d $first_device $row" "${before:-} $program -d $last_device $row ${names[0]}" || return
		n=$((n + 1))
	done
	detail="$n runs"
}

check_rc_pingpong() { pingpong ibv_rc_pingpong "-c" "-e -c" "-s 1 -n 200 -c" "-s 65536 -m 4096 -n 100 -c" "-s 5000 -m 256 -n 200 -e -c" "-s 3000 -m 512 -n 200 -c" "-s 3000 -m 1024 -n 200 -c" "-s 1048576 -m 2048 -n 10 -c"; }
check_uc_pingpong() { pingpong ibv_uc_pingpong "-c" "-e -c" "-s 65536 -m 4096 -n 100 -c" "-s 5000 -m 512 -n 200 -c"; }
check_ud_pingpong() { pingpong ibv_ud_pingpong "-c" "-e -c" "-s 1 -n 200 -c" "-s 2048 -n 200 -c"; }
check_srq_pingpong() { pingpong ibv_srq_pingpong "-c" "-e -c" "-q 4 -s 65536 -m 4096 -n 100 -c"; }
check_xsrq_pingpong() { pingpong ibv_xsrq_pingpong "" "-e" "-s 65536 -m 4096 -n 100"; }

# loopback: both ends on one port
check_loopback()
{
	local names=(a) last_device=$first_device
	pingpong ibv_rc_pingpong -c "-e -s 65536 -m 4096 -n 100 -c" && pingpong ibv_uc_pingpong -c &&
		pingpong ibv_ud_pingpong -c -e && pingpong ibv_srq_pingpong -e && pingpong ibv_xsrq_pingpong -e || return
	detail='7 runs'
}

# asyncwatch: the cable is pulled and plugged; a program that waits for events gets them, and the ports come up again
check_asyncwatch()
{
	local id
	rm -f "$share/watched"
	on_start b 110 'stdbuf -oL ibv_asyncwatch & watch=$!
		until [ -e /share/watched ]; do sleep 0.5; done
		kill $watch'
	id=$on_id
	must b 30 'watching ibv_asyncwatch' || return
	ctl link down; sleep 1
	ctl link up
	# the subnet manager looks for changes every ten seconds
	run b 80 'ports_are 4 75; status=$?; sleep 1; touch /share/watched; exit $status'
	local status=$?
	on_wait b "$id"
	echo "$on_output"
	[ $status -eq 0 ] || { detail='not ACTIVE again'; return 1; }
	said 'PORT_ERR|port error' 'no event for the pulled cable' && said 'PORT_ACTIVE|port active' 'no event for the plugged cable' || return
	detail='the cable is pulled and plugged'
}

# losses: reliable services hide that 1 % of the packets is lost
check_losses()
{
	local status before=$share/linger.so
	${CC:-gcc} -shared -fPIC -O2 -o "$before" "$vm_src/linger.c" || { detail='linger.c does not compile'; return 1; }
	before='env LD_PRELOAD=/share/linger.so LINGER=2'
	ctl drop 1% || { detail='serve refused the drop command'; return 1; }
	check_rc_pingpong && check_srq_pingpong && check_xsrq_pingpong
	status=$?
	ctl faults >"$share/faults"
	cat "$share/faults"
	ctl faults clear
	[ $status -eq 0 ] || return 1
	detail=$(sed -n 's/.*seen \([0-9]*\), fired \([0-9]*\).*/\2 of \1 packets lost/p' "$share/faults")
	grep -qE 'fired [1-9]' "$share/faults"
}

# perf PROGRAM SECONDS OPTIONS...: runs perftest's server and client once per row of options
perf()
{
	local program=$1 row; shift
	for row in "$@"; do
		rows=$((rows + 1))
		detail="$rows runs"
		pair 90 "$program -d $first_device -F $row" "$program -d $last_device -F $row ${names[0]}" || return
	done
}

check_perftest_bw()
{
	local rows=0
	perf ib_write_bw '-s 65536 -n 1000' '-a -n 20' '-c UC -s 65536 -n 100' '-c XRC -s 4096 -n 100' '-b -s 4096 -n 200' || return
	perf ib_read_bw '-s 65536 -n 200' '-a -n 10' '-c XRC -s 4096 -n 100' || return
	perf ib_send_bw '-s 65536 -n 200' '-a -n 20' '-c UC -s 4096 -n 100' '-c UD -s 2048 -n 200' '-c XRC -s 4096 -n 100' '-e -n 50' \
		'-s 4096 -n 200 -q 8' || return
	perf ib_atomic_bw '-A FETCH_AND_ADD -n 100' '-A CMP_AND_SWAP -n 100' '-c XRC -A FETCH_AND_ADD -n 100'
}

check_perftest_lat()
{
	local rows=0
	perf ib_write_lat '-n 100' '-c UC -n 100' '-c XRC -n 100' || return
	perf ib_read_lat '-n 100' '-c XRC -n 100' || return
	perf ib_send_lat '-n 100' '-c UC -n 100' '-c UD -n 100' '-c XRC -n 100' '-e -n 100' || return
	perf ib_atomic_lat '-n 100' '-c XRC -n 100'
}

# ib_write_bw: the figure that is asked for
check_write_bw()
{
	local rate rows=0
	perf ib_write_bw '-s 65536 -n 2000' || return
	rate=$(awk '$1 == 65536 { print int($4) }' <<<"$on_output")
	detail="${rate:-0} MB/s, at least 100 asked for"
	[ "${rate:-0}" -ge 100 ]
}

# read_bw: RDMA READs are at least half as fast as RDMA WRITEs. It counts messages in equal times, because a guest's cycle counter is inexact on a busy machine.
# In simulated time that counter is exact and four seconds are long: there the same number of messages is sent, and what perftest says of the time is compared.
check_read_bw()
{
	local reads writes rows=0 much='-D 4' column=2 what='READs and WRITEs of 64 KiB in the same time'
	[ "${TIME:-wall}" = wall ] || { much='-n 500'; column=4; what='MB/s of READs and WRITEs of 64 KiB'; }
	perf ib_write_bw "-s 65536 $much" || return
	writes=$(awk '$1 == 65536 { print int($'$column') }' <<<"$on_output")
	perf ib_read_bw "-s 65536 $much" || return
	reads=$(awk '$1 == 65536 { print int($'$column') }' <<<"$on_output")
	detail="${reads:-0} and ${writes:-0} $what, at least half asked for"
	[ "${reads:-0}" -gt 0 ] && [ $((2 * reads)) -ge "${writes:-0}" ]
}

# blueflame: the driver uses BlueFlame, which serve offers only on request; rdma-core posts single READs in this way
check_blueflame()
{
	local rows=0
	perf ib_read_bw '-s 4096 -n 200' || return
	ctl counters doorbell.blueflames | tee "$share/blueflames"
	detail="$(grep -oE '[0-9]+' "$share/blueflames" | tail -n 1) BlueFlame writes"
	grep -qE '"hca1.doorbell.blueflames": [1-9]' "$share/blueflames"
}

# active_time: from modprobe to both ports ACTIVE
check_active_time()
{
	detail="${active_seconds:-?} s, less than 60 asked for"
	[ "${active_seconds:-99}" -lt 60 ]
}

# waited_ms: how long serve and guest a have waited for a processor of this machine so far
waited_ms() { cat /proc/{$serve_pid,${guest_pid[a]}}/task/*/schedstat | awk '{ n += $2 } END { print int(n / 1000000) }'; }

# register_read: how long a program in the guest takes to read a register, idle and while the other guest sends. The sender waits for events, so
# that serve is busy and the guests are not. A long time says nothing if other programs kept serve and the guest waiting; then nothing is judged.
check_register_read()
{
	local id other='' when waited times='idle loaded' began=${EPOCHREALTIME/./}
	# in simulated time a read waits for nobody, and minutes would pass until the sender ends
	[ "${TIME:-wall}" = wall ] || times=idle
	waited=$(waited_ms)
	detail=
	for when in $times; do
		if [ $when = loaded ]; then
			on_start a 60 'exec ib_send_bw -e -d mlx4_0 -F -s 65536 -n 60000'
			id=$on_id
			must a 30 'listening 18515' || return
			on_start b 60 'exec ib_send_bw -e -d mlx4_0 -F -s 65536 -n 60000 a'
			other=$on_id
			sleep 3
		fi
		must a 60 'python3 /share/register_read.py' || return
		detail="$detail$when ${on_output##*$'\n'}; "
	done
	waited=$((100000 * ($(waited_ms) - waited) / (${EPOCHREALTIME/./} - began)))
	if [ -n "$other" ]; then
		on_wait b "$other"; echo "$on_output"
		on_wait a "$id"; echo "$on_output"
	fi
	detail="${detail}at most 100 us asked for"
	awk '/median/ { if ($2 + 0 > 100) exit 1 }' <<<"$(tr ';' '\n' <<<"$detail" | sed 's/.*median/median/')" && return
	[ $waited -lt 20 ] && return 1
	detail="this machine is busy: serve and the guest waited for it for $waited % of the time; $detail"
	return 77
}

# what iperf3 sends: three seconds of traffic are long in simulated time
iperf_much='-t 3'
[ "${TIME:-wall}" = wall ] || iperf_much='-n 4M'

# ipoib: IP over InfiniBand in datagram and connected mode
check_ipoib()
{
	local mode
	for mode in datagram connected; do
		ipoib_up $mode || return
		must a 20 'ping -c 5 -W 2 10.78.0.2' || return
		said ' 0% packet loss' "$mode: ping lost packets" || return
		must a 30 'ping -c 3 -W 2 -s 8000 10.78.0.2' || return
		on_start b 60 'exec iperf3 -s -1'
		must b 20 'listening 5201' || return
		must a 60 "iperf3 -c 10.78.0.2 $iperf_much" || return
		detail="$detail $mode $(awk '/receiver/ { print $7, $8 }' <<<"$on_output")"
	done
}

# ipoib_up MODE: guest a is 10.78.0.1, b 10.78.0.2, and they reach each other
ipoib_up()
{
	local g n=0
	for g in a b; do
		n=$((n + 1))
		must $g 60 "modprobe ib_ipoib; ip link set ib0 down; echo $1 >/sys/class/net/ib0/mode; ip addr flush dev ib0
			ip addr add 10.78.0.$n/24 dev ib0; ip link set ib0 up; cat /sys/class/net/ib0/mode" || return
		[ "${on_output##*$'\n'}" = $1 ] || { detail="no $1 mode"; return 1; }
	done
	must a 40 'for i in 1 2 3 4 5 6 7 8 9 10; do ping -c 1 -W 2 10.78.0.2 && exit; done; exit 1'
}

# rdmacm: connections through the RDMA connection manager, over IPoIB's addresses
check_rdmacm()
{
	ipoib_up connected && must a 20 'modprobe rdma_ucm' && must b 20 'modprobe rdma_ucm; ping -c 2 10.78.0.1' || return
	cm 'rping -s -a 10.78.0.1 -C 20 -v -V' 'rping -c -a 10.78.0.1 -C 20 -v -V' &&
		cm 'udaddy -b 10.78.0.1' 'udaddy -s 10.78.0.1' &&
		cm cmtime_server 'cmtime -s 10.78.0.1 -c 20; touch /share/cmtime.done' || return
	detail='rping udaddy cmtime'
}

check_nvme() { storage nvme; }
check_iser() { storage iser; }
check_srp() { storage srp; }
check_nfs() { storage nfs; }

# storage NAME: a target in guest a, an initiator in guest b (storage.sh). Data go there and back; then the initiator disconnects and drains its
# queue pairs, three times: undisturbed; with late interrupts, so that the queue pair has long been in ERR when the driver posts the request that
# the drain waits for; and while the guest is stopped again and again. At the end the target drains with late interrupts.
# storage_network: what gives guest a 10.78.0.1 and guest b 10.78.0.2
storage()
{
	local name=$1 how guid pulses
	${storage_network:-ipoib_up connected} || return
	on b 20 'cat /sys/class/infiniband/mlx4_0/ports/1/gids/0'
	guid=$(cut -d : -f 5- <<<"$on_output")
	must a 60 ". /share/storage.sh; ${name}_target $guid" || return
	for how in 'on time' late stopped; do
		must b 90 ". /share/storage.sh; storage_use $name" || { detail="connected to be disconnected $how: $detail"; return 1; }
		pulses=
		case $how in
		late) ctl late 40 ;;
		stopped) pulse "${guest_pid[b]}" & pulses=$! ;;
		esac
		must b 60 ". /share/storage.sh; time ${name}_disconnect"
		set -- $?
		ctl late 0
		[ -z "$pulses" ] || { kill $pulses; wait $pulses; kill -CONT "${guest_pid[b]}"; }
		[ "$1" -eq 0 ] || { detail="disconnected $how: $detail"; ctl stuck; return 1; }
	done
	ctl late 40
	must a 60 ". /share/storage.sh; ${name}_target_end"
	set -- $?
	ctl late 0
	[ "$1" -eq 0 ] || { detail="the target's end: $detail"; return 1; }
	detail='data are the same; drained on time, with late interrupts, in a guest that is stopped again and again'
}

# pulse PID: stops a process for 30 ms and lets it run for 10 ms; 30 ms is longer than any first wait of the device
pulse()
{
	exec {nothing}<> <(:)
	while kill -STOP "$1"; do
		quietly_wait 0.03
		kill -CONT "$1"
		quietly_wait 0.01
	done
}

# cm SERVER CLIENT: the server, in the first guest, listens through the connection manager
cm()
{
	local id status a=${names[0]} b=${names[-1]}
	on_start $a 60 "$1"
	id=$on_id
	must $a 30 cm_listening && must $b 60 "$2"
	status=$?
	on_wait $a "$id"
	local server_status=$?
	printf '%s# %s\n%s\n[%s: status %s]\n' $a "$1" "$on_output" $a $server_status
	[ $status -eq 0 ] || return 1
	[ $server_status -eq 0 ] || { detail="server: $1: ${on_output##*$'\n'}"; return 1; }
}

# pyverbs: rdma-core's own tests, on one device; those of other transports and vendors skip
check_pyverbs()
{
	must a 30 'mkdir -p /tmp/rdma; cp -r /usr/share/doc/rdma-core/tests /tmp/rdma/; gunzip /tmp/rdma/tests/*.gz; ls /tmp/rdma/tests' || return
	run a 600 'echo 48 >/proc/sys/vm/nr_hugepages; cd /tmp/rdma && python3 tests/run_tests.py -v --dev mlx4_0; s=$?; echo 0 >/proc/sys/vm/nr_hugepages; exit $s'
	local total skips fails
	total=$(sed -n 's/^Ran \([0-9]*\) tests.*/\1/p' <<<"$on_output")
	skips=$(sed -n 's/.*skipped=\([0-9]*\).*/\1/p' <<<"$on_output")
	fails=$(grep -cE '^(FAIL|ERROR): ' <<<"$on_output")
	detail="run ${total:-0} pass $((${total:-0} - ${skips:-0} - fails)) skip ${skips:-0} fail $fails; the log ends with the reasons of skips"
	echo '# why tests skip, and how many'
	grep -oE "skipped ['\"].*" <<<"$on_output" | sort | uniq -c | sort -rn
	grep -q '^OK' <<<"$on_output"
}

# reload: unloading leaves nothing behind, and the device starts again, twice
check_reload()
{
	local n
	run a 10 'pkill opensm; pkill ibping; sleep 1'
	run b 10 'pkill ibping'
	for n in 1 2; do
		must b 90 'modprobe -r ib_umad mlx4_ib && modprobe -r mlx4_core && ! grep -q ^mlx4 /proc/modules' || return
		must b 90 'driver_load; ibv_devinfo' || return
		said 'state:\s+PORT_(INIT|ACTIVE)' 'port neither INIT nor ACTIVE after reload' || return
	done
	run b 20 driver_complaints
	[ -z "$on_output" ] || { detail="${on_output%%$'\n'*}"; return 1; }
	detail='twice'
}

# guest_errors: the unmodified driver broke no rule of the device, and used nothing that the model does not have
check_guest_errors()
{
	cat "$VM_DIR/serve.log"
	detail=$(grep -E '^(guest errors|used by the driver)' "$VM_DIR/serve.log" | tr '\n' ' ')
	[ "${serve_status:-1}" -eq 0 ] || { detail="serve ended with status ${serve_status:-?}"; return 1; }
	grep -qx 'guest errors: 0' "$VM_DIR/serve.log" && grep -qx 'used by the driver, but not modelled: 0' "$VM_DIR/serve.log"
}

# kernel: the guests' kernels reported no error
check_kernel()
{
	detail='no WARNING, Oops or hung task'
	kernel_report "${names[@]}" >"$VM_DIR/kernel/report" && cat "$VM_DIR/kernel/report" && return
	cat "$VM_DIR/kernel/report"
	detail="$(sed -n 2p "$VM_DIR/kernel/report")"
	return 1
}

# comes_back: guest b boots again and its device works
comes_back()
{
	must b 90 driver_load || return
	run a 10 'pgrep opensm' || on_start a 3600 'exec opensm -t 2000 -f /share/out/opensm2.log'
	must b 60 'ports_are 4 50' || return
	run b 20 driver_complaints
	[ -z "$on_output" ] || { detail="${on_output%%$'\n'*}"; return 1; }
	pingpong ibv_rc_pingpong "-c"
}

no_guest_may_go() { [ "${TIME:-wall}" = wall ] || { detail='in simulated time a guest that goes ends the others: leave TIME=simulated away'; return 1; }; }

# killed_guest: the server survives a killed guest, and the device works for the next guest
check_killed_guest()
{
	no_guest_may_go || return 77
	kill -KILL "${guest_pid[b]}"
	wait_until 10 eval '! guest_alive b' || { detail='guest b lives'; return 1; }
	REBOOT=1 guest_start b b
	answer b "$GUEST_WAIT" || { detail='guest b does not come up again'; return 1; }
	comes_back
}

# reset_guest: the same for a guest that is reset while a queue pair works
check_reset_guest()
{
	no_guest_may_go || return 77
	local end=$((SECONDS + GUEST_WAIT))
	on_start b 30 'exec ibv_rc_pingpong -e -d mlx4_0'
	must b 20 'listening 18515' || return
	unset 'on_done[b.up]'
	on_start b 10 'echo b >/proc/sysrq-trigger'
	while [ -z "${on_done[b.up]:-}" ]; do
		answer b 2
		guest_alive b && [ $SECONDS -lt $end ] || { detail='guest b does not come up again'; return 1; }
	done
	comes_back
}

# wire: some of the traffic, while the model writes a capture
check_wire()
{
	local n=0
	ctl trace on
	pingpong ibv_rc_pingpong "-n 50 -c" "-s 5000 -m 256 -n 20 -c" && pingpong ibv_uc_pingpong "-n 50 -c" && pingpong ibv_ud_pingpong "-n 50 -c" &&
		pingpong ibv_srq_pingpong "-n 50 -c" && pingpong ibv_xsrq_pingpong "-n 50"
	n=$?
	if [ $n -eq 0 ] && [ -n "${wire_perf:-}" ]; then
		local rows=0
		perf ib_write_bw '-s 4096 -n 50' && perf ib_read_bw '-s 4096 -n 50' && perf ib_atomic_bw '-n 50'
		n=$?
	fi
	ctl trace off
	[ $n -ne 0 ] || detail='ping-pongs and perftest for the capture below'
	return $n
}

# control: faults planned over the control socket reach the driver: a refused command, damaged packets, a stopped device
check_control()
{
	local id
	ctl command SW2HW_CQ BAD_PARAM x1 hca1 || { detail='no command to refuse'; return 1; }
	run b 30 'timeout 10 ibv_rc_pingpong -d mlx4_0'
	said "Couldn't create CQ" 'a refused SW2HW_CQ does not reach the program' || return
	run b 10 'dmesg'
	said 'command 0x16 failed: fw status = 0x3' 'the driver does not tell of the refused command' || return
	ctl corrupt 1% || { detail='serve refused the corrupt command'; return 1; }
	pingpong ibv_rc_pingpong "-n 500 -c" || return
	ctl faults | tee "$share/faults"
	grep -qE 'fired [1-9]' "$share/faults" || { detail='no packet was damaged'; return 1; }
	ctl faults clear
	on_start b 60 'timeout 20 stdbuf -oL ibv_asyncwatch -d mlx4_0'
	id=$on_id
	must b 30 'watching ibv_asyncwatch' && ctl catastrophe hca1 || return
	on_wait b "$id"
	echo "$on_output"
	said 'DEVICE_FATAL|fatal' 'no event for a device that has stopped' || return
	must b 60 'ports_are 4 50; dmesg | tail -n 40' || return
	said 'device was reset successfully' 'the driver does not reset a device that has stopped' || return
	pingpong ibv_rc_pingpong "-n 200 -c" || return
	ctl state && ctl counters port1 && ctl dump || { detail='no state, counters or contexts'; return 1; }
	detail='a refused command, damaged packets and a stopped device reach the driver, which recovers'
}

# capture: the model's capture opens in tshark, and every CRC is right
check_capture()
{
	local file n bad total=0
	command -v tshark >/dev/null || { detail='no tshark'; return 77; }
	for file in "$VM_DIR"/serve/*.pcapng; do
		[ -e "$file" ] || { detail='no capture: it is made of the check wire, which was not asked for'; return 77; }
		"$O/hcasim" check "$file" || { detail="hcasim check ${file##*/}"; return 1; }
		# tshark guesses protocols in payloads and calls them malformed; it does not know XRC's opcodes (5 << 5 and above)
		tshark --disable-protocol rpcordma --disable-protocol ethertype -r "$file" -T fields -e infiniband.bth.opcode -e _ws.col.Info >"$VM_DIR/packets.txt" 2>/dev/null ||
			{ detail='tshark does not read it'; return 1; }
		n=$(wc -l <"$VM_DIR/packets.txt")
		bad=$(awk -F '\t' '/Malformed/ || (/Unknown OpCode/ && ($1 < 160 || $1 >= 192))' "$VM_DIR/packets.txt" | head -n 5)
		[ -z "$bad" ] || { echo "$bad"; detail='packets without a name'; return 1; }
		total=$((total + n))
	done
	[ $total -gt 0 ] || { detail='no packet captured'; return 1; }
	detail="$total packets"
}
