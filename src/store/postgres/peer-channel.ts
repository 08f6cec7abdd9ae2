/**
 * What nodes tell each other, by LISTEN and NOTIFY on a connection of its own. Messages are gathered for a few
 * milliseconds and sent outside of every transaction: a NOTIFY inside would make all commits wait for each other.
 *
 * Everything said here is also in the database, and every node looks there for itself: what gets lost costs
 * time, nothing else. What is heard is checked all the same; whoever may connect may speak.
 */
import type { Client } from 'pg';
import type { DueDelivery } from '#src/domain/due-delivery.ts';
import type { Peers } from '#src/ports/hints.ts';
import { PeriodicTask } from '#src/ports/periodic-task.ts';
import type { Stopwatch, Timers } from '#src/ports/system.ts';
import { ReconnectingClient } from './reconnecting-client.ts';

const CHANNEL = 'sched';
const GATHER_MS = 3;
/** What fits into a notification, with room for its frame. */
const PAYLOAD_CHARACTERS_MAX = 7_000;
/** More than this at once is said as one: look. */
const DUES_MAX = 500;
/** A connection that nobody speaks on may be dead without anybody noticing. */
const ALIVE_MS = 5_000;
const LISTEN_MS_MAX = 5_000;

export interface PeerChannelDependencies {
  readonly connect: () => Promise<Client>;
  readonly timers: Timers & Stopwatch;
  readonly node: string;
  /** Who is told what the others say. */
  readonly listener: Peers;
}

interface Message {
  readonly from: string;
  readonly dues: readonly DueDelivery[];
  readonly look: boolean;
  readonly slots: boolean;
}

export class PeerChannel implements Peers {
  readonly #dependencies: PeerChannelDependencies;
  readonly #client: ReconnectingClient;
  #dues: DueDelivery[] = [];
  #isLook = false;
  #isSlots = false;
  #isGathering = false;
  readonly #keepAlive: PeriodicTask;

  constructor(dependencies: PeerChannelDependencies) {
    this.#dependencies = dependencies;
    this.#client = new ReconnectingClient({
      connect: () => this.#listen(),
      timers: dependencies.timers,
      prepares: false,
    });
    this.#keepAlive = new PeriodicTask(dependencies.timers, () => this.#stayAlive());
  }

  async open(): Promise<void> {
    await this.#client.open();
    this.#keepAlive.runWithin(ALIVE_MS);
  }

  due(due: DueDelivery): void {
    if (this.#dues.length >= DUES_MAX) this.#isLook = true;
    else this.#dues.push(due);
    this.#gather();
  }

  rescan(): void {
    this.#isLook = true;
    this.#gather();
  }

  slotsChanged(): void {
    this.#isSlots = true;
    this.#gather();
  }

  async close(): Promise<void> {
    await this.#keepAlive.stop();
    await this.#say();
    await this.#client.close();
  }

  async #listen(): Promise<Client> {
    const client = await this.#dependencies.connect();
    client.on('notification', ({ payload = '' }) => this.#hear(payload));
    const drop = () => void client.connection.stream.destroy();
    const callOff = this.#dependencies.timers.after(LISTEN_MS_MAX, drop);
    await client
      .query(`LISTEN ${CHANNEL}`)
      .catch((error: unknown) => {
        drop();
        throw error;
      })
      .finally(callOff);
    // Whatever was said while nobody listened is lost.
    this.#dependencies.listener.rescan();
    this.#dependencies.listener.slotsChanged();
    return client;
  }

  #stayAlive(): number {
    if (this.#client.isConnected && this.#client.inFlight === 0) {
      this.#client.send('SELECT 1').catch(() => {});
    }
    return ALIVE_MS;
  }

  #gather(): void {
    if (this.#isGathering) return;
    this.#isGathering = true;
    this.#dependencies.timers.after(GATHER_MS, () => {
      this.#isGathering = false;
      void this.#say();
    });
  }

  async #say(): Promise<void> {
    const notes = this.#take();
    if (notes.length === 0) return;
    try {
      await this.#client.send(`SELECT pg_notify('${CHANNEL}', note) FROM unnest($1::text[]) AS note`, [
        notes.map((note) => JSON.stringify(note)),
      ]);
    } catch {
      // They look for themselves.
    }
  }

  /** As few notes as they fit into. */
  #take(): readonly Message[] {
    const { node } = this.#dependencies;
    const notes: Message[] = [];
    let look = this.#isLook;
    let dues: DueDelivery[] = [];
    let characters = 0;
    for (const due of this.#dues) {
      const { length } = JSON.stringify(due);
      if (length > PAYLOAD_CHARACTERS_MAX) {
        look = true;
        continue;
      }
      if (characters + length > PAYLOAD_CHARACTERS_MAX) {
        notes.push({ from: node, dues, look: false, slots: false });
        dues = [];
        characters = 0;
      }
      dues.push(due);
      characters += length;
    }
    if (dues.length > 0 || look || this.#isSlots) {
      notes.push({ from: node, dues, look, slots: this.#isSlots });
    }
    this.#dues = [];
    this.#isLook = false;
    this.#isSlots = false;
    return notes;
  }

  #hear(payload: string): void {
    const note = noteOf(payload);
    if (note === null || note.from === this.#dependencies.node) return;
    const { listener: heard } = this.#dependencies;
    for (const due of note.dues) heard.due(due);
    if (note.look) heard.rescan();
    if (note.slots) heard.slotsChanged();
  }
}

function noteOf(payload: string): Message | null {
  try {
    const note = JSON.parse(payload) as Partial<Message> | null;
    if (typeof note !== 'object' || note === null || !Array.isArray(note.dues)) return null;
    return {
      from: String(note.from),
      dues: (note.dues as readonly unknown[]).filter(isDue),
      look: note.look === true,
      slots: note.slots === true,
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
