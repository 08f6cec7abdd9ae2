/** Reads the instructions of the Dockerfile. */
import { join } from 'node:path';
import { read } from './files.ts';

/** The instructions, with continued lines joined and without comments. */
export const INSTRUCTIONS: readonly string[] = read('Dockerfile')
  .replaceAll(/^#.*\n/gm, '')
  .replaceAll(/\\\n\s*/g, '')
  .split('\n')
  .filter((line) => line !== '');
/** The instructions of the last stage, which is the image. */
const IMAGE = INSTRUCTIONS.slice(INSTRUCTIONS.findLastIndex((line) => line.startsWith('FROM ')));

export function argumentsOf(instruction: string, lines: readonly string[] = IMAGE): readonly string[] {
  return lines.flatMap((line) =>
    line.startsWith(`${instruction} `) ? [line.slice(instruction.length + 1)] : [],
  );
}

/** Parses the command list at the end of an instruction. */
export function commandOf(instruction: string): readonly string[] {
  return JSON.parse(/\[.*\]$/.exec(argumentsOf(instruction)[0] ?? '')?.[0] ?? '[]') as string[];
}

/** The files that are copied from the checkout, and not from another stage. */
export function copiedFiles(): readonly string[] {
  return argumentsOf('COPY', INSTRUCTIONS)
    .filter((text) => !text.startsWith('--from='))
    .flatMap((text) => text.split(' ').slice(0, -1))
    .map((path) => join(path));
}
