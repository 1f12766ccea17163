# SPDX-License-Identifier: Apache-2.0
# The driver's start is some hundred commands, each of which waits for an interrupt.
driver_load
