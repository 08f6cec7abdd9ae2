/**
 * Preloaded into every thread of a program that the build runs. It keeps the code that V8 compiled for files of the
 * bundle, including the functions that were called so far. Main thread and threads share files, and the larger result
 * wins: the next run starts from it, and adds to it.
 */
'use strict';

const { mkdirSync, readFileSync, writeFileSync } = require('node:fs');
const { basename, join } = require('node:path');
const vm = require('node:vm');
const { isMainThread } = require('node:worker_threads');

const FOLDER = process.env.COMPILED_FOLDER;
const EVERY_MS = 200;
const scripts = new Map();

vm.Script = class extends vm.Script {
  constructor(code, options) {
    super(code, options);
    if (options?.filename !== undefined) scripts.set(options.filename, this);
  }
};

function write() {
  mkdirSync(FOLDER, { recursive: true });
  for (const [filename, script] of scripts) {
    const file = join(FOLDER, basename(filename));
    const compiled = script.createCachedData();
    if (compiled.length > bytesOf(file)) writeFileSync(file, compiled);
  }
}

function bytesOf(file) {
  try {
    return readFileSync(file).length;
  } catch {
    return 0;
  }
}

process.on('exit', write);
// A thread may be ended without an event.
if (!isMainThread) setInterval(write, EVERY_MS).unref();
