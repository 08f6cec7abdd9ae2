/** The field for a new password, with hints and its strength. */
import { useState } from 'preact/hooks';
import { ratePassword } from '../password.ts';
import { TextField } from './field.tsx';

const BARS = [1, 2, 3] as const;
const COLOURS = ['bg-line', 'bg-warn', 'bg-accent', 'bg-good'] as const;

export interface NewPasswordProps {
  readonly label: string;
  readonly name: string;
  readonly value: string;
  readonly onValue: (value: string) => void;
  readonly error?: string | null | undefined;
}

export function NewPassword({ label, name, value, onValue, error = null }: NewPasswordProps) {
  const [isShown, setShown] = useState(false);
  const { strength, text } = ratePassword(value, name);
  return (
    <div>
      <TextField
        label={label}
        type={isShown ? 'text' : 'password'}
        value={value}
        onValue={onValue}
        autocomplete="new-password"
        required
        error={error}
        hint={text}
      />
      <div class="mt-1.5 flex items-center gap-3">
        <div class="flex flex-1 gap-1" aria-hidden="true">
          {BARS.map((bar) => (
            <span
              key={bar}
              class={`h-1 flex-1 rounded-full ${bar <= strength ? COLOURS[strength] : 'bg-line'}`}
            />
          ))}
        </div>
        <button type="button" class="link text-sm" aria-pressed={isShown} onClick={() => setShown(!isShown)}>
          {isShown ? 'Hide' : 'Show'}
        </button>
      </div>
    </div>
  );
}
