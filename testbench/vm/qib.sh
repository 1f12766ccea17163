# SPDX-License-Identifier: Apache-2.0
# Checks of mlx4 against another transport: guest a has mlx4, guest b a QLogic 6120 under ib_qib, whose transport is Linux' software. Neither end is
# this project's. Sourced by bash, after checks.sh.
# A quadword that ib_qib writes into a send buffer costs a guest some microseconds, so the runs are short.
# between two such cards this project's engine is only a wire; opensm runs on one of them
qib_pair=(diags qib_rc qib_uc qib_ud qib_srq qib_perf qib_atomics qib_qperf qib_events qib_ipoib qib_cm qib_faults qib_reload)
qib=(qib_rc qib_uc qib_ud qib_srq qib_perf qib_atomics qib_qperf qib_events qib_ipoib qib_cm qib_faults qib_opinion qib_reload)

# swapped COMMAND...: with server and client in the other guests
swapped()
{
	local names=(b a) first_device=$last_device last_device=$first_device
	"$@"
}

# both_ways COMMAND...: in both roles
both_ways() { "$@" && swapped "$@"; }

check_qib_rc() { both_ways pingpong ibv_rc_pingpong "-s 1 -n 30 -e -c" "-s 65536 -m 2048 -n 5 -c" "-s 5000 -m 256 -n 10 -c"; }
check_qib_uc() { both_ways pingpong ibv_uc_pingpong "-s 20000 -m 4096 -n 5 -c" "-s 5000 -m 512 -n 10 -e -c"; }
check_qib_ud() { both_ways pingpong ibv_ud_pingpong "-s 1 -n 30 -e -c" "-s 2048 -n 30 -c"; }
check_qib_srq() { both_ways pingpong ibv_srq_pingpong "-n 50 -e -c" "-q 4 -s 16384 -m 2048 -n 10 -c"; }

# -u 18: a card whose transport is a guest's processor answers late when that processor has no time
qib_perf()
{
	perf ib_send_bw '-s 16384 -n 20 -u 18' '-c UD -s 2048 -n 30' && perf ib_write_bw '-b -s 4096 -n 30 -u 18' '-c UC -s 4096 -n 30' &&
		perf ib_read_bw '-s 16384 -n 10 -o 4 -u 18'
}
check_qib_perf()
{
	local rows=0
	both_ways qib_perf
}

qib_atomics() { perf ib_atomic_bw '-A FETCH_AND_ADD -n 30 -u 18' '-A CMP_AND_SWAP -n 30 -u 18'; }
check_qib_atomics()
{
	local rows=0
	both_ways qib_atomics
}

# qperf looks at each result of an atomic that it has asked for. These two tests end by the clock alone, after a second at the least (-n does not end them).
# A second of full traffic takes more than 25 minutes in simulated time.
qib_qperf() { pair 60 qperf "qperf -li $last_device -ri $first_device ${names[0]} -t 2 ver_rc_compare_swap ver_rc_fetch_add quit" 19765; }
check_qib_qperf()
{
	if [ "${TIME:-wall}" = simulated ]; then
		detail='its tests take a second or more of full traffic, which is half an hour in simulated time; qib_atomics runs there'
		return 77
	fi
	both_ways qib_qperf || return
	detail='compare-and-swap and fetch-and-add, each result looked at, in both roles'
}

# events: a path that migrates, and the limit of an SRQ
qib_peers()
{
	local what
	for what in apm srq_limit; do
		pair 90 "python3 /share/peer.py $first_device $what" "python3 /share/peer.py $last_device $what ${names[0]}" || return
	done
}
check_qib_events()
{
	cp "$vm_src/peer.py" "$share/"
	both_ways qib_peers || return
	detail='APM migrates and the other end follows; SRQ_LIMIT_REACHED; in both roles'
}

