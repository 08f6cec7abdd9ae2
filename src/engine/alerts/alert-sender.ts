/**
 * Sends alert messages that are due, with the egress and the signatures of deliveries. The message in the store says
 * what is left to do: after a crash it is sent again. A message is no delivery, so a channel that fails counts nowhere.
 *
 * A channel gets one message at a time. Customers are served round robin, and so are the channels of each, so that
 * channels that hang delay neither other channels nor other customers.
 */
import { type AlertMessage, afterAttempt } from '#src/domain/alert-message.ts';
import type { AttemptResult } from '#src/domain/delivery-lifecycle.ts';
import { failureResult } from '#src/domain/failures.ts';
import type { AlertChannelId } from '#src/domain/id.ts';
import type { Partition } from '#src/domain/project.ts';
import { RecentCache } from '#src/domain/recent-cache.ts';
import { alertUrlContext } from '#src/domain/sealing-contexts.ts';
import { judgeSent } from '#src/engine/attempt/judged-attempt.ts';
import { Sender } from '#src/engine/attempt/sender.ts';
import { SigningKeys } from '#src/engine/attempt/signing-keys.ts';
import { isUpkeepNode } from '#src/engine/cluster/slot-ownership.ts';
import { type OutageLog, warnsOfOutage } from '#src/engine/outage-log.ts';
import type { OutboundRequest } from '#src/ports/egress.ts';
import { PeriodicTask, SOON_MS, type Wait } from '#src/ports/periodic-task.ts';
import { StoreUnavailable } from '#src/ports/store.ts';
import { pause } from '#src/ports/system.ts';
import { alertRequest } from './alert-request.ts';
import type { AlertsDependencies } from './dependencies.ts';

export const IN_FLIGHT_MAX = 64;
/** Messages of one customer in flight. */
export const CUSTOMER_IN_FLIGHT_MAX = 4;
const CUSTOMERS_KEPT_MAX = 1_000;
const TIMEOUT_MS = 15_000;
const LOOK_EVERY_MS = 1_000;
/** The same where a look asks many servers. */
const LOOK_AT_SERVERS_EVERY_MS = 5_000;
/** An outcome that could not be stored is stored again after this time. Meanwhile the message is not sent again. */
const STORE_AGAIN_MS = 1_000;

const CHANNEL_REMOVED: AttemptResult = {
  outcome: 'terminal',
  statusCode: null,
  error: 'the channel was removed',
};

interface InFlight {
  readonly partition: Partition;
  readonly ended: Promise<void>;
}

export class AlertSender {
  readonly #dependencies: AlertsDependencies;
  readonly #sender: Sender;
  readonly #keys: SigningKeys;
  readonly #outage: OutageLog;
  readonly #task: PeriodicTask;
  /** Messages in flight, by channel. */
  readonly #inFlight = new Map<AlertChannelId, InFlight>();
  /** The customer that was served last; null at the start of a round. */
  #after: Partition | null = null;
  /** The channel of each customer that was served last. */
  readonly #lastChannels = new RecentCache<Partition, AlertChannelId>(CUSTOMERS_KEPT_MAX);

