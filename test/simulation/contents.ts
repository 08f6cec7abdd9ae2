/**
 * What customers asked for, by the label of the call that asked for it. The metadata of a schedule or a profile has
 * the label of the call that decided what is sent, and of the one that decided who is notified. The store repeats them
 * without knowing what they mean, so they tell which call took effect last.
 */
import type { Headers } from '#src/domain/headers.ts';
import type { Labels } from '#src/domain/labels.ts';
import type { Notify } from '#src/domain/notify.ts';

export interface Content {
  readonly headers: Headers;
  readonly body: string | null;
  /** Whether a profile wants its requests signed for Standard Webhooks too. */
  readonly standardWebhooks?: boolean;
}

/** Who a call wants to be notified. */
export interface NotifyWish {
  readonly notify: Notify | null;
  /** A PATCH decides anew about the pending delivery, even if nothing differs. A creation is a PUT. */
  readonly by: 'put' | 'patch';
}

interface Order extends Content {
  readonly notify: Notify | null;
}

const CALL_LABEL = 'call';
const NOTIFY_LABEL = 'notify';
const NOTHING: Content = { headers: [], body: null };
const NOBODY: NotifyWish = { notify: null, by: 'put' };

export class Contents {
  readonly #contents = new Map<string, Content>();
  readonly #wishes = new Map<string, NotifyWish>();

  /** A call asks for it. It may never take effect. */
  add(label: string, { headers, body, standardWebhooks = false }: Content): void {
    this.#contents.set(label, { headers, body, standardWebhooks });
  }

  /** A call asks for this and decides who is notified. */
  addOrder(label: string, order: Order): void {
    this.add(label, order);
    this.addWish(label, { notify: order.notify, by: 'put' });
  }

  addWish(label: string, wish: NotifyWish): void {
    this.#wishes.set(label, wish);
  }

  of(label: string): Content {
    return this.#contents.get(label) ?? NOTHING;
  }

  wishOf(label: string): NotifyWish {
    return this.#wishes.get(label) ?? NOBODY;
  }
}

/** The labels of a call that decides everything. */
export function labelsFor(call: string): Labels {
  return [
    [CALL_LABEL, call],
    [NOTIFY_LABEL, call],
  ];
}

/** The labels after a PATCH that decides what is sent. */
export function withCall(labels: Labels, call: string): Labels {
  return labels.map(([name, value]) => [name, name === CALL_LABEL ? call : value]);
}

/** The labels after a PATCH that decides who is notified. */
export function withNotifyCall(labels: Labels, call: string): Labels {
  return labels.map(([name, value]) => [name, name === NOTIFY_LABEL ? call : value]);
}

interface Labelled {
  readonly metadata: Labels;
}

/** The call that decided last what is sent, or an empty text. */
export function callOf(object: Labelled): string {
  return labelOf(object, CALL_LABEL);
}

/** The call that decided last who is notified, or an empty text. */
export function notifyCallOf(object: Labelled): string {
  return labelOf(object, NOTIFY_LABEL);
}

function labelOf({ metadata }: Labelled, name: string): string {
  return metadata.find(([own]) => own === name)?.[1] ?? '';
}
