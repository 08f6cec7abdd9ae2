/** One request at a time, with its error, for buttons and forms. */
import { useState } from 'preact/hooks';
import { type ApiError, asApiError } from './api.ts';

export interface Request<A extends readonly unknown[]> {
  readonly run: (...given: A) => Promise<boolean>;
  readonly isBusy: boolean;
  readonly error: ApiError | null;
  readonly clear: () => void;
}

/** `run` returns whether the request succeeded. A call while a request is in flight does nothing. */
export function useRequest<A extends readonly unknown[]>(
  action: (...given: A) => Promise<unknown>,
): Request<A> {
  const [isBusy, setBusy] = useState(false);
  const [error, setError] = useState<ApiError | null>(null);
  const run = async (...given: A): Promise<boolean> => {
    if (isBusy) return false;
    setBusy(true);
    setError(null);
    try {
      await action(...given);
      return true;
    } catch (cause) {
      setError(asApiError(cause));
      return false;
    } finally {
      setBusy(false);
    }
  };
  return { run, isBusy, error, clear: () => setError(null) };
}
