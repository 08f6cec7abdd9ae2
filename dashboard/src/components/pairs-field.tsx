/** Rows with a name and a value, for headers and labels. */
import { useId, useLayoutEffect, useRef } from 'preact/hooks';
import { indexNamedIn } from '../model/field-errors.ts';
import type { Pair } from '../model/pairs.ts';
import { Button } from './button.tsx';
import { FieldError, TextField } from './field.tsx';

export function PairsField({
  legend,
  noun,
  pairs,
  onPairs,
  max,
  error,
  hint,
  isSecret = false,
}: {
  readonly legend: string;
  /** The name of one row: header, label. */
  readonly noun: string;
  readonly pairs: readonly Pair[];
  readonly onPairs: (pairs: readonly Pair[]) => void;
  readonly max: number;
  readonly error?: string | undefined;
  readonly hint?: string;
  /** Whether the browser must not store the values. */
  readonly isSecret?: boolean;
}) {
  const rows = useRef<HTMLDivElement>(null);
  const errorId = useId();
  const wrong =
    error === undefined
      ? null
      : indexNamedIn(
          error,
          pairs.map(({ name }) => name.trim()),
        );
  const change = (index: number, part: Partial<Pair>) =>
    onPairs(pairs.map((pair, at) => (at === index ? { ...pair, ...part } : pair)));
  const isAdding = useRef(false);
  // A layout effect moves the focus before the next key arrives.
  useLayoutEffect(() => {
    if (!isAdding.current) return;
    isAdding.current = false;
    rows.current?.querySelector<HTMLInputElement>('[data-pair]:last-child input')?.focus();
  }, [pairs.length]);
  const add = () => {
    isAdding.current = true;
    onPairs([...pairs, { name: '', value: '' }]);
  };
  return (
    <fieldset class="min-w-0">
      <legend class="mb-1 font-medium">{legend}</legend>
      {hint === undefined ? null : <p class="mb-2 text-sm text-dim">{hint}</p>}
      <div ref={rows} class="space-y-2">
        {pairs.map((pair, index) => (
          <div key={index} data-pair class="grid grid-cols-[1fr_1.5fr_auto] gap-2">
            <TextField
              label={`Name of ${noun} ${index + 1}`}
              isLabelHidden
              isMono
              placeholder="Name"
              value={pair.name}
              errorId={index === wrong ? errorId : undefined}
              autocomplete="off"
              onValue={(name) => change(index, { name })}
            />
            <TextField
              label={`Value of ${noun} ${index + 1}`}
              isLabelHidden
              isMono
              placeholder="Value"
              value={pair.value}
              autocomplete={isSecret ? 'off' : 'on'}
              onValue={(value) => change(index, { value })}
            />
            <Button
              kind="quiet"
              icon="cross"
              label={`Remove ${noun} ${index + 1}`}
              onClick={() => onPairs(pairs.filter((_, at) => at !== index))}
            />
          </div>
        ))}
      </div>
      <FieldError id={errorId} error={error} />
      <div class={pairs.length === 0 ? '' : 'mt-2'}>
        <Button icon="plus" disabled={pairs.length >= max} onClick={add}>
          Add {noun}
        </Button>
      </div>
    </fieldset>
  );
}
