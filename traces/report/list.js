// The packets as a list. There may be any number of them, because only the rows in sight exist.

const ROW = 22;
const list = {first: -1, last: -1, shown: null, t0: -1, chosen: -2};

function listRow(k) {
	const i = view.shown[k], p = packets, kind = KINDS[kinds[i]];
	const row = element('div', {class: 'list'},
		element('span', {class: 'muted'}, ((p.t[i] - view.begin) / 1e6).toFixed(3)),
		element('span', null, p.hca[i] ? '\u2190' : '\u2192'),
		element('span', null, packetTitle(i)),
		element('span', null, hex(p.qp[i])),
		element('span', null, String(p.psn[i])),
		element('span', null, p.len[i] ? group(p.len[i]) : ''),
		element('span', {class: 'tag'}, p.flags[i] & FLAG.NAK ? texts[p.note[i]].replace(/ msn.*/, '') : packetWords(i)));

	row.style.color = kind.name === 'request' ? '' : `var(--${kind.name})`;
	row.dataset.packet = i;
	if (p.t[i] >= view.t0 && p.t[i] <= view.t1)
		row.classList.add('inside');
	if (i === view.chosen)
		row.classList.add('chosen');
	return row;
}

function listRows() {
	const box = $('list'), n = view.shown.length;
	const first = Math.max(0, Math.floor(box.scrollTop / ROW) - 4), last = Math.min(n, Math.ceil((box.scrollTop + box.clientHeight) / ROW) + 4);
	const rows = [];

	if (list.first === first && list.last === last && !list.dirty)
		return;
	list.first = first;
	list.last = last;
	list.dirty = false;
	for (let k = first; k < last; k++)
		rows.push(listRow(k));
	$('rows').style.transform = `translateY(${first * ROW}px)`;
	$('rows').replaceChildren(...rows);
}

// Follows the ladder: scrolls so that the ladder's first packet or the chosen one is in sight.
function listDraw() {
	const box = $('list');

	list.dirty = true;
	if (list.shown !== view.shown) {
		$('sizer').style.height = view.shown.length * ROW + 'px';
		list.t0 = -1;
	}
	if (list.chosen !== view.chosen && view.chosen >= 0) {
		const k = lowerBound((n) => view.shown[n], view.shown.length, view.chosen);

		if (k * ROW < box.scrollTop || (k + 1) * ROW > box.scrollTop + box.clientHeight)
			box.scrollTop = k * ROW - box.clientHeight / 2;
	} else if (list.t0 !== view.t0) {
		box.scrollTop = viewRange(view.t0, view.t1)[0] * ROW;
	}
	list.shown = view.shown;
	list.chosen = view.chosen;
	list.t0 = view.t0;
	listRows();
}

function listInit() {
	$('list').addEventListener('scroll', () => requestAnimationFrame(listRows), {passive: true});
	$('rows').addEventListener('click', (e) => {
		const row = e.target.closest('.list');

		if (row)
			viewChoose(Number(row.dataset.packet));
	});
	$('rows').addEventListener('pointermove', (e) => {
		const row = e.target.closest('.list');

		if (row)
			tipShow(e.clientX, e.clientY, packetTitle(Number(row.dataset.packet)), packetText(Number(row.dataset.packet)));
	});
	$('rows').addEventListener('pointerleave', tipHide);
	view.listeners.push(listDraw);
}
