'use strict';
// SPDX-License-Identifier: Apache-2.0
// What the page is made from: the run's data (traces/report.c), unpacked into columns; colours; functions that write numbers as text.

const $ = (id) => document.getElementById(id);

function jsonOf(text) {
	try {
		return JSON.parse(text);
	} catch {
		return null;
	}
}

// Makes columns of numbers from the packets. t is the absolute time in ps at which the last bit left.
function unpack(raw) {
	const p = raw.packets, n = p.count;
	const columns = {n, t: new Float64Array(n), arrives: new Float64Array(n)};
	let t = 0;

	for (let i = 0; i < n; i++) {
		t += p.t[i];
		columns.t[i] = t;
		columns.arrives[i] = p.d[i] < 0 ? -1 : t + p.d[i];
	}
	for (const key of ['op', 'qp', 'from', 'psn', 'len', 'wqe', 'note'])
		columns[key] = Uint32Array.from(p[key]);
	columns.hca = Uint8Array.from(p.hca);
	columns.flags = Uint16Array.from(p.flags);
	return columns;
}

const raw = JSON.parse($('data').textContent);
$('data').textContent = '';
const texts = raw.texts, FLAG = raw.flags, packets = unpack(raw);
raw.packets = null;
const run = jsonOf(raw.run) || {scenario: 'run', shows: '', phases: []};
const marks = raw.marks.map(([t, hca, kind, text]) => ({t, hca, kind, text: texts[text]}));
const points = raw.points.map(([word, meaning]) => ({word, meaning}));
const POINT = Object.fromEntries(points.map((p, i) => [p.word, i]));

// at[]: the absolute time of each point in ps, -1: it did not occur. stages[]: the duration of the stage that ends with each point.
const messages = raw.messages.map((m, number) => {
	const at = m.slice(9).map((d) => (d < 0 ? -1 : m[8] + d));
	const stages = new Float64Array(points.length);
	let last = -1;

	at.forEach((t, i) => {
		if (t < 0)
			return;
		if (last >= 0 && t > last)
			stages[i] = t - last;
		last = Math.max(last, t);
	});
	return {number, hca: m[0], qpn: m[1], index: m[2], op: texts[m[3]], bytes: m[4], packets: m[5], resent: m[6], failed: m[7] === 1,
		begin: m[8], end: last, at, stages, total: last - m[8]};
});
messages.sort((a, b) => a.begin - b.begin);
raw.messages = null;

// Each packet has one kind: the worst thing that can be said about it.
const KINDS = [
	{name: 'request', title: 'requests'},
	{name: 'response', title: 'ACKs, responses'},
	{name: 'management', title: 'management'},
	{name: 'resent', title: 'sent again', trouble: true},
	{name: 'nak', title: 'NAKs', trouble: true},
	{name: 'discarded', title: 'discarded', trouble: true},
	{name: 'lost', title: 'lost', trouble: true},
];
const FIRST_TROUBLE = KINDS.findIndex((k) => k.trouble);
const kinds = new Uint8Array(packets.n);
for (let i = 0; i < packets.n; i++) {
	const f = packets.flags[i];

	kinds[i] = f & FLAG.LOST ? 6 : f & FLAG.DISCARDED ? 5 : f & FLAG.NAK ? 4 : f & (FLAG.RESENT | FLAG.DUPLICATE) ? 3
		: f & FLAG.MANAGEMENT ? 2 : f & FLAG.RESPONSE ? 1 : 0;
}

function countKind(name) {
	const k = KINDS.findIndex((x) => x.name === name);

	return kinds.reduce((n, x) => n + (x === k), 0);
}

// --- text

const group = (n) => String(n).replace(/\B(?=(\d{3})+(?!\d))/g, '\u202f');
const hex = (n) => '0x' + n.toString(16);
const UNITS = [[1e12, 's'], [1e9, 'ms'], [1e6, '\u00b5s'], [1e3, 'ns'], [0, 'ps']];

