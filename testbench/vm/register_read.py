# SPDX-License-Identifier: Apache-2.0
# Measures reads of a register from a guest's user space: median and 99th percentile in us. The times include the emulated CPU's share.
import mmap
import os
import time

HCR_STATUS, COUNT = 0x80698, 2000
VENDOR = "0x15b3"

devices = "/sys/bus/pci/devices"
function = next(d for d in sorted(os.listdir(devices)) if open(f"{devices}/{d}/vendor").read().strip() == VENDOR)
with open(f"{devices}/{function}/resource0", "r+b") as f:
    bar = memoryview(mmap.mmap(f.fileno(), os.path.getsize(f"{devices}/{function}/resource0"))).cast("I")
times = []
for _ in range(COUNT):
    start = time.perf_counter_ns()
    bar[HCR_STATUS // 4]
    times.append(time.perf_counter_ns() - start)
times.sort()
print(f"median {times[COUNT // 2] / 1000:.0f} us, 99 of 100 within {times[COUNT * 99 // 100] / 1000:.0f} us")
