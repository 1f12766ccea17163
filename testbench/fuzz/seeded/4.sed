# SPDX-License-Identifier: Apache-2.0
# The requester in software takes a READ response that is too short.
s/in->len != (left < qp->mtu ? left : qp->mtu)/in->len > (left < qp->mtu ? left : qp->mtu)/
