# SPDX-License-Identifier: Apache-2.0
# The requester in software lets a fenced request go while one READ or atomic is in flight.
s/if (w->flags & IBV_SEND_FENCE && r->fetches)/if (w->flags \& IBV_SEND_FENCE \&\& r->fetches > 1)/
