// The ladder, with time going down. Each packet is an arrow from the HCA and time where it left to those where it arrived.
// The number of pixels limits what is drawn, not the number of packets. A row of pixels has at most one arrow for each kind and
// direction. Where arrows would make a solid block, bars show instead how many packets left in each row of pixels. A bar begins
// at the side from which its packets left.

const FOLD = 38, FOLDS_MAX = 8, FOLDED_MAX = 200000;
const ladder = {left: 128, right: 44, top: 26, label: 15};

// Finds long times without a packet in the visible part. The longest comes first. Each must be at least 30 % of the time that
// the ones before it leave.
function ladderFolds() {
	const [from, to] = viewRange(view.t0, view.t1), gaps = [], folds = [];
	let last = view.t0, left = view.t1 - view.t0;

	if (!$('fold').checked || to - from > FOLDED_MAX)
		return folds;
	for (let k = from; k <= to; k++) {
		const i = k < to ? view.shown[k] : -1, t = i < 0 ? view.t1 : packets.t[i];

		if (t - last > left / 40)
			gaps.push([last, t]);
		if (i >= 0)
			last = Math.max(last, packets.arrives[i], t);
	}
	gaps.sort((a, b) => (b[1] - b[0]) - (a[1] - a[0]));
	for (const [a, b] of gaps) {
		if (b - a < left * 0.3 || left - (b - a) < SPAN_MIN || folds.length === FOLDS_MAX || from === to)
			break;
		left -= b - a;
		folds.push({a, b});
	}
	for (const f of folds) { // show a bit of the silence at both ends
		f.a += Math.min(left * 0.04, (f.b - f.a) / 4);
		f.b -= Math.min(left * 0.04, (f.b - f.a) / 4);
	}
	return folds.sort((x, y) => x.a - y.a);
}

// Divides the visible time into pieces and gives them their pixels. A fold is a piece of fixed height.
function ladderMap(h) {
	const folds = ladderFolds(), pieces = [];
	const time = view.t1 - view.t0 - folds.reduce((n, f) => n + f.b - f.a, 0), room = h - folds.length * FOLD;
	let t = view.t0, y = ladder.top;
	const piece = (end, height, fold) => {
		pieces.push({t0: t, t1: end, y0: y, y1: y + height, fold});
		t = end;
		y += height;
	};

	for (const f of folds) {
		piece(f.a, (f.a - t) / time * room, false);
		piece(f.b, FOLD, true);
	}
	piece(view.t1, (view.t1 - t) / time * room, false);
	return {pieces, perPixel: time / room};
}

function ladderFrame() {
	const canvas = $('ladder'), {pieces, perPixel} = ladderMap(canvas.clientHeight - ladder.top), last = pieces[pieces.length - 1];
	const plain = (t) => last.y0 + (t - last.t0) / perPixel, y = pieces.length === 1 ? plain : (t) => {
		const p = t < pieces[0].t1 ? pieces[0] : pieces.find((x) => t <= x.t1) || last;

		return p.t1 > p.t0 ? p.y0 + (t - p.t0) / (p.t1 - p.t0) * (p.y1 - p.y0) : p.y0;
	};
	const t = (at) => {
		const p = pieces.find((x) => at < x.y1) || last;

		return p.y1 > p.y0 ? p.t0 + (at - p.y0) / (p.y1 - p.y0) * (p.t1 - p.t0) : p.t0;
	};

	return {x: [ladder.left, canvas.clientWidth - ladder.right], y, t, pieces, perPixel};
}

const MARKS = [{title: 'fault plan', colour: 'lost'}, {title: 'retry', colour: 'resent'}, {title: 'broken rule', colour: 'nak'}, {title: 'discarded', colour: 'discarded'}];

function packetTitle(i) {
	return texts[packets.op[i]];
}

function packetWords(i, why) {
	const words = [], f = packets.flags[i];

	for (const [flag, text] of [['LOST', 'lost'], ['DISCARDED', 'discarded'], ['RESENT', 'sent again'], ['DUPLICATE', 'duplicate'], ['INJECTED', 'injected'],
		...(why ? [['FAULT', 'by the fault plan']] : [])])
		if (f & FLAG[flag])
			words.push(text);
	return words.join(', ');
}

function packetText(i) {
	const p = packets, from = p.hca[i], words = packetWords(i, true), note = texts[p.note[i]];
	const lines = [
		`hca${from} QP ${hex(p.from[i])} \u2192 hca${1 - from} QP ${hex(p.qp[i])}`,
		`PSN ${p.psn[i]}` + (p.len[i] ? `, ${group(p.len[i])} bytes of payload` : '') +
			(p.flags[i] & FLAG.RESPONSE ? '' : `, WQE ${p.wqe[i]}`),
		`left ${stamp(p.t[i])} \u00b5s` + (p.arrives[i] < 0 ? '' : `, arrived ${duration(p.arrives[i] - p.t[i])} later`),
	];

	if (note)
		lines.push(note);
	if (words)
		lines.push(words);
	return lines.join('\n');
}

