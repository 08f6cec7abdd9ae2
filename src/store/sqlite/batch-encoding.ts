/**
 * How a batch is sent to the writing thread: as one flat list. Nested lists cost more to copy between threads than
 * the values in them.
 *
 *   verb        the number of its steps, then its steps
 *   step        its statement, its rejection, the number of its parameters, then its parameters
 *   parameter   the value itself; bytes as `true` and a text with one character per byte
 *
 * Bytes are sent as text, because copying a small buffer copies the whole 64 KiB pool that it is part of.
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

/** The name and the rejection come before the parameters of a step. */
const HEAD = 2;

export function encodeBatch(batch: Batch): EncodedBatch {
  // A list that grows word by word would be copied several times.
  const wire: Word[] = [];
  wire.length = wordsOf(batch);
  let words = 0;
  for (const steps of batch) {
    wire[words++] = steps.length;
    for (const step of steps) {
      wire[words++] = NUMBERS.get(step[0]) ?? -1;
      wire[words++] = OTHERWISE.indexOf(step[1]);
      wire[words++] = step.length - HEAD;
      for (let at = HEAD; at < step.length; at++) {
        const value = step[at] as Parameter;
        if (value instanceof Uint8Array) {
          wire[words++] = true;
          wire[words++] = textOf(value);
        } else wire[words++] = value;
      }
    }
  }
  return wire;
}

/** The number of words in the encoded batch, if it has no bytes. */
function wordsOf(batch: Batch): number {
  let words = 0;
  for (const steps of batch) {
    words++;
    for (const step of steps) words += step.length + 1;
  }
  return words;
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
