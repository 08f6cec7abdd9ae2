/** Of what the benchmark's own package names, exactly. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

const { dependencies } = JSON.parse(readFileSync(join(import.meta.dirname, 'package.json'), 'utf8')) as {
  readonly dependencies: Readonly<Record<string, string>>;
};

export function versionOf(name: string): string {
  const version = dependencies[name];
  if (version === undefined) throw new Error(`${name} is not a dependency of the benchmark.`);
  return version;
}
