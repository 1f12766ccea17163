/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Static rates of an address path or address vector: R(code, speed of a lane, lanes). The code is
 * that of a PathRecord's Rate (IBA 15.2.5.16) and of enum ibv_rate. mlx4 uses the code plus
 * STATIC_RATE_OFFSET, and 0 for the port's own rate.
 */
#ifndef MODEL_INTERFACE_STATIC_RATES_H
#define MODEL_INTERFACE_STATIC_RATES_H

enum { STATIC_RATE_OFFSET = 5 };

/* clang-format off */
#define STATIC_RATES(R) \
	R( 2, SDR,  1) \
	R( 3, SDR,  4) \
	R( 4, SDR, 12) \
	R( 5, DDR,  1) \
	R( 6, DDR,  4) \
	R( 7, QDR,  4) \
	R( 8, DDR, 12) \
	R( 9, QDR,  8) \
	R(10, QDR, 12) \
	R(11, FDR,  1) \
	R(12, FDR,  4) \
	R(13, FDR,  8) \
	R(14, FDR, 12) \
	R(15, EDR,  1) \
	R(16, EDR,  4) \
	R(17, EDR,  8) \
	R(18, EDR, 12) \
	R(19, FDR,  2) \
	R(20, HDR,  1) \
	R(21, HDR,  8) \
	R(22, HDR, 12)
/* clang-format on */

#endif
