# SPDX-License-Identifier: Apache-2.0
# The iWARP checks of make vm-test: Linux's siw, built from Debian's linux-source, against hcasim iwarp on this machine, in both roles.
# siw's peer_to_peer, rtr_type, mpa_crc_required and mpa_version are constants, so there is a module for each set of them (siw_variants).
# Sourced by bash, after seeds.sh. Guest a has a network card of QEMU's user networking beside the other: this machine is 10.0.2.2 there, and ports of
# this machine from $siw_port on are those of the guest from 7471 on. What siw does in its own way: host_driver/iwarp/README.md.
#
# ucmatose's server sends first. A siw without peer_to_peer lets it do so before the client has sent anything, which RFC 5044 forbids; so hcasim is
# tolerant there (strict=0), or does the same (break=early_send).

# NAME, the sed script that makes the variant of siw_main.c or siw_cm.c
siw_variants=(plain write read_crc rev_1)
siw_sed_plain=''
siw_sed_write='s/^const bool peer_to_peer;/const bool peer_to_peer = true;/; s/^static __be16 rtr_type = .*/static __be16 rtr_type = MPA_V2_RDMA_WRITE_RTR;/'
siw_sed_read_crc='s/^const bool peer_to_peer;/const bool peer_to_peer = true;/; s/^static __be16 rtr_type = .*/static __be16 rtr_type = MPA_V2_RDMA_READ_RTR;/
	s/^const bool mpa_crc_required;/const bool mpa_crc_required = true;/'
siw_sed_rev_1='s/^u_char mpa_version = MPA_REVISION_2;/u_char mpa_version = MPA_REVISION_1;/'

# siw_build: each variant as $share/siw/NAME/siw.ko; what was built stays beside the source
siw_build()
{
	local v script dir built
	module_source siw drivers/infiniband/sw/siw || return
	dir=$seed_root$tree/drivers/infiniband/sw/siw
	for v in "${siw_variants[@]}"; do
		script=siw_sed_$v
		built=$seed_root$tree.$v-$(key "${!script}").ko
		[ -e "$built" ] || siw_build_one "$v" "${!script}" "$built" || return
		mkdir -p "$share/siw/$v"
		cp "$built" "$share/siw/$v/siw.ko"
	done
	detail="siw as Debian has it in Linux $(ls "$guest_made/kernel/lib/modules"), and ${#siw_variants[@]} variants of its constants"
}

# siw_build_one NAME SCRIPT TO: builds the source as the script changes it, and restores it
siw_build_one()
{
	local f files=("$dir/siw_main.c" "$dir/siw_cm.c") changed= status
	for f in "${files[@]}"; do
		cp "$f" "$f.orig"
		sed -i "$2" "$f"
		diff -U0 "$f.orig" "$f" || changed=1
	done
	modules_build CONFIG_RDMA_SIW=m
	status=$?
	for f in "${files[@]}"; do mv "$f.orig" "$f"; touch "$f"; done
	[ $status -eq 0 ] || { detail="siw does not compile: $1"; return 1; }
	[ -n "$changed" ] || [ "$1" = plain ] || { detail="the script of $1 does not fit the source"; return 1; }
	cp "$dir/siw.ko" "$3"
}

# siw_load VARIANT: in guest a
siw_load()
{
	[ "${siw_loaded:-}" != "$1" ] || return 0
	must a 60 "rmmod siw 2>/dev/null
		modprobe -a \$(modinfo -F depends /share/siw/$1/siw.ko | tr , ' ') rdma_ucm ib_uverbs crc32c_generic
		insmod /share/siw/$1/siw.ko || { dmesg | tail -n 5; exit 1; }
		rdma link add siw0 type siw netdev eth1 && ibv_devices | grep siw0" || return
	siw_loaded=$1
}

# siw_serves ARGUMENT...: ucmatose waits in the guest for connections from here; id=$on_id. Each server has a port of its own, because one may hang.
siw_serves()
{
	siw_n=$((siw_n + 1))
	on_start a 60 "exec ucmatose -b 10.0.2.15 -p $((7471 + siw_n)) $*" || return
	siw_id=$on_id
	must a 40 "until rdma resource show cm_id | grep LISTEN | grep -q :$((7471 + siw_n)); do sleep 0.1; done"
}

