import { effect, signal } from '@preact/signals';
import { render } from 'preact';
import { type ApiError, asApiError, renewSession } from './api.ts';
import { App } from './app.tsx';
import { listenToVisibility } from './live.ts';
import { listenToAddress, path } from './router.ts';
import { session } from './session.ts';
import { listenToKeys } from './shortcuts.ts';
import { applyTheme } from './theme.ts';
import { startClock } from './time.ts';
import { listenToUse } from './use.ts';

const fault = signal<ApiError | null>(null);

async function begin(): Promise<void> {
  fault.value = null;
  try {
    await renewSession();
  } catch (cause) {
    fault.value = asApiError(cause);
  }
}

function Root() {
  return <App fault={fault.value} onRetry={() => void begin()} />;
}

applyTheme();
listenToAddress();
listenToKeys();
listenToVisibility();
listenToUse();
startClock();
// Whoever is about to sign in need not be asked who they are.
effect(() => {
  if (session.value === 'unknown' && path.value !== 'login' && path.value !== 'invite') void begin();
});
const element = document.getElementById('app');
if (element !== null) render(<Root />, element);
