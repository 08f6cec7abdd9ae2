/** The request of a delivery: everything but values of headers and the body. */
import type { Delivery } from '../../../sdk/src/api-types.ts';
import { truncateMiddle } from '../format.ts';
import { curlOf } from '../model/curl.ts';
import { hasRole } from '../session.ts';
import { CopyBlock, TruncatedText } from './copy.tsx';
import { Card, DetailList } from './page.tsx';

interface RequestCardProps {
  readonly delivery: Delivery;
  /** Null if the request cannot be read. */
  readonly headerNames: readonly string[] | null;
  readonly hasBody: boolean | null;
}

const URL_CHARACTERS_MAX = 320;
const NAME_CHARACTERS_MAX = 64;

export function RequestCard({ delivery, headerNames, hasBody }: RequestCardProps) {
  const { method, url, idempotency_key: key } = delivery;
  return (
    <Card title="Request">
      <DetailList
        items={[
          [
            'Method',
            <span key="method" class="font-mono text-sm">
              {method}
            </span>,
          ],
          [
            'URL',
            <span key="url" class="wrap-anywhere">
              <TruncatedText text={url} charactersMax={URL_CHARACTERS_MAX} canCopy />
            </span>,
          ],
          ['Headers', <HeaderNames key="headers" names={headerNames} />],
          ['Body', bodyText(delivery, hasBody)],
          ['Idempotency-Key', <TruncatedText key="key" text={key} charactersMax={28} isMono canCopy />],
        ]}
      />
      {/* Viewers see no query, so the command would be another request. */}
      {hasRole('operator') && headerNames !== null ? (
        <details class="mt-3">
          <summary class="link w-fit text-sm">Copy as curl</summary>
          <div class="mt-2 space-y-2">
            <CopyBlock
              label="curl command"
              text={curlOf({
                method,
                url,
                headerNames,
                hasBody: hasBody === true,
                deliveryId: delivery.id,
                idempotencyKey: key,
              })}
            />
            <p class="text-sm text-dim">
              Fill in the values of the headers{hasBody === true ? ' and the body' : ''}. The command has no
              signature, so a receiver that verifies it refuses the request.
            </p>
          </div>
        </details>
      ) : null}
    </Card>
  );
}

function bodyText({ notification_of: of }: Delivery, hasBody: boolean | null): string {
  if (hasBody === null) return 'unreadable';
  if (of !== null) return 'composed when it is sent';
  return hasBody ? 'hidden' : 'none';
}

function HeaderNames({ names }: { readonly names: readonly string[] | null }) {
  if (names === null) return <>unreadable</>;
  if (names.length === 0) return <>none of your own</>;
  return (
    <ul class="space-y-0.5 font-mono text-sm">
      {names.map((name) => (
        <li key={name}>
          {truncateMiddle(name, NAME_CHARACTERS_MAX)}: <span class="font-sans text-dim">hidden</span>
        </li>
      ))}
    </ul>
  );
}
