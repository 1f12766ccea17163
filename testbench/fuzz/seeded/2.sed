# SPDX-License-Identifier: Apache-2.0
# The responder in software takes a WRITE whose last packet is shorter than its DMA length says.
s/if (end ? r->offset + in->len != r->length :/if (end ? r->offset + in->len > r->length :/
