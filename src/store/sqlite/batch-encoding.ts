/**
 * How a batch is sent to the writing thread: as the JSON of one flat list. The runtime copies one long text between
 * threads at a fraction of the cost of many values.
 *
 *   verb        the number of its steps, then its steps
 *   step        its statement, its rejection, the number of its parameters, then its parameters
 *   parameter   the value itself; `true` for bytes
 *
 * The bytes follow the JSON, each as a text with one character per byte. JSON would escape many of these characters,
 * and copying a small buffer would copy the whole 64 KiB pool that it is part of.
 */
import { type Parameter, REJECTIONS, type Rejection } from '#src/store/sql/steps.ts';
import type { Batch, SqliteStep } from './executor.ts';
import { STATEMENTS } from './statements.ts';

type Name = SqliteStep[0];
type Word = string | number | null | true;
export type EncodedBatch = readonly [json: string, ...bytes: readonly string[]];

const NAMES = Object.keys(STATEMENTS) as Name[];
const NUMBERS = new Map(NAMES.map((name, number) => [name, number]));

const OTHERWISE: readonly (Rejection | null)[] = [null, ...REJECTIONS];

/** The name and the rejection come before the parameters of a step. */
const HEAD = 2;

export function encodeBatch(batch: Batch): EncodedBatch {
  // A list that grows word by word would be copied several times.
  const words: Word[] = [];
  words.length = wordsOf(batch);
  const bytes: string[] = [];
  let count = 0;
  for (const steps of batch) {
    words[count++] = steps.length;
    for (const step of steps) {
      words[count++] = NUMBERS.get(step[0]) ?? -1;
      words[count++] = OTHERWISE.indexOf(step[1]);
      words[count++] = step.length - HEAD;
      for (let at = HEAD; at < step.length; at++) {
        const value = step[at] as Parameter;
        if (value instanceof Uint8Array) bytes.push(textOf(value));
        words[count++] = value instanceof Uint8Array ? true : value;
      }
    }
  }
  return [JSON.stringify(words), ...bytes];
}

function wordsOf(batch: Batch): number {
  let words = 0;
  for (const steps of batch) {
    words++;
    for (const step of steps) words += step.length + 1;
  }
  return words;
}

export function decodeBatch([json, ...bytes]: EncodedBatch): Batch {
  const words = JSON.parse(json) as readonly Word[];
  const batch: SqliteStep[][] = [];
  let at = 0;
  let nextBytes = 0;
  while (at < words.length) {
    const steps: SqliteStep[] = [];
    for (let left = words[at++] as number; left > 0; left--) {
      const step: [Name, Rejection | null, ...Parameter[]] = [
        NAMES[words[at++] as number] as Name,
        OTHERWISE[words[at++] as number] ?? null,
      ];
      for (let parameters = words[at++] as number; parameters > 0; parameters--) {
        const word = words[at++] as Word;
        step.push(word === true ? Buffer.from(bytes[nextBytes++] ?? '', 'latin1') : word);
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
