/**
 * The connections of one origin that are being opened, and the waiter that each is for.
 *
 * A pending connection belongs to the waiter it is opened for. If it fails to open, that waiter fails. If
 * the waiter is served by another connection first, the pending one is reassigned to the next waiter that
 * has none, or has no owner. A connection that opens slowly may never open, so it is not reassigned.
 */
import type { Timers } from '#src/ports/system.ts';

/** A connection that is not open after this time is slow. */
export const SLOW_AFTER_MS = 1_000;

export interface PendingConnection<Waiter> {
  /** Null if it is opened ahead of time, or if its waiter was served by another connection. */
  readonly owner: Waiter | null;
  /** Whether the connection was opened for its present owner. */
  readonly isFirstOwner: boolean;
  readonly cancelTimer: () => void;
}

export class PendingConnections<Connection, Waiter> {
  readonly #timers: Timers;
  readonly #onSlow: (connection: Connection, pending: PendingConnection<Waiter>) => void;
  readonly #all = new Map<Connection, PendingConnection<Waiter>>();
  readonly #unowned = new Set<Connection>();
  readonly #slow = new Set<Connection>();
  /** Waiters in the order they came. */
  readonly #owners = new Map<Waiter, Connection>();

  constructor(timers: Timers, onSlow: (connection: Connection, pending: PendingConnection<Waiter>) => void) {
    this.#timers = timers;
    this.#onSlow = onSlow;
  }

  get isEmpty(): boolean {
    return this.#all.size === 0;
  }

  /** Connections that are expected to open soon. */
  get onTimeCount(): number {
    return this.#all.size - this.#slow.size;
  }

  connections(): Iterable<Connection> {
    return this.#all.keys();
  }

  unowned(): Connection | undefined {
    return this.#unowned.size === 0 ? undefined : this.#unowned.values().next().value;
  }

  /** The waiter that has waited longest, and its connection. */
  oldestOwner(): readonly [Waiter, Connection] | undefined {
    return this.#owners.size === 0 ? undefined : this.#owners.entries().next().value;
  }

  connectionOf(owner: Waiter): Connection | undefined {
    return this.#owners.get(owner);
  }

  add(connection: Connection, owner: Waiter | null): void {
    const cancelTimer = this.#timers.after(SLOW_AFTER_MS, () => {
      const pending = this.#all.get(connection);
      if (pending !== undefined) this.#onSlow(connection, pending);
    });
    this.#assign(connection, { owner, isFirstOwner: true, cancelTimer });
  }

  isSlow(connection: Connection): boolean {
    return this.#slow.has(connection);
  }

  markSlow(connection: Connection): void {
    this.#slow.add(connection);
  }

  reassign(connection: Connection, owner: Waiter | null): void {
    const pending = this.#all.get(connection);
    if (pending === undefined) return;
    this.#unassign(connection, pending);
    this.#assign(connection, { owner, isFirstOwner: false, cancelTimer: pending.cancelTimer });
  }

  /** Returns what was recorded, or undefined if the connection is not pending. */
  remove(connection: Connection): PendingConnection<Waiter> | undefined {
    const pending = this.#all.get(connection);
    if (pending === undefined) return undefined;
    pending.cancelTimer();
    this.#all.delete(connection);
    this.#slow.delete(connection);
    this.#unassign(connection, pending);
    return pending;
  }

  #assign(connection: Connection, pending: PendingConnection<Waiter>): void {
    this.#all.set(connection, pending);
    if (pending.owner === null) this.#unowned.add(connection);
    else this.#owners.set(pending.owner, connection);
  }

  /** The owner may have been given another connection in the meantime. */
  #unassign(connection: Connection, { owner }: PendingConnection<Waiter>): void {
    this.#unowned.delete(connection);
    if (owner !== null && this.#owners.get(owner) === connection) this.#owners.delete(owner);
  }
}
