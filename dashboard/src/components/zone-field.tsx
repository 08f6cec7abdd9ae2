/** The field for a time zone, with suggestions and the time in that zone. */
import { useId } from 'preact/hooks';
import { browserZone, formatInstant, now } from '../time.ts';
import { TextField } from './field.tsx';

/** The zone of the browser and UTC come first. */
const ZONES: readonly string[] = [...new Set([browserZone, 'UTC', ...Intl.supportedValuesOf('timeZone')])];

export function ZoneField({
  value,
  onValue,
  error,
}: {
  readonly value: string;
  readonly onValue: (zone: string) => void;
  readonly error?: string | null | undefined;
}) {
  const listId = useId();
  return (
    <>
      <TextField
        label="Time zone"
        value={value}
        onValue={onValue}
        list={listId}
        error={error}
        hint={describeClock(value)}
        autocomplete="off"
        maxLength={64}
      />
      <datalist id={listId}>
        {ZONES.map((zone) => (
          <option key={zone} value={zone} label={zone.replaceAll('_', ' ')} />
        ))}
      </datalist>
    </>
  );
}

function describeClock(zone: string): string {
  try {
    return `It is ${formatInstant(now.value, zone, 'minute')} there now.`;
  } catch {
    return 'Enter a time zone, such as Europe/Berlin.';
  }
}
