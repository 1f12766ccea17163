# SPDX-License-Identifier: Apache-2.0
# While a task reads all counters of a port several times, another one reads some of them. Each read is a command.
driver_load || exit 1
cd /sys/class/infiniband/mlx4_0/ports/1/counters
cat * * * * >/dev/null & cat port_xmit_* >/dev/null
wait $!
