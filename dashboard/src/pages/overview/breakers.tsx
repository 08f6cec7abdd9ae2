/** Breakers that are open or half open: their endpoints failed too often. */
import type { OpenBreaker } from '../../../../src/control/http/data-contract.ts';
import { BREAKER_BADGES, StateBadge } from '../../components/badge.tsx';
import { TruncatedText } from '../../components/copy.tsx';
import { EmptyState } from '../../components/empty-state.tsx';
import { Relative } from '../../components/instant.tsx';
import { Card } from '../../components/page.tsx';
import { hrefInProject } from '../../session.ts';

export function Breakers({ breakers }: { readonly breakers: readonly OpenBreaker[] }) {
  return (
    <Card title="Open breakers" isFlush>
      {breakers.length === 0 ? (
        <EmptyState icon="check" title="All breakers are closed">
          <p>
            A breaker opens when an endpoint keeps failing. Its deliveries are deferred until it recovers.
          </p>
        </EmptyState>
      ) : (
        <ul>
          {breakers.map((breaker) => (
            <li
              key={breaker.endpoint}
              class="flex items-start justify-between gap-3 border-t border-line px-4 py-2.5"
            >
              <div class="min-w-0">
                <a
                  class="link"
                  href={hrefInProject(
                    breaker.endpoint_id === null ? 'endpoints' : `endpoints/${breaker.endpoint_id}`,
                  )}
                >
                  <TruncatedText text={breaker.name ?? breaker.url ?? breaker.endpoint} charactersMax={56} />
                </a>
                <p class="text-sm text-dim">
                  {breaker.state === 'open' ? (
                    <>
                      next attempt <Relative at={breaker.open_until} />
                    </>
                  ) : (
                    'the next attempt decides whether it closes'
                  )}
                </p>
              </div>
              <StateBadge state={breaker.state} badges={BREAKER_BADGES} />
            </li>
          ))}
        </ul>
      )}
    </Card>
  );
}
