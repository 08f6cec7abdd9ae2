/**
 * The service as a process: it runs until SIGTERM or SIGINT, then stops cleanly and exits 0. A second
 * signal means now: exit 1. What nobody caught is logged, and ends the process: its state is unknown, the
 * store's is not.
 */
import { systemLog } from '#src/system/log.ts';
import { messageOf } from './failures.ts';
import { nameOfStore } from './open-store.ts';
import { packageVersion } from './package-version.ts';
import { startService } from './service.ts';
import type { Settings } from './settings.ts';
import { stopRequest } from './stop-request.ts';
import { SERVE, type Variation } from './variation.ts';

/** The scripts of package.json that are the service itself, not a parent that may leave it running; and npx. */
const NPM_SCRIPTS: ReadonlySet<string> = new Set(['start', 'dev', 'npx']);

type RunLog = ReturnType<typeof systemLog>;

export async function runService(settings: Settings, variation: Variation = SERVE): Promise<never> {
  const log = systemLog(settings.logLevel);
  exitOnUncaught(log);
  const stopAsked = stopRequest(NPM_SCRIPTS.has(process.env.npm_lifecycle_event ?? ''));
  const print = (text: string) => process.stdout.write(text);
  const service = await startService(settings, { print, log }, variation);
  print(`Sched listens on ${service.url}\n${variation.greeting(service.url)}`);
  log.info(
    { url: service.url, version: packageVersion(), pid: process.pid, store: nameOfStore(settings) },
    'started',
  );

  log.info({ reason: await stopAsked }, 'stopping');
  await service.stop();
  log.info({}, 'stopped');
  log.flush();
  return process.exit(0);
}

function exitOnUncaught(log: RunLog): void {
  const die = (kind: string) => (error: unknown) => {
    const stack = error instanceof Error ? (error.stack ?? null) : null;
    log.error({ error: messageOf(error), stack }, kind);
    log.flush();
    process.exit(1);
  };
  process.on('uncaughtException', die('uncaught exception'));
  process.on('unhandledRejection', die('unhandled rejection'));
}
