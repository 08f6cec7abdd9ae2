import type { ListRecentAttemptsQuery, RecentAttempt } from '../api-types.ts';
import type { CallOptions } from './options.ts';
import { list, type Pages } from './pages.ts';
import type { Transport } from './transport.ts';

/** The attempts of all deliveries of the project and mode of the API key. */
export class Attempts {
  readonly #transport: Transport;

  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /** Lists the attempts that have ended, with their destinations. Those that ended last come first. */
  list(query?: ListRecentAttemptsQuery, options?: CallOptions): Pages<RecentAttempt> {
    return list(this.#transport, 'attempts.list', () => '/attempts', query, options);
  }
}
