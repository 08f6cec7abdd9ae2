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
import type { DatabaseAddress } from './address.ts';
import { connector } from './connect.ts';
import { ReconnectingClient } from './reconnecting-client.ts';

const CHANNEL = 'sched';
const COLLECT_MS = 3;
/** The limit of PostgreSQL is 8,000 bytes. The rest is for the frame of the message. */
const PAYLOAD_CHARACTERS_MAX = 7_000;
/** When more than this are due at once, one message asks for a scan instead. */
const DUES_MAX = 500;
/** A silent connection may be dead without notice, so a query checks it. */
const KEEP_ALIVE_MS = 5_000;
const NOTIFY = `SELECT pg_notify('${CHANNEL}', message) FROM unnest($1::text[]) AS message`;

export interface PeerChannelDependencies {
  readonly address: DatabaseAddress;
  readonly timers: Timers & Stopwatch;
  readonly node: string;
  /** Receives the messages of other nodes. */
  readonly listener: Peers;
}

interface Hints {
  readonly dues: DueDelivery[];
  rescan: boolean;
  slots: boolean;
}

interface Message extends Readonly<Hints> {
  readonly from: string;
}

export class PeerChannel implements Peers {
  readonly #dependencies: PeerChannelDependencies;
  readonly #client: ReconnectingClient;
  readonly #keepAlive: PeriodicTask;
  /** The hints that wait to be sent; null if there are none. */
  #hints: Hints | null = null;

  constructor(dependencies: PeerChannelDependencies) {
    const { address, timers } = dependencies;
    this.#dependencies = dependencies;
    this.#client = new ReconnectingClient({
      connect: connector(address, { timers, prepare: (client) => this.#listen(client) }),
      timers,
      prepares: false,
    });
    this.#keepAlive = new PeriodicTask(timers, () => this.#checkConnection());
  }

  async open(): Promise<void> {
    await this.#client.open();
    this.#keepAlive.runWithin(KEEP_ALIVE_MS);
  }

  due(due: DueDelivery): void {
    const hints = this.#collect();
    if (hints.dues.length < DUES_MAX) hints.dues.push(due);
    else hints.rescan = true;
  }

  rescan(): void {
    this.#collect().rescan = true;
  }

  slotsChanged(): void {
    this.#collect().slots = true;
  }

  async close(): Promise<void> {
    await this.#keepAlive.stop();
    await this.#publish();
    await this.#client.close();
  }

  async #listen(client: Client): Promise<void> {
    client.on('notification', ({ payload = '' }) => this.#receive(payload));
    await client.query(`LISTEN ${CHANNEL}`);
    // Messages that were sent before LISTEN are lost.
    this.#dependencies.listener.rescan();
    this.#dependencies.listener.slotsChanged();
  }

  #checkConnection(): number {
    if (this.#client.isConnected && this.#client.inFlight === 0) {
      this.#client.send('SELECT 1').catch(() => {});
    }
    return KEEP_ALIVE_MS;
  }

  #collect(): Hints {
    if (this.#hints === null) {
      this.#hints = { dues: [], rescan: false, slots: false };
      this.#dependencies.timers.after(COLLECT_MS, () => void this.#publish());
    }
    return this.#hints;
  }

  async #publish(): Promise<void> {
    if (this.#hints === null) return;
    const messages = pack(this.#dependencies.node, this.#hints);
    this.#hints = null;
    try {
      await this.#client.send(NOTIFY, [messages.map((message) => JSON.stringify(message))]);
    } catch {
      // The other nodes scan the database anyway.
    }
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

/** Packs hints into as few messages as possible. */
function pack(from: string, hints: Hints): readonly Message[] {
  let { rescan } = hints;
  let characters = 0;
  const packs: DueDelivery[][] = [[]];
  for (const due of hints.dues) {
    const { length } = JSON.stringify(due);
    if (length > PAYLOAD_CHARACTERS_MAX) {
      rescan = true;
      continue;
    }
    characters += length;
    if (characters > PAYLOAD_CHARACTERS_MAX) {
      packs.push([]);
      characters = length;
    }
    packs.at(-1)?.push(due);
  }
  return packs.map((dues, index) => {
    const isLast = index === packs.length - 1;
    return { from, dues, rescan: isLast && rescan, slots: isLast && hints.slots };
  });
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

const isText = (value: unknown) => typeof value === 'string';
const DUE_FIELDS: Readonly<Record<keyof DueDelivery, (value: unknown) => boolean>> = {
  partition: Number.isSafeInteger,
  id: isText,
  dueAt: Number.isSafeInteger,
  deadline: (value) => value === null || Number.isSafeInteger(value),
  endpoint: isText,
  origin: isText,
  payloadBytes: Number.isSafeInteger,
};

function isDue(value: unknown): value is DueDelivery {
  if (typeof value !== 'object' || value === null) return false;
  const given = value as Readonly<Record<string, unknown>>;
  return Object.entries(DUE_FIELDS).every(([field, isValid]) => isValid(given[field]));
}