function ladderTicks(g, frame, piece, h) {
	const step = niceStep(frame.perPixel * 56, 1), first = Math.ceil((piece.t0 - view.begin) / step) * step;

	for (let t = first; t <= piece.t1 - view.begin; t += step) {
		const y = Math.round(frame.y(view.begin + t)) + 0.5;

		g.strokeStyle = colours.faint;
		g.beginPath();
		g.moveTo(ladder.left - 34, y);
		g.lineTo(frame.x[1], y);
		g.stroke();
		g.fillStyle = colours.muted;
		if (y > ladder.top + 4 && y < h - 4)
			g.fillText(since(t, step), ladder.left - 40, y);
	}
}

// Draws time that is left out as a torn strip, with its length.
function ladderFold(g, frame, piece) {
	const y = (piece.y0 + piece.y1) / 2;

	g.fillStyle = colours.bg;
	g.fillRect(ladder.left - 34, piece.y0, frame.x[1] - ladder.left + 68, FOLD);
	g.strokeStyle = colours.line;
	for (const edge of [piece.y0, piece.y1]) {
		g.beginPath();
		for (let x = ladder.left - 34; x <= frame.x[1] + 34; x += 6)
			g.lineTo(x, edge + ((x - ladder.left + 34) % 12 ? 2.5 : -2.5));
		g.stroke();
	}
	g.fillStyle = colours.muted;
	g.textAlign = 'center';
	g.fillText(duration(Math.round(piece.t1 - piece.t0)) + ' without a packet', (frame.x[0] + frame.x[1]) / 2, y);
	g.textAlign = 'right';
}

function ladderAxis(g, frame, w, h) {
	g.textAlign = 'right';
	g.textBaseline = 'middle';
	for (const piece of frame.pieces)
		if (piece.fold)
			ladderFold(g, frame, piece);
		else
			ladderTicks(g, frame, piece, h);
	g.strokeStyle = colours.muted;
	g.fillStyle = colours.ink;
	g.font = '600 ' + g.font;
	g.textBaseline = 'top';
	for (const side of [0, 1]) {
		g.beginPath();
		for (const piece of frame.pieces)
			if (!piece.fold) {
				g.moveTo(frame.x[side] + 0.5, piece.y0);
				g.lineTo(frame.x[side] + 0.5, piece.y1);
			}
		g.stroke();
		g.textAlign = side ? 'right' : 'left';
		g.fillText('hca' + side, frame.x[side] + (side ? 14 : -14), 5);
	}
	g.font = g.font.replace('600 ', '');
}

// The arrow of a lost packet ends in the middle, with a cross.
function ladderArrow(path, frame, i) {
	const p = packets, side = p.hca[i], lost = p.arrives[i] < 0;
	const x0 = frame.x[side], y0 = frame.y(p.t[i]);
	const x1 = lost ? (frame.x[0] + frame.x[1]) / 2 : frame.x[1 - side], y1 = lost ? y0 + 2 : frame.y(p.arrives[i]);
	const toward = side ? 1 : -1;

	path.moveTo(x0, y0);
	path.lineTo(x1, y1);
	if (lost) {
		path.moveTo(x1 - 4, y1 - 4);
		path.lineTo(x1 + 4, y1 + 4);
		path.moveTo(x1 - 4, y1 + 4);
		path.lineTo(x1 + 4, y1 - 4);
	} else {
		path.moveTo(x1 + toward * 7, y1 - 3.5);
		path.lineTo(x1, y1);
		path.lineTo(x1 + toward * 7, y1 + 3.5);
	}
}

function ladderLabel(i) {
	const p = packets, note = texts[p.note[i]];
	let text = `${packetTitle(i)}  psn ${p.psn[i]}`;

	if (p.len[i])
		text += `  ${p.len[i]} B`;
	if (p.flags[i] & FLAG.RESPONSE && note)
		text += '  ' + note;
	if (p.flags[i] & (FLAG.RESENT | FLAG.LOST | FLAG.DISCARDED | FLAG.DUPLICATE | FLAG.INJECTED))
		text += '  (' + packetWords(i) + ')';
	return text;
}

