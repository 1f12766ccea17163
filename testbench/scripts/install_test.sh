#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# install_test.sh FOLDER: installs into the empty folder, moves the installation, and uses it with the source tree out of reach:
# an empty file system is mounted over the tree, in a mount namespace of its own.
set -euo pipefail
O=${O:-build}

# --- what runs without the source tree, in FOLDER/work

fail() { echo "install_test: $*"; exit 1; }

use_program()
{
	hcasim run tour || fail "tour"
	[ -s hcasim-traces/tour/packets.pcapng ] || fail "the run's files are not in the working directory"
	hcasim stages tour >stages && grep -q ' send, ' stages && hcasim check hcasim-traces/tour/packets.pcapng && hcasim report tour || fail "tools"
	hcasim run mine.c -c "$there/share/hcasim/configs/ideal.ini" || fail "a user's scenario"
	hcasim perf write_lat --profile cx3_fdr || fail "perf with a profile"
	hcasim run posix_program || fail "a scenario that compiles a program"
}

# Two runs of the compiler at a time: SystemC's headers take long.
use_library()
{
	local flags objects=() f example=$there/share/hcasim/model/systemc/example
	flags=$(PKG_CONFIG_PATH=$there/lib/pkgconfig pkg-config --cflags hcasim)
	for f in example foreign_platform; do
		# shellcheck disable=SC2086
		g++ -O0 -I"$there/share/hcasim" $flags -c -o "$f.o" "$example/$f.cpp" &
		objects+=("$f.o")
	done
	wait
	# shellcheck disable=SC2046
	g++ -o tlm_example "${objects[@]}" $(PKG_CONFIG_PATH=$there/lib/pkgconfig pkg-config --libs hcasim) || fail "the example does not link"
	./tlm_example "$there/share/hcasim/fw/hcasim-fw.elf" || fail "the example"
}

read_documents()
{
	local warnings
	[ -s "$there/share/doc/hcasim/README.md" ] || fail "no README"
	if command -v groff >/dev/null; then
		warnings=$(groff -man -Tutf8 -ww "$there/share/man/man1/hcasim.1" 2>&1 >man.txt) || fail "groff"
		[ -z "$warnings" ] || fail "the man page: $warnings"
		grep -q 'firmware' man.txt || fail "the man page lacks an option"
	else
		echo "no groff: the man page is not read"
	fi
}

complete_words()
{
	bash -c '. "$1/share/bash-completion/completions/hcasim"
		compopt() { :; }
		try() { want=$1; shift; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _hcasim
			[ "${COMPREPLY[*]}" = "$want" ] || { echo "$*: ${COMPREPLY[*]:-nothing}, expected $want"; exit 1; }; }
		complete -p hcasim >/dev/null || exit 1
		try "stages" hcasim sta && try "rc_lost_ack" hcasim run rc_lost_a && try "hca.link.delay=" hcasim run -s hca.link.del &&
			try "--threshold" hcasim diff --thr && try "json" hcasim run --stats = j && try "write_lat" hcasim perf write_la' - "$there" ||
		fail "completion in bash"
	if command -v zsh >/dev/null; then
		zsh -fn "$there/share/zsh/site-functions/_hcasim" || fail "completion in zsh"
	fi
}

# What is missing is said in one line.
miss_files()
{
	local said
	mv "$there/share/hcasim/fw" fw
	said=$(hcasim run tour 2>&1) && fail "runs without firmware"
	mv fw "$there/share/hcasim/fw"
	[ "$(wc -l <<<"$said")" -eq 1 ] && grep -q 'firmware not found: tried .*hcasim-fw.elf' <<<"$said" || fail "without firmware: $said"
	said=$(PATH=/nowhere "$there/bin/hcasim" run mine.c 2>&1) && fail "compiles without a compiler"
	[ "$(wc -l <<<"$said")" -eq 1 ] && grep -q 'the C compiler .*: No such file' <<<"$said" || fail "without a compiler: $said"
}

if [ "${1:-}" = --use ]; then
	there=$2/moved
	# never outside a mount namespace of its own
	if [ -z "${3:-}" ]; then
		echo "no mount namespaces here: the source tree is not hidden"
	else
		mount -t tmpfs none "$3" || fail "the source tree cannot be hidden"
	fi
	export PATH=$there/bin:$PATH
	cd "$2/work"
	use_program
	use_library
	read_documents
	complete_words
	miss_files
	exit 0
fi

# --- what needs it

folder=$(realpath "$1")
make --no-print-directory O="$O" install PREFIX=/opt/hcasim DESTDIR="$folder/stage"
mkdir "$folder/work"
mv "$folder/stage/opt/hcasim" "$folder/moved"
sed 's/SCENARIO(answer_by_hand/SCENARIO(mine/' testbench/examples/1_answer_by_hand.c >"$folder/work/mine.c"
cp testbench/scripts/install_test.sh "$folder/"
alone=() tree=
for how in -m -rm; do
	if unshare $how true 2>/dev/null; then alone=(unshare $how) tree=$PWD; fi
done
"${alone[@]}" "$folder/install_test.sh" --use "$folder" "$tree"
mkdir -p "$folder/stage/opt"
mv "$folder/moved" "$folder/stage/opt/hcasim"
make --no-print-directory O="$O" uninstall PREFIX=/opt/hcasim DESTDIR="$folder/stage"
[ -z "$(find "$folder/stage" -type f)" ] || fail "uninstall leaves $(find "$folder/stage" -type f | head -n 3)"
