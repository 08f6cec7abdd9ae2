/** The filters of a list of deliveries. They are in the address. */
import { useEffect, useState } from 'preact/hooks';
import type { EndpointList } from '../../../sdk/src/api-types.ts';
import { useLive } from '../live.ts';
import { readTab, TAB_STATUSES, type Tab } from '../model/delivery-tabs.ts';
import { type DeliveryFilter, RANGES, type Range, readScheduleId } from '../model/filters.ts';
import { toInstant, toWallTime } from '../model/wall-clock.ts';
import { query, setQuery } from '../router.ts';
import { apiPath } from '../session.ts';
import { displayZone } from '../time.ts';
import { DELIVERY_BADGES } from './badge.tsx';
import { ChipFilter } from './chip-filter.tsx';
import { SelectField, TextField } from './field.tsx';
import { titleOf } from './subject.tsx';

const NO_FILTERS = {
  status: null,
  schedule: null,
  endpoint: null,
  range: null,
  after: null,
  before: null,
} as const;

/** Changes some filters in the address. The tab and the other filters stay, and the list begins at its first page. */
function changeFilters(changes: Partial<Record<keyof typeof NO_FILTERS, string | null>>): void {
  setQuery({ tab: readTab(query.peek()), cursor: null, ...changes });
}

export function clearFilters(): void {
  changeFilters(NO_FILTERS);
}

export function StatusFilter({
  tab,
  filter,
}: {
  readonly tab: Exclude<Tab, 'activity'>;
  readonly filter: DeliveryFilter;
}) {
  return (
    <ChipFilter
      label="Status"
      any="Any status"
      options={TAB_STATUSES[tab].map((status) => ({ value: status, badge: DELIVERY_BADGES[status] }))}
      value={filter.status}
      onValue={(status) => changeFilters({ status })}
    />
  );
}

const RANGE_LABELS: Readonly<Record<Range, string>> = {
  '15m': '15 minutes',
  '1h': 'hour',
  '24h': '24 hours',
  '7d': '7 days',
  '30d': '30 days',
};
const RANGE_OPTIONS = [
  { value: '', label: 'At any time' },
  ...RANGES.map((range) => ({ value: range, label: `In the last ${RANGE_LABELS[range]}` })),
  { value: 'custom', label: 'Between two times' },
];

export function DeliveryFilters({ filter }: { readonly filter: DeliveryFilter }) {
  const zone = displayZone.value;
  const { after, before } = filter;
  const isCustom = query.value.get('range') === 'custom' || after !== null || before !== null;
  const chosen = isCustom ? 'custom' : (filter.range ?? '');
  // The range is in the address even while both times are empty, so that the fields stay visible.
  const chooseTimes = (times: Pick<DeliveryFilter, 'after' | 'before'>) =>
    changeFilters({ range: 'custom', ...times });
  const chooseRange = (range: string) => changeFilters({ range, after: null, before: null });
  return (
    <>
      <div class="min-w-36 flex-1 sm:w-48 sm:flex-none">
        <SelectField label="Created" value={chosen} options={RANGE_OPTIONS} onValue={chooseRange} />
      </div>
      {isCustom ? (
        <>
          <TextField
            type="datetime-local"
            label={`Created after (${zone})`}
            value={toWallTime(after, zone)}
            onValue={(text) => chooseTimes({ after: toInstant(text, zone), before })}
          />
          <TextField
            type="datetime-local"
            label={`Created before (${zone})`}
            value={toWallTime(before, zone)}
            onValue={(text) => chooseTimes({ after, before: toInstant(text, zone) })}
          />
        </>
      ) : null}
      <EndpointFilter
        value={filter.endpointId}
        onValue={(endpoint) => changeFilters({ endpoint, schedule: null })}
      />
      <ScheduleField filter={filter} />
    </>
  );
}

/** The newest profiles can be chosen. A link may name any. */
export function EndpointFilter({
  value,
  onValue,
}: {
  readonly value: string | null;
  readonly onValue: (value: string | null) => void;
}) {
  const live = useLive<EndpointList>(apiPath('endpoints?limit=100&include_archived=true'));
  const profiles = live.data?.data ?? [];
  const isListed = value === null || profiles.some(({ id }) => id === value);
  return (
    <div class="min-w-36 flex-1 sm:w-56 sm:flex-none">
      <SelectField
        label="Endpoint profile"
        value={value ?? ''}
        options={[
          { value: '', label: 'Any destination' },
          ...(isListed ? [] : [{ value: value ?? '', label: value ?? '' }]),
          ...profiles.map((profile) => ({ value: profile.id, label: titleOf(profile) })),
        ]}
        onValue={(id) => onValue(id === '' ? null : id)}
      />
    </div>
  );
}

function ScheduleField({ filter }: { readonly filter: DeliveryFilter }) {
  const [text, setText] = useState(filter.scheduleId ?? '');
  // The filter may change elsewhere: by a link, by going back, by clearing it. An id that is half typed stays.
  useEffect(() => {
    if (readScheduleId(text) !== filter.scheduleId) setText(filter.scheduleId ?? '');
  }, [filter.scheduleId]);
  const isWrong = text.trim() !== '' && readScheduleId(text) === null;
  return (
    <div class="w-full sm:w-80">
      <TextField
        type="search"
        label="Schedule id"
        isMono
        placeholder="sch_…"
        value={text}
        error={isWrong ? 'This is not a schedule id. Ids begin with sch_.' : null}
        autocomplete="off"
        onValue={(next) => {
          setText(next);
          const schedule = readScheduleId(next);
          if (schedule !== filter.scheduleId) changeFilters({ schedule, endpoint: null });
        }}
      />
    </div>
  );
}
