/**
 * Loads the bundle of an installed package. Compiling it took a third of the start, so the package brings compiled code
 * for the runtime that built it: `dist/compiled/`, by version and machine. Another Node compiles the source, as does one
 * whose flags for V8 differ. Nothing is written at run time, so no folder is needed that only the user can write.
 */
'use strict';

const { readFileSync } = require('node:fs');
const { join } = require('node:path');
const vm = require('node:vm');

const DIST = join(__dirname, '../dist');
const COMPILED = join(DIST, 'compiled', `${process.version}-${process.platform}-${process.arch}`);

const loaded = new Map();

/** Loads a file of the bundle, as require() does. The bundle writes its name like this: `./main.cjs`. */
function load(name) {
  const known = loaded.get(name);
  if (known !== undefined) return known.exports;
  const module = { exports: {} };
  // Files may import each other in a circle.
  loaded.set(name, module);
  const filename = join(DIST, name);
  const run = scriptOf(filename, readCompiled(name)).runInThisContext();
  run(module.exports, requireHere, module, filename, DIST);
  return module.exports;
}

function requireHere(name) {
  return name.startsWith('./') ? load(name) : require(name);
}

/** The bundle is ASCII, which Node reads fastest as Latin-1. */
function scriptOf(filename, cachedData) {
  const code = readFileSync(filename, 'latin1');
  const wrapped = `(function (exports, require, module, __filename, __dirname) { ${code}\n})`;
  return new vm.Script(wrapped, { filename, cachedData });
}

function readCompiled(name) {
  try {
    return readFileSync(join(COMPILED, name));
  } catch {
    return undefined;
  }
}

module.exports = { load, scriptOf, readCompiled };
