/**
 * Runs the service as a process until SIGTERM or SIGINT. Then it stops cleanly and exits with 0. A second
 * signal exits at once with 1. An uncaught error is logged and ends the process, because the state in memory
 * is then unknown. The store stays consistent.
 */
import { systemLog } from '#src/system/log.ts';
import { messageOf } from './failures.ts';
import { nameOfStore } from './open-store.ts';
import { packageVersion } from './process.ts';
import { startService } from './service.ts';
import { SERVE, type ServiceVariant } from './service-variant.ts';
import type { Settings } from './settings.ts';
import { stopRequest } from './stop-request.ts';
import { leaveRemovedDirectory } from './working-directory.ts';

/** npx and the scripts of package.json that run the service. The service stops when such a parent ends. */
const NPM_SCRIPTS: ReadonlySet<string> = new Set(['start', 'dev', 'npx']);

type RunLog = ReturnType<typeof systemLog>;

export async function runService(settings: Settings, variant: ServiceVariant = SERVE): Promise<never> {
  const log = systemLog(settings.logLevel);
  exitOnUncaught(log);
  leaveRemovedDirectory();
  const stopRequested = stopRequest(NPM_SCRIPTS.has(process.env.npm_lifecycle_event ?? ''));
  const print = (text: string) => process.stdout.write(text);
  const service = await startService(settings, { print, log }, variant);
  print(`Sched listens on ${service.url}\n${variant.greeting(service.url)}`);
  log.info(
    { url: service.url, version: packageVersion(), pid: process.pid, store: nameOfStore(settings) },
    'started',
  );

  log.info({ reason: await stopRequested }, 'stopping');
  await service.stop();
  log.info({}, 'stopped');
  log.flush();
  return process.exit(0);
}

function exitOnUncaught(log: RunLog): void {
  const exitAfter = (kind: string) => (error: unknown) => {
    const stack = error instanceof Error ? (error.stack ?? null) : null;
    log.error({ error: messageOf(error), stack }, kind);
    log.flush();
    process.exit(1);
  };
  process.on('uncaughtException', exitAfter('uncaught exception'));
  process.on('unhandledRejection', exitAfter('unhandled rejection'));
}
