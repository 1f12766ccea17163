# The responder of the device keeps the NAK of a lost packet back after the expected packet has come once.
s/^\t\tqpc_set_rx_nak_sent(x->qpc, 0);$//
