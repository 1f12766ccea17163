# SPDX-License-Identifier: Apache-2.0
# The requester of the device asks again for every answer behind missing data, not once.
s/if (r->send->implied_nak)/if (0 \&\& r->send->implied_nak)/
