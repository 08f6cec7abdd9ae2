/**
 * Builds the SDK into sdk/dist as plain JavaScript: as modules and as CommonJS, each with its declarations. `npm pack`
 * in sdk/ runs this script.
 */
import { spawnSync } from 'node:child_process';
import { globSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const SDK = join(import.meta.dirname, '../sdk');
const DIST = join(SDK, 'dist');
const COMPILER = join(import.meta.dirname, '../node_modules/typescript/bin/tsc');

rmSync(DIST, { recursive: true, force: true });
for (const project of ['tsconfig.json', 'tsconfig.cjs.json']) compile(project);
for (const path of globSync('**/*.d.ts', { cwd: DIST })) rename(join(DIST, path));
// The package is of type module, so the CommonJS folder needs its own package.json.
writeFileSync(join(DIST, 'cjs/package.json'), '{ "type": "commonjs" }\n');

function compile(project: string): void {
  const { status } = spawnSync(process.execPath, [COMPILER, '--project', join(SDK, project)], {
    stdio: 'inherit',
  });
  if (status !== 0) process.exit(1);
}

/** The compiler renames the imports in its JavaScript output, but not those in its declarations. */
function rename(path: string): void {
  const text = readFileSync(path, 'utf8');
  writeFileSync(path, text.replaceAll(/(\bfrom |\bimport\()(['"])(\.{1,2}\/[^'"]+)\.ts\2/g, '$1$2$3.js$2'));
}
