/**
 * The parts of undici that Sched uses, imported one by one. The index of undici also loads `fetch`, WebSocket, mocks and
 * caches, which doubles the code that a start loads. The package allows these paths: it has no `exports`. Its version is
 * fixed in the lockfile.
 */
declare module 'undici/lib/core/errors.js' {
  import { errors } from 'undici';
  export default errors;
}

declare module 'undici/lib/dispatcher/client.js' {
  import { Client } from 'undici';
  export default Client;
}
