# SPDX-License-Identifier: Apache-2.0
# The iWARP checks of make vm-test: Linux's siw, built from Debian's linux-source, against hcasim iwarp on this machine, in both roles.
# siw's peer_to_peer, rtr_type, mpa_crc_required and mpa_version are constants, so there is a module for each set of them (siw_variants).
# Sourced by bash, after seeds.sh. Guest a has a network card of QEMU's user networking beside the other: this machine is 10.0.2.2 there, and ports of
# this machine from $siw_port on are those of the guest from 7471 on. Each server has a port of its own, because one may hang: siw leaves a program that
# has accepted for ever in the kernel if the connection is terminated before it is established. So checks that do this come last.
#
# ucmatose's server sends first. A siw without peer_to_peer lets it do so before the client has sent anything, which RFC 5044 forbids; so hcasim is
# tolerant there (strict=0), or does the same (break=early_send).
# What siw does in its own way: it accepts revision 0; of bytes behind a Request or Reply it complains only when they have come already; it raises
# its IRD without being asked; if the Reply names WRITE and READ it sends both kinds or the WRITE; flag A of a Reply is not looked at.

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
	timeout 900 "$vm_src/in_layers.sh" "$seed_sets" make -s -j2 -C "/usr/src/linux-headers-$(ls "$guest_made/kernel/lib/modules")" M="$tree" \
		CONFIG_RDMA_SIW=m modules
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

# siw_serves ARGUMENT...: ucmatose waits in the guest for connections from here; id=$on_id
siw_serves()
{
	siw_n=$((siw_n + 1))
	on_start a 60 "exec ucmatose -b 10.0.2.15 -p $((7471 + siw_n)) $*" || return
	siw_id=$on_id
	must a 40 "until rdma resource show cm_id | grep LISTEN | grep -q :$((7471 + siw_n)); do sleep 0.1; done"
}

# siw_stop: an ucmatose whose connection was broken may wait for ever
siw_stop() { run a 30 'pkill -x ucmatose'; }

# siw_ends: what ucmatose has said; fails if it has failed
siw_ends() { on_wait a "$siw_id"; set -- $?; echo "$on_output"; return $1; }

# dial NAME WORD...: hcasim connects to the guest; its status and output are in the log
# A connection is held for a while: what follows at once on the message that says ready, a FIN too, siw may overlook.
dial() { "$O/hcasim" iwarp connect 127.0.0.1 $((siw_port + siw_n)) hold_ms=1000 "$@" 2>&1 | tee "$VM_DIR/dial"; return "${PIPESTATUS[0]}"; }

# dialled PATTERN WHAT
dialled() { grep -qE -- "$1" "$VM_DIR/dial" || { detail=$2; return 1; }; }

# answer_here WORD...: hcasim listens on this machine
answer_here()
{
	if [ -n "$here_pid" ]; then
		kill $here_pid 2>/dev/null
		wait $here_pid
	fi
	"$O/hcasim" iwarp listen "$siw_here" "$@" >"$VM_DIR/listen" 2>&1 &
	here_pid=$!
	wait_until 10 grep -q LISTEN "$VM_DIR/listen" || { cat "$VM_DIR/listen"; detail='hcasim iwarp does not listen'; return 1; }
}

# answered STATUS: it has ended, so
answered()
{
	wait $here_pid
	set -- $? "$1"
	here_pid=
	cat "$VM_DIR/listen"
	[ "$1" -eq "$2" ] || { detail="hcasim iwarp listen ended with $1"; return 1; }
}

# siw_dials ARGUMENT...: ucmatose of the guest connects to this machine
siw_dials() { run a 60 "timeout 50 ucmatose -s 10.0.2.2 -p $siw_here $*"; }

# kinds: siw as responder answers WRITE, READ and client first, with and without CRCs; with markers it rejects
check_siw_kinds()
{
	local words n=0
	siw_load plain || return
	# no message follows: siw may overlook what comes at once with the one that says ready
	for words in 'kinds=2 crc=0' 'kinds=1 crc=0' 'kinds=7 crc=0' 'kinds=2 crc=1' 'kinds=1 crc=1'; do
		echo "== $words"
		siw_serves -c 1 -C 0 || return
		dial hold_ms=1000 $words || { detail="$words: hcasim iwarp fails"; return 1; }
		case $words in kinds=1*) dialled 'got READ_RESPONSE' "$words: no response" || return ;; esac
		siw_ends || { detail="$words: ucmatose fails"; return 1; }
		n=$((n + 1))
	done
	for words in 'crc=0' 'crc=1'; do
		echo "== client first, $words"
		siw_serves -c 1 -C 2 -S 100 || return
		dial design=0 strict=0 messages=2 size=100 $words || { detail="client first, $words: hcasim iwarp fails"; return 1; }
		siw_ends || { detail="client first, $words: ucmatose fails"; return 1; }
		n=$((n + 1))
	done
	siw_serves -c 1 -C 0 || return
	dial markers=1 && { detail='siw accepts markers'; return 1; }
	dialled 'Rep Frame.* rejected' 'siw does not reject markers' || return
	dial || { detail='no connection after a rejection'; return 1; }
	siw_ends || return
	detail="$n ways to connect, and a rejection of markers"
}

