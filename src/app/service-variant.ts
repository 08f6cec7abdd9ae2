/** Additions that a command such as `sched dev` makes to `sched serve`. A variant only adds; it removes nothing. */
import type { FastifyInstance } from 'fastify';
import { curlCommand, type HomeOptions } from '#src/api/home.ts';
import type { ReferenceOptions } from '#src/api/reference.ts';
import type { SealingDependencies } from '#src/control/dependencies.ts';
import type { LocalSignIn } from '#src/control/http/routes/sign-in.ts';
import type { SqlStore } from '#src/store/sql/sql-store.ts';
import { invitationText } from './first-start.ts';

export interface ServerDependencies extends SealingDependencies {
  readonly store: SqlStore;
  /** The URL of the service. It is known only after the service listens. */
  readonly url: () => string;
}

interface Variant {
  /** Returns the store that the service uses. */
  readonly wrapStore: (store: SqlStore) => SqlStore;
  /** Adds routes to the server. */
  readonly extendServer: (server: FastifyInstance, dependencies: ServerDependencies) => void;
  readonly home: Pick<HomeOptions, 'inbox'> & {
    /** A command that creates a first schedule. `url` is the service's own address, and `origin` that of the reader. */
    readonly curl: (url: string, origin: string) => string;
  };
  /** The additions of this variant to the page of the reference. */
  readonly reference: ReferenceOptions['dev'];
  /** The text that is printed when the service listens. */
  readonly greeting: (url: string) => string;
}

/** `sched serve`. Everybody signs in to its dashboard, the first admin by an invitation. */
interface Serve extends Variant {
  readonly isPlayground: false;
  readonly localSignIn: null;
  /** The text with the link for the first admin, printed while the dashboard has no user. */
  readonly invitation: (link: string) => string;
}

/**
 * `sched dev`. Deliveries may be sent to names of this machine, the dashboard opens without a password, and the data
 * directory is marked because its keys are public.
 */
interface Playground extends Variant {
  readonly isPlayground: true;
  readonly localSignIn: LocalSignIn;
  readonly invitation: null;
}

export type ServiceVariant = Serve | Playground;

const EXAMPLE_KEY = 'sk_test_YOUR_KEY';
const EXAMPLE_REQUEST = {
  endpoint: 'https://example.com/hook',
  delay: '10s',
  body: JSON.stringify({ hello: 'world' }),
};

export const SERVE: ServiceVariant = {
  isPlayground: false,
  home: { inbox: null, curl: (_url, origin) => curlCommand(origin, EXAMPLE_KEY, EXAMPLE_REQUEST) },
  localSignIn: null,
  reference: null,
  wrapStore: (store) => store,
  extendServer: () => {},
  invitation: invitationText,
  greeting: () => '',
};
