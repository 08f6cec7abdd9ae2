#!/usr/bin/env node
/**
 * Where the process begins. What is compiled once is kept, types stripped and all, in a folder that belongs to
 * whoever installed Sched: that halves the time a start takes. It has to be set before the first of our modules
 * is loaded. Where the folder cannot be written, everything is compiled anew.
 */
import { enableCompileCache } from 'node:module';
import { join } from 'node:path';

const KEPT_IN = join(import.meta.dirname, '../../node_modules/.cache/sched');
/** As in `failure.ts`, which is not loaded yet. */
const OUTPUT_LOST_EXIT = 1;

enableCompileCache(KEPT_IN);
let isOutputLost = false;
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  // A reader that has gone away (`sched key list | head -1`) is no fault.
  if (error.code === 'EPIPE' || isOutputLost) return;
  isOutputLost = true;
  process.stderr.write(`sched: The answer cannot be written: ${error.message}.\n`);
  process.exitCode = OUTPUT_LOST_EXIT;
});
const { run } = await import('./run.ts');
const exit = await run(process.argv);
process.exitCode = isOutputLost ? OUTPUT_LOST_EXIT : exit;