# only_send: siw knows no SEND; it answers WRITE, and we end with 2/0/7
check_siw_only_send()
{
	siw_load plain && siw_serves -c 1 -C 0 || return
	dial kinds=4 && { detail='connected'; return 1; }
	dialled 'got MPA ID Rep Frame.* write,' 'siw does not answer WRITE' && dialled 'terminate 2/0/7' 'no TERMINATE' || return
	siw_stop
	detail='siw answers WRITE, hcasim ends with 2/0/7'
}

# too_early: client first, and siw's server does not wait
check_siw_too_early()
{
	siw_load plain || return
	siw_serves -c 1 -C 2 -S 100 || return
	dial design=0 messages=2 && { detail='siw keeps the order of client first'; return 1; }
	dialled 'the Reply breaks a rule|responder sends before' 'not the reason that was expected' || return
	siw_stop
	detail='siw lets its server send before the client has'
}

# depths: IRD and ORD
check_siw_depths()
{
	local d n=0
	siw_load plain || return
	for d in 0,0 1,1 4,0 0,4 16,16 128,128 16383,16383; do
		echo "== ird,ord $d"
		siw_serves -c 1 -C 0 || return
		dial ird=${d%,*} ord=${d#*,} ird_max=256 kinds=2 || { detail="ird, ord $d: no connection"; siw_ends; return 1; }
		siw_ends || { detail="ird, ord $d: ucmatose fails"; return 1; }
		n=$((n + 1))
	done
	detail="$n pairs of depths"
}

# wrong_rtr: wrong messages to siw, which closes the stream
check_siw_wrong_rtr()
{
	local b told=
	siw_load plain || return
	for b in rtr_data bad_opcode ddp_version rdmap_version bad_crc rtr_twice rtr_other_kind no_rtr; do
		echo "== $b"
		siw_serves -c 1 -C 0 || return
		dial kinds=2 break=$b hold_ms=1500 wait_ms=8000
		told="$told $b:$(sed -n 's/.*peer terminates \(.*\)/\1/p' "$VM_DIR/dial" | head -n 1)$(grep -q 'stream failed\|event CLOSE status -' "$VM_DIR/dial" && echo reset)"
		siw_stop
		case $b in
		rtr_data | bad_opcode | ddp_version | rdmap_version | bad_crc)
			grep -qE 'peer terminates|stream failed|event DISCONNECT' "$VM_DIR/dial" || { detail="$b: siw does not mind"; return 1; } ;;
		rtr_twice | rtr_other_kind)
			grep -qE 'failed 0' "$VM_DIR/dial" || { detail="$b: siw minds"; return 1; } ;;
		esac
	done
	run a 10 'dmesg | tail -n 20'
	detail="siw's answers:$told"
}

# bad_requests: frames that are wrong; siw drops the stream and serves the next connection
check_siw_bad_requests()
{
	local b
	siw_load plain && siw_serves -c 1 -C 0 || return
	for b in key_bit pd_513 rev_3 wrong_key rtr_key short_enhanced half_start; do
		echo "== $b"
		dial break=$b fallback=0 wait_ms=15000 && { detail="$b: siw accepts"; return 1; }
	done
	dial || { detail='no connection after these'; return 1; }
	siw_ends || return
	detail='seven kinds are refused, and a right one is taken'
}

# private_data: in both directions; of long data siw's answer is only noted, because RFC 5044 lets it have 512 bytes
check_siw_private_data()
{
	local most='takes 508 bytes'
	siw_load plain && siw_serves -c 1 -C 0 || return
	dial pdata=508 fallback=0 hold_ms=500 || most='drops a Request with 508 bytes'
	if [ "$most" != 'takes 508 bytes' ]; then
		dial pdata=251 || { detail='251 bytes: no connection'; return 1; }
	fi
	siw_ends || return
	answer_here reject=1 pdata=200 || return
	siw_dials -C 0 -c 1
	said 'REJECTED' 'ucmatose is not told of the rejection' || return
	answered 0 || return
	detail="siw takes 251 bytes, $most; a rejection with 200 bytes from here reaches its program"
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
	! grep -q 'failed [1-9]' "$VM_DIR/listen" || { detail='a connection failed'; return 1; }
}

