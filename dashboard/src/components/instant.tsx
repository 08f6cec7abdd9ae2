/** An instant in the zone that the user chose. The title has the exact instant in all zones. */
import { browserZone, displayZone, formatInstant, formatRelative, type InstantStyle, now } from '../time.ts';

export interface InstantProps {
  readonly at: string;
  readonly style?: InstantStyle;
  /** The zone of the schedule. The time in that zone is shown too. */
  readonly zone?: string | null;
}

function exactTitle(at: string, zone: string | null | undefined): string {
  const zones = [...new Set([browserZone, 'UTC', ...(zone === null || zone === undefined ? [] : [zone])])];
  return zones.map((name) => `${formatInstant(at, name, 'exact')} ${name}`).join('\n');
}

export function Instant({ at, style = 'second', zone }: InstantProps) {
  const shown = displayZone.value;
  const isOther = zone !== null && zone !== undefined && zone !== shown;
  return (
    <time dateTime={at} title={exactTitle(at, zone)} class="tabular-nums">
      {formatInstant(at, shown, style)}
      {isOther ? (
        <span class="text-dim">
          {' '}
          ({formatInstant(at, zone, style)} {zone})
        </span>
      ) : null}
    </time>
  );
}

/** A time relative to now, such as `in 3 min`. It is kept up to date. */
export function Relative({ at }: { readonly at: string }) {
  return (
    <time dateTime={at} title={exactTitle(at, null)} class="whitespace-nowrap tabular-nums">
      {formatRelative(at, now.value)}
    </time>
  );
}
