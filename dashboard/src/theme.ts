/** Light, dark, or as the system has it. Set before the first paint: see `vite.config.ts`. */
import { effect, signal } from '@preact/signals';
import { recall, remember } from './storage.ts';

export type Theme = 'system' | 'light' | 'dark';

const REMEMBERED_THEME = 'sched.theme';

function stored(): Theme {
  const text = recall(REMEMBERED_THEME);
  return text === 'light' || text === 'dark' ? text : 'system';
}

export const theme = signal<Theme>(stored());

export function applyTheme(): void {
  effect(() => {
    const chosen = theme.value;
    if (chosen === 'system') delete document.documentElement.dataset.theme;
    else document.documentElement.dataset.theme = chosen;
    remember(REMEMBERED_THEME, chosen === 'system' ? null : chosen);
  });
}
