/** A preview of the next runs of a timing, while it is typed. */
import { useEffect, useState } from 'preact/hooks';
import type { Preview } from '../../src/control/http/data-contract.ts';
import { type ApiError, asApiError, post } from './api.ts';
import type { PreviewRequest } from './model/timing-form.ts';
import { apiPath } from './session.ts';

/** Longer than the time between two letters, shorter than between two words. */
const TYPING_MS = 250;

export interface PreviewState {
  /** The last preview without an error. */
  readonly preview: Preview | null;
  readonly error: ApiError | null;
}

const NO_PREVIEW: PreviewState = { preview: null, error: null };

/** A request of null has no preview. */
export function usePreview(request: PreviewRequest | null): PreviewState {
  const [state, setState] = useState(NO_PREVIEW);
  const text = request === null ? null : JSON.stringify(request);
  useEffect(() => {
    if (text === null) {
      setState(NO_PREVIEW);
      return undefined;
    }
    const stop = new AbortController();
    const timer = setTimeout(() => {
      post<Preview>(apiPath('preview'), JSON.parse(text) as object, stop.signal).then(
        (preview) => setState({ preview, error: null }),
        (cause: unknown) => {
          if (!stop.signal.aborted) setState({ preview: null, error: asApiError(cause) });
        },
      );
    }, TYPING_MS);
    return () => {
      clearTimeout(timer);
      stop.abort();
    };
  }, [text]);
  return state;
}
