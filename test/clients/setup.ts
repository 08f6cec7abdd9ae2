/**
 * Prepares the project of the generated clients once for all its tests: installs its packages, generates the clients,
 * and starts the service and a receiver.
 */
import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { rmSync, statSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { TestProject } from 'vitest/node';
import { startInThread } from '#test/process/run-command.ts';
import { temporaryDirectory } from '#test/process/sched-process.ts';

export const PROJECT = join(import.meta.dirname, 'project');
export const DOCUMENT = join(import.meta.dirname, '../../docs/openapi.json');
const GENERATED = join(PROJECT, 'generated');
const KEY = 'sk_test_generatedGENERATED0123456789';
const INSTALL_MS_MAX = 300_000;

const run = promisify(execFile);

/** Runs a program of one of the project's packages. It sends nothing about its use to its makers. */
export async function runTool(file: string, ...args: readonly string[]): Promise<string> {
  const env = { ...process.env, REDOCLY_TELEMETRY: 'off', REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true' };
  const program = join(PROJECT, 'node_modules', file);
  try {
    const { stdout, stderr } = await run(process.execPath, [program, ...args], { cwd: PROJECT, env });
    return stdout + stderr;
  } catch (error) {
    const { stdout = '', stderr = '' } = error as { readonly stdout?: string; readonly stderr?: string };
    throw new Error(`${file} failed:\n${stdout}${stderr}`, { cause: error });
  }
}

/** Installs exactly the versions of the lockfile, unless they are installed already. */
async function install(): Promise<void> {
  const installedAt = changedAt('node_modules/.package-lock.json');
  if (installedAt !== null && installedAt >= (changedAt('package-lock.json') ?? 0)) return;
  await run('npm', ['ci', '--ignore-scripts', '--no-audit', '--no-fund'], {
    cwd: PROJECT,
    timeout: INSTALL_MS_MAX,
  });
}

function changedAt(file: string): number | null {
  return statSync(join(PROJECT, file), { throwIfNoEntry: false })?.mtimeMs ?? null;
}

async function generate(): Promise<void> {
  rmSync(GENERATED, { recursive: true, force: true });
  const types = join(GENERATED, 'openapi-typescript.ts');
  await runTool('openapi-typescript/bin/cli.js', DOCUMENT, '--output', types);
  const client = ['--client', '@hey-api/client-fetch', '--output', join(GENERATED, 'hey-api')];
  await runTool('@hey-api/openapi-ts/bin/run.js', '--input', DOCUMENT, ...client, '--no-log-file');
}

async function startReceiver(): Promise<Server> {
  const server = createServer((request, response) => {
    request.resume();
    request.on('end', () => response.end());
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return server;
}

export default async function setUp(project: TestProject): Promise<() => Promise<void>> {
  await install();
  await generate();
  const dataDir = temporaryDirectory();
  const receiver = await startReceiver();
  const service = await startInThread({
    dataDir,
    env: {
      SCHED_BOOTSTRAP_TEST_KEY: KEY,
      SCHED_EGRESS_ALLOW: '127.0.0.1/32',
      SCHED_EGRESS_ALLOW_HTTP: 'true',
    },
  });
  project.provide('service', {
    url: service.url,
    key: KEY,
    receiver: `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/hook`,
  });
  return async () => {
    await service.stop();
    receiver.close();
    rmSync(dataDir, { recursive: true, force: true });
  };
}

declare module 'vitest' {
  interface ProvidedContext {
    readonly service: { readonly url: string; readonly key: string; readonly receiver: string };
  }
}
