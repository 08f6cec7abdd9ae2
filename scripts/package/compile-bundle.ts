/**
 * Adds compiled code to the bundle, for the runtime and the machine that build it: see `bin/load.cjs`. Sched is run, and
 * the functions that it called are kept. The code for PostgreSQL is compiled whole, because a build has no database.
 */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sendFirstDelivery } from './first-delivery.ts';

const ROOT = join(import.meta.dirname, '../..');
const LOAD = JSON.stringify(join(ROOT, 'bin/load.cjs'));
const RUN = `require(${LOAD}).load('./main.cjs').main();`;
const COMPILE_POSTGRES = `
  const { load } = require(${LOAD});
  const { setFlagsFromString } = require('node:v8');
  // What they share with the rest is compiled already, as far as it is needed.
  load('./compose-service.cjs');
  setFlagsFromString('--no-lazy');
  load('./open-postgres.cjs');
  load('./cluster.cjs');
  // V8 rejects compiled code that was stored under other flags.
  setFlagsFromString('--lazy');`;

export async function compileBundle(dist: string): Promise<void> {
  const work = mkdtempSync(join(tmpdir(), 'sched-compile-'));
  try {
    const { version, platform, arch } = process;
    const env = {
      TMPDIR: work,
      COMPILED_FOLDER: join(dist, 'compiled', `${version}-${platform}-${arch}`),
    };
    const program = (name: string, code: string) => {
      const file = join(work, name);
      writeFileSync(file, code);
      return ['--require', join(import.meta.dirname, 'record-compiled.cjs'), file];
    };
    const run = { command: process.execPath, args: program('run.cjs', RUN), cwd: work, env };
    await sendFirstDelivery(run);
    execFileSync(process.execPath, program('compile.cjs', COMPILE_POSTGRES), { cwd: work, env });
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
}
