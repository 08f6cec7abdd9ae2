/** An instant, in the zone that the reader chose; the exact one in both zones is in its title. */
import { browserZone, displayZone, formatInstant, formatRelative, type InstantStyle, now } from '../time.ts';

export interface InstantProps {
  readonly at: string;
  readonly style?: InstantStyle;
  /** The schedule's zone, where it has one: its clock stands beside. */
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

/** `in 3 min`, ticking. */
export function Relative({ at }: { readonly at: string }) {
  return (
    <time dateTime={at} title={exactTitle(at, null)} class="whitespace-nowrap tabular-nums">
      {formatRelative(at, now.value)}
    </time>
  );
}
