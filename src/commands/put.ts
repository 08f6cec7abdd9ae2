/** The common parts of writes by name: what they answer, and the loop that finds the object again. */
import { Refusal } from '#src/domain/errors.ts';
import type { Partition } from '#src/domain/project.ts';
import type { NamedKind } from '#src/ports/store.ts';
import { CONFLICTS_MAX, type Commands, type Render, type RenderedAnswer } from './command.ts';

export type PlanAction = 'create' | 'change' | 'none';

/** Renders what a write would do, with the names of the fields that differ. */
export type RenderPlan = (action: PlanAction, fields: readonly string[]) => RenderedAnswer;

export interface PutAnswers<T> {
  readonly created: Render<T>;
  readonly present: Render<T>;
  /** If it is not null, nothing is written, and this renders the answer. */
  readonly plan: RenderPlan | null;
}

/**
 * Writes to the same name run one after the other. If two nodes create an object under one name at once, one of them
 * finds the name taken, and changes the object of the other.
 */
export function byName(
  { mutex }: Pick<Commands, 'mutex'>,
  partition: Partition,
  kind: NamedKind,
  name: string,
  write: () => Promise<RenderedAnswer>,
): Promise<RenderedAnswer> {
  return mutex.run(`${partition}/${kind}/${name}`, async () => {
    for (let conflicts = 0; ; conflicts++) {
      try {
        return await write();
      } catch (error) {
        const isTaken = error instanceof Refusal && error.code === 'name_taken';
        if (!isTaken || conflicts >= CONFLICTS_MAX) throw error;
      }
    }
  });
}

/** The answer to a write that would change nothing. */
export function unchanged(answer: RenderedAnswer): RenderedAnswer {
  return { ...answer, isUnchanged: true };
}
