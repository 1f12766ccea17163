#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# check_form.sh licence: every source file names its licence in its first three lines; those of QEMU's plugin, in testbench/vm/clock, have another one than Apache-2.0
# check_form.sh layout [--fix]: every C and C++ file is laid out as .clang-format says; --fix lays it out
# Tables that are aligned by hand stand between /* clang-format off */ and /* clang-format on */.
# Exit status: 0 right, 1 wrong files (named), 77 clang-format 14 is missing: other versions lay out differently.
set -euo pipefail
cd "$(dirname "$0")/../.."

# sources PATTERN...: the files of these names, without what is built
sources()
{
	local names=() pattern
	for pattern in "$@"; do names+=(-o -name "$pattern"); done
	find . -type d '(' -name .git -o -name build -o -name corpus ')' -prune -o -type f '(' "${names[@]:1}" ')' -print | sed 's|^\./||' | sort
}

# default.ini and ideal.ini are what the program itself saves; a test compares them byte by byte.
licence()
{
	local wrong
	wrong=$({
		sources '*.c' '*.h' '*.cpp' '*.hpp' '*.S' '*.ld' '*.inc' '*.sh' '*.py' '*.awk' '*.sed' '*.mk' '*.ini' Makefile
		# scripts without an extension
		grep -rlIm1 --exclude-dir=.git --exclude-dir=build --exclude='*.*' '^#!' .ci fw host_driver model testbench traces
	} | sort -u | grep -vE '^configs/(default|ideal)\.ini$' | xargs -d '\n' awk '
		FNR == 1 { licence = FILENAME ~ "^testbench/vm/clock/" ? "GPL-2.0-or-later" : "Apache-2.0" }
		FNR > 3 { nextfile }
		index($0, "SPDX-License-Identifier: " licence) { right[FILENAME] = 1 }
		END { for (i = 1; i < ARGC; i++) if (!(ARGV[i] in right)) print ARGV[i] }')
	[ -z "$wrong" ] || { printf '%s: lacks the line SPDX-License-Identifier, or names another licence\n' $wrong; return 1; }
}

layout()
{
	local files
	mapfile -t files < <(sources '*.c' '*.h' '*.cpp' '*.hpp')
	case $(clang-format --version 2>/dev/null) in
	*" version 14."*) ;;
	*) echo "skip: no clang-format 14"; return 77 ;;
	esac
	if [ "${1:-}" = --fix ]; then
		printf '%s\0' "${files[@]}" | xargs -0 -n 32 -P "$(nproc)" clang-format -i
	else
		# a batch prints its lines at once, so that those of two do not mix
		# shellcheck disable=SC2016
		printf '%s\0' "${files[@]}" | xargs -0 -n 32 -P "$(nproc)" sh -c '
			wrong=$(clang-format --dry-run -Werror "$@" 2>&1 |
				awk -F: "/ error: / && !seen[\$1]++ { print \$1 \":\" \$2 \": not laid out as .clang-format says\" }")
			[ -z "$wrong" ] || { echo "$wrong"; exit 1; }' -
	fi
}

case ${1:-} in
licence) licence ;;
layout) layout "${2:-}" ;;
*) sed -n '3,6s/^# //p' "$0"; exit 2 ;;
esac
