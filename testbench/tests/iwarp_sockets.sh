#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# iwarp_sockets.sh HCASIM: two ends of hcasim iwarp over this machine's TCP: messages on many connections, a rule that is broken, wrong words.
set -uo pipefail
hcasim=$1
out=$(mktemp -d)
trap 'rm -rf "$out"; [ -z "${server:-}" ] || kill "$server" 2>/dev/null' EXIT

# serve WORD...: begins a server and waits until it says at which port it listens
serve()
{
	: >"$out/server" # the one before said its port, too
	timeout 60 "$hcasim" iwarp listen 0 "$@" >"$out/server" 2>&1 &
	server=$!
	for _ in $(seq 600); do
		port=$(sed -n 's/^listens on port //p' "$out/server")
		[ -z "$port" ] || return 0
		kill -0 $server 2>/dev/null || break
		sleep 0.1
	done
	cat "$out/server"
	return 1
}

# dial WORD...
dial() { timeout 60 "$hcasim" iwarp connect 127.0.0.1 $port "$@" >"$out/client" 2>&1; }

# both STATUS STATUS: what client and server ended with
both()
{
	local client=$1
	wait $server
	set -- $? "$2" "$3"
	server=
	[ "$client" -eq "$2" ] && [ "$1" -eq "$3" ] && return
	echo "client $client, server $1; expected $2 and $3"
	cat "$out/client" "$out/server"
	return 1
}

serve connections=20 crc=0 && dial connections=20 messages=10 size=700 kinds=1 markers=1
both $? 0 0 || exit
grep -q 'connections 20, connected 20, failed 0, messages 200' "$out/client" || { cat "$out/client"; exit 1; }
serve && dial kinds=1 break=rtr_other_kind hold_ms=20000
both $? 1 1 || exit
grep -q 'terminate 2/0/7' "$out/server" && grep -q 'peer terminates 2/0/7' "$out/client" || { cat "$out"/*; exit 1; }
serve rev=2 reject=1 pdata=512 && dial
both $? 1 0 || exit
serve rev=1 && dial
both $? 0 0 || exit
grep -q 'again with revision 1' "$out/client" || { cat "$out/client"; exit 1; }
port=1 dial # nobody listens, and no program that calls gets this port as its own
[ $? -eq 1 ] || { cat "$out/client"; exit 1; }
for words in 'connect 127.0.0.1' 'connect here 1' 'listen 70000' 'connect 127.0.0.1 0' 'listen 1 kinds=9' 'listen 1 break=nothing' 'listen 1 what=1' dance; do
	"$hcasim" iwarp $words >"$out/client" 2>&1
	[ $? -eq 2 ] && [ "$(wc -l <"$out/client")" -eq 1 ] || { echo "hcasim iwarp $words"; cat "$out/client"; exit 1; }
done
