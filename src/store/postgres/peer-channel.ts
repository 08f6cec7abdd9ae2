/**
 * Messages between nodes, by LISTEN and NOTIFY on a connection of its own. Messages are collected for a few
 * milliseconds and sent outside of transactions, because a NOTIFY in a transaction makes commits wait for each
 * other.
 *
 * Every message is only a hint. The same facts are in the database, and every node scans it, so a lost message costs
 * only time. Incoming messages are validated, because every client of the database can send them.
 */
import type { Client } from 'pg';
import type { DueDelivery } from '#src/domain/due-delivery.ts';
import type { Peers } from '#src/ports/hints.ts';
import { PeriodicTask } from '#src/ports/periodic-task.ts';
import type { Stopwatch, Timers } from '#src/ports/system.ts';
import { ReconnectingClient } from './reconnecting-client.ts';

const CHANNEL = 'sched';
const COLLECT_MS = 3;
/** The limit of PostgreSQL is 8,000 bytes. The rest is for the frame of the message. */
const PAYLOAD_CHARACTERS_MAX = 7_000;
/** When more than this are due at once, one message asks for a scan instead. */
const DUES_MAX = 500;
/** A silent connection may be dead without notice, so a query checks it. */
const KEEP_ALIVE_MS = 5_000;
const LISTEN_MS_MAX = 5_000;

export interface PeerChannelDependencies {
  readonly connect: () => Promise<Client>;
  readonly timers: Timers & Stopwatch;
  readonly node: string;
  /** Receives the messages of other nodes. */
  readonly listener: Peers;
}

interface Message {
  readonly from: string;
  readonly dues: readonly DueDelivery[];
  readonly rescan: boolean;
  readonly slots: boolean;
}

export class PeerChannel implements Peers {
  readonly #dependencies: PeerChannelDependencies;
  readonly #client: ReconnectingClient;
  #dues: DueDelivery[] = [];
  #isRescan = false;
  #isSlotChange = false;
  #isCollecting = false;
  readonly #keepAlive: PeriodicTask;

  constructor(dependencies: PeerChannelDependencies) {
    this.#dependencies = dependencies;
    this.#client = new ReconnectingClient({
      connect: () => this.#listen(),
      timers: dependencies.timers,
      prepares: false,
    });
    this.#keepAlive = new PeriodicTask(dependencies.timers, () => this.#checkConnection());
  }

  async open(): Promise<void> {
    await this.#client.open();
    this.#keepAlive.runWithin(KEEP_ALIVE_MS);
  }

  due(due: DueDelivery): void {
    if (this.#dues.length >= DUES_MAX) this.#isRescan = true;
    else this.#dues.push(due);
    this.#collect();
  }

  rescan(): void {
    this.#isRescan = true;
    this.#collect();
  }

  slotsChanged(): void {
    this.#isSlotChange = true;
    this.#collect();
  }

  async close(): Promise<void> {
    await this.#keepAlive.stop();
    await this.#publish();
    await this.#client.close();
  }

  async #listen(): Promise<Client> {
    const client = await this.#dependencies.connect();
    client.on('notification', ({ payload = '' }) => this.#receive(payload));
    const drop = () => void client.connection.stream.destroy();
    const cancel = this.#dependencies.timers.after(LISTEN_MS_MAX, drop);
    await client
      .query(`LISTEN ${CHANNEL}`)
      .catch((error: unknown) => {
        drop();
        throw error;
      })
      .finally(cancel);
    // Messages that were sent before LISTEN are lost.
    this.#dependencies.listener.rescan();
    this.#dependencies.listener.slotsChanged();
    return client;
  }

  #checkConnection(): number {
    if (this.#client.isConnected && this.#client.inFlight === 0) {
      this.#client.send('SELECT 1').catch(() => {});
    }
    return KEEP_ALIVE_MS;
  }

  #collect(): void {
    if (this.#isCollecting) return;
    this.#isCollecting = true;
    this.#dependencies.timers.after(COLLECT_MS, () => {
      this.#isCollecting = false;
      void this.#publish();
    });
  }

  async #publish(): Promise<void> {
    const messages = this.#pack();
    if (messages.length === 0) return;
    try {
      await this.#client.send(`SELECT pg_notify('${CHANNEL}', message) FROM unnest($1::text[]) AS message`, [
        messages.map((message) => JSON.stringify(message)),
      ]);
    } catch {
      // The other nodes scan the database anyway.
    }
  }

  /** Packs the collected hints into as few messages as possible. */
  #pack(): readonly Message[] {
    const { node } = this.#dependencies;
    const messages: Message[] = [];
    let isRescan = this.#isRescan;
    let dues: DueDelivery[] = [];
    let characters = 0;
    for (const due of this.#dues) {
      const { length } = JSON.stringify(due);
      if (length > PAYLOAD_CHARACTERS_MAX) {
        isRescan = true;
        continue;
      }
      if (characters + length > PAYLOAD_CHARACTERS_MAX) {
        messages.push({ from: node, dues, rescan: false, slots: false });
        dues = [];
        characters = 0;
      }
      dues.push(due);
      characters += length;
    }
    if (dues.length > 0 || isRescan || this.#isSlotChange) {
      messages.push({ from: node, dues, rescan: isRescan, slots: this.#isSlotChange });
    }
    this.#dues = [];
    this.#isRescan = false;
    this.#isSlotChange = false;
    return messages;
  }

  #receive(payload: string): void {
    const message = parseMessage(payload);
    if (message === null || message.from === this.#dependencies.node) return;
    const { listener } = this.#dependencies;
    for (const due of message.dues) listener.due(due);
    if (message.rescan) listener.rescan();
    if (message.slots) listener.slotsChanged();
  }
}

function parseMessage(payload: string): Message | null {
  try {
    const message = JSON.parse(payload) as Partial<Message> | null;
    if (typeof message !== 'object' || message === null || !Array.isArray(message.dues)) return null;
    return {
      from: String(message.from),
      dues: (message.dues as readonly unknown[]).filter(isDue),
      rescan: message.rescan === true,
      slots: message.slots === true,
    };
  } catch {
    return null;
  }
}

function isDue(value: unknown): value is DueDelivery {
  if (typeof value !== 'object' || value === null) return false;
  const due = value as Record<keyof DueDelivery, unknown>;
  const { partition, id, dueAt, deadline, endpoint, origin, payloadBytes } = due;
  return (
    Number.isSafeInteger(partition) &&
    typeof id === 'string' &&
    Number.isSafeInteger(dueAt) &&
    (deadline === null || Number.isSafeInteger(deadline)) &&
    typeof endpoint === 'string' &&
    typeof origin === 'string' &&
    Number.isSafeInteger(payloadBytes)
  );
}
