/**
 * For tests only: an engine in virtual time, on a real SQLite store that writes at once, with an egress that
 * answers as the test says. Nothing here waits for wall time. Between two timers, everything that can run has
 * run.
 */

import { copyFileSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { composeNotification } from '#src/api/notification-body.ts';
import type { Attempt, Delivery } from '#src/domain/delivery.ts';
import type { DueDelivery } from '#src/domain/due-delivery.ts';
import type { EndpointKey } from '#src/domain/endpoint-key.ts';
import type { EndpointProfile } from '#src/domain/endpoint-profile.ts';
import type { Headers } from '#src/domain/headers.ts';
import { type DeliveryId, type EndpointId, IdMint, type ScheduleId } from '#src/domain/id.ts';
import { type Instant, instant } from '#src/domain/instant.ts';
import { encodeHeaders, encodePayload } from '#src/domain/payload.ts';
import type { Partition } from '#src/domain/project.ts';
import type { ScheduleView } from '#src/domain/schedule.ts';
import type { NewSchedule, ScheduleChange } from '#src/domain/schedule-lifecycle.ts';
import {
  endpointSecretContext,
  payloadContext,
  profileHeadersContext,
  signingSecretContext,
} from '#src/domain/sealing-contexts.ts';
import type { EngineDependencies } from '#src/engine/dependencies.ts';
import type { Egress, OutboundRequest, SendResult } from '#src/ports/egress.ts';
import { dueDeliveryOf } from '#src/ports/endpoint-cache.ts';
import { StoreUnavailable } from '#src/ports/store.ts';
import type { Clock, Stopwatch, Timers } from '#src/ports/system.ts';
import type { AttemptFacts, EngineGauges, EngineMetrics, Log } from '#src/ports/telemetry.ts';
import type { SqlStore } from '#src/store/sql/sql-store.ts';
import { Executor, type WriterData } from '#src/store/sqlite/executor.ts';
import { DATABASE_FILE, openSqlite, type SqliteOptions } from '#src/store/sqlite/open-sqlite.ts';
import { answered, type WriteQueue } from '#src/store/sqlite/writer.ts';
import { AesVault } from '#src/vault/aes-vault.ts';
import { InMemoryInsight } from './in-memory-insight.ts';
import { Builders, START, seededBytes } from './store-contract/builders.ts';

export const PARTITION = 1 as Partition;
/** The partition of another customer. */
export const OTHER_PARTITION = 2 as Partition;

/**
 * More timers than any test needs in one advance. Reaching it means that a timer sets itself again forever.
 */
const TIMERS_MAX = 200_000;

interface Timer {
  readonly at: number;
  readonly act: () => void;
}

/** A wall clock that can be set, and timers that do not depend on it. */
export class VirtualTime implements Clock, Timers, Stopwatch {
  #elapsedMs = 0;
  #offsetMs: number;
  /** Timers in the order in which they were set. */
  readonly #timers = new Set<Timer>();

  constructor(start: Instant) {
    this.#offsetMs = start;
  }

  now(): Instant {
    return instant(this.#offsetMs + this.#elapsedMs);
  }

  elapsed(): number {
    return this.#elapsedMs;
  }

  after(ms: number, act: () => void): () => void {
    const timer = { at: this.#elapsedMs + ms, act };
    this.#timers.add(timer);
    return () => void this.#timers.delete(timer);
  }

  /** Timers that neither fired nor were canceled. */
  get pending(): number {
    return this.#timers.size;
  }

  /** Sets the wall clock ahead or back. */
  setClock(byMs: number): void {
    this.#offsetMs += byMs;
  }

  /** Runs everything that needs no time to pass. */
  async settled(): Promise<void> {
    await setImmediate();
  }

  /** Lets time pass. Every timer fires at its moment, one after the other. */
  async advance(ms: number): Promise<void> {
    const until = this.#elapsedMs + ms;
    await this.settled();
    for (let fired = 0; ; fired++) {
      if (fired > TIMERS_MAX) throw new Error('Timers go off without end.');
      const next = this.#earliest();
      if (next === null || next.at > until) break;
      this.#timers.delete(next);
      this.#elapsedMs = Math.max(this.#elapsedMs, next.at);
      next.act();
      await this.settled();
    }
    this.#elapsedMs = until;
  }

  #earliest(): Timer | null {
    let earliest: Timer | null = null;
    for (const timer of this.#timers) if (earliest === null || timer.at < earliest.at) earliest = timer;
    return earliest;
  }
}

export interface Sent {
  readonly request: OutboundRequest;
  readonly at: Instant;
  isBrokenOff: boolean;
  connect(wasOpen: boolean): void;
  answer(result: SendResult): void;
}

export const OK: SendResult = { kind: 'answered', statusCode: 200 };
export const BROKEN: SendResult = { kind: 'answered', statusCode: 503 };

/** Records every request. A request without an answer from the test hangs until it is answered. */
export class ScriptedEgress implements Egress {
  readonly sent: Sent[] = [];
  readonly warmed: { readonly origin: string; readonly connections: number; readonly at: Instant }[] = [];
  respond: (request: OutboundRequest) => SendResult | null = () => OK;
  readonly #clock: Clock;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  send(
    request: OutboundRequest,
    onEnd: (result: SendResult) => void,
    connect: (wasOpen: boolean) => void,
  ): () => void {
    const answer = (result: SendResult) => queueMicrotask(() => onEnd(result));
    const sent: Sent = { request, at: this.#clock.now(), isBrokenOff: false, connect, answer };
    this.sent.push(sent);
    const response = this.respond(request);
    if (response !== null) answer(response);
    return () => {
      sent.isBrokenOff = true;
    };
  }

  warm({ origin }: URL, connections: number): void {
    this.warmed.push({ origin, connections, at: this.#clock.now() });
  }

  async close(): Promise<void> {}

  /** The values of a header, of every request in the order they were sent. */
  header(name: string): readonly (string | undefined)[] {
    return this.sent.map(({ request }) => headerOf(request, name));
  }
}

export function headerOf({ headers }: OutboundRequest, name: string): string | undefined {
  return headers.find(([own]) => own.toLowerCase() === name.toLowerCase())?.[1];
}

/** `refuses` means that the verb does nothing. `loses` means that it succeeds and its answer is lost. */
export type Fault = 'refuses' | 'loses';

/** Records the calls of the store, and injects the faults that the test sets. */
export class Faults {
  readonly asked: string[] = [];
  readonly #faults = new Map<string, Fault>();
  readonly #before = new Map<string, () => unknown>();

  set(fault: Fault, ...verbs: readonly (keyof SqlStore)[]): void {
    for (const verb of verbs) this.#faults.set(verb, fault);
  }

  clear(): void {
    this.#faults.clear();
  }

  /** Runs `act` once, before the verb. */
  before(verb: keyof SqlStore, act: () => unknown): void {
    this.#before.set(verb, act);
  }

  times(verb: keyof SqlStore): number {
    return this.asked.filter((name) => name === verb).length;
  }

  around(store: SqlStore): SqlStore {
    return new Proxy(store, {
      get: (target, name) => {
        const member: unknown = Reflect.get(target, name, target);
        if (typeof member !== 'function' || typeof name !== 'string') return member;
        return (...given: readonly unknown[]) => this.#call(name, () => Reflect.apply(member, target, given));
      },
    });
  }

  async #call(verb: string, carryOut: () => unknown): Promise<unknown> {
    this.asked.push(verb);
    const fault = this.#faults.get(verb);
    if (fault === 'refuses') throw new StoreUnavailable('The store is away.');
    const act = this.#before.get(verb);
    this.#before.delete(verb);
    await act?.();
    const answer = await carryOut();
    if (fault === 'loses') throw new StoreUnavailable('The answer of the store got lost.');
    return answer;
  }
}

interface Line {
  readonly level: keyof Log;
  readonly fields: Readonly<Record<string, string | number | boolean | null>>;
  readonly message: string;
}

export class RecordedLog implements Log {
  readonly lines: Line[] = [];
  debug(fields: Line['fields'], message: string): void {
    this.lines.push({ level: 'debug', fields, message });
  }
  info(fields: Line['fields'], message: string): void {
    this.lines.push({ level: 'info', fields, message });
  }
  warn(fields: Line['fields'], message: string): void {
    this.lines.push({ level: 'warn', fields, message });
  }
  error(fields: Line['fields'], message: string): void {
    this.lines.push({ level: 'error', fields, message });
  }
}

export class RecordedMetrics implements EngineMetrics {
  readonly latenesses: (readonly ['claim' | 'send', number])[] = [];
  readonly attempts: AttemptFacts[] = [];
  readonly unsents: string[] = [];
  gauges: (() => EngineGauges) | null = null;
  lateness(stage: 'claim' | 'send', seconds: number): void {
    this.latenesses.push([stage, seconds]);
  }
  attemptFinished(facts: AttemptFacts): void {
    this.attempts.push(facts);
  }
  unsent(what: 'expired' | 'dead_letter' | 'deferred'): void {
    this.unsents.push(what);
  }
  watch(read: () => EngineGauges): void {
    this.gauges = read;
  }
}

export interface ScheduleOptions extends Partial<NewSchedule> {
  readonly inMs?: number;
  readonly url?: string;
  readonly payload?: { readonly headers?: Headers; readonly body?: string | null };
}

let empty: Promise<string> | null = null;

/** Returns the path of a database without projects. Copying it takes less time than making one for each test. */
function emptyDatabase(): Promise<string> {
  empty ??= (async () => {
    const directory = mkdtempSync(join(tmpdir(), 'sched-engine-empty-'));
    const store = await openSqlite({ directory, now: START, exclusive: false });
    await store.close();
    return join(directory, DATABASE_FILE);
  })();
  return empty;
}

export class EngineHarness implements EngineDependencies, AsyncDisposable {
  readonly time: VirtualTime;
  readonly clock: Clock;
  readonly timers: Timers & Stopwatch;
  readonly egress: ScriptedEgress;
  readonly faults = new Faults();
  readonly log = new RecordedLog();
  readonly metrics = new RecordedMetrics();
  readonly insight: InMemoryInsight;
  readonly vault: AesVault;
  readonly composeNotification = composeNotification;
  readonly ids = new IdMint(seededBytes(7));
  /** The store as the engine has it, with faults. */
  readonly store: SqlStore;
  /** The store without faults. */
  readonly disk: SqlStore;
  node = 'node-1';
  readonly cluster: EngineDependencies['cluster'] = null;
  readonly #directory: string;

  private constructor(directory: string, disk: SqlStore, time: VirtualTime) {
    this.#directory = directory;
    this.disk = disk;
    this.time = time;
    this.clock = time;
    this.timers = time;
    this.egress = new ScriptedEgress(time);
    this.store = this.faults.around(disk);
    this.vault = new AesVault({ bytes: seededBytes(11) }, seededBytes(3)(32));
    this.insight = new InMemoryInsight(disk);
  }

  #isSecretGiven = false;

  static async open(given: Pick<SqliteOptions, 'sweepBatchMax' | 'openWriter'> = {}): Promise<EngineHarness> {
    const directory = mkdtempSync(join(tmpdir(), 'sched-engine-'));
    copyFileSync(await emptyDatabase(), join(directory, DATABASE_FILE));
    const ownWriter = { exclusive: false, durable: false, openWriter: openSynchronousWriter };
    const options: SqliteOptions = { directory, now: START, ...ownWriter, ...given };
    const harness = new EngineHarness(directory, await openSqlite(options), new VirtualTime(START));
    const id = harness.ids.mint('prj', START);
    await harness.disk.addProject({ id, name: 'default', pinnedVersion: '2026-01-01', createdAt: START });
    await harness.secret('whsec_of_the_world');
    await harness.secret('whsec_of_the_neighbour', 0, OTHER_PARTITION);
    harness.#isSecretGiven = false;
    return harness;
  }

  get now(): Instant {
    return this.time.now();
  }

  get databasePath(): string {
    return join(this.#directory, DATABASE_FILE);
  }

  /** Builders that use the harness's clock. */
  get build(): Builders {
    const builders = new Builders(PARTITION, this.ids);
    builders.tick(this.now - START);
    return builders;
  }

  /** Stores a schedule. The default is a one-shot that is due in five seconds. */
  async schedule(order: ScheduleOptions = {}): Promise<ScheduleView & { readonly pending: Delivery }> {
    const { inMs = 5_000, url = 'https://example.com/hook', payload, profile = null, ...given } = order;
    const { headers = [], body = null } = payload ?? {};
    const bytes = encodePayload(headers, body, body?.startsWith('{') === true);
    const made = this.build.schedule({
      payloadBytes: bytes?.length ?? 0,
      timing: this.build.oneShot(inMs),
      destination:
        profile === null
          ? { kind: 'inline', url, method: 'POST' }
          : { kind: 'profile', endpointId: profile.id },
      profile,
      ...given,
    });
    const { partition, id } = made.schedule;
    const sealed = bytes && this.vault.seal(payloadContext(partition, id, 1), bytes);
    const addition = { ...made, payload: sealed, profile, receipt: null };
    if ((await this.disk.addSchedule(addition)) !== 'done') throw new Error('The schedule was not stored.');
    return { ...made, profile };
  }

  async profile(given: Partial<EndpointProfile> = {}, headers: Headers = []): Promise<EndpointProfile> {
    const profile = this.build.profile(given);
    const bytes = encodeHeaders(headers);
    const sealed =
      bytes && this.vault.seal(profileHeadersContext(PARTITION, profile.id, profile.version), bytes);
    await this.disk.addProfile({ profile, headers: sealed, receipt: null });
    return profile;
  }

  /** Changes a schedule as the API would. */
  async change(
    id: ScheduleId,
    decide: (view: ScheduleView) => ScheduleChange | null,
    partition = PARTITION,
  ): Promise<void> {
    const view = await this.disk.findSchedule(partition, id);
    const change = view && decide(view);
    if (change === null) throw new Error('There is something to change.');
    const written = await this.disk.replaceSchedule({ ...change, receipt: null });
    if (written !== 'done') throw new Error(`The change is ${written}.`);
  }

  /** The first secret that a test gives replaces the harness's own. */
  async secret(text: string, overlapMs = 86_400_000, partition = PARTITION): Promise<void> {
    const othersEndAt = this.#isSecretGiven ? instant(this.now + overlapMs) : instant(0);
    this.#isSecretGiven = true;
    const id = this.ids.mint('sec', this.now);
    const sealed = this.vault.seal(signingSecretContext(partition, id), Buffer.from(text));
    const secret = { id, partition, sealed, createdAt: this.now, expiresAt: null };
    await this.disk.addSecret(secret, othersEndAt);
  }

  /** Adds the first secret of the profile. The project's secrets also sign for the overlap. */
  async endpointSecret(endpointId: EndpointId, text: string, overlapMs: number): Promise<void> {
    const id = this.ids.mint('sec', this.now);
    const sealed = this.vault.seal(endpointSecretContext(PARTITION, endpointId, id), Buffer.from(text));
    const place = { partition: PARTITION, endpointId };
    const aloneFrom = instant(this.now + overlapMs);
    const added = { ...place, id, sealed, createdAt: this.now, expiresAt: null, aloneFrom };
    const answer = await this.disk.changeEndpointSecrets({ ...place, before: [], ended: [], added });
    if (answer !== 'done') throw new Error(`The secret was not added: ${answer}.`);
  }

  async delivery(id: DeliveryId): Promise<Delivery> {
    const found = await this.disk.findDelivery(PARTITION, id);
    if (found === null) throw new Error(`There is no delivery ${id}.`);
    return found;
  }

  attempts(id: DeliveryId): Promise<readonly Attempt[]> {
    return this.disk.listAttempts(PARTITION, id, 0, 100);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.disk.close();
    rmSync(this.#directory, { recursive: true, force: true });
  }
}

async function openSynchronousWriter(data: WriterData): Promise<WriteQueue> {
  const executor = Executor.open(data);
  const runAll = async (verbs: Parameters<WriteQueue['runAll']>[0]) => {
    const answers = answered(executor.run(verbs));
    if (answers instanceof Error) throw answers;
    return answers;
  };
  const queue = {
    isFailing: false,
    runAll,
    run: async (steps: Parameters<WriteQueue['run']>[0]) => (await runAll([steps]))[0] ?? 'done',
    close: async () => executor.close(),
  };
  return queue as WriteQueue;
}

/** A waiting delivery as the dispatcher knows it. Only the given fields matter. */
export function dueAt(
  at: number,
  given: Partial<DueDelivery> & { readonly name?: string } = {},
): DueDelivery {
  const { name = 'a', ...own } = given;
  return {
    partition: PARTITION,
    id: `dlv_${name}` as DeliveryId,
    dueAt: instant(at),
    deadline: null,
    endpoint: 'https://example.com/hook' as EndpointKey,
    origin: own.endpoint ?? 'https://example.com',
    payloadBytes: 0,
    ...own,
  };
}

export function requireDue(delivery: Delivery): DueDelivery {
  const due = dueDeliveryOf(delivery);
  if (due === null) throw new Error(`The delivery is ${delivery.status}.`);
  return due;
}

/** The same object with some members replaced. */
export function overridden<T extends object>(object: T, own: Partial<T>): T {
  return new Proxy(object, {
    get(target, name) {
      if (Object.hasOwn(own, name)) return Reflect.get(own, name);
      const member: unknown = Reflect.get(target, name, target);
      return typeof member === 'function' ? member.bind(target) : member;
    },
  });
}
