/* SPDX-License-Identifier: Apache-2.0 */
#include "host_driver/iwarp/tcp_frame.h"
#include "host_driver/iwarp/bytes.h"

enum {
	ETHERTYPE_IPV4 = 0x0800,
	IP_VERSION_IHL = 0x45,
	IP_DONT_FRAGMENT = 0x4000,
	IP_TTL = 64,
	IP_PROTOCOL_TCP = 6,
	TCP_OPTION_MSS = 2,
};

static uint32_t sum(uint32_t start, const uint8_t *bytes, size_t n)
{
	for (size_t i = 0; i + 1 < n; i += 2)
		start += get_be16(bytes + i);
	if (n & 1)
		start += (uint32_t)bytes[n - 1] << 8;
	return start;
}

static uint16_t fold(uint32_t s)
{
	while (s >> 16)
		s = (s & 0xffff) + (s >> 16);
	return (uint16_t)~s;
}

static uint16_t tcp_sum(const uint8_t *ip, const uint8_t *tcp, size_t n)
{
	return fold(sum(sum(IP_PROTOCOL_TCP + (uint32_t)n, ip + 12, 8), tcp, n));
}

static void ip_put(uint8_t *ip, const struct tcp_segment *s, size_t tcp_len)
{
	memset(ip, 0, IP_HEADER);
	ip[0] = IP_VERSION_IHL;
	put_be16(ip + 2, (uint16_t)(IP_HEADER + tcp_len));
	put_be16(ip + 4, s->ip_id);
	put_be16(ip + 6, IP_DONT_FRAGMENT);
	ip[8] = IP_TTL;
	ip[9] = IP_PROTOCOL_TCP;
	put_be32(ip + 12, s->from_ip);
	put_be32(ip + 16, s->to_ip);
	put_be16(ip + 10, fold(sum(0, ip, IP_HEADER)));
}

size_t tcp_frame_put(uint8_t *frame, const uint8_t to[ETH_ADDRESS], const uint8_t from[ETH_ADDRESS],
		     const struct tcp_segment *s)
{
	uint8_t *ip = frame + ETH_HEADER, *tcp = ip + IP_HEADER;
	const size_t head = TCP_HEADER + (s->mss ? TCP_MSS_OPTION : 0);
	size_t n = ETH_HEADER + IP_HEADER + head + s->len;

	memcpy(frame, to, ETH_ADDRESS);
	memcpy(frame + ETH_ADDRESS, from, ETH_ADDRESS);
	put_be16(frame + 12, ETHERTYPE_IPV4);
	ip_put(ip, s, head + s->len);
	memset(tcp, 0, head);
	put_be16(tcp, s->from_port);
	put_be16(tcp + 2, s->to_port);
	put_be32(tcp + 4, s->seq);
	put_be32(tcp + 8, s->ack);
	tcp[12] = (uint8_t)(head / 4 << 4);
	tcp[13] = s->flags;
	put_be16(tcp + 14, s->window);
	if (s->mss) {
		tcp[20] = TCP_OPTION_MSS;
		tcp[21] = TCP_MSS_OPTION;
		put_be16(tcp + 22, s->mss);
	}
	if (s->len)
		memcpy(tcp + head, s->payload, s->len);
	put_be16(tcp + 16, tcp_sum(ip, tcp, head + s->len));
	if (n < ETH_FRAME_MIN) {
		memset(frame + n, 0, ETH_FRAME_MIN - n);
		n = ETH_FRAME_MIN;
	}
	return n;
}

static uint16_t mss_find(const uint8_t *option, const uint8_t *end)
{
	while (option < end && *option) {
		if (*option == 1) {
			option++;
			continue;
		}
		if (end - option < 2 || option[1] < 2 || option[1] > end - option)
			return 0;
		if (*option == TCP_OPTION_MSS && option[1] == TCP_MSS_OPTION)
			return get_be16(option + 2);
		option += option[1];
	}
	return 0;
}

const char *tcp_frame_get(const uint8_t *frame, size_t n, struct tcp_segment *s)
{
	const uint8_t *ip = frame + ETH_HEADER, *tcp = ip + IP_HEADER;
	size_t total, head;

	if (n < ETH_HEADER + IP_HEADER + TCP_HEADER || get_be16(frame + 12) != ETHERTYPE_IPV4 ||
	    ip[0] != IP_VERSION_IHL || ip[9] != IP_PROTOCOL_TCP)
		return "no tcp over ipv4";
	total = get_be16(ip + 2);
	if (total > n - ETH_HEADER || total < IP_HEADER + TCP_HEADER)
		return "ip length";
	if (fold(sum(0, ip, IP_HEADER)))
		return "ip checksum";
	head = (size_t)(tcp[12] >> 4) * 4;
	if (head < TCP_HEADER || head > total - IP_HEADER)
		return "tcp header length";
	if (tcp_sum(ip, tcp, total - IP_HEADER))
		return "tcp checksum";
	*s = (struct tcp_segment){
		.from_ip = get_be32(ip + 12),
		.to_ip = get_be32(ip + 16),
		.ip_id = get_be16(ip + 4),
		.from_port = get_be16(tcp),
		.to_port = get_be16(tcp + 2),
		.seq = get_be32(tcp + 4),
		.ack = get_be32(tcp + 8),
		.flags = tcp[13],
		.window = get_be16(tcp + 14),
		.mss = mss_find(tcp + TCP_HEADER, tcp + head),
		.payload = tcp + head,
		.len = total - IP_HEADER - head,
	};
	return NULL;
}
