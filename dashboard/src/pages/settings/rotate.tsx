/** A new secret takes over; the old one goes on signing for as long as receivers need to learn the new one. */
import { useState } from 'preact/hooks';
import type { Listed, SecretInfo } from '../../../../src/control/http/contract.ts';
import { post } from '../../api.ts';
import { Dialog, DialogEnd } from '../../components/dialog.tsx';
import { inProject } from '../../session.ts';
import { useRequest } from '../../use-request.ts';

const OVERLAPS = [
  { value: '168h', label: '7 days', hint: 'Many receivers, or ones that others run.' },
  { value: '24h', label: '24 hours', hint: 'Time for one deployment of each receiver.' },
  { value: '1h', label: '1 hour', hint: 'All receivers are yours and quick to change.' },
  {
    value: '0s',
    label: 'None',
    hint: 'The old secret leaked. Requests fail their check until receivers have the new one.',
  },
] as const;

type Overlap = (typeof OVERLAPS)[number]['value'];

export interface RotateProps {
  readonly onClose: () => void;
  readonly onRotated: (secret: SecretInfo) => void;
}

export function Rotate({ onClose, onRotated }: RotateProps) {
  const [overlap, setOverlap] = useState<Overlap>('24h');
  const request = useRequest(async () => {
    const { data } = await post<Listed<SecretInfo>>(inProject('secrets/rotate'), { overlap });
    const fresh = data.find(({ text }) => text !== undefined);
    if (fresh !== undefined) onRotated(fresh);
  });
  return (
    <Dialog title="Rotate the signing secret" onClose={onClose}>
      <form
        class="space-y-4"
        onSubmit={(event) => {
          event.preventDefault();
          void request.run();
        }}
      >
        <p>
          Requests are signed with both secrets during the overlap, so that receivers can change over without
          missing one:
        </p>
        <ol class="list-decimal space-y-1 pl-5 text-dim">
          <li>Rotate here and copy the new secret.</li>
          <li>Put it into every receiver, in place of the old one.</li>
          <li>When the overlap ends, the old secret stops signing by itself.</li>
        </ol>
        <fieldset>
          <legend class="mb-1.5 font-medium">The old secret goes on signing for</legend>
          <div class="grid gap-2">
            {OVERLAPS.map((option) => (
              <label
                key={option.value}
                class="flex items-start gap-2.5 rounded-md border border-line px-3 py-2 has-checked:border-accent has-checked:bg-accent-soft"
              >
                <input
                  type="radio"
                  name="overlap"
                  class="mt-0.75 size-4 flex-none accent-accent"
                  checked={overlap === option.value}
                  onChange={() => setOverlap(option.value)}
                />
                <span>
                  <span class="block font-medium">{option.label}</span>
                  <span class="text-sm text-dim">{option.hint}</span>
                </span>
              </label>
            ))}
          </div>
        </fieldset>
        <DialogEnd
          error={request.error}
          isBusy={request.isBusy}
          action="Rotate"
          isDanger={overlap === '0s'}
          onClose={onClose}
        />
      </form>
    </Dialog>
  );
}
