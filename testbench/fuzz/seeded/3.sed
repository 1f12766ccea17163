# SPDX-License-Identifier: Apache-2.0
# The responder of the device does not count messages with immediate data.
s/^\t\tif (end)$/\t\tif (end \&\& !resp_is(x, BTH_IMM))/
