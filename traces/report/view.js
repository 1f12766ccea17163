// What the user looks at: a phase, a part of it, a QP, some kinds of packets. All functions that draw are in `listeners`.

const view = {
	begin: 0, end: 1,   // the phase, ps
	t0: 0, t1: 1,       // the visible part
	qp: null,           // {hca, qpn}
	kinds: KINDS.map(() => true),
	shown: new Uint32Array(0), // packets of the phase, QP and kinds, in the order of time
	chosen: -1,         // a packet
	listeners: [],
	pending: 0, drawMs: 0,
};

const SPAN_MIN = 1000; // ps

function viewChanged() {
	if (view.pending)
		return;
	view.pending = requestAnimationFrame(() => {
		const began = performance.now();

		view.pending = 0;
		for (const draw of view.listeners)
			draw();
		view.drawMs = performance.now() - began;
	});
}

function viewShow(t0, t1) {
	const span = Math.min(Math.max(t1 - t0, SPAN_MIN), view.end - view.begin);

	t0 = Math.min(Math.max(t0, view.begin), view.end - span);
	if (t0 === view.t0 && t0 + span === view.t1)
		return false;
	view.t0 = t0;
	view.t1 = t0 + span;
	viewChanged();
	return true;
}

// Zooms by a factor. The time `around` keeps its place on the screen.
function viewZoom(factor, around) {
	const middle = around === undefined ? (view.t0 + view.t1) / 2 : around;

	return viewShow(middle - (middle - view.t0) * factor, middle + (view.t1 - middle) * factor);
}

function viewMove(ps) {
	return viewShow(view.t0 + ps, view.t1 + ps);
}

function viewPhase(begin, end) {
	view.begin = begin;
	view.end = Math.max(end, begin + SPAN_MIN);
	view.t0 = view.t1 = -1;
	viewShow(view.begin, view.end);
	viewFilter();
}

function ofQp(i) {
	const q = view.qp, p = packets;

	return !q || (p.hca[i] === q.hca ? p.from[i] === q.qpn : p.qp[i] === q.qpn);
}

function viewFilter() {
	const shown = new Uint32Array(packets.n);
	let n = 0;

	for (let i = 0; i < packets.n; i++)
		if (packets.t[i] >= view.begin && packets.t[i] <= view.end && view.kinds[kinds[i]] && ofQp(i))
			shown[n++] = i;
	view.shown = shown.subarray(0, n);
	viewChanged();
}

// Positions in view.shown of the packets that left in [t0, t1).
function viewRange(t0, t1) {
	const get = (i) => packets.t[view.shown[i]];

	return [lowerBound(get, view.shown.length, t0), lowerBound(get, view.shown.length, t1)];
}

function viewChoose(i) {
	const span = view.t1 - view.t0, t = packets.t[i];

	view.chosen = i;
	if (t < view.t0 || t > view.t1)
		viewShow(t - span / 2, t + span / 2);
	viewChanged();
}

// Goes to the next packet in trouble after the chosen packet or before it. Without a chosen packet in the visible part, it starts
// at the beginning of that part, or at its end. Returns false when there is none.
function viewTrouble(forward) {
	const from = view.chosen >= 0 && packets.t[view.chosen] >= view.t0 && packets.t[view.chosen] <= view.t1
		? packets.t[view.chosen] : forward ? view.t0 : view.t1;
	let at = lowerBound((i) => packets.t[view.shown[i]], view.shown.length, from);

	for (at = forward ? at : at - 1; at >= 0 && at < view.shown.length; at += forward ? 1 : -1) {
		const i = view.shown[at];

		if (!KINDS[kinds[i]].trouble || i === view.chosen || packets.t[i] < view.begin || packets.t[i] > view.end)
			continue;
		if (forward ? packets.t[i] < from : packets.t[i] > from)
			continue;
		const span = Math.min(view.t1 - view.t0, 2e7);

		viewShow(packets.t[i] - span / 2, packets.t[i] + span / 2);
		viewChoose(i);
		return true;
	}
	return false;
}

// --- the overview: the density of packets over the phase, trouble in colour, the visible part highlighted

const overview = {picture: null, key: null};

function overviewPicture(w, h) {
	const key = [w, h, view.begin, view.end, colours.bg].join(), scale = w / (view.end - view.begin);

	if (overview.key === key && overview.shown === view.shown)
		return overview.picture;
	const columns = Math.ceil(w) + 1, counts = KINDS.map(() => new Uint32Array(columns)), sums = new Uint32Array(columns);

	for (const i of view.shown) {
		const x = Math.floor((packets.t[i] - view.begin) * scale);

		counts[kinds[i]][x]++;
		sums[x]++;
	}
	const most = sums.reduce((a, b) => Math.max(a, b), 1), picture = new OffscreenCanvas(columns, h), g = picture.getContext('2d');
	for (let x = 0; x < columns; x++) {
		const height = Math.max(4, Math.sqrt(sums[x] / most) * (h - 6));
		let y = h;

		for (let k = 0; k < KINDS.length; k++) {
			if (!counts[k][x])
				continue;
			const part = Math.max(KINDS[k].trouble ? 2 : 0.5, counts[k][x] / sums[x] * height);

			g.fillStyle = colours[KINDS[k].name];
			g.fillRect(x, y - part, 1, part);
			y -= part;
		}
	}
	return Object.assign(overview, {picture, key, shown: view.shown}).picture;
}

function overviewDraw() {
	const {g, w, h} = canvasBegin($('overview')), scale = w / (view.end - view.begin);

	g.drawImage(overviewPicture(w, h), 0, 0);
	const x0 = (view.t0 - view.begin) * scale, x1 = Math.max(x0 + 2, (view.t1 - view.begin) * scale);
	g.fillStyle = colours.accent;
	g.globalAlpha = 0.13;
	g.fillRect(x0, 0, x1 - x0, h);
	g.globalAlpha = 1;
	g.strokeStyle = colours.accent;
	g.strokeRect(Math.round(x0) + 0.5, 0.5, Math.max(1, Math.round(x1 - x0) - 1), h - 1);
}

function overviewInit() {
	const canvas = $('overview');
	const timeAt = (e) => view.begin + (view.end - view.begin) * (e.clientX - canvas.getBoundingClientRect().left) / canvas.clientWidth;
	let anchor = null;

	canvas.addEventListener('pointerdown', (e) => {
		anchor = timeAt(e);
		canvas.setPointerCapture(e.pointerId);
	});
	canvas.addEventListener('pointermove', (e) => {
		const t = timeAt(e);

		if (anchor !== null && Math.abs(t - anchor) * canvas.clientWidth / (view.end - view.begin) > 3)
			viewShow(Math.min(t, anchor), Math.max(t, anchor));
	});
	canvas.addEventListener('pointerup', (e) => {
		const t = timeAt(e), span = view.t1 - view.t0;

		if (anchor !== null && Math.abs(t - anchor) * canvas.clientWidth / (view.end - view.begin) <= 3)
			viewShow(t - span / 2, t + span / 2);
		anchor = null;
	});
	canvas.addEventListener('wheel', (e) => {
		e.preventDefault();
		viewZoom(e.deltaY > 0 ? 1.25 : 0.8, timeAt(e));
	}, {passive: false});
	view.listeners.push(overviewDraw);
}

function viewWords() {
	const [from, to] = viewRange(view.t0, view.t1 + 1);

	$('window').textContent = stamp(view.t0) + ' to ' + stamp(view.t1) + ' \u00b5s, ' + duration(view.t1 - view.t0);
	$('count').textContent = group(to - from) + ' of ' + group(packets.n) + ' packets';
}