  constructor(dependencies: AlertsDependencies) {
    this.#dependencies = dependencies;
    this.#sender = new Sender(dependencies);
    this.#keys = new SigningKeys(dependencies);
    this.#outage = warnsOfOutage(
      dependencies,
      'alert messages could not be read or stored',
      'alert messages are read and stored again',
    );
    this.#task = new PeriodicTask(
      dependencies.timers,
      () => this.#run(),
      (error) => {
        this.#outage.failed({ error: String(error) });
        return this.#everyMs;
      },
    );
  }

  start(): void {
    this.#task.runNow();
  }

  /** Messages were created. */
  wake(): void {
    this.#task.runSoon();
  }

  /** Messages in flight are interrupted. They stay due, so the next process sends them again. */
  async stop(): Promise<void> {
    await this.#task.stop();
    this.#sender.interrupt();
    await Promise.all([...this.#inFlight.values()].map(({ ended }) => ended));
    this.#outage.stop();
  }

  get #everyMs(): number {
    return this.#dependencies.store.worksByCustomer ? LOOK_AT_SERVERS_EVERY_MS : LOOK_EVERY_MS;
  }

  /** Begins messages of the next customers. The end of a message runs it again. */
  async #run(): Promise<Wait> {
    const { store, clock, ownership } = this.#dependencies;
    const room = IN_FLIGHT_MAX - this.#inFlight.size;
    if (!isUpkeepNode(ownership) || room === 0) return this.#everyMs;
    const after = this.#after;
    const next = await store.alerts.listPartitionsWithMessages(after, clock.now(), room);
    this.#after = next.length < room ? null : (next.at(-1) ?? null);
    // A message in flight may not be stored yet.
    if (this.#inFlight.size === 0) this.#outage.succeeded();
    let begun = 0;
    for (const partition of next) begun += await this.#begin(partition);
    return begun > 0 || after !== null ? SOON_MS : this.#everyMs;
  }

  /** Returns how many messages were begun. */
  async #begin(partition: Partition): Promise<number> {
    const own = [...this.#inFlight.values()].filter((one) => one.partition === partition).length;
    const room = Math.min(CUSTOMER_IN_FLIGHT_MAX - own, IN_FLIGHT_MAX - this.#inFlight.size);
    if (room <= 0) return 0;
    const { store, clock } = this.#dependencies;
    // A message of such a channel may be read as waiting although it has just ended.
    const busy = new Set(this.#inFlight.keys());
    const due = await store.alerts.listDueMessages(partition, clock.now());
    if (this.#task.isStopped) return 0;
    const last = this.#lastChannels.get(partition);
    const isNext = ({ channelId }: AlertMessage) => last === undefined || channelId > last;
    const inTurn = [...due.filter(isNext), ...due.filter((one) => !isNext(one))];
    const messages = inTurn.filter(({ channelId }) => !busy.has(channelId)).slice(0, room);
    for (const message of messages) {
      this.#inFlight.set(message.channelId, { partition, ended: this.#deliver(message) });
      this.#lastChannels.set(partition, message.channelId);
    }
    return messages.length;
  }

  /** Never rejects. */
  async #deliver(message: AlertMessage): Promise<void> {
    try {
      const result = await this.#attempt(message);
      if (!this.#wasInterrupted(result)) await this.#store(message, result);
    } catch (error) {
      this.#outage.failed({ error: String(error) });
    }
    this.#inFlight.delete(message.channelId);
    this.#task.runSoon();
  }

  #wasInterrupted(result: AttemptResult): boolean {
    return this.#task.isStopped && result.outcome !== 'success' && result.statusCode === null;
  }

  /** Rejects while the store is away. */
  async #attempt(message: AlertMessage): Promise<AttemptResult> {
    const request = await this.#requestOf(message);
    if ('outcome' in request) return request;
    return judgeSent(await this.#sender.send(request, TIMEOUT_MS, () => {})).result;
  }

  async #requestOf(message: AlertMessage): Promise<OutboundRequest | AttemptResult> {
    const { store, vault, clock, ids, log } = this.#dependencies;
    const { partition, channelId } = message;
    const channel = await store.alerts.findChannel(partition, channelId);
    if (channel === null) return CHANNEL_REMOVED;
    try {
      const opened = vault.open(alertUrlContext(partition, channelId), channel.sealedUrl);
      const url = new URL(Buffer.from(opened).toString());
      const keys =
        channel.kind === 'slack'
          ? []
          : (await this.#keys.of({ partition, target: { endpointId: null } })).all;
      if (channel.kind === 'webhook' && keys.length === 0) return failureResult('no_signing_secret');
      const now = clock.now();
      return alertRequest({ channel, url, message, attemptId: ids.mint('att', now), keys, now });
    } catch (error) {
      if (error instanceof StoreUnavailable) throw error;
      // The error of an unreadable URL might repeat it.
      log.error({ channel: channelId, message: message.id }, 'an alert message could not be made ready');
      return failureResult('request_unreadable');
    }
  }

  async #store(message: AlertMessage, result: AttemptResult): Promise<void> {
    const { store, clock, timers, log } = this.#dependencies;
    const next = afterAttempt(message, result, clock.now());
    for (;;) {
      try {
        await store.alerts.replaceMessage(next);
        this.#outage.succeeded();
        break;
      } catch (error) {
        this.#outage.failed({ error: String(error) });
        if (this.#task.isStopped) return;
        await pause(timers, STORE_AGAIN_MS);
      }
    }
    if (next.status === 'failed') {
      const fields = { channel: next.channelId, message: next.id, error: next.error };
      log.warn(fields, 'an alert message could not be delivered');
    }
  }
}
