/** The search over sections, operations, webhooks, fields and error codes. Its index is read from the page at the first use. */
import { element } from './dom.ts';
import { reveal } from './places.ts';
import { correctQuery, type Entry, findEntries } from './search-index.ts';

export function startSearch(): void {
  const input = document.getElementById('search');
  const results = document.getElementById('results');
  const status = results?.querySelector('p');
  const list = results?.querySelector('ul');
  if (!(input instanceof HTMLInputElement) || !results || !status || !list) return;
  let entries: readonly Entry[] | null = null;

  const close = () => {
    results.hidden = true;
  };
  const show = () => {
    const query = input.value.trim();
    if (query === '') return close();
    entries ??= readEntries();
    let found = findEntries(entries, query);
    let corrected: string | null = null;
    if (found.length === 0) {
      corrected = correctQuery(entries, query);
      found = findEntries(entries, corrected ?? '');
    }
    status.textContent = countText(found.length, query, corrected);
    list.replaceChildren(...found.map(resultOf));
    results.hidden = false;
  };

  input.addEventListener('input', show);
  input.addEventListener('focus', show);
  input.addEventListener('keydown', (event) => {
    if (event.key === 'Enter') list.querySelector('a')?.click();
  });
  results.addEventListener('click', (event) => {
    const link = event.target instanceof Element ? event.target.closest('a') : null;
    if (link === null) return;
    close();
    input.value = '';
    // After the browser has followed the link, the reader goes on from there, also by keyboard.
    setTimeout(() => focusPlace(link.hash.slice(1)));
  });
  input.parentElement?.addEventListener('keydown', (event) => {
    if (event.key === 'Escape') {
      close();
      input.focus();
      close();
    }
    if (event.key === 'ArrowDown' || event.key === 'ArrowUp') moveFocus(event, input, list);
  });
  document.addEventListener('keydown', (event) => {
    if (event.key !== '/' || event.ctrlKey || event.metaKey || event.altKey || isTyping(event.target)) return;
    event.preventDefault();
    input.focus();
  });
  document.addEventListener('focusin', (event) => {
    if (event.target instanceof Node && !input.parentElement?.contains(event.target)) close();
  });
  document.addEventListener('pointerdown', (event) => {
    if (event.target instanceof Node && !input.parentElement?.contains(event.target)) close();
  });
}

function focusPlace(id: string): void {
  const place = document.getElementById(id);
  if (place === null) return;
  reveal(place);
  const link = place.querySelector('a');
  // The title of a section has no link.
  if (link === null) place.tabIndex = -1;
  (link ?? place).focus({ preventScroll: true });
}

/** `corrected` is the query that was used, if nothing has the query of the reader. */
function countText(count: number, query: string, corrected: string | null): string {
  const nothing = `Nothing has “${query}” in its name or text.`;
  if (count === 0) return nothing;
  const results = count === 1 ? '1 result' : `${count} results`;
  return corrected === null ? results : `${nothing} ${results} for “${corrected}”:`;
}

function resultOf({ kind, id, name, context }: Entry): HTMLLIElement {
  const link = element(
    'a',
    { href: `#${id}` },
    element('strong', {}, name),
    ' ',
    element('span', {}, context === '' ? kind : `${kind}, ${context}`),
  );
  return element('li', {}, link);
}

function moveFocus(event: KeyboardEvent, input: HTMLInputElement, list: HTMLUListElement): void {
  const stops: readonly (Element | null)[] = [input, ...list.querySelectorAll('a')];
  const at = stops.indexOf(document.activeElement);
  const next = stops[at + (event.key === 'ArrowDown' ? 1 : -1)];
  if (!(next instanceof HTMLElement)) return;
  event.preventDefault();
  next.focus();
}

function isTyping(target: EventTarget | null): boolean {
  return target instanceof Element && target.closest('input, textarea, select, [contenteditable]') !== null;
}

function readEntries(): readonly Entry[] {
  const sections = [...document.querySelectorAll<HTMLElement>('section.operation[id]')];
  const errors = [...document.querySelectorAll<HTMLElement>('#errors li[id]')];
  const titles = [...document.querySelectorAll<HTMLElement>('h2.tag[id]')];
  return [
    ...titles.map(entryOfTitle),
    ...sections.flatMap(entriesOfSection),
    ...errors.map((item) => entryOf(item, 'Error', 'all operations', false)),
  ];
}

/** The words of the section are found in its operations, which follow it. */
function entryOfTitle(title: HTMLElement): Entry {
  return { kind: 'Section', id: title.id, name: textOf(title), context: '', text: '', isRepeated: false };
}

function entriesOfSection(section: HTMLElement): readonly Entry[] {
  const title = textOf(section.querySelector('h2, h3'));
  const call = textOf(section.querySelector('.call'));
  const about = [...section.querySelectorAll('.about > p:not(.call)')].map(textOf).join(' ');
  const fields = [...section.querySelectorAll<HTMLElement>('.fields li[id]')];
  return [
    {
      kind: kindOf(section),
      id: section.id,
      name: title,
      context: call,
      text: `${section.id} ${about}`,
      isRepeated: false,
    },
    ...fields.map((item) => {
      if (item.id.startsWith(`${section.id}-error-`)) return entryOf(item, 'Error', title, true);
      const isAnswer = item.id.startsWith(`${section.id}-answer-`);
      return entryOf(item, 'Field', isAnswer ? `${title}, answer` : title, isAnswer);
    }),
  ];
}

/** Only an operation can be called. The section that has no method at all is prose. */
function kindOf(section: HTMLElement): Entry['kind'] {
  if (section.dataset.method !== undefined) return 'Operation';
  return section.querySelector('.call') === null ? 'Section' : 'Webhook';
}

function entryOf(item: HTMLElement, kind: Entry['kind'], context: string, isRepeated: boolean): Entry {
  return {
    kind,
    id: item.id,
    name: nameOf(item),
    context,
    text: textOf(item.querySelector('p')),
    isRepeated,
  };
}

/** A nested field has the names of its objects before its own. */
function nameOf(item: HTMLElement): string {
  const name = textOf(item.querySelector('.name code'));
  const outer = item.parentElement?.closest<HTMLElement>('.fields > li');
  return outer ? `${nameOf(outer)}.${name}` : name;
}

function textOf(node: Element | null): string {
  return node?.textContent?.trim() ?? '';
}