// A duration, with a suitable unit.
function duration(ps) {
	const [scale, unit] = UNITS.find(([s]) => Math.abs(ps) >= s);
	const value = scale ? ps / scale : ps;

	return (scale && !Number.isInteger(value) ? value.toFixed(Math.abs(value) >= 100 ? 1 : 3) : value) + ' ' + unit;
}

// A point of time in us, as in the log.
function stamp(ps) {
	const us = Math.floor(ps / 1e6);

	return us + '.' + String(Math.round(ps - us * 1e6)).padStart(6, '0');
}

// A time since the beginning of the phase, with enough digits to tell steps of this length apart.
function since(ps, step) {
	const [scale, unit] = UNITS.find(([s]) => Math.abs(ps) >= s), digits = Math.max(0, Math.ceil(-Math.log10(step / (scale || 1)) - 1e-9));

	return Math.round(ps) ? '+' + (ps / (scale || 1)).toFixed(digits) + ' ' + unit : '0';
}

function rateText(gbps) {
	const [unit, factor] = gbps >= 1 || !gbps ? ['Gb/s', 1] : gbps >= 1e-3 ? ['Mb/s', 1e3] : ['kb/s', 1e6];

	return `${Number((gbps * factor).toPrecision(4))} ${unit}`;
}

function bytesText(n) {
	for (const [scale, unit] of [[1 << 30, 'GiB'], [1 << 20, 'MiB'], [1 << 10, 'KiB']])
		if (n >= 10 * scale)
			return (n / scale).toFixed(1) + ' ' + unit;
	return group(n) + ' B';
}

// --- colours, read again when the theme changes

let colours = {};
function readColours() {
	const style = getComputedStyle(document.documentElement);

	colours = {};
	for (const name of ['bg', 'card', 'ink', 'muted', 'line', 'faint', 'accent', 'a', 'b', ...KINDS.map((k) => k.name)])
		colours[name] = style.getPropertyValue('--' + name).trim();
}

// --- drawing

// Prepares a canvas: it gets the size in which it is shown, at the screen's resolution. Coordinates are CSS pixels.
function canvasBegin(canvas) {
	const ratio = window.devicePixelRatio || 1, w = canvas.clientWidth, h = canvas.clientHeight;

	if (canvas.width !== Math.round(w * ratio) || canvas.height !== Math.round(h * ratio)) {
		canvas.width = Math.round(w * ratio);
		canvas.height = Math.round(h * ratio);
	}
	const g = canvas.getContext('2d');
	g.setTransform(ratio, 0, 0, ratio, 0, 0);
	g.clearRect(0, 0, w, h);
	g.font = '12px system-ui, "Segoe UI", "DejaVu Sans", sans-serif';
	g.lineWidth = 1;
	return {g, w, h};
}

// The smallest step (1, 2 or 5 times a power of ten) that divides a length into at most `most` steps.
function niceStep(length, most) {
	const least = length / Math.max(1, most), power = 10 ** Math.floor(Math.log10(least));

	return [1, 2, 5, 10].map((m) => m * power).find((s) => s >= least) || least;
}

// The first index at which a sorted array is not below a value.
function lowerBound(get, n, value) {
	let low = 0, high = n;

	while (low < high) {
		const middle = (low + high) >> 1;

		if (get(middle) < value)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

function element(tag, attributes, ...children) {
	const e = document.createElement(tag);

	for (const [key, value] of Object.entries(attributes || {}))
		if (key === 'class')
			e.className = value;
		else if (key.startsWith('on'))
			e.addEventListener(key.slice(2), value);
		else
			e.setAttribute(key, value);
	e.append(...children);
	return e;
}

// --- the tooltip

function tipShow(x, y, title, text) {
	const tip = $('tip');

	tip.replaceChildren(element('b', null, title), '\n' + text);
	tip.hidden = false;
	tip.style.left = Math.max(4, Math.min(x + 16, innerWidth - tip.offsetWidth - 8)) + 'px';
	tip.style.top = Math.max(4, Math.min(y + 16, innerHeight - tip.offsetHeight - 8)) + 'px';
}

function tipHide() {
	$('tip').hidden = true;
}
