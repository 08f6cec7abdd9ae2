/**
 * What fires deliveries: the dispatcher that claims them, the tries that send and settle them, and the
 * housekeeping around. Built on ports only; the same engine runs in the service and in the simulation.
 */
import type { Due } from '#src/domain/due.ts';
import type { Hints } from '#src/ports/hints.ts';
import type { EngineGauges } from '#src/ports/telemetry.ts';
import { Dispatcher } from './dispatcher.ts';
import { Gates } from './gates.ts';
import { Janitor } from './janitor.ts';
import { Recovery } from './recovery.ts';
import { Settler } from './settler.ts';
import { Tries } from './tries.ts';
import { type EngineWorld, pause } from './world.ts';

const RECOVER_AGAIN_MS = 500;

export interface EngineOptions {
  /** How long history is kept; 0 for ever. */
  readonly retentionMs: number;
}

export class Engine implements Hints {
  readonly #world: EngineWorld;
  readonly #gates: Gates;
  readonly #settler: Settler;
  readonly #tries: Tries;
  readonly #dispatcher: Dispatcher;
  readonly #recovery: Recovery;
  readonly #janitor: Janitor;
  #isStopped = false;
  #isRecovering = false;
  /** Of a claim, since the recovery under way began to look. */
  #hasLostTrack = false;

  constructor(world: EngineWorld, options: EngineOptions) {
    this.#world = world;
    this.#gates = new Gates(world);
    this.#settler = new Settler(world);
    this.#tries = new Tries(world, this.#gates, this.#settler, {
      due: (due) => this.#dispatcher.due(due),
      lookAgain: () => this.#dispatcher.lookAgain(),
      release: (due) => this.#dispatcher.release(due),
      turnSoon: () => this.#dispatcher.turnSoon(),
      bringForward: (heldBack) => this.#dispatcher.bringForward(heldBack),
      lostTrack: () => void this.#recoverUntilDone(RECOVER_AGAIN_MS),
    });
    this.#dispatcher = new Dispatcher(world, this.#gates, this.#tries);
    this.#recovery = new Recovery(world, this.#settler, this, (token) => this.#tries.isUnderWay(token));
    this.#janitor = new Janitor(world, options.retentionMs);
    world.metrics.watch(() => this.gauges());
  }

  /** Closes what a process before left under way, then fires. */
  async start(): Promise<void> {
    await this.#recoverUntilDone(0);
    if (this.#isStopped) return;
    this.#dispatcher.start();
    this.#janitor.start();
  }

  due(due: Due | null): void {
    this.#dispatcher.due(due);
  }

  lookAgain(): void {
    this.#dispatcher.lookAgain();
  }

  get isFiring(): boolean {
    return this.#dispatcher.isFiring;
  }

  gauges(): EngineGauges {
    return {
      waiting: this.#dispatcher.waiting,
      inFlight: this.#dispatcher.inFlight,
      breakers: this.#gates.breakers(this.#world.clock.now()),
    };
  }

  async #recoverUntilDone(afterMs: number): Promise<void> {
    this.#hasLostTrack = true;
    if (this.#isRecovering) return;
    this.#isRecovering = true;
    if (afterMs > 0) await pause(this.#world.timers, afterMs);
    while (!this.#isStopped) {
      this.#hasLostTrack = false;
      try {
        const closed = await this.#recovery.run();
        // A run is bounded: what it closed may not have been all.
        if (!this.#hasLostTrack && closed > 0) continue;
        if (!this.#hasLostTrack) break;
      } catch (error) {
        this.#world.log.warn({ error: String(error) }, 'lost tries could not be looked for');
      }
      await pause(this.#world.timers, RECOVER_AGAIN_MS);
    }
    this.#isRecovering = false;
  }

  /** Claims nothing more, lets the requests under way finish within the grace, breaks off the others. */
  async stop(graceMs: number): Promise<void> {
    this.#isStopped = true;
    this.#dispatcher.stop();
    const tidied = this.#janitor.stop();
    const grace = Promise.withResolvers<void>();
    const callOff = this.#world.timers.after(graceMs, grace.resolve);
    await Promise.race([this.#tries.idle(), grace.promise]);
    callOff();
    this.#settler.giveUp();
    this.#tries.interrupt();
    await this.#tries.idle();
    await tidied;
    this.#gates.stop();
    try {
      await this.#gates.save();
    } catch (error) {
      this.#world.log.warn({ error: String(error) }, 'the state of the gates could not be saved');
    }
  }
}
