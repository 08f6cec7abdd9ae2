/** Deliberate bugs of names, versions of payloads, triggers and canceled deliveries. */
import type { Delivery } from '#src/domain/delivery.ts';
import type { DeliveryId } from '#src/domain/id.ts';
import type { LoadedDelivery } from '#src/ports/store.ts';
import type { Step } from '#src/store/sql/steps.ts';
import { alteringLoads, type Bug, overriding, without } from './bug-tools.ts';
import { isTriggered } from './checkers/triggers.ts';
import type { AnyStore } from './watched-store.ts';

/** Such deliveries are sent with the present headers and body of their schedule. */
function sendingThePresentVersion(isMeant: (delivery: Delivery) => boolean): NonNullable<Bug['store']> {
  return alteringLoads(({ delivery, schedule }: LoadedDelivery) => {
    if (schedule === null || !isMeant(delivery)) return {};
    const { payloadVersion, payloadBytes } = schedule;
    return { delivery: { ...delivery, payloadVersion, payloadBytes } };
  });
}

/** The end of one delivery removes the versions that all others name. */
function removingAllVersions(steps: readonly Step[]): readonly Step[] {
  return steps.map((step): Step => {
    const [name, , partition = null, schedule = null] = step;
    return name === 'checkEarlierPayload' ? ['removeEarlierPayloads', null, partition, schedule] : step;
  });
}

export const NAMED_BUGS: Readonly<Record<string, Bug>> = {
  'a retry is sent with the present version of the payload': {
    caughtBy: ['payloads'],
    firstSeed: 12,
    store: sendingThePresentVersion(({ attemptCount }) => attemptCount > 0),
  },
  'a replay is sent with the present version of the payload': {
    caughtBy: ['payloads'],
    firstSeed: 18,
    store: sendingThePresentVersion(({ replayOf }) => replayOf !== null),
  },
  'every delivery is sent with the present version of the payload': {
    caughtBy: ['payloads'],
    firstSeed: 12,
    store: sendingThePresentVersion(() => true),
  },
  'a delivery is sent with the headers of the present version of its profile': {
    caughtBy: ['payloads'],
    firstSeed: 9,
    store: alteringLoads(({ delivery, endpointProfile }) => {
      const endpointVersion = endpointProfile?.version ?? null;
      return { delivery: { ...delivery, target: { ...delivery.target, endpointVersion } } };
    }),
  },
  'no delivery is signed for Standard Webhooks': {
    caughtBy: ['payloads'],
    store: overriding<AnyStore>((store) => ({
      async loadPayloads(deliveries) {
        const messages = await store.loadPayloads(deliveries);
        return messages.map((message) => ({
          ...message,
          profile: message.profile && { ...message.profile, standardWebhooks: false },
        }));
      },
    })),
  },
  'a PUT forgets the version before': {
    caughtBy: ['payloads'],
    firstSeed: 7,
    steps: without('insertEarlierPayload'),
  },
  'a PUT does not store its payload': {
    caughtBy: ['payloads'],
    firstSeed: 2,
    steps: without('savePayload'),
  },
  'retention removes versions that deliveries still name': {
    caughtBy: ['payloads'],
    firstSeed: 18,
    steps: removingAllVersions,
  },
  'retention does not ask whether a version is still named': {
    caughtBy: ['payloads'],
    firstSeed: 12,
    steps: without('checkEarlierPayload'),
  },
  'retention never removes a version': {
    caughtBy: ['payloads'],
    firstSeed: 90,
    store: overriding<AnyStore>((store) => ({
      prune: async (what, before, limit) => (what === 'payloads' ? 0 : store.prune(what, before, limit)),
    })),
  },
  'the gate has the policies of another profile: that of the schedule': {
    caughtBy: ['breaker', 'budget', 'rate', 'reservations', 'settling'],
    firstSeed: 3,
    store: alteringLoads(({ profile }) => ({ endpointProfile: profile })),
  },
  'the claim of a triggered delivery advances the recurrence': {
    caughtBy: ['triggers'],
    firstSeed: 2,
    store: alteringLoads(({ delivery, schedule }) => ({
      schedule: schedule && isTriggered(delivery) ? { ...schedule, pendingId: delivery.id } : schedule,
    })),
  },
  'a trigger adds two deliveries': {
    caughtBy: ['triggers'],
    firstSeed: 2,
    store: overriding<AnyStore>((store) => ({
      async addTriggered(addition) {
        const { delivery, schedule } = addition;
        const id = `${delivery.id.slice(0, -5)}zzzzz` as DeliveryId;
        const other = { ...delivery, id, idempotencyKey: `${schedule.idempotencyKey ?? schedule.id}:${id}` };
        const written = await store.addTriggered(addition);
        if (written === 'done') await store.addTriggered({ ...addition, delivery: other, receipt: null });
        return written;
      },
    })),
  },
  'the cancel of a delivery is acknowledged but not stored': {
    caughtBy: ['api'],
    firstSeed: 3,
    store: overriding<AnyStore>(() => ({ replaceDelivery: async () => 'done' })),
  },
  'a name stays with its object when that ends': {
    caughtBy: ['names'],
    steps: without('removeName'),
  },
  'a name is not stored': {
    caughtBy: ['names'],
    steps: without('insertName'),
  },
};
