/** Where another command that runs the service differs from `sched serve`: it adds, and takes nothing away. */
import type { FastifyInstance } from 'fastify';
import type { SealingDependencies } from '#src/control/dependencies.ts';
import { invitationText } from './first-start.ts';
import type { AnyStore } from './open-store.ts';

/** What a variation has at hand when it adds to the server. */
export interface ServerDependencies extends SealingDependencies {
  readonly store: AnyStore;
  /** Of the service. Known once it listens. */
  readonly url: () => string;
}

export interface Variation {
  /**
   * Whether this is a playground: names of this machine may be sent to, and the data are marked, since the keys
   * to them are known to everyone.
   */
  readonly isPlayground: boolean;
  /** The store as the service is to see it. */
  readonly over: (store: AnyStore) => AnyStore;
  /** Adds to the server. */
  readonly extend: (server: FastifyInstance, dependencies: ServerDependencies) => void;
  /** What a person reads while nobody can use the dashboard: the link by which the first admin comes. */
  readonly invitation: (link: string) => string;
  /** What a person reads once it listens. */
  readonly greeting: (url: string) => string;
}

export const SERVE: Variation = {
  isPlayground: false,
  over: (store) => store,
  extend: () => {},
  invitation: invitationText,
  greeting: () => '',
};
