/** Reads figures of a node from its `/metrics`. */

export interface NodeFigures {
  /** Null if the node is a single process, which has no slots. */
  readonly slotsLost: number | null;
  /** The longest delay since the last reading of the metrics. Null if the node does not export it. */
  readonly eventLoopDelayMaxMs: number | null;
}

const MS_PER_SECOND = 1_000;
const ANSWER_MS_MAX = 60_000;
const SLOTS_LOST = 'sched_slots_moved_total{how="lost"}';
const EVENT_LOOP_DELAY = 'nodejs_eventloop_lag_max_seconds';

export async function nodeFigures(url: string): Promise<NodeFigures> {
  const answer = await fetch(`${url}/metrics`, { signal: AbortSignal.timeout(ANSWER_MS_MAX) });
  return figuresIn(await answer.text());
}

export function figuresIn(text: string): NodeFigures {
  const values = new Map(
    text
      .split('\n')
      .filter((line) => !line.startsWith('#'))
      .map((line) => [line.slice(0, line.lastIndexOf(' ')), Number(line.slice(line.lastIndexOf(' ') + 1))]),
  );
  const delaySeconds = values.get(EVENT_LOOP_DELAY);
  return {
    slotsLost: values.get(SLOTS_LOST) ?? null,
    eventLoopDelayMaxMs: delaySeconds === undefined ? null : delaySeconds * MS_PER_SECOND,
  };
}
