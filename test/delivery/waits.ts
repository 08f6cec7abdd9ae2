/** The API sends no notifications, so the tests poll for what the service has settled. */
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'vitest';
import type { Api } from '#test/e2e/client.ts';
import { attemptsOf, delivery } from '#test/e2e/expectations.ts';
import type { Attempt, Delivery } from '#test/e2e/resources.ts';

const LOOK_EVERY_MS = 30;
/** A delivery that is due later than soon. Polling it more often costs more than the service does. */
const LOOK_FAR_EVERY_MS = 250;
/** A delivery that is due within this time is not polled before it is due. */
const SOON_MS = 2_000;
const WAIT_MS_MAX = 60_000;

const ENDED: ReadonlySet<string> = new Set(['succeeded', 'dead_letter', 'expired', 'canceled']);

async function once(
  api: Api,
  id: string,
  isSo: (shown: Delivery) => boolean,
  what: string,
): Promise<Delivery> {
  const patience = Date.now() + WAIT_MS_MAX;
  for (;;) {
    const shown = await delivery(api, id);
    if (isSo(shown)) return shown;
    if (Date.now() > patience) {
      throw new Error(`${id} is not ${what} within ${WAIT_MS_MAX} ms: ${JSON.stringify(shown)}`);
    }
    await sleep(pauseBefore(shown));
  }
}

function pauseBefore({ next_fire_at }: Delivery): number {
  const untilMs = next_fire_at === null ? 0 : Date.parse(next_fire_at) - Date.now();
  return untilMs < SOON_MS ? LOOK_EVERY_MS + Math.max(untilMs, 0) : LOOK_FAR_EVERY_MS;
}

/** Waits until the delivery has this status. Any other terminal status ends the wait with an error. */
export function waitForStatus(api: Api, id: string, status: string): Promise<Delivery> {
  return once(
    api,
    id,
    (shown) => {
      if (shown.status !== status && ENDED.has(shown.status)) expect(shown).toMatchObject({ status });
      return shown.status === status;
    },
    status,
  );
}

/** Waits until the delivery matches the predicate. */
export function waitUntil(api: Api, id: string, isSo: (shown: Delivery) => boolean): Promise<Delivery> {
  return once(api, id, isSo, 'so');
}

/** Waits until the delivery waits for an instant of at least `least`, in ms. */
export function waitForDue(api: Api, id: string, least: number): Promise<Delivery> {
  const isSo = ({ next_fire_at }: Delivery) => next_fire_at !== null && Date.parse(next_fire_at) >= least;
  return once(api, id, isSo, `deferred to ${new Date(least).toISOString()}`);
}

export interface Ended {
  readonly delivery: Delivery;
  readonly attempts: readonly Attempt[];
}

/** Waits until the delivery has ended. Returns it with its attempts. */
export async function waitForEnd(api: Api, id: string): Promise<Ended> {
  const shown = await once(api, id, ({ status }) => ENDED.has(status), 'ended');
  return { delivery: shown, attempts: await attemptsOf(api, id) };
}

export { sleep };
