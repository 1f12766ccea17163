// Latency by stage: a stacked bar for each message, and the means of all messages with the same opcode and size.

const PAGE = 25, MEANS_MAX = 16;
const stages = {page: 0, chosen: []};

function stageBar(parts, total, most, label, text, attributes) {
	const track = element('div', {class: 'track'});

	parts.forEach((ps, i) => {
		if (ps <= 0)
			return;
		const part = element('i', {'data-stage': i});

		part.style.background = `var(--s-${points[i].word})`;
		part.style.width = ps / most * 100 + '%';
		part.dataset.tip = `${duration(ps)}, ${(ps / total * 100).toFixed(1)} % of ${duration(total)}`;
		track.append(part);
	});
	return element('div', {class: 'bar', ...attributes}, element('span', null, label), track, element('span', {class: 'num'}, text));
}

function kindOf(m) {
	return m.op.startsWith('atomic') ? m.op : `${m.op} ${bytesText(m.bytes)}`;
}

const SIZES = [[64, 'to 64 B'], [256, 'to 256 B'], [1 << 12, 'to 4 KiB'], [1 << 16, 'to 64 KiB'], [1 << 20, 'to 1 MiB'], [Infinity, 'above 1 MiB']];

// For when there are many sizes: the opcode and a class of sizes.
function classOf(m) {
	return m.op.startsWith('atomic') ? m.op : `${m.op} ${SIZES.find(([most]) => m.bytes <= most)[1]}`;
}

function messageLabel(m) {
	return `hca${m.hca} ${hex(m.qpn)} wqe ${m.index}  ${kindOf(m)}` + (m.resent ? `  (${m.resent} sent again)` : '') + (m.failed ? '  (error)' : '');
}

function stagesMeans() {
	const groups = new Map(), percent = $('percent').checked, of = new Set(stages.chosen.map(kindOf)).size > MEANS_MAX ? classOf : kindOf;

	for (const m of stages.chosen) {
		const key = of(m);
		let g = groups.get(key);

		if (!g)
			groups.set(key, g = {key, n: 0, sums: new Float64Array(points.length), total: 0});
		g.n++;
		g.total += m.total;
		m.stages.forEach((ps, i) => (g.sums[i] += ps));
	}
	const top = [...groups.values()].sort((a, b) => b.n - a.n || b.total - a.total).slice(0, MEANS_MAX);
	const most = Math.max(1, ...top.map((g) => g.total / g.n));

	$('means').replaceChildren(...top.map((g) => stageBar(g.sums.map((s) => s / g.n), g.total / g.n, percent ? g.total / g.n : most,
		`${group(g.n)} \u00d7 ${g.key}`, duration(g.total / g.n))));
	if (groups.size > top.length)
		$('means').append(element('span', {class: 'muted'}, `and ${groups.size - top.length} more kinds`));
}

function stagesPage() {
	const percent = $('percent').checked, count = Math.max(1, Math.ceil(stages.chosen.length / PAGE));

	stages.page = Math.min(stages.page, count - 1);
	const shown = stages.chosen.slice(stages.page * PAGE, (stages.page + 1) * PAGE), most = Math.max(1, ...shown.map((m) => m.total));
	$('bars').replaceChildren(...shown.map((m) => stageBar(m.stages, m.total, percent ? m.total : most, messageLabel(m), duration(m.total),
		{class: 'bar message', 'data-message': m.number})));
	const go = (by) => element('button', {type: 'button', onclick: () => { stages.page += by; stagesPage(); }, ...((by < 0 ? !stages.page : stages.page + 1 >= count) ? {disabled: ''} : {})}, by < 0 ? '\u2190' : '\u2192');
	$('pages').replaceChildren(go(-1), element('span', {class: 'muted num'}, `${stages.chosen.length ? stages.page * PAGE + 1 : 0} to ${stages.page * PAGE + shown.length} of ${group(stages.chosen.length)} messages`), go(1));
}

function stagesDraw() {
	const order = $('order').value, key = [view.t0, view.t1, order, view.qp && view.qp.text].join();

	if (stages.key !== key) {
		stages.key = key;
		stages.page = 0;
		stages.chosen = messages.filter((m) => m.begin <= view.t1 && m.end >= view.t0 && m.begin >= view.begin && m.end <= view.end + 1 && ofMessage(m));
		if (order === 'long')
			stages.chosen.sort((a, b) => b.total - a.total);
		else if (order === 'bytes')
			stages.chosen.sort((a, b) => b.bytes - a.bytes);
	}
	clearTimeout(stages.timer); // do not draw at every step of a movement
	stages.timer = setTimeout(() => {
		stagesMeans();
		stagesPage();
	}, 60);
}

function stagesInit() {
	$('legend').append(...points.slice(1).map((p) => {
		const swatch = element('i', {class: 'swatch square'});

		swatch.style.background = `var(--s-${p.word})`;
		return element('span', {title: p.meaning}, swatch, p.word.replace('_', ' '));
	}));
	for (const id of ['order', 'percent'])
		$(id).addEventListener('change', () => { stages.key = null; viewChanged(); });
	for (const id of ['bars', 'means']) {
		$(id).addEventListener('pointermove', (e) => {
			const part = e.target.closest('[data-stage]');

			if (part)
				tipShow(e.clientX, e.clientY, points[part.dataset.stage].word.replace('_', ' '), points[part.dataset.stage].meaning + '\n' + part.dataset.tip);
			else
				tipHide();
		});
		$(id).addEventListener('pointerleave', tipHide);
	}
	$('bars').addEventListener('click', (e) => {
		const bar = e.target.closest('[data-message]'), m = bar && messages.find((x) => x.number === Number(bar.dataset.message));

		if (m)
			viewShow(m.begin - m.total * 0.05, m.end + m.total * 0.05);
	});
	view.listeners.push(stagesDraw);
}
