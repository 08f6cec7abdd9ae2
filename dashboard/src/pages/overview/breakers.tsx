/** Destinations that are not tried for now, because they failed too often. */
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
        <EmptyState icon="check" title="Every destination is being tried">
          <p>
            A breaker opens when a destination keeps failing; its deliveries then wait instead of piling up.
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
                  <TruncatedText text={breaker.url ?? breaker.endpoint} charactersMax={56} />
                </a>
                <p class="text-sm text-dim">
                  {breaker.state === 'open' ? (
                    <>
                      tried again <Relative at={breaker.open_until} />
                    </>
                  ) : (
                    'the next delivery shows whether it is well again'
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
