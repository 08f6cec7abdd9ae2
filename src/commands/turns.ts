/**
 * Changes to one object take turns. Its `revision` would sort them out too, but each that comes too late
 * has to decide again: of a hundred at once, most would in vain. Across nodes the revision is what is left.
 */
export class Turns {
  readonly #last = new Map<string, Promise<unknown>>();

  /** Runs `act` when everything asked before for the same object is through. */
  async take<T>(object: string, act: () => Promise<T>): Promise<T> {
    const before = this.#last.get(object) ?? Promise.resolve();
    const turn = before.then(act, act);
    this.#last.set(object, turn);
    try {
      return await turn;
    } finally {
      if (this.#last.get(object) === turn) this.#last.delete(object);
    }
  }
}
