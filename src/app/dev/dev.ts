/**
 * `sched dev`: the service on SQLite, for development. It is the same engine and API as `sched serve`, with
 * fixed keys, an inbox that receives requests, and a printed line for every attempt.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Given } from '#src/app/config.ts';
import { runService } from '#src/app/run-service.ts';
import type { ServerDependencies, ServiceVariant } from '#src/app/service-variant.ts';
import { signingSecrets } from '#src/control/endpoint-secrets.ts';
import { HOOK, hookUrl, PATH as INBOX, Inbox } from '#src/inbox/inbox.ts';
import type { DeliveryEvent } from '#src/inbox/recent-deliveries.ts';
import { systemClock } from '#src/system/clock.ts';
import { systemTimers } from '#src/system/timers.ts';
import { withDeliveryEvents } from './delivery-events.ts';
import { firstCurl, firstRequest, type GreetingOptions, greeting } from './greeting.ts';
import { DEV_SIGNING_SECRET, DEV_TEST_KEY } from './keys.ts';
import { localSignIn } from './local-sign-in.ts';
import { readDevSettings } from './settings.ts';
import { lineOf, type Paint } from './terminal-line.ts';

/** The page of the inbox, from `npm run dashboard:build`. */
const INBOX_FOLDER = fileURLToPath(new URL('../../../dashboard/dist/inbox/', import.meta.url));
/** The exit code that a shell reports for a program that SIGHUP ended. */
const HANGUP_EXIT_CODE = 129;

export async function runDev(given: Given, paint: Paint): Promise<never> {
  let temporary: string | null = null;
  const { settings, ignored } = readDevSettings(given, () => {
    temporary = temporaryDirectory();
    return temporary;
  });
  const dataDir = temporary === null ? settings.dataDir : null;
  const print = (text: string) => void process.stdout.write(text);
  return runService(settings, devVariant({ dataDir, ignored }, print, paint));
}

/** Adds the inbox, the lines of deliveries and the greeting of `sched dev` to the service. */
export function devVariant(
  about: GreetingOptions,
  print: (text: string) => void,
  paint: Paint,
): ServiceVariant {
  const listeners: ((event: DeliveryEvent) => void)[] = [
    (event) => print(lineOf(event, systemClock.now(), paint) ?? ''),
  ];
  return {
    isPlayground: true,
    reference: { inbox: INBOX, hook: HOOK, key: DEV_TEST_KEY },
    wrapStore: (store) =>
      withDeliveryEvents(store, (event) => {
        for (const handle of listeners) handle(event);
      }),
    extendServer: (server, dependencies) => {
      const inbox = inboxOf(dependencies);
      listeners.push((event) => inbox.handle(event));
      inbox.mount(server);
    },
    home: { inbox: INBOX, curl: firstCurl },
    localSignIn,
    invitation: null,
    greeting: (url) => greeting(url, about, paint),
  };
}

/** The directory is removed at any end of the process except SIGKILL. */
function temporaryDirectory(): string {
  const directory = mkdtempSync(join(tmpdir(), 'sched-dev-'));
  process.once('exit', () => rmSync(directory, { recursive: true, force: true }));
  process.once('SIGHUP', () => process.exit(HANGUP_EXIT_CODE));
  return directory;
}

function inboxOf(dependencies: ServerDependencies): Inbox {
  const { store, clock, url } = dependencies;
  return new Inbox({
    store,
    clock,
    timers: systemTimers,
    secretsOf: async (delivery) => {
      if (delivery === null) return [DEV_SIGNING_SECRET];
      const secrets = await signingSecrets(dependencies, delivery.partition, delivery.target.endpointId);
      return secrets.map(({ text }) => text);
    },
    about: () => ({ hook: hookUrl(url()), curl: firstCurl(url()), sample: firstRequest(url()) }),
    pageFolder: INBOX_FOLDER,
  });
}
