import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { AlertCondition } from './alert.ts';
import {
  type AlertFinding,
  type AlertIncident,
  beginIncident,
  decideIncidents,
  findingsOf,
  type ObservedMinute,
  OWN_INCIDENTS_MAX,
  QUIET_MS,
  REMINDER_MS,
} from './alert-incident.ts';
import type { EndpointKey } from './endpoint-key.ts';
import type { AlertChannelId, AlertConditionId, AlertIncidentId } from './id.ts';
import { type Instant, instant, MS_PER_MINUTE } from './instant.ts';
import type { Partition } from './project.ts';

const START = instant(Date.UTC(2026, 10, 15, 8));
const ENDPOINTS = ['https://a.example/', 'https://b.example/', 'ep_1'] as EndpointKey[];

function condition(given: Partial<AlertCondition> = {}): AlertCondition {
  return {
    partition: 1 as Partition,
    id: 'alc_1' as AlertConditionId,
    kind: 'deliveries_failed',
    threshold: 10,
    windowMinutes: 5,
    channelIds: ['chn_1' as AlertChannelId],
    enabled: true,
    createdAt: START,
    updatedAt: START,
    revision: 1,
    ...given,
  };
}

function minute(minutesAgo: number, stats: Partial<ObservedMinute['stats']>): ObservedMinute {
  const at = instant(START - minutesAgo * MS_PER_MINUTE);
  return { at, stats: { deadLettered: 0, expired: 0, downtimeSkips: 0, ...stats } };
}

describe('a condition', () => {
  const findings = (given: Partial<AlertCondition>, minutes: readonly ObservedMinute[]) =>
    findingsOf(condition(given), { minutes, openEndpoints: ENDPOINTS }, START);

  test('deliveries_failed is true for more than its threshold, in its window', () => {
    const ten = [minute(0, { deadLettered: 4, expired: 3 }), minute(5, { expired: 3 })];
    expect(findings({}, ten)).toEqual([]);
    expect(findings({}, [...ten, minute(6, { deadLettered: 100 })])).toEqual([]);
    expect(findings({}, [...ten, minute(3, { deadLettered: 1 })])).toEqual([{ endpoint: null, count: 11 }]);
    expect(findings({ threshold: 0 }, [minute(1, { expired: 1 })])).toEqual([{ endpoint: null, count: 1 }]);
    expect(findings({ threshold: 0 }, [minute(1, { downtimeSkips: 1 })])).toEqual([]);
  });

  test('occurrences_skipped is true for five minutes', () => {
    const skipped = { kind: 'occurrences_skipped', threshold: null, windowMinutes: null } as const;
    expect(findings(skipped, [minute(5, { downtimeSkips: 1 })])).toEqual([{ endpoint: null, count: null }]);
    expect(findings(skipped, [minute(6, { downtimeSkips: 1 }), minute(1, { deadLettered: 99 })])).toEqual([]);
  });

  test('breaker_opened is true for each endpoint whose breaker is not closed', () => {
    const about = { kind: 'breaker_opened', threshold: null, windowMinutes: null } as const;
    expect(findings(about, [])).toEqual(ENDPOINTS.map((endpoint) => ({ endpoint, count: null })));
  });
});

/** Applies decisions as the store does, and counts the messages of each incident. */
class Watched {
  readonly incidents = new Map<AlertIncidentId, AlertIncident>();
  readonly messages: (readonly [AlertIncidentId, string, Instant])[] = [];

  get open(): readonly AlertIncident[] {
    return [...this.incidents.values()].filter(({ endedAt }) => endedAt === null);
  }

  step(endpoints: readonly (EndpointKey | null)[], now: Instant): void {
    const findings = endpoints.map((endpoint): AlertFinding => ({ endpoint, count: null }));
    const { begun, changed } = decideIncidents(this.open, findings, now);
    for (const finding of begun) {
      const id = `inc_${this.incidents.size}` as AlertIncidentId;
      this.incidents.set(id, beginIncident(condition(), id, finding, null, now));
      this.messages.push([id, 'opened', now]);
    }
    for (const { incident, message } of changed) {
      expect(incident.revision).toBe((this.incidents.get(incident.id)?.revision ?? 0) + 1);
      this.incidents.set(incident.id, incident);
      if (message !== null) this.messages.push([incident.id, message, now]);
    }
  }

  of(id: AlertIncidentId, kind: string): readonly Instant[] {
    return this.messages.filter(([of, one]) => of === id && one === kind).map(([, , at]) => at);
  }
}

function later(ms: number): Instant {
  return instant(START + ms);
}