# ipoib_copy FROM TO ADDRESS BYTES: sends them through TCP, and compares the checksums
ipoib_copy()
{
	local id sum
	on_start $2 90 "exec python3 -c 'import socket, hashlib
l = socket.create_server((\"\", 5001)); c = l.accept()[0]; h = hashlib.md5()
for b in iter(lambda: c.recv(65536), b\"\"): h.update(b)
print(h.hexdigest())'"
	id=$on_id
	must $2 30 'listening 5001' || return
	must $1 80 "python3 -c 'import socket, hashlib, os
b = os.urandom($4); c = socket.create_connection((\"$3\", 5001)); c.sendall(b); c.shutdown(socket.SHUT_WR); c.recv(1)
print(hashlib.md5(b).hexdigest())'" || return
	sum=$on_output
	on_wait $2 $id && [ "$sum" = "$on_output" ] || { detail='the copy differs'; return 1; }
}

# IP over both, as datagrams and connected: pings of every length, and a copy whose checksum is compared
check_qib_ipoib()
{
	local mode
	for mode in datagram connected; do
		ipoib_up $mode && must a 40 'ping -c 3 -i 0.3 -W 5 -s 20000 10.78.0.2' && must b 40 'ping -c 2 -i 0.3 -W 5 -s 60000 10.78.0.1' || return
		ipoib_copy a b 10.78.0.2 400000 && ipoib_copy b a 10.78.0.1 100000 || { detail="$mode: $detail"; return 1; }
	done
	detail='ping, ping -s 60000, copies both ways: datagram, connected'
}

# Without udaddy, and with mckey only from ib_qib to mlx4: both send datagrams with immediate data, and ib_qib of Linux 6.1 counts the immediate as data when it
# receives, so that a receive of the exact length drops it (qib_ud_rcv).
check_qib_cm()
{
	local id
	ipoib_up datagram && must a 20 'modprobe rdma_ucm' && must b 20 'modprobe rdma_ucm; ping -c 2 10.78.0.1' || return
	cm 'rping -s -a 10.78.0.1 -C 10 -v -V' 'rping -c -a 10.78.0.1 -C 10 -v -V' &&
		cm 'ucmatose -b 10.78.0.1 -C 10 -S 1000' 'ucmatose -s 10.78.0.1 -C 10 -S 1000' || return
	detail='rping ucmatose'
	[ "$first_device" != qib0 ] || return 0
	on_start a 60 'exec mckey -m 239.1.2.3 -b 10.78.0.1 -C 5'
	id=$on_id
	wait_until 30 grep -q joined "$share/out/$id" && must b 40 'mckey -m 239.1.2.3 -s -b 10.78.0.2 -C 5' && on_wait a $id
	set -- $?
	echo "$on_output"
	[ $1 -eq 0 ] || { detail="mckey: ${detail:-$on_output}"; return 1; }
	detail='rping ucmatose, mckey from ib_qib'
}

# each_fault COMMAND: with one kind of fault at a time on 1 % of the packets; what is reliable must not show it. Where serve can make a capture it makes one,
# because a failure by one of these faults does not come again.
each_fault()
{
	local fault status
	for fault in 'drop 1%' 'duplicate 1%' 'reorder 1%' 'corrupt 1%'; do
		case ${SERVE:-} in *--trace*) ctl trace on ;; esac
		ctl $fault || { detail="serve refused: $fault"; return 1; }
		"$@"
		status=$?
		ctl faults | tee "$share/faults"
		ctl faults clear
		case ${SERVE:-} in *--trace*) ctl trace off ;; esac
		[ $status -eq 0 ] || { detail="$fault: $detail"; return 1; }
	done
}
# -u 17: a READ that is asked for again after 67 ms makes ib_qib repeat what it has sent since. When its guest waits for a processor, that lasts longer than the
# eight times that perftest allows by itself.
qib_reliable()
{
	before='env LD_PRELOAD=/share/linger.so LINGER=2' both_ways pingpong ibv_rc_pingpong "-s 16384 -m 1024 -n 20 -c" &&
		both_ways perf ib_read_bw '-s 16384 -n 20 -u 17' && both_ways perf ib_atomic_bw '-A FETCH_AND_ADD -n 50 -u 17'
}
check_qib_faults()
{
	local rows=0
	${CC:-gcc} -shared -fPIC -O2 -o "$share/linger.so" "$vm_src/linger.c" || { detail='linger.c does not compile'; return 1; }
	each_fault qib_reliable || return
	detail="$detail, $rows more; 1 % lost, duplicated, reordered, damaged"
}

# unloading ib_qib leaves nothing behind, and the card starts again
check_qib_reload()
{
	run b 20 'pkill ibping; ip link set ib0 down; modprobe -r ib_ipoib rdma_ucm ib_umad'
	must b 90 'modprobe -r ib_qib && ! grep -q ^ib_qib /proc/modules' || return
	must b 90 'driver_load; ports_are 4 60' || return
	pingpong ibv_rc_pingpong "-c -n 20" || return
	detail='ACTIVE again'
}

# What ib_qib answers to the requests of testbench/fuzz/transport_opinion.txt, which make test compares with what both of this project's responders do.
# They are brought to its port by hand, because no driver sends most of them. The answers are in the capture, which is whole when serve has ended.
opinion=testbench/fuzz/transport_opinion.txt
check_qib_opinion()
{
	local id lid status
	case ${SERVE:-} in *--trace*) ;; *) detail='serve makes no capture'; return 77 ;; esac
	mkdir -p "$share/opinion"
	cp "$vm_src/opinion_guest.py" "$share/"
	must a 20 'cat /sys/class/infiniband/*/ports/1/lid' || return
	lid=$on_output
	ctl trace on
	on_start b 900 'exec python3 /share/opinion_guest.py qib0 /share/opinion'
	id=$on_id
	timeout 900 python3 "$vm_src/opinion.py" play "$O/fuzz/opinion" "$top/$opinion" "$run_dir/ctl.sock" "$share/opinion" "$lid" "$VM_DIR/opinion.played"
	status=$?
	on_wait b $id
	echo "$on_output"
	ctl trace off
	[ $status -eq 0 ] || { detail="not all was played: ${on_output##*$'\n'}"; return 1; }
	detail='played; the recording follows'
}

# the recording: it must be the one that is kept
check_qib_recording()
{
	[ -e "$VM_DIR/opinion.played" ] || { detail='nothing was played'; return 77; }
	python3 "$vm_src/opinion.py" join "$O/fuzz/opinion" "$VM_DIR/opinion.played" "$VM_DIR"/serve/*.pcapng >"$O/vm-test/transport_opinion.txt" || { detail='the capture does not fit'; return 1; }
	cmp "$O/vm-test/transport_opinion.txt" "$top/$opinion" || { detail="ib_qib answers otherwise than $opinion says: see vm-test/transport_opinion.txt"; return 1; }
	detail="$(grep -c ^give "$top/$opinion") requests, answered as before"
}
