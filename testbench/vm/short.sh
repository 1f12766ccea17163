#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The short form of make vm-test, for make test: probe, opensm, RC and XRC pingpong. SKIP_VM=1 skips it. Exit status 77: skipped
# or impossible here, and a line says why; else the status of test.sh. Takes at most VM_LIMIT seconds, with the first download.
if [ -n "${SKIP_VM:-}" ]; then
	echo "skip: SKIP_VM is set"
	exit 77
fi
limit=${VM_LIMIT:-1500}
export MEM=${MEM:-512M}
timeout --foreground -k 30 "$limit" "$(dirname "$0")/test.sh" short
status=$?
[ $status -ne 124 ] || echo "vm: not done after $limit s"
exit $status
