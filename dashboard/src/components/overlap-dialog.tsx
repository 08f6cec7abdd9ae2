/** Asks how long two secrets sign together, so that receivers can switch, then changes the secret. */
import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { useRequest } from '../use-request.ts';
import { Dialog, DialogEnd } from './dialog.tsx';

const OVERLAPS = [
  { value: '168h', label: '7 days', hint: 'Many receivers, or receivers of other teams.' },
  { value: '24h', label: '24 hours', hint: 'Time for one deployment of each receiver.' },
  { value: '1h', label: '1 hour', hint: 'You can change all receivers quickly.' },
  { value: '0s', label: 'None', hint: null },
] as const;

type Overlap = (typeof OVERLAPS)[number]['value'];

export interface OverlapDialogProps {
  readonly title: string;
  readonly action: string;
  /** The text before the choice says what happens. */
  readonly children: ComponentChildren;
  /** The overlap completes this sentence: "The old secret also signs for". */
  readonly legend: string;
  /** The hint says when no overlap is right, and what it costs. */
  readonly noneHint: string;
  readonly send: (overlap: string) => Promise<unknown>;
  readonly onClose: () => void;
}

export function OverlapDialog({
  title,
  action,
  children,
  legend,
  noneHint,
  send,
  onClose,
}: OverlapDialogProps) {
  const [overlap, setOverlap] = useState<Overlap>('24h');
  const request = useRequest(() => send(overlap));
  return (
    <Dialog title={title} onClose={onClose}>
      <form
        class="space-y-4"
        onSubmit={(event) => {
          event.preventDefault();
          void request.run();
        }}
      >
        {children}
        <fieldset>
          <legend class="mb-1.5 font-medium">{legend}</legend>
          <div class="grid gap-2">
            {OVERLAPS.map((option) => (
              <label key={option.value} class="option">
                <input
                  type="radio"
                  name="overlap"
                  class="mt-0.75 size-4 flex-none accent-accent"
                  checked={overlap === option.value}
                  onChange={() => setOverlap(option.value)}
                />
                <span>
                  <span class="block font-medium">{option.label}</span>
                  <span class="text-sm text-dim">{option.hint ?? noneHint}</span>
                </span>
              </label>
            ))}
          </div>
        </fieldset>
        <DialogEnd
          error={request.error}
          isBusy={request.isBusy}
          action={action}
          isDanger={overlap === '0s'}
          onClose={onClose}
        />
      </form>
    </Dialog>
  );
}

/** Creates a new secret. The old one also signs until receivers have the new one. */
export function RotateDialog({ send, onClose }: Pick<OverlapDialogProps, 'send' | 'onClose'>) {
  return (
    <OverlapDialog
      title="Rotate the signing secret"
      action="Rotate"
      legend="The old secret also signs for"
      noneHint="For a leaked secret. Verification fails until receivers have the new secret."
      send={send}
      onClose={onClose}
    >
      <p>Requests are signed with both secrets during the overlap, so that receivers can switch:</p>
      <ol class="list-decimal space-y-1 pl-5 text-dim">
        <li>Rotate here and copy the new secret.</li>
        <li>Replace the old secret in every receiver.</li>
        <li>The old secret stops signing when the overlap ends.</li>
      </ol>
    </OverlapDialog>
  );
}