check_siw_write() { siw_initiates write 'got WRITE, 0 bytes' 5 && detail='siw asks for WRITE, sends it, and 15 messages go both ways'; }
check_siw_read_crc() { siw_initiates read_crc 'send READ_RESPONSE' 5 && detail='siw asks for READ and CRCs, gets the response, and 15 messages go both ways'; }
check_siw_rev_1()
{
	# ucmatose's client waits for the server's first message, which may not come in revision 1: connected and ended only
	siw_initiates rev_1 'got MPA ID Req Frame rev 1' 0 hold_ms=500 || return
	siw_serves -c 1 -C 2 -S 100 && dial rev=1 design=0 messages=2 strict=0 || { detail='revision 1 to siw'; return 1; }
	siw_ends || return
	detail='revision 1 in both roles'
}

# reply_names_more: siw asked for READ alone and is told WRITE too: it must send one that it has been told
check_siw_reply_names_more()
{
	siw_load read_crc || return
	answer_here break=reply_write_too strict=0 greet=2 messages=2 echo=0 || return
	siw_dials -c 1 -C 2
	answered 0 || return
	detail="siw sends $(sed -n 's/.*: got \(WRITE\|READ_REQUEST\), 0 bytes/\1/p' "$VM_DIR/listen" | head -n 1) where READ was asked for and the Reply names both"
}

# bad_replies: siw refuses them. Of 513 bytes of private data it is not told in time: its program hangs, so that is left out.
check_siw_bad_replies()
{
	local b
	siw_load plain || return
	for b in key_bit rev_3 wrong_key; do
		echo "== $b"
		answer_here break=$b wait_ms=20000 || return
		siw_dials -c 1 -C 0
		said 'CONNECT_ERROR|REJECTED|UNREACHABLE|error' "$b: siw accepts" || return
		wait $here_pid
		here_pid=
		cat "$VM_DIR/listen"
	done
	detail='three kinds of Reply are refused'
}

# ucmatose: 100 connections in each direction
check_siw_ucmatose()
{
	siw_load write || return
	answer_here connections=100 wait_ms=120000 greet=10 messages=10 echo=0 && siw_dials -c 100 -C 10 -S 100 || { detail="ucmatose: ${on_output##*$'\n'}"; return 1; }
	answered 0 && grep -q 'connections 100, connected 100, failed 0, messages 1000' "$VM_DIR/listen" || { detail=$(tail -n 1 "$VM_DIR/listen"); return 1; }
	siw_load plain && siw_serves -c 100 -C 10 -S 100 || return
	dial design=0 strict=0 connections=100 messages=10 size=100 wait_ms=120000 quiet=1 || { detail="from here: $(tail -n 1 "$VM_DIR/dial")"; return 1; }
	siw_ends || { detail='ucmatose as server fails'; return 1; }
	detail='100 connections with 10 messages each way, in both roles'
}

siw_checks=(write read_crc reply_names_more rev_1 depths private_data bad_requests kinds ucmatose)
siw_last_checks=(too_early only_send wrong_rtr bad_replies)
siw_ports=60

# siw_session: one guest without an HCA
siw_session()
{
	local check n net=
	rm -rf "$share"; mkdir -p "$share"
	echo a >"$share/guests"
	judge siw.build siw_build
	[ $last = pass ] || return
	siw_port=$((20000 + $$ % 20000)) siw_here=$((20000 + $$ % 20000 - 1)) siw_loaded= siw_n=0 here_pid=
	for ((n = 0; n < siw_ports; n++)); do net=${net:+$net,}hostfwd=tcp:127.0.0.1:$((siw_port + n))-10.0.2.15:$((7471 + n)); done
	names=(a)
	if NO_DEVICE=1 USER_NET=$net guests_up a=; then
		on a 20 'ip link set eth1 up; ip addr add 10.0.2.15/24 dev eth1'
		for check in "${siw_checks[@]}"; do judge "siw.$check" "check_siw_$check"; done
		judge siw.kernel check_kernel
		for check in "${siw_last_checks[@]}"; do judge "siw.$check" "check_siw_$check"; done
	else
		judge siw.kinds not_up
	fi
	guests_kill
}
