/**
 * Many deliveries to one endpoint at the same instant. Some bursts go to an endpoint profile that is also notified of
 * them, with the rate limit that notifications have, so that both kinds meet at one gate.
 */
import type { NewSchedule } from '#src/commands/schedules.ts';
import { type Instant, instant } from '#src/domain/instant.ts';
import type { Partition } from '#src/domain/project.ts';
import type { Prng } from '#test/fuzz/prng.ts';
import { bodyAndLabels, type InputGenerator } from './input-generator.ts';
import type { NotifyInputs } from './notify-inputs.ts';

interface Burst {
  readonly fireAt: Instant;
  readonly orders: readonly { readonly label: string; readonly order: NewSchedule }[];
}

export interface BurstInputs {
  readonly prng: Prng;
  readonly inputs: InputGenerator;
  readonly notifies: NotifyInputs;
}

/** More than the permits of one endpoint, and more than one page of the scanner. */
const BURST_MAX = 600;
const BURST_BODY_BYTES_MAX = 2_000;
/** As many as notifications have. */
const SHARED_RATE = { perSecond: 50 };
/** More would only take longer. */
const NOTIFIED_MAX = 24;
const SHARED_MAX = 30;

export function burstOf(
  { prng, inputs, notifies }: BurstInputs,
  partition: Partition,
  now: Instant,
  nextLabel: () => string,
): Burst {
  const alike = inputs.schedule('', now, null);
  const bytes = prng.chance(0.5) ? prng.int(BURST_BODY_BYTES_MAX) : null;
  const elsewhere = inputs.schedule('', now, null).destination;
  const fireAt = instant(now + prng.between(2_000, 60_000));
  const count = prng.weighted([
    [3, prng.between(10, 60)],
    [2, prng.between(60, 200)],
    [1, prng.between(200, BURST_MAX)],
  ]);
  const notify = notifies.ofEverything(partition);
  const isShared = notify !== null && count <= SHARED_MAX;
  const orders = Array.from({ length: count }, (_, at) => {
    const label = nextLabel();
    const order: NewSchedule = {
      ...alike,
      destination: count > 60 && at % 3 > 0 ? elsewhere : alike.destination,
      notify: at < NOTIFIED_MAX ? notify : null,
      timing: { kind: 'one_shot', fireAt, timezone: null },
      jitter: null,
      idempotencyKey: null,
      ...bodyAndLabels(label, bytes),
      ...(isShared && {
        destination: { kind: 'profile', endpointId: notify.endpointId },
        rateLimit: SHARED_RATE,
      }),
    };
    return { label, order };
  });
  return { fireAt, orders };
}
