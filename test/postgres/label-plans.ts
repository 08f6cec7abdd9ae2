/** Lists and searches of schedules on tables that mislead the planner, and the indexes that they must use. */
import type { Labels } from '#src/domain/labels.ts';

export const COMMON = [['env', 'prod']] as const;
export const RARE = [['customer', 'one']] as const;
const ELSEWHERE = [['team', 'a']] as const;
const UNKNOWN: Labels = ['b', 'c', 'd'].map((name) => [name, ''] as const);

export const LABELLED = [
  [COMMON, 'true'],
  [ELSEWHERE, "partition > 1 OR id LIKE '%50'"],
  [RARE, "id < 'sch_00000004'"],
] as const;

export const JOINED = ['deliveries_pkey', 'endpoint_profile_versions_pkey', 'endpoint_profiles_pkey'];
const BY_STATE = [...JOINED, 'schedules_by_state'];
const BY_LABEL = [...JOINED, 'schedule_labels_pkey', 'schedules_pkey'];

export const SCHEDULE_LISTS = [
  ['all', {}, [...JOINED, 'schedules_pkey']],
  ['of a state and kind', { state: 'active', kind: 'recurring' }, BY_STATE],
  ['of a state that most have', { state: 'completed' }, BY_STATE],
  ['of a state that none has', { state: 'paused' }, BY_STATE],
  ['of a kind', { kind: 'recurring' }, BY_STATE],
  ['with a label that all have', { labels: COMMON }, BY_LABEL],
  ['with a label that few have', { labels: RARE }, BY_LABEL],
  ['with a label that others have', { labels: ELSEWHERE }, BY_LABEL],
  ['with a rare label, of a state', { labels: RARE, state: 'completed' }, BY_LABEL],
  ['with a common label, of a common state', { labels: COMMON, state: 'completed' }, BY_LABEL],
  ['with a common label, of a state that none has', { labels: COMMON, state: 'paused' }, BY_LABEL],
  ['with a common label, of a rare state', { labels: COMMON, state: 'active' }, BY_LABEL],
  ['with a rare label, of a kind', { labels: RARE, kind: 'one_shot' }, BY_LABEL],
  ['with a common label, of a rare kind', { labels: COMMON, kind: 'recurring' }, BY_LABEL],
  [
    'with a common label, of a state and kind that none has',
    { labels: COMMON, state: 'paused', kind: 'recurring' },
    BY_LABEL,
  ],
] as const;

export const PIECE_ROWS = 100;
/** Each label of a row costs one look-up. Some rows at the end of a range are read in vain. */
export const SEARCHES = [
  ['two labels', { labels: [...COMMON, ...ELSEWHERE] }, 3 * PIECE_ROWS],
  ['two labels, of a state', { labels: [...COMMON, ...RARE], state: 'completed' }, 3 * PIECE_ROWS],
  ['four labels', { labels: [...COMMON, ...UNKNOWN] }, 3 * PIECE_ROWS],
] as const;
