/**
 * Sends alert messages that are due, a few at a time and round robin by customer, with the egress and the signatures of
 * deliveries. The message in the store says what is left to do: after a crash it is sent again. A message is no
 * delivery, so a channel that fails counts nowhere.
 */
import { type AlertMessage, afterAttempt } from '#src/domain/alert-message.ts';
import type { AttemptResult } from '#src/domain/delivery-lifecycle.ts';
import { failureResult } from '#src/domain/failures.ts';
import type { DeliveryId } from '#src/domain/id.ts';
import type { Partition } from '#src/domain/project.ts';
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

export const IN_FLIGHT_MAX = 8;
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

export class AlertSender {
  readonly #dependencies: AlertsDependencies;
  readonly #sender: Sender;
  readonly #keys: SigningKeys;
  readonly #outage: OutageLog;
  readonly #task: PeriodicTask;
  readonly #inFlight = new Map<DeliveryId, Promise<void>>();
  /** The customer that was served last; null at the start of a round. */
  #after: Partition | null = null;

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
    await Promise.all(this.#inFlight.values());
    this.#outage.stop();
  }

  get #everyMs(): number {
    return this.#dependencies.store.worksByCustomer ? LOOK_AT_SERVERS_EVERY_MS : LOOK_EVERY_MS;
  }

  /** Begins one message of each of the next customers. The end of a message runs it again. */
  async #run(): Promise<Wait> {
    const { store, clock, ownership } = this.#dependencies;
    const room = IN_FLIGHT_MAX - this.#inFlight.size;
    if (!isUpkeepNode(ownership) || room === 0) return this.#everyMs;
    const after = this.#after;
    const next = await store.alerts.listPartitionsWithMessages(after, clock.now(), room);
    this.#after = next.length < room ? null : (next.at(-1) ?? null);
    let hasBegun = false;
    for (const partition of next) hasBegun = (await this.#beginOne(partition)) || hasBegun;
    return hasBegun || after !== null ? SOON_MS : this.#everyMs;
  }

  async #beginOne(partition: Partition): Promise<boolean> {
    const { store, clock } = this.#dependencies;
    const due = await store.alerts.listDueMessages(partition, clock.now(), IN_FLIGHT_MAX + 1);
    const message = due.find(({ id }) => !this.#inFlight.has(id));
    if (message === undefined || this.#task.isStopped) return false;
    this.#inFlight.set(message.id, this.#deliver(message));
    return true;
  }

  /** Never rejects. */
  async #deliver(message: AlertMessage): Promise<void> {
    try {
      const result = await this.#attempt(message);
      if (!this.#wasInterrupted(result)) await this.#store(message, result);
    } catch (error) {
      this.#outage.failed({ error: String(error) });
    }
    this.#inFlight.delete(message.id);
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
