/** Reads V8 processor profiles, and sums up the self time of each function. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

interface Profile {
  readonly nodes: readonly {
    readonly id: number;
    readonly callFrame: { readonly functionName: string; readonly url: string; readonly lineNumber: number };
  }[];
  readonly samples: readonly number[];
  readonly timeDeltas: readonly number[];
}

export interface SelfTime {
  readonly where: string;
  readonly share: number;
}

export interface ThreadProfile {
  readonly file: string;
  /** The time in which the thread was not idle. */
  readonly busyMs: number;
  readonly top: readonly SelfTime[];
}

const IDLE = '(idle)';

/** Returns one profile for each thread. */
export function readProfiles(directory: string, topCount: number): readonly ThreadProfile[] {
  return readdirSync(directory)
    .filter((file) => file.endsWith('.cpuprofile'))
    .map((file) =>
      summarize(file, JSON.parse(readFileSync(join(directory, file), 'utf8')) as Profile, topCount),
    );
}

function summarize(file: string, profile: Profile, topCount: number): ThreadProfile {
  const names = new Map(profile.nodes.map(({ id, callFrame }) => [id, nameOf(callFrame)]));
  const micros = new Map<string, number>();
  for (const [i, id] of profile.samples.entries()) {
    const name = names.get(id) ?? '?';
    micros.set(name, (micros.get(name) ?? 0) + (profile.timeDeltas[i] ?? 0));
  }
  micros.delete(IDLE);
  micros.delete('(program)');
  const busy = [...micros.values()].reduce((sum, each) => sum + each, 0);
  const top = [...micros]
    .sort(([, a], [, b]) => b - a)
    .slice(0, topCount)
    .map(([where, each]) => ({ where, share: each / busy }));
  return { file, busyMs: busy / 1000, top };
}

function nameOf({ functionName, url, lineNumber }: Profile['nodes'][number]['callFrame']): string {
  const file = url.replace(/^.*\/(src|node_modules)\//, '$1/').replace('file://', '');
  return file === ''
    ? functionName || '(anonymous)'
    : `${functionName || '(anonymous)'} ${file}:${lineNumber + 1}`;
}
