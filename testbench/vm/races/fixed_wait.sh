# SPDX-License-Identifier: Apache-2.0
# A program that sends as soon as its queue pair is in RTS.
driver_load || exit 1
opensm >/dev/null 2>&1 & ports_are 4 60 || exit 1
ibv_rc_pingpong -d mlx4_0 -n 1 >/dev/null & server=$!
listening 18515 && timeout 3 ibv_rc_pingpong -d mlx4_1 -n 1 localhost >/dev/null
status=$?
kill $server 2>/dev/null
pkill opensm
exit $status
