import { effect, signal } from '@preact/signals';
import { render } from 'preact';
import { trackActivity } from './activity.ts';
import { type ApiError, asApiError, renewSession } from './api.ts';
import { App } from './app.tsx';
import { listenToVisibility } from './live.ts';
import { listenToAddress, path } from './router.ts';
import { session } from './session.ts';
import { listenToKeys } from './shortcuts.ts';
import { applyTheme } from './theme.ts';
import { startClock } from './time.ts';

const startError = signal<ApiError | null>(null);

async function start(): Promise<void> {
  startError.value = null;
  try {
    await renewSession();
  } catch (cause) {
    startError.value = asApiError(cause);
  }
}

function Root() {
  return <App startError={startError.value} onRetry={() => void start()} />;
}

applyTheme();
listenToAddress();
listenToKeys();
listenToVisibility();
trackActivity();
startClock();
// The pages to sign in and to accept an invitation need no session.
effect(() => {
  if (session.value === 'unknown' && path.value !== 'login' && path.value !== 'invite') void start();
});
const element = document.getElementById('app');
if (element !== null) render(<Root />, element);
