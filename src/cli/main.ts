#!/usr/bin/env node
/**
 * Where the process begins. What is compiled once is kept, types stripped and all, in a folder that belongs to
 * whoever installed Sched: that halves the time a start takes. It has to be set before the first of our modules
 * is loaded. Where the folder cannot be written, everything is compiled anew.
 */
import { enableCompileCache } from 'node:module';
import { join } from 'node:path';

const KEPT_IN = join(import.meta.dirname, '../../node_modules/.cache/sched');

enableCompileCache(KEPT_IN);
// A reader that has gone away (`sched key list | head -1`) is no fault.
process.stdout.on('error', () => {});
const { run } = await import('./run.ts');
process.exitCode = await run(process.argv);
