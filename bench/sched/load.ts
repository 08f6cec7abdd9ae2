/** Creates schedules over HTTP. The load comes from a process of its own. */
import { endChild, messageFrom, startChild } from '../child.ts';
import type { Created, CreateLoad } from '../contender.ts';

export interface HttpLoad extends CreateLoad {
  /** The connections are spread evenly over the URLs. */
  readonly urls: readonly string[];
  readonly apiKey: string;
}

export type LoadMessage =
  | { readonly kind: 'done'; readonly created: Created }
  | { readonly kind: 'failed'; readonly why: string };

const MS_PER_SECOND = 1_000;
/** The time for an answer, in addition to the seconds of the load. */
const LOAD_MS_MAX = 30_000;

export async function createOverHttp(load: HttpLoad): Promise<Created> {
  const child = startChild('sched/load-process.ts');
  try {
    const done = messageFrom(
      child,
      load.seconds * MS_PER_SECOND + LOAD_MS_MAX,
      (message: LoadMessage) => message,
    );
    child.send(load);
    const message = await done;
    if (message.kind === 'failed') throw new Error(message.why);
    return message.created;
  } finally {
    await endChild(child);
  }
}
