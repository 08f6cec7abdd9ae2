/** Short messages at the edge of the page, and messages for screen readers only. */
import { signal } from '@preact/signals';
import { Icon } from './icon.tsx';

interface Toast {
  readonly id: number;
  readonly tone: 'good' | 'bad';
  readonly text: string;
}

const TOASTS_MAX = 3;
const SHOWN_MS = 6_000;
/** Live pages change all the time, so screen readers get at most one message in this time. */
const ANNOUNCE_MS = 1_000;

const toasts = signal<readonly Toast[]>([]);
const announced = signal('');
let lastId = 0;
let timer: ReturnType<typeof setTimeout> | null = null;
let nextText = '';

export function toast(tone: Toast['tone'], text: string): void {
  lastId += 1;
  const id = lastId;
  toasts.value = [...toasts.value, { id, tone, text }].slice(-TOASTS_MAX);
  // A failure stays until it is dismissed.
  if (tone === 'good') setTimeout(() => dismiss(id), SHOWN_MS);
}

function dismiss(id: number): void {
  toasts.value = toasts.value.filter((one) => one.id !== id);
}

/** Tells screen readers. Of many messages the newest counts. */
export function announce(text: string): void {
  nextText = text;
  if (timer !== null) return;
  announced.value = text;
  timer = setTimeout(() => {
    timer = null;
    if (nextText !== announced.value) announce(nextText);
  }, ANNOUNCE_MS);
}

export function Toasts() {
  return (
    <>
      <div class="sr-only" role="status" aria-live="polite">
        {announced.value}
      </div>
      <div class="toasts" role="status" aria-live="polite">
        {toasts.value.map(({ id, tone, text }) => (
          <div key={id} class="card toast">
            <Icon
              name={tone === 'good' ? 'check' : 'warning'}
              className={`mt-0.5 ${tone === 'good' ? 'text-good' : 'text-bad'}`}
            />
            <p>{text}</p>
            <button
              type="button"
              class="ml-1 rounded p-0.5 text-dim hover:text-ink"
              aria-label="Dismiss"
              onClick={() => dismiss(id)}
            >
              <Icon name="cross" size={14} />
            </button>
          </div>
        ))}
      </div>
    </>
  );
}
