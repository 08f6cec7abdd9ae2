/** What was kept of a failed answer. It is hidden: it may contain secrets. The audit log records who reveals it. */
import { useState } from 'preact/hooks';
import type { AttemptResponse } from '../../../sdk/src/api-types.ts';
import { post } from '../api.ts';
import { formatBytes } from '../format.ts';
import { apiPath, hasRole } from '../session.ts';
import { Button } from './button.tsx';
import { CopyBlock } from './copy.tsx';
import { Confirm } from './dialog.tsx';

export function AnswerExcerpt({
  deliveryId,
  attemptNo,
}: {
  readonly deliveryId: string;
  readonly attemptNo: number;
}) {
  const [isConfirming, setConfirming] = useState(false);
  const [answer, setAnswer] = useState<AttemptResponse | null>(null);
  const reveal = async () => {
    const path = apiPath(`deliveries/${encodeURIComponent(deliveryId)}/reveal`);
    setAnswer(await post<AttemptResponse>(path, { attempt_no: attemptNo }));
  };
  if (!hasRole('operator')) return null;
  return (
    <div class={answer === null ? 'mt-1 -ml-3' : 'mt-2'}>
      {answer === null ? (
        <Button kind="quiet" icon="eye" onClick={() => setConfirming(true)}>
          Reveal the answer…
        </Button>
      ) : (
        <Revealed answer={answer} onHide={() => setAnswer(null)} />
      )}
      {isConfirming ? (
        <Confirm
          title="Reveal the answer"
          action="Reveal"
          onConfirm={reveal}
          onClose={() => setConfirming(false)}
        >
          <p>The beginning of the answer to attempt {attemptNo} is shown on this page until you leave it.</p>
          <p class="text-dim">The audit log records it with your name and the time.</p>
        </Confirm>
      ) : null}
    </div>
  );
}

function Revealed({ answer, onHide }: { readonly answer: AttemptResponse; readonly onHide: () => void }) {
  const { status_code: code, content_type: type, excerpt, encoding, truncated } = answer;
  const facts = [
    `${code}`,
    type ?? 'no Content-Type',
    ...(encoding === 'base64' ? ['base64'] : [formatBytes(new Blob([excerpt]).size)]),
    ...(truncated ? ['the rest was not kept'] : []),
  ];
  return (
    <div class="space-y-1">
      <div class="flex flex-wrap items-center justify-between gap-2">
        <p class="min-w-0 text-sm text-dim">{facts.join(' · ')}</p>
        <Button kind="quiet" onClick={onHide}>
          Hide
        </Button>
      </div>
      {excerpt === '' ? (
        <p class="text-dim">The answer had no body.</p>
      ) : (
        <CopyBlock label="Answer" text={excerpt} />
      )}
    </div>
  );
}
