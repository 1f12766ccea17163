/* SPDX-License-Identifier: Apache-2.0 */
/*
 * For vs_ns3_ratio of `make bench`: ns-3 sends PACKETS UDP packets of 4096 bytes over one
 * point-to-point link, as fast as the link takes them. As usual in ns-3, the payload is only a
 * length, and checksums are off.
 *
 *     udp_link PACKETS
 *
 * Fails when a packet was lost.
 */
#include <ns3/applications-module.h>
#include <ns3/core-module.h>
#include <ns3/internet-module.h>
#include <ns3/network-module.h>
#include <ns3/point-to-point-module.h>

#include <cstdlib>
#include <iostream>

namespace
{
constexpr uint16_t port = 9;
constexpr uint32_t payload = 4096, mtu = 9000;
const ns3::DataRate rate("54Gbps");                                     // an FDR link's data
const ns3::Time interval = rate.CalculateBytesTxTime(payload + 28 + 2); // IPv4, UDP and PPP headers
const ns3::Time start = ns3::MicroSeconds(1);

ns3::NetDeviceContainer link_make(const ns3::NodeContainer &nodes)
{
	ns3::PointToPointHelper link;
	ns3::NetDeviceContainer devices;

	link.SetDeviceAttribute("DataRate", ns3::DataRateValue(rate));
	link.SetDeviceAttribute("Mtu", ns3::UintegerValue(mtu));
	link.SetChannelAttribute("Delay", ns3::StringValue("10ns"));
	devices = link.Install(nodes);
	return devices;
}
} // namespace

int main(int argc, char **argv)
{
	const uint32_t packets = argc > 1 ? uint32_t(std::strtoul(argv[1], nullptr, 0)) : 1000;
	ns3::NodeContainer nodes(2);
	ns3::NetDeviceContainer devices;
	ns3::Ipv4AddressHelper addresses("10.0.0.0", "255.255.255.0");
	uint64_t received;

	ns3::Time::SetResolution(ns3::Time::PS);
	devices = link_make(nodes);
	ns3::InternetStackHelper().Install(nodes);
	ns3::Ipv4InterfaceContainer interfaces = addresses.Assign(devices);

	ns3::UdpServerHelper server(port);
	ns3::UdpClientHelper client(interfaces.GetAddress(1), port);
	client.SetAttribute("MaxPackets", ns3::UintegerValue(packets));
	client.SetAttribute("Interval", ns3::TimeValue(interval));
	client.SetAttribute("PacketSize", ns3::UintegerValue(payload));
	server.Install(nodes.Get(1));
	client.Install(nodes.Get(0)).Start(start);

	ns3::Simulator::Stop(start + interval * int64_t(packets + 10) + ns3::MilliSeconds(1));
	ns3::Simulator::Run();
	received = server.GetServer()->GetReceived();
	ns3::Simulator::Destroy();
	if (received != packets)
		std::cerr << "ns-3 received " << received << " of " << packets << " packets\n";
	return received == packets ? 0 : 1;
}
