/** Headers and body. They are hidden. An admin can reveal them, and the audit log records it. */
import { useState } from 'preact/hooks';
import type { Revealed } from '#src/control/http/data-contract.ts';
import { post } from '../api.ts';
import { formatBytes, plural } from '../format.ts';
import { apiPath, hasRole } from '../session.ts';
import { Button } from './button.tsx';
import { CopyBlock } from './copy.tsx';
import { Confirm } from './dialog.tsx';
import { Card } from './page.tsx';

interface PayloadProps {
  readonly title: string;
  /** The API path, such as `schedules/sch_…`. */
  readonly path: string;
  readonly headerNames: readonly string[];
  /** An endpoint profile has no body. */
  readonly hasBody: boolean;
}

export function PayloadCard({ title, path, headerNames, hasBody }: PayloadProps) {
  const [isConfirming, setConfirming] = useState(false);
  const [revealed, setRevealed] = useState<Revealed | null>(null);
  return (
    <Card
      title={title}
      actions={
        revealed !== null ? (
          <Button kind="quiet" onClick={() => setRevealed(null)}>
            Hide
          </Button>
        ) : hasRole('admin') ? (
          <Button kind="quiet" icon="eye" onClick={() => setConfirming(true)}>
            Reveal…
          </Button>
        ) : undefined
      }
    >
      {revealed === null ? (
        <HiddenPayload headerNames={headerNames} hasBody={hasBody} />
      ) : (
        <RevealedPayload revealed={revealed} hasBody={hasBody} />
      )}
      {isConfirming ? (
        <Confirm
          title={hasBody ? 'Reveal headers and body' : 'Reveal headers'}
          action="Reveal"
          onConfirm={async () => setRevealed(await post<Revealed>(apiPath(`${path}/reveal`)))}
          onClose={() => setConfirming(false)}
        >
          <p>The values are shown on this page until you leave it.</p>
          <p class="text-dim">The audit log records it with your name and the time.</p>
        </Confirm>
      ) : null}
    </Card>
  );
}

function HiddenPayload({
  headerNames,
  hasBody,
}: {
  readonly headerNames: readonly string[];
  readonly hasBody: boolean;
}) {
  return (
    <div class="space-y-2">
      {headerNames.length === 0 ? (
        <p class="text-dim">No headers.</p>
      ) : (
        <ul class="space-y-1 font-mono text-sm">
          {headerNames.map((name) => (
            <li key={name}>
              {name}: <span class="font-sans text-dim">hidden</span>
            </li>
          ))}
        </ul>
      )}
      {hasBody ? <p class="text-dim">A body, if there is one, is encrypted at rest and hidden.</p> : null}
      {hasRole('admin') ? null : <p class="text-sm text-dim">An admin can reveal them.</p>}
    </div>
  );
}

function RevealedPayload({ revealed, hasBody }: { readonly revealed: Revealed; readonly hasBody: boolean }) {
  const headers = Object.entries(revealed.headers);
  return (
    <div class="space-y-3">
      {headers.length === 0 ? (
        <p class="text-dim">No headers.</p>
      ) : (
        <CopyBlock
          label={plural(headers.length, 'header')}
          text={headers.map(([name, value]) => `${name}: ${value}`).join('\n')}
        />
      )}
      {!hasBody ? null : revealed.body === null ? (
        <p class="text-dim">No body.</p>
      ) : (
        <CopyBlock label={`Body, ${formatBytes(new Blob([revealed.body]).size)}`} text={revealed.body} />
      )}
    </div>
  );
}
