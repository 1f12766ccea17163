#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# iwarp_capture.sh FOLDER SCENARIO: tshark, which knows RFC 5044 and TCP but nothing of this tree, reads the capture of an iwarp scenario.
# Of what host a saw, it finds Requests or Replies, calls no packet malformed, and finds each FPDU's CRC and each checksum of IP and TCP good. The exceptions are what a scenario breaks
# on purpose, and the Rtr frame, which tshark does not know. Of revision 2 it has two warnings, because RFC 6581 came after it: of bit S, and of the revision.
set -euo pipefail
dir=$1 scenario=$2
malformed=0 bad_crc=0 bad_sums=0 whole=1
case $scenario in
iwarp_rtr_frame | iwarp_rdma_connect) malformed=2 ;;
iwarp_rtr_frame_old) malformed=1 ;;
iwarp_wrong_rtr) malformed=1 bad_crc=1 ;;
iwarp_bounds) malformed=9 ;;
iwarp_breaks) malformed=32 bad_crc=24 ;;
iwarp_losses) bad_crc=1 bad_sums=4 ;;
# their frames are cut by segments, or share one with what follows; tshark reads only whole ones that stand alone
iwarp_start_together | iwarp_mss) whole=0 ;;
esac
one=$(mktemp) all=$(mktemp)
trap 'rm -f "$one" "$all"' EXIT
# each frame stands twice in the capture; TCP would take the second one for a retransmission
tshark -n -r "$dir/packets.pcapng" -Y 'frame.interface_name == "host0.eth1"' -w "$one" 2>/dev/null
tshark -n --disable-protocol rpcordma -o ip.check_checksum:TRUE -o tcp.check_checksum:TRUE -r "$one" -V >"$all" 2>/dev/null
frames=$(grep -c '^Frame ' "$all" || true)
[ "$frames" -gt 0 ] || { echo "tshark reads no frame"; exit 1; }
count() { grep -cE -- "$1" "$all" || true; }
wrong=0
expect()
{
	[ "$2" -eq "$3" ] || { echo "$1: $2, expected $3"; wrong=1; }
}
if [ $whole = 1 ]; then
	expect "malformed packets" "$(count '^\[Malformed Packet')" $malformed
	expect "FPDUs with a bad CRC" "$(count 'CRC check: .*Bad CRC32')" $bad_crc
fi
expect "packets with a bad checksum of IP or TCP" "$(count 'Expert Info \(Error/Checksum\)')" $bad_sums
expect "TCP segments in error" "$(count 'Expert Info \(Error/(Protocol|Sequence)')" 0
warned=$(tshark -n --disable-protocol rpcordma -r "$one" -q -z expert,warn 2>/dev/null | grep 'IWARP_' |
	grep -cvE 'Malformed Packet|Res field is NOT set to zero|Rev field is NOT set to one' || true)
[ $whole = 0 ] || expect "further warnings of tshark" "$warned" 0
fpdus=$(count 'CRC check: .*Good CRC32')
starts=$(count 'ID Re[qp] frame: ')
[ "$starts" -gt 0 ] || { echo "tshark finds no Request"; wrong=1; }
echo "$frames frames, $starts Requests and Replies, $fpdus FPDUs with a good CRC"
exit $wrong