// Writes labels where there is room, first for packets in trouble. `reach` has for each row of pixels how far the texts of each
// side reach into it.
function ladderLabels(g, frame, from, to, h) {
	const dense = to - from > h / 3; // texts for all would hide the arrows
	const reach = [new Float32Array(h + 40), new Float32Array(h + 40)], room = frame.x[1] - frame.x[0] - 40;

	g.textBaseline = 'bottom';
	for (const trouble of [true, false])
		for (let k = from; k < to; k++) {
			const i = view.shown[k], row = Math.floor(frame.y(packets.t[i])), side = packets.hca[i];

			if (!!KINDS[kinds[i]].trouble !== trouble || (!trouble && dense) || row < ladder.top + 12 || row >= h || reach[side][row] || reach[side][row - 12])
				continue;
			const text = ladderLabel(i), width = g.measureText(text).width, x = side ? frame.x[1] - 10 : frame.x[0] + 10;

			if (width + Math.max(reach[1 - side][row], reach[1 - side][row - 12]) > room)
				continue;
			reach[side].fill(width, row - 12, row + 1);
			g.fillStyle = colours.card;
			g.globalAlpha = 0.75;
			g.fillRect(side ? x - width - 3 : x - 3, row - 13, width + 6, 12);
			g.globalAlpha = 1;
			g.textAlign = side ? 'right' : 'left';
			g.fillStyle = colours[KINDS[kinds[i]].name];
			g.fillText(text, x, row - 1);
		}
}

// For many packets: draws a bar for each row of pixels and side, stacked by kind. Returns whether the packets in trouble are few
// enough to be drawn as arrows too.
function ladderBars(g, frame, from, to, h) {
	const rows = Math.ceil(h) + 1, counts = KINDS.map(() => [new Uint32Array(rows), new Uint32Array(rows)]), sums = [new Uint32Array(rows), new Uint32Array(rows)];
	const drawn = [new Uint32Array(rows), new Uint32Array(rows)];
	let most = 1, troubles = 0;

	for (let k = from; k < to; k++) {
		const i = view.shown[k], row = Math.min(rows - 1, Math.max(0, Math.floor(frame.y(packets.t[i]))));

		counts[kinds[i]][packets.hca[i]][row]++;
		most = Math.max(most, ++sums[packets.hca[i]][row]);
		troubles += kinds[i] >= FIRST_TROUBLE;
	}
	const scale = ((frame.x[1] - frame.x[0]) / 2 - 12) / most;
	KINDS.forEach((kind, k) => {
		g.fillStyle = colours[kind.name];
		for (const side of [0, 1])
			for (let row = ladder.top; row < rows; row++) {
				const n = counts[k][side][row], before = drawn[side][row];

				if (!n)
					continue;
				g.fillRect(side ? frame.x[1] - (before + n) * scale : frame.x[0] + before * scale, row, n * scale, 1);
				drawn[side][row] += n;
			}
	});
	return troubles < h / 6;
}

function ladderMarks(g, frame) {
	for (const m of marks) {
		if (m.t < view.t0 || m.t > view.t1)
			continue;
		const x = frame.x[m.hca] + (m.hca ? 14 : -14), y = frame.y(m.t);

		g.fillStyle = colours[MARKS[m.kind].colour];
		g.beginPath();
		g.moveTo(x, y - 5);
		g.lineTo(x + 5, y);
		g.lineTo(x, y + 5);
		g.lineTo(x - 5, y);
		g.fill();
	}
}

function ladderDraw() {
	const {g, w, h} = canvasBegin($('ladder')), frame = ladderFrame();
	const paths = KINDS.map(() => new Path2D()), drawn = KINDS.map(() => 0), last = new Int32Array(2 * KINDS.length).fill(-1);
	const margin = Math.min(view.t1 - view.t0, 1e7), [from, to] = viewRange(view.t0 - margin, view.t1);
	let labelled = from, rows = 0, lastRow = -1;

	ladderAxis(g, frame, w, h);
	g.save();
	g.beginPath();
	g.rect(0, ladder.top, w, h - ladder.top);
	g.clip();
	const bars = to - from > h / 1.5, arrows = bars ? ladderBars(g, frame, from, to, h) : true;
	for (let k = from; k < to; k++) {
		const i = view.shown[k];

		if (bars && !(arrows && KINDS[kinds[i]].trouble))
			continue;
		const row = Math.floor(frame.y(packets.t[i]) * 2), slot = 2 * kinds[i] + packets.hca[i];

		if (last[slot] === row)
			continue;
		last[slot] = row;
		ladderArrow(paths[kinds[i]], frame, i);
		drawn[kinds[i]]++;
		rows += row !== lastRow;
		lastRow = row;
		if (packets.t[i] < view.t0)
			labelled = k + 1;
	}
	// the more arrows there are, the more transparent they are, so that all stay visible
	const alpha = 1.6 * rows / drawn.reduce((a, b) => a + b, 1);
	KINDS.forEach((kind, k) => {
		g.strokeStyle = colours[kind.name];
		g.globalAlpha = Math.min(0.95, Math.max(0.14, kind.trouble ? 1.5 * alpha : alpha));
		g.lineWidth = kind.trouble && drawn[k] < h / 4 ? 1.7 : 1.1;
		g.stroke(paths[k]);
	});
	g.globalAlpha = 1;
	g.lineWidth = 1;
	if (view.chosen >= 0 && packets.t[view.chosen] >= view.t0 && packets.t[view.chosen] <= view.t1) {
		const path = new Path2D();

		ladderArrow(path, frame, view.chosen);
		g.strokeStyle = colours[KINDS[kinds[view.chosen]].name];
		g.lineWidth = 3;
		g.stroke(path);
	}
	g.lineWidth = 1;
	if (arrows)
		ladderLabels(g, frame, labelled, to, Math.ceil(h));
	ladderMarks(g, frame);
	g.restore();
}

