#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Installs what hcasim needs and this machine lacks: apt-get on Debian, through sudo when not root; elsewhere says what is missing.
# Arguments are further needs, as below.
set -euo pipefail

# command or file that proves a package is there : Debian package
needs=(
	"gcc:gcc" "g++:g++" "pkg-config:pkg-config"
	"/usr/include/systemc:libsystemc-dev"
	"/usr/include/libelf.h:libelf-dev"
	"/usr/include/ini.h:libinih-dev"
	"/usr/include/cmocka.h:libcmocka-dev"
	"riscv64-unknown-elf-gcc:gcc-riscv64-unknown-elf"
	"gdb-multiarch:gdb-multiarch"
	"tshark:tshark" "vcd2fst:gtkwave" "valgrind:valgrind" "python3:python3"
	"$@"
)
missing=()
for need in "${needs[@]}"; do
	probe=${need%%:*} package=${need#*:}
	case $probe in
	/*) [ -e "$probe" ] || missing+=("$package") ;;
	*) command -v "$probe" >/dev/null 2>&1 || missing+=("$package") ;;
	esac
done
[ ${#missing[@]} -eq 0 ] && exit 0

if ! command -v apt-get >/dev/null 2>&1; then
	echo "hcasim needs these Debian packages (or what they contain), and this machine has no apt-get:" >&2
	printf '  %s\n' "${missing[@]}" >&2
	exit 1
fi
as_root=()
if [ "$(id -u)" -ne 0 ]; then
	if ! command -v sudo >/dev/null 2>&1; then
		echo "hcasim needs root or sudo to install: ${missing[*]}" >&2
		exit 1
	fi
	as_root=(sudo)
fi
echo "installing: ${missing[*]}"
export DEBIAN_FRONTEND=noninteractive
"${as_root[@]}" apt-get update -qq
"${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null
