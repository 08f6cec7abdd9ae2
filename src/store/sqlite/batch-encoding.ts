/**
 * How a batch goes to the writing thread: as one flat list, since lists within lists cost more to copy from thread to
 * thread than what they hold.
 *
 *   verb        the number of its steps, its steps
 *   step        its statement, the answer if it does not hold, the number of its parameters, its parameters
 *   parameter   itself; bytes as `true` and a text with a character for each
 *
 * Bytes go as text because a buffer takes along all of the memory that it is a part of: small ones are cut from a
 * pool of 64 KiB.
 */
import type { Parameter, Rejection } from '#src/store/sql/steps.ts';
import type { Batch, SqliteStep } from './executor.ts';
import { STATEMENTS } from './statements.ts';

type Name = SqliteStep[0];
type Word = string | number | null | true;
export type EncodedBatch = readonly Word[];

const NAMES = Object.keys(STATEMENTS) as Name[];
const NUMBERS = new Map(NAMES.map((name, number) => [name, number]));

const OTHERWISE: readonly (Rejection | null)[] = [
  null,
  'stale',
  'key_taken',
  'in_use',
  'taken',
  'missing',
  'last_admin',
];

/** Before the parameters of a step: its name and its answer. */
const HEAD = 2;

export function encodeBatch(batch: Batch): EncodedBatch {
  const wire: Word[] = [];
  for (const steps of batch) {
    wire.push(steps.length);
    for (const step of steps) {
      wire.push(NUMBERS.get(step[0]) ?? -1, OTHERWISE.indexOf(step[1]), step.length - HEAD);
      for (let at = HEAD; at < step.length; at++) {
        const value = step[at] as Parameter;
        if (value instanceof Uint8Array) wire.push(true, textOf(value));
        else wire.push(value);
      }
    }
  }
  return wire;
}

export function decodeBatch(wire: EncodedBatch): Batch {
  const batch: SqliteStep[][] = [];
  let at = 0;
  while (at < wire.length) {
    const steps: SqliteStep[] = [];
    for (let left = wire[at++] as number; left > 0; left--) {
      const step: [Name, Rejection | null, ...Parameter[]] = [
        NAMES[wire[at++] as number] as Name,
        OTHERWISE[wire[at++] as number] ?? null,
      ];
      for (let parameters = wire[at++] as number; parameters > 0; parameters--) {
        const word = wire[at++] as Word;
        step.push(word === true ? Buffer.from(wire[at++] as string, 'latin1') : word);
      }
      steps.push(step);
    }
    batch.push(steps);
  }
  return batch;
}

function textOf(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('latin1');
}
