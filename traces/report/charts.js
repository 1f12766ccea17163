// Curves over the visible time: two series, hca0 and hca1.

const CHART = {left: 78, right: 96, top: 8, bottom: 22};

const BIN_MIN = 1e6; // ps: a packet counts at the one instant when it arrives, so a bin must be long enough for some packets

// values: two arrays with one number for each bin.
function chartDraw(canvas, values, unit, names, read) {
	const {g, w, h} = canvasBegin(canvas), width = w - CHART.left - CHART.right, height = h - CHART.top - CHART.bottom;
	const bins = values[0].length, most = Math.max(...values.map((v) => v.reduce((a, b) => Math.max(a, b), 0))) || 1;
	const step = Math.max(niceStep(most * 1.05, 4), unit ? 0 : 1), top = Math.ceil(most * 1.02 / step) * step;
	const x = (bin) => CHART.left + bin / bins * width, y = (v) => CHART.top + height - v / top * height;

	g.textBaseline = 'middle';
	for (let v = 0; v <= top + step / 2; v += step) {
		g.strokeStyle = v ? colours.faint : colours.line;
		g.beginPath();
		g.moveTo(CHART.left, Math.round(y(v)) + 0.5);
		g.lineTo(CHART.left + width, Math.round(y(v)) + 0.5);
		g.stroke();
		g.fillStyle = colours.muted;
		g.textAlign = 'right';
		g.fillText(+v.toPrecision(6) + (unit && ' ' + unit), CHART.left - 8, y(v));
	}
	const ticks = niceStep(view.t1 - view.t0, width / 120);
	g.textAlign = 'center';
	g.textBaseline = 'top';
	for (let t = Math.ceil((view.t0 - view.begin) / ticks) * ticks; t <= view.t1 - view.begin; t += ticks)
		g.fillText(since(t, ticks), CHART.left + (view.begin + t - view.t0) / (view.t1 - view.t0) * width, h - CHART.bottom + 6);
	values.forEach((v, side) => {
		const colour = colours[side ? 'b' : 'a'];

		g.beginPath();
		g.moveTo(x(0), y(0));
		v.forEach((value, bin) => {
			g.lineTo(x(bin), y(value));
			g.lineTo(x(bin + 1), y(value));
		});
		g.lineTo(x(bins), y(0));
		g.fillStyle = colour;
		g.globalAlpha = 0.12;
		g.fill();
		g.globalAlpha = 1;
		g.strokeStyle = colour;
		g.lineWidth = 1.5;
		g.stroke();
		g.lineWidth = 1;
		g.fillRect(CHART.left + width + 12, CHART.top + 8 + side * 20, 14, 3);
		g.fillStyle = colours.ink;
		g.textAlign = 'left';
		g.textBaseline = 'middle';
		g.fillText(names[side], CHART.left + width + 31, CHART.top + 10 + side * 20);
	});
	canvas.read = (at) => {
		const bin = Math.floor((at - CHART.left) / width * bins);

		return bin < 0 || bin >= bins ? null : {t: view.t0 + (bin + 0.5) / bins * (view.t1 - view.t0), text: names.map((n, s) => `${n}: ${read(values[s][bin])}`).join('\n')};
	};
}

function chartBins(canvas, least) {
	const most = Math.max(20, Math.floor((canvas.clientWidth - CHART.left - CHART.right) / 3));

	return least ? Math.max(8, Math.min(most, Math.floor((view.t1 - view.t0) / least))) : most;
}

function throughputDraw() {
	const canvas = $('throughput'), bins = chartBins(canvas, BIN_MIN), values = [new Float64Array(bins), new Float64Array(bins)];
	const [from, to] = viewRange(view.t0 - 1e7, view.t1), span = view.t1 - view.t0, bad = FLAG.LOST | FLAG.DISCARDED | FLAG.DUPLICATE;

	for (let k = from; k < to; k++) {
		const i = view.shown[k], bin = Math.floor((packets.arrives[i] - view.t0) / span * bins);

		if (!(packets.flags[i] & bad) && bin >= 0 && bin < bins)
			values[packets.hca[i]][bin] += packets.len[i] * 8e3 / (span / bins);
	}
	chartDraw(canvas, values, 'Gb/s', ['hca0 \u2192', '\u2190 hca1'], (v) => v.toFixed(3) + ' Gb/s');
}

// Computes how a depth changes, for each HCA: the sorted times of the changes, and the depth after each. Done once for each QP.
function depthMake(begins, ends) {
	return [0, 1].map((hca) => {
		const changes = [];

		for (const m of messages)
			if (m.hca === hca && (!view.qp || ofMessage(m)) && begins(m) >= 0 && ends(m) >= 0) {
				changes.push([begins(m), 1]);
				changes.push([ends(m), -1]);
			}
		changes.sort((a, b) => a[0] - b[0] || b[1] - a[1]);
		let depth = 0;
		return {times: changes.map((c) => c[0]), depths: changes.map((c) => (depth += c[1]))};
	});
}

function ofMessage(m) {
	return !view.qp || (m.hca === view.qp.hca && m.qpn === view.qp.qpn);
}

const depths = {qp: undefined};

function depthBins(series, bins) {
	const out = new Float64Array(bins), span = view.t1 - view.t0;
	let k = lowerBound((i) => series.times[i], series.times.length, view.t0), depth = k ? series.depths[k - 1] : 0;

	for (let bin = 0; bin < bins; bin++) {
		const end = view.t0 + (bin + 1) / bins * span;

		out[bin] = depth;
		for (; k < series.times.length && series.times[k] < end; k++) {
			depth = series.depths[k];
			out[bin] = Math.max(out[bin], depth);
		}
	}
	return out;
}

function depthsDraw() {
	const CQE = POINT.completion, POLLED = POINT.poll;
	const ended = (m) => (m.at[CQE] >= 0 ? m.at[CQE] : m.end);

	if (depths.qp !== view.qp) {
		depths.qp = view.qp;
		depths.way = depthMake((m) => m.begin, ended);
		depths.waiting = depthMake((m) => m.at[CQE], (m) => (m.at[POLLED] >= 0 ? Math.max(m.at[POLLED], m.at[CQE]) : -1));
	}
	for (const [id, series] of [['depth', depths.way], ['waiting', depths.waiting]]) {
		const canvas = $(id), bins = chartBins(canvas);

		chartDraw(canvas, series.map((s) => depthBins(s, bins)), '', ['hca0', 'hca1'], (v) => 'up to ' + v);
	}
}

function chartsInit() {
	for (const id of ['throughput', 'depth', 'waiting']) {
		const canvas = $(id);

		canvas.addEventListener('pointermove', (e) => {
			const hit = canvas.read && canvas.read(e.offsetX);

			if (hit)
				tipShow(e.clientX, e.clientY, stamp(hit.t) + ' \u00b5s', hit.text);
			else
				tipHide();
		});
		canvas.addEventListener('pointerleave', tipHide);
	}
	view.listeners.push(throughputDraw, depthsDraw);
}
