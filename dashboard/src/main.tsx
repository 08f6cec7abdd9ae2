import { effect, signal } from '@preact/signals';
import { render } from 'preact';
import type { SessionInfo } from '../../src/control/http/contract.ts';
import { type ApiError, asApiError, get } from './api.ts';
import { App } from './app.tsx';
import { listenToVisibility } from './live.ts';
import { listenToAddress, path } from './router.ts';
import { session } from './session.ts';
import { listenToKeys } from './shortcuts.ts';
import { applyTheme } from './theme.ts';
import { startClock } from './time.ts';

const fault = signal<ApiError | null>(null);

async function begin(): Promise<void> {
  fault.value = null;
  try {
    session.value = await get<SessionInfo>('session');
  } catch (cause) {
    const error = asApiError(cause);
    if (error.status !== 401) fault.value = error;
  }
}

function Root() {
  return <App fault={fault.value} onRetry={() => void begin()} />;
}

applyTheme();
listenToAddress();
listenToKeys();
listenToVisibility();
startClock();
// Whoever is about to sign in need not be told that they are not.
effect(() => {
  if (session.value === 'unknown' && path.value !== 'login' && path.value !== 'invite') void begin();
});
const element = document.getElementById('app');
if (element !== null) render(<Root />, element);
