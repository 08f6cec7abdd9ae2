/**
 * What customers asked to be sent, by the label of the call that asked for it. The metadata of a schedule or a
 * profile has this label. The store repeats it without knowing what it means, so it tells which call took effect
 * last.
 */
import type { Headers } from '#src/domain/headers.ts';
import type { Labels } from '#src/domain/labels.ts';

export interface Content {
  readonly headers: Headers;
  readonly body: string | null;
}

const CALL_LABEL = 'call';
const NOTHING: Content = { headers: [], body: null };

export class Contents {
  readonly #contents = new Map<string, Content>();

  /** A call asks for it. It may never take effect. */
  add(label: string, { headers, body }: Content): void {
    this.#contents.set(label, { headers, body });
  }

  of(label: string): Content {
    return this.#contents.get(label) ?? NOTHING;
  }
}

export function labelsFor(call: string): Labels {
  return [[CALL_LABEL, call]];
}

/** The call that took effect last, or an empty text. */
export function callOf({ metadata }: { readonly metadata: Labels }): string {
  return metadata.find(([own]) => own === CALL_LABEL)?.[1] ?? '';
}