# siw_stop: an ucmatose whose connection was broken waits for others
siw_stop() { run a 30 'pkill -x ucmatose'; }

# siw_ends: what ucmatose has said; fails if it has failed
siw_ends()
{
	on_wait a "$siw_id"
	set -- $?
	echo "$on_output"
	[ $1 -eq 0 ] || { detail="ucmatose in the guest: ${on_output##*$'\n'}"; return 1; }
}

# dial NAME WORD...: hcasim connects to the guest, in the background. It waits after the Reply, because siw does not notice a message that comes at once
# (after_reply_ms). It sends its messages when the server has sent its own (answer): ucmatose sends from the memory that it receives into, and siw
# computes the CRC before it sends that memory, so a message that comes in between makes the CRC wrong.
# The next connection comes a little later, because QEMU's user networking takes one new connection of a port at a time.
declare -A dial_pid
dial()
{
	local name=$1; shift
	"$O/hcasim" iwarp connect 127.0.0.1 $((siw_port + siw_n)) after_reply_ms=500 hold_ms=200 wait_ms=20000 "$@" >"$VM_DIR/dial.$name" 2>&1 &
	dial_pid[$name]=$!
	quietly_wait 0.1
}

# dialled NAME: waits for its end; what it said goes to the log
dialled()
{
	wait "${dial_pid[$1]}"
	set -- $? "$1"
	echo "== $2, status $1"
	cat "$VM_DIR/dial.$2"
	[ $1 -eq 0 ] || { detail="$2: hcasim iwarp: $(tail -n 1 "$VM_DIR/dial.$2")"; return 1; }
}

# told NAME PATTERN WHAT: it has said so
told() { grep -qE -- "$2" "$VM_DIR/dial.$1" || { detail="$1: $3"; return 1; }; }

# ended_by NAME LAYER TYPE CODE: siw has ended it with this TERMINATE. On a little-endian machine it writes the type where the layer belongs, and the
# layer where the type belongs (struct iwarp_terminate).
ended_by()
{
	dialled $1 && { detail="$1: siw does not mind"; return 1; }
	told $1 "peer terminates ($2/$3|$3/$2)/$4\$" "not $2/$3/$4"
}

# answer_here WORD...: hcasim listens on this machine, at port $siw_here
answer_here()
{
	if [ -n "$here_pid" ]; then
		kill $here_pid 2>/dev/null
		wait $here_pid
	fi
	: >"$VM_DIR/listen" # the one before said its port, too
	"$O/hcasim" iwarp listen 0 wait_ms=60000 "$@" >"$VM_DIR/listen" 2>&1 &
	here_pid=$!
	wait_until 10 grep -q '^listens on port' "$VM_DIR/listen" || { cat "$VM_DIR/listen"; detail='hcasim iwarp does not listen'; return 1; }
	siw_here=$(sed -n 's/^listens on port //p' "$VM_DIR/listen")
}

# answered STATUS: it has ended, so
answered()
{
	wait $here_pid
	set -- $? "$1"
	here_pid=
	cat "$VM_DIR/listen"
	[ "$1" -eq "$2" ] || { detail="hcasim iwarp listen: $(tail -n 1 "$VM_DIR/listen")"; return 1; }
}

# siw_dials ARGUMENT...: ucmatose of the guest connects to this machine
siw_dials() { run a 60 "timeout 50 ucmatose -s 10.0.2.2 -p $siw_here $*"; }

