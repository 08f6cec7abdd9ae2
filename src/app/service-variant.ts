/** Additions that a command such as `sched dev` makes to `sched serve`. A variant only adds; it removes nothing. */
import type { FastifyInstance } from 'fastify';
import type { SealingDependencies } from '#src/control/dependencies.ts';
import { invitationText } from './first-start.ts';
import type { AnyStore } from './open-store.ts';

export interface ServerDependencies extends SealingDependencies {
  readonly store: AnyStore;
  /** The URL of the service. It is known only after the service listens. */
  readonly url: () => string;
}

export interface ServiceVariant {
  /**
   * Whether this is `sched dev`: deliveries may be sent to names of this machine, and the data directory is
   * marked because its keys are public.
   */
  readonly isPlayground: boolean;
  /** Returns the store that the service uses. */
  readonly wrapStore: (store: AnyStore) => AnyStore;
  /** Adds routes to the server. */
  readonly extendServer: (server: FastifyInstance, dependencies: ServerDependencies) => void;
  /** The text with the link for the first admin, printed while the dashboard has no user. */
  readonly invitation: (link: string) => string;
  /** The text that is printed when the service listens. */
  readonly greeting: (url: string) => string;
}

export const SERVE: ServiceVariant = {
  isPlayground: false,
  wrapStore: (store) => store,
  extendServer: () => {},
  invitation: invitationText,
  greeting: () => '',
};
