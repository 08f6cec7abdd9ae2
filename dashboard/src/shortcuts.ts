/** Keyboard shortcuts: `g` and a letter opens a page, `/` goes to the search, `?` lists the shortcuts. */
import { signal } from '@preact/signals';
import { navigate } from './router.ts';
import { hrefInProject, scope } from './session.ts';

export const isHelpOpen = signal(false);

export const SHORTCUTS = [
  { keys: 'g o', page: '', label: 'Overview' },
  { keys: 'g s', page: 'schedules', label: 'Schedules' },
  { keys: 'g d', page: 'deliveries', label: 'Deliveries' },
  { keys: 'g e', page: 'endpoints', label: 'Endpoints' },
  { keys: 'g u', page: 'upcoming', label: 'Upcoming' },
  { keys: 'g a', page: 'alerts', label: 'Alerts' },
] as const;

/** The longest time between `g` and the letter. */
const SEQUENCE_MS_MAX = 1_200;

export function listenToKeys(): void {
  let wentAt = Number.NEGATIVE_INFINITY;
  document.addEventListener('keydown', (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || isTyping(event.target)) return;
    if (document.querySelector('dialog[open]') !== null || scope.peek() === null) return;
    const page = event.timeStamp - wentAt < SEQUENCE_MS_MAX ? pageFor(event.key) : undefined;
    wentAt = event.key === 'g' ? event.timeStamp : Number.NEGATIVE_INFINITY;
    if (page !== undefined) navigate(hrefInProject(page));
    else if (event.key === '?') isHelpOpen.value = true;
    else if (event.key !== '/' || !focusSearch()) return;
    event.preventDefault();
  });
}

function pageFor(key: string): string | undefined {
  return SHORTCUTS.find(({ keys }) => keys === `g ${key}`)?.page;
}

/** Focuses the search of the page. A page without one leads to the schedules. */
function focusSearch(): boolean {
  const search = document.querySelector<HTMLInputElement>('input[type="search"]');
  if (search === null) navigate(hrefInProject('schedules'));
  else search.focus();
  return true;
}

function isTyping(target: EventTarget | null): boolean {
  return (
    target instanceof Element &&
    target.closest('input:not([type="radio"]), textarea, select, [contenteditable]') !== null
  );
}