describe('an incident', () => {
  test('begins once, and ends after five quiet minutes', () => {
    const watched = new Watched();
    watched.step([null], START);
    watched.step([null], later(5_000));
    watched.step([], later(10_000));
    watched.step([], later(10_000 + QUIET_MS - 1));
    expect(watched.messages.map(([, kind]) => kind)).toEqual(['opened']);
    watched.step([], later(10_000 + QUIET_MS));
    watched.step([], later(10_000 + 2 * QUIET_MS));
    expect(watched.messages.map(([, kind]) => kind)).toEqual(['opened', 'closed']);
  });

  test('goes on when the condition is true again within the five minutes', () => {
    const watched = new Watched();
    for (const [ms, isTrue] of [
      [0, true],
      [10, false],
      [QUIET_MS, true],
      [QUIET_MS + 10, false],
      [2 * QUIET_MS, false],
    ] as const)
      watched.step(isTrue ? [null] : [], later(ms));
    expect(watched.messages).toHaveLength(1);
    watched.step([], later(2 * QUIET_MS + 10));
    expect(watched.messages.map(([, kind]) => kind)).toEqual(['opened', 'closed']);
    watched.step([null], later(3 * QUIET_MS));
    expect(watched.messages.map(([, kind]) => kind)).toEqual(['opened', 'closed', 'opened']);
  });

  test('is reminded of every 24 hours while the condition is true', () => {
    const watched = new Watched();
    for (let ms = 0; ms <= 2.5 * REMINDER_MS; ms += REMINDER_MS / 8) watched.step([null], later(ms));
    const [first] = watched.incidents.keys();
    expect(watched.of(first ?? ('' as AlertIncidentId), 'reminder')).toEqual([
      later(REMINDER_MS),
      later(2 * REMINDER_MS),
    ]);
    watched.step([], later(3 * REMINDER_MS));
    watched.step([], later(3 * REMINDER_MS + 1));
    expect(watched.messages).toHaveLength(3);
  });

  test('becomes quiet anew when the clock was set back', () => {
    const watched = new Watched();
    watched.step([null], START);
    watched.step([], later(10 * QUIET_MS));
    watched.step([], later(QUIET_MS));
    watched.step([], later(2 * QUIET_MS));
    expect(watched.messages.map(([, kind]) => kind)).toEqual(['opened', 'closed']);
  });

  test('is one of 20 of its own, or shared by further endpoints until they have one of their own', () => {
    const watched = new Watched();
    const many = Array.from({ length: 50 }, (_, index) => `https://h${index}.example/` as EndpointKey);
    watched.step(many, START);
    const shared = () => watched.open.filter(({ endpoint }) => endpoint === null);
    expect([watched.open.length, shared().length]).toEqual([OWN_INCIDENTS_MAX + 1, 1]);
    watched.step(many.slice(1), later(1));
    watched.step(many.slice(1), later(1 + QUIET_MS));
    watched.step(many.slice(1), later(2 + QUIET_MS));
    expect([watched.open.length, shared().length]).toEqual([OWN_INCIDENTS_MAX + 1, 1]);
    expect(watched.incidents.size).toBe(OWN_INCIDENTS_MAX + 2);
    watched.step(many.slice(1, OWN_INCIDENTS_MAX + 1), later(3 + QUIET_MS));
    watched.step(many.slice(1, OWN_INCIDENTS_MAX + 1), later(3 + 2 * QUIET_MS));
    expect([watched.open.length, shared().length]).toEqual([OWN_INCIDENTS_MAX, 0]);
    expect(watched.messages.filter(([, kind]) => kind === 'closed')).toHaveLength(2);
  });

  test('has one message at its beginning and one at its end, whatever happens between', () => {
    const step = fc.record({
      waitMs: fc.oneof(
        fc.integer({ min: 0, max: 20_000 }),
        fc.integer({ min: 0, max: 2 * QUIET_MS }),
        fc.integer({ min: 0, max: 2 * REMINDER_MS }),
      ),
      endpoints: fc.subarray<EndpointKey | null>([...ENDPOINTS, null]),
    });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
        const watched = new Watched();
        let now = START;
        for (const { waitMs, endpoints } of steps) {
          now = instant(now + waitMs);
          watched.step(endpoints, now);
          const open = watched.open.map(({ endpoint }) => endpoint);
          expect(new Set(open).size).toBe(open.length);
          expect(open).toEqual(expect.arrayContaining(endpoints));
        }
        for (const { id, begunAt, endedAt, quietSince } of watched.incidents.values()) {
          expect(watched.of(id, 'opened')).toEqual([begunAt]);
          expect(watched.of(id, 'closed')).toEqual(endedAt === null ? [] : [endedAt]);
          if (endedAt !== null) expect(endedAt - (quietSince ?? endedAt)).toBeGreaterThanOrEqual(QUIET_MS);
          const told = [begunAt, ...watched.of(id, 'reminder')];
          for (const [index, at] of told.entries()) {
            if (index > 0) expect(at - (told[index - 1] ?? at)).toBeGreaterThanOrEqual(REMINDER_MS);
          }
        }
      }),
      { numRuns: 300 },
    );
  });
});