# kinds: siw as responder answers WRITE, READ and client first, with and without CRCs; with markers it rejects
check_siw_kinds()
{
	local way p2p=(write read all write_crc read_crc) first=(first first_crc)
	# one more, so that the server ends no connection before its response is sent
	siw_load plain && siw_serves -c $((${#p2p[@]} + 1)) -C 0 || return
	dial write kinds=2 crc=0
	dial read kinds=1 crc=0
	dial all kinds=7 crc=0
	dial write_crc kinds=2 crc=1
	dial read_crc kinds=1 crc=1
	for way in "${p2p[@]}"; do
		dialled $way || return
		case $way in read*) told $way 'got READ_RESPONSE' 'no response' || return ;; esac
	done
	dial last
	dialled last && siw_ends && siw_serves -c ${#first[@]} -C 2 -S 100 || return
	dial first design=0 strict=0 messages=2 answer=1 crc=0
	dial first_crc design=0 strict=0 messages=2 answer=1 crc=1
	for way in "${first[@]}"; do dialled $way || return; done
	siw_ends && siw_serves -c 1 -C 0 || return
	dial markers markers=1
	dialled markers && { detail='siw accepts markers'; return 1; }
	told markers 'Rep Frame.* rejected' 'siw does not reject them' || return
	dial after
	dialled after && siw_ends || return
	detail="$((${#p2p[@]} + ${#first[@]})) ways to connect, and a rejection of markers"
}

# too_early: client first, and siw's server does not wait
check_siw_too_early()
{
	siw_load plain && siw_serves -c 1 -C 2 -S 100 || return
	dial early design=0 after_reply_ms=5000
	dialled early && { detail='siw keeps the order of client first'; return 1; }
	told early 'responder sends before' 'not the reason that was expected' || return
	siw_stop
	detail='siw lets its server send before the client has'
}

# depths: IRD and ORD
check_siw_depths()
{
	local d depths=(0,0 1,1 4,0 0,4 16,16 128,128 16383,16383)
	siw_load plain && siw_serves -c ${#depths[@]} -C 0 || return
	for d in "${depths[@]}"; do dial $d ird=${d%,*} ord=${d#*,} ird_max=256 kinds=2; done
	for d in "${depths[@]}"; do dialled $d || return; done
	told 4,0 'got .* ird 0 ord 4 ' 'siw does not take over the depths' && told 16383,16383 'got .* ird 128 ord 128 ' 'siw has no limit of its own' || return
	siw_ends || return
	detail="${#depths[@]} pairs of depths"
}

# wrong_fpdu: a wrong first FPDU; siw ends with the code that the registry has for it. One more connection is waited for, so that the server stays.
check_siw_wrong_fpdu()
{
	local row rows=('bad_crc 2 0 2' 'bad_opcode 0 2 6' 'ddp_version 1 2 6' 'rdmap_version 0 2 5' 'bad_qn 1 2 1' 'bad_msn 1 2 3')
	siw_load plain && siw_serves -c $((${#rows[@]} + 1)) -C 1 || return
	for row in "${rows[@]}"; do dial ${row%% *} design=0 break=${row%% *} messages=1; done
	for row in "${rows[@]}"; do ended_by $row || return; done
	siw_stop
	detail="$(printf '%s, ' "${rows[@]}")as the registry has them"
}

# rtr_again: more than one message that says ready, or another than agreed; siw takes what comes
check_siw_rtr_again()
{
	siw_load plain && siw_serves -c 2 -C 0 || return
	dial rtr_twice kinds=2 break=rtr_twice
	dial rtr_other_kind kinds=2 break=rtr_other_kind
	dialled rtr_twice && dialled rtr_other_kind && siw_ends || return
	detail='siw takes WRITE twice, and READ where WRITE was agreed'
}

# never_ready: connections that end before siw's side is established: no kind that both know, a wrong message that says ready, or none.
# iw_cm has a BUG() for that (cm_close_handler), and connects no more in this guest. So all of them are accepted before the first one ends.
check_siw_never_ready()
{
	local name accepted=(rtr_data bad_crc no_rtr)
	siw_load plain && siw_serves -c 4 -C 0 || return
	dial rtr_data kinds=2 break=rtr_data after_reply_ms=3000
	dial bad_crc kinds=2 break=bad_crc after_reply_ms=3000
	dial no_rtr kinds=2 break=no_rtr after_reply_ms=3000
	for name in "${accepted[@]}"; do wait_until 10 grep -q 'got MPA ID Rep' "$VM_DIR/dial.$name" || { detail="$name: no Reply"; return 1; }; done
	dial only_send kinds=4
	dialled only_send && { detail='connected by a kind that siw does not know'; return 1; }
	told only_send 'got MPA ID Rep Frame.* write,' 'siw does not answer WRITE' && told only_send 'terminate 2/0/7' 'no TERMINATE' || return
	ended_by rtr_data 1 1 0 && ended_by bad_crc 2 0 2 || return
	dialled no_rtr
	run a 10 'dmesg | grep -A 3 "kernel BUG"'
	detail='siw answers WRITE to SEND; rtr_data 1/1/0; bad_crc 2/0/2'
}

# bad_requests: frames that are wrong; siw drops the stream and serves the next connection
check_siw_bad_requests()
{
	local b breaks=(key_bit pd_513 rev_3 wrong_key rtr_key short_enhanced half_start)
	siw_load plain && siw_serves -c 1 -C 0 || return
	for b in "${breaks[@]}"; do dial $b break=$b fallback=0; done
	for b in "${breaks[@]}"; do dialled $b && { detail="$b: siw accepts"; return 1; }; done
	dial right
	dialled right && siw_ends || return
	detail="${#breaks[@]} kinds are refused, and a right one is taken"
}

# private_data: RFC 5044 allows 512 bytes; siw takes 256, four of which are the enhanced ones
check_siw_private_data()
{
	siw_load plain && siw_serves -c 1 -C 0 || return
	dial most pdata=252
	dial more pdata=253 fallback=0
	dialled more && { detail='siw takes more than 256 bytes'; return 1; }
	dialled most && siw_ends || return
	answer_here reject=1 pdata=256 || return
	siw_dials -C 0 -c 1
	said 'REJECTED' 'ucmatose is not told of the rejection' && answered 0 || return
	answer_here pdata=252 hold_ms=500 || return
	siw_dials -C 0 -c 1 && answered 0 || return
	detail='252 bytes in a Request and a Reply; 256 with a rejection; 253 in a Request are refused'
}

# write, read_crc, rev_1: siw as initiator
siw_initiates()
{
	local variant=$1 pattern=$2 messages=$3
	shift 3
	siw_load "$variant" || return
	answer_here greet=$messages messages=$messages echo=0 size=300 connections=3 "$@" && siw_dials -c 3 -C $messages -S 300 || { detail="ucmatose: ${on_output##*$'\n'}"; return 1; }
	answered 0 || return
	grep -qE "$pattern" "$VM_DIR/listen" || { detail="no '$pattern'"; return 1; }
}

check_siw_write() { siw_initiates write 'got WRITE, 0 bytes' 5 && detail='siw asks for WRITE, sends it, and 15 messages go both ways'; }
check_siw_read_crc() { siw_initiates read_crc 'send READ_RESPONSE' 5 && detail='siw asks for READ and CRCs, gets the response, and 15 messages go both ways'; }
check_siw_rev_1()
{
	siw_load rev_1 || return
	# ucmatose's client waits for the server's first message, which may not come in revision 1: connected and ended only
	siw_initiates rev_1 'got MPA ID Req Frame rev 1' 0 hold_ms=500 && siw_serves -c 1 -C 2 -S 100 || return
	dial rev_1 rev=1 design=0 messages=2 answer=1 strict=0
	dialled rev_1 && siw_ends || return
	detail='revision 1 in both roles'
}

# reply_names_more: siw asked for READ alone and is told WRITE too: it must send one that it has been told
check_siw_reply_names_more()
{
	siw_load read_crc && answer_here break=reply_write_too strict=0 greet=2 messages=2 echo=0 || return
	siw_dials -c 1 -C 2
	answered 0 || return
	detail="siw sends $(sed -n 's/.*: got \(WRITE\|READ_REQUEST\), 0 bytes/\1/p' "$VM_DIR/listen" | head -n 1) where READ was asked for and the Reply names both"
}

# bad_replies: siw refuses them
check_siw_bad_replies()
{
	local b breaks=(key_bit rev_3 wrong_key reply_without_s)
	siw_load plain || return
	for b in "${breaks[@]}"; do
		echo "== $b"
		answer_here break=$b || return
		siw_dials -c 1 -C 0
		said 'CONNECT_ERROR|REJECTED|UNREACHABLE' "$b: siw accepts" || return
		wait $here_pid
		here_pid=
		cat "$VM_DIR/listen"
		grep -q 'connected 0,' "$VM_DIR/listen" || { detail="$b: siw sends an FPDU"; return 1; }
	done
	detail="${#breaks[@]} kinds of Reply are refused"
}

# ucmatose: 100 connections in each role, by three programs: libsiw takes the 145th page of queues that a program maps for an error
# (SIW_INVAL_UOBJ_KEY), and a connection has four.
check_siw_ucmatose()
{
	local n shares=(34 33 33) ids=()
	siw_load write && answer_here connections=100 greet=10 messages=10 echo=0 || return
	must a 60 "programs=
		for n in ${shares[*]}; do timeout 50 ucmatose -s 10.0.2.2 -p $siw_here -c \$n -C 10 -S 100 & programs=\"\$programs \$!\"; done
		for n in \$programs; do wait \$n || exit; done" && answered 0 || return
	grep -q 'connections 100, connected 100, failed 0, messages 1000$' "$VM_DIR/listen" || { detail=$(tail -n 1 "$VM_DIR/listen"); return 1; }
	for n in "${!shares[@]}"; do
		siw_serves -c ${shares[n]} -C 10 -S 100 || return
		ids+=($siw_id)
		dial share_$n connections=${shares[n]} messages=10 answer=1 at_once=1 after_reply_ms=200 wait_ms=60000
	done
	for n in "${!shares[@]}"; do
		dialled share_$n && told share_$n "connected ${shares[n]}, failed 0, messages ${shares[n]}0\$" 'messages are missing' || return
		siw_id=${ids[n]}
		siw_ends || return
	done
	detail='100 connections with 10 messages each way, in both roles'
}

siw_checks=(write ucmatose read_crc reply_names_more rev_1 kinds depths private_data too_early rtr_again wrong_fpdu bad_requests bad_replies)
siw_ports=30

# free_ports COUNT: prints the first of so many ports in a row that nobody uses. They are below those that the system gives to a caller, so none is taken
# later by chance.
free_ports()
{
	python3 - "$1" <<-'END'
		import socket, sys
		count = int(sys.argv[1])
		with open('/proc/sys/net/ipv4/ip_local_port_range') as f:
		    above = int(f.read().split()[0])
		def is_free(port):
		    with socket.socket() as s:
		        try:
		            s.bind(('127.0.0.1', port))
		        except OSError:
		            return False
		    return True
		for first in range(above - count, 1023, -count):
		    if all(map(is_free, range(first, first + count))):
		        sys.exit(print(first))
		sys.exit(f'no {count} ports in a row are free between 1024 and {above}')
	END
}

# siw_session: one guest without an HCA
siw_session()
{
	local check n net=
	rm -rf "$share"; mkdir -p "$share"
	echo a >"$share/guests"
	judge siw.build siw_build
	[ $last = pass ] || return
	siw_port=$(free_ports $siw_ports) || die 'siw: no ports'
	siw_loaded= siw_n=0 here_pid= siw_here=
	for ((n = 0; n < siw_ports; n++)); do net=${net:+$net,}hostfwd=tcp:127.0.0.1:$((siw_port + n))-10.0.2.15:$((7471 + n)); done
	names=(a)
	if NO_DEVICE=1 USER_NET=$net guests_up a=; then
		on a 20 'ip link set eth1 up; ip addr add 10.0.2.15/24 dev eth1'
		for check in "${siw_checks[@]}"; do
			judge "siw.$check" "check_siw_$check"
			# why siw has dropped a connection is in the kernel's log only
			[ $last = pass ] || run a 20 'dmesg | tail -n 300' >>"$O/vm-test/logs/siw.$check.log" 2>&1
		done
		judge siw.kernel check_kernel
		judge siw.never_ready check_siw_never_ready
	else
		judge siw.kinds not_up
	fi
	guests_kill
}
