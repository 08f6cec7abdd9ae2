/** The theme: light, dark, or that of the system. It is set before the first paint: see `vite.config.ts`. */
import { effect, signal } from '@preact/signals';
import { recall, remember } from './storage.ts';

export type Theme = 'system' | 'light' | 'dark';

const STORED_THEME = 'sched.theme';

function storedTheme(): Theme {
  const text = recall(STORED_THEME);
  return text === 'light' || text === 'dark' ? text : 'system';
}

export const theme = signal<Theme>(storedTheme());

export function applyTheme(): void {
  effect(() => {
    const chosen = theme.value;
    if (chosen === 'system') delete document.documentElement.dataset.theme;
    else document.documentElement.dataset.theme = chosen;
    remember(STORED_THEME, chosen === 'system' ? null : chosen);
  });
}
