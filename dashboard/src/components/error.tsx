/** An error: what happened, what to do, and a button to try again. */
import type { ApiError } from '../api.ts';
import { Button } from './button.tsx';
import { Icon } from './icon.tsx';

/** Advice by the code of an error. The message of the service says what happened. */
const ADVICE: Readonly<Record<string, string>> = {
  no_answer: 'The page may be out of date. It reconnects by itself.',
  bad_origin: 'Open the dashboard under its own URL and try again.',
  not_found: 'It may be in another project or mode, or retention removed it.',
};

export function adviceFor(error: ApiError): string | null {
  const known = ADVICE[error.code];
  if (known !== undefined) return known;
  if (error.retryAfterSeconds !== null) return `Try again in ${error.retryAfterSeconds} s.`;
  return error.status >= 500 ? 'Try again. If it fails again, check the log of the service.' : null;
}

/** An error inside a form or a dialog. */
export function ErrorNote({ error }: { readonly error: ApiError }) {
  const advice = adviceFor(error);
  return (
    <div class="flex gap-2 rounded-md bg-bad-soft px-3 py-2 text-bad" role="alert">
      <Icon name="warning" className="mt-0.5" />
      <p class="min-w-0">
        {error.message} {advice}
      </p>
    </div>
  );
}

/** An error in place of the content that could not be loaded. */
export function ErrorPanel({ error, onRetry }: { readonly error: ApiError; readonly onRetry?: () => void }) {
  const advice = adviceFor(error);
  return (
    <div class="flex flex-col items-center gap-2 px-6 py-10 text-center" role="alert">
      <Icon name="warning" size={24} className="text-bad" />
      <p class="max-w-prose font-medium">{error.message}</p>
      {advice === null ? null : <p class="max-w-prose text-dim">{advice}</p>}
      {error.requestId === null ? null : <p class="font-mono text-xs text-dim">Request {error.requestId}</p>}
      {onRetry === undefined ? null : (
        <Button icon="retry" onClick={onRetry}>
          Try again
        </Button>
      )}
    </div>
  );
}
