/** What the installation is. */
import type { About } from '#src/control/http/contract.ts';
import { type Asked, json, type Route } from '#src/control/http/route.ts';

export function aboutRoutes(about: About): readonly Route<Asked>[] {
  return [
    {
      method: 'GET',
      path: 'about',
      needs: 'viewer',
      audited: null,
      answer: async () => json(about),
    },
  ];
}