// Returns the packet or mark nearest to a place of the canvas; null when none is near.
function ladderAt(x, y) {
	const frame = ladderFrame(), [from, to] = viewRange(frame.t(y - 9) - 2e6, frame.t(y + 9));
	let best = null, distance = 8;

	for (const m of marks)
		if (Math.abs(x - (frame.x[m.hca] + (m.hca ? 14 : -14))) < 7 && Math.abs(frame.y(m.t) - y) < 7)
			return {mark: m};
	for (let k = from; k < to && k < from + 20000; k++) {
		const i = view.shown[k], p = packets, side = p.hca[i];
		const part = (x - frame.x[side]) / (frame.x[1 - side] - frame.x[side]);
		const at = frame.y(p.t[i]) + (p.arrives[i] < 0 ? 0 : part * (frame.y(p.arrives[i]) - frame.y(p.t[i])));

		if (part < -0.02 || part > (p.arrives[i] < 0 ? 0.53 : 1.02))
			continue;
		if (Math.abs(at - y) < distance) {
			distance = Math.abs(at - y);
			best = {packet: i};
		}
	}
	return best;
}

function ladderKeys(e) {
	const span = view.t1 - view.t0;
	const actions = {
		ArrowDown: () => viewMove(span / 10), ArrowUp: () => viewMove(-span / 10), PageDown: () => viewMove(span * 0.9),
		PageUp: () => viewMove(-span * 0.9), '+': () => viewZoom(0.5), '-': () => viewZoom(2), 0: () => viewShow(view.begin, view.end),
		n: () => viewTrouble(true), p: () => viewTrouble(false),
	};

	if (!actions[e.key] || e.ctrlKey || e.metaKey)
		return;
	e.preventDefault();
	actions[e.key]();
}

function ladderInit() {
	const canvas = $('ladder');
	let drag = null;

	canvas.addEventListener('wheel', (e) => {
		const moved = e.ctrlKey ? viewZoom(e.deltaY > 0 ? 1.25 : 0.8, ladderFrame().t(e.offsetY))
			: viewMove(e.deltaY * (e.deltaMode ? 16 : 1) * ladderFrame().perPixel);

		if (moved || e.ctrlKey) // at the end of the phase the page scrolls instead
			e.preventDefault();
	}, {passive: false});
	canvas.addEventListener('pointerdown', (e) => {
		drag = {y: e.offsetY, t0: view.t0, perPixel: ladderFrame().perPixel, moved: false};
		canvas.setPointerCapture(e.pointerId);
	});
	canvas.addEventListener('pointermove', (e) => {
		if (drag) {
			const by = (drag.y - e.offsetY) * drag.perPixel;

			drag.moved = drag.moved || Math.abs(drag.y - e.offsetY) > 3;
			canvas.classList.toggle('dragged', drag.moved);
			if (drag.moved)
				viewShow(drag.t0 + by, drag.t0 + by + view.t1 - view.t0);
			return;
		}
		const hit = ladderAt(e.offsetX, e.offsetY);

		if (!hit)
			tipHide();
		else if (hit.mark)
			tipShow(e.clientX, e.clientY, MARKS[hit.mark.kind].title, `hca${hit.mark.hca}, ${stamp(hit.mark.t)} \u00b5s\n` + hit.mark.text);
		else
			tipShow(e.clientX, e.clientY, packetTitle(hit.packet), packetText(hit.packet));
	});
	canvas.addEventListener('pointerup', (e) => {
		const hit = drag && !drag.moved && ladderAt(e.offsetX, e.offsetY);

		if (hit && hit.packet !== undefined)
			viewChoose(hit.packet);
		drag = null;
		canvas.classList.remove('dragged');
	});
	canvas.addEventListener('pointerleave', tipHide);
	canvas.addEventListener('dblclick', (e) => viewZoom(0.4, ladderFrame().t(e.offsetY)));
	canvas.addEventListener('keydown', ladderKeys);
	$('fold').addEventListener('change', viewChanged);
	view.listeners.push(ladderDraw);
}
