/**
 * What a customer has stored for a far instant becomes due at a near one, as if it had been created for that one. The
 * service does not run meanwhile. What lies apart stays apart by as much.
 */
import type { SchedStore } from '../sched/service.ts';
import { askStore, tidyStore } from './sql.ts';

export async function awaken(store: SchedStore, partition: number, byMs: number): Promise<void> {
  const moved = (column: string) => `${column} = ${column} + CAST(${byMs} AS bigint)`;
  await askStore(store, `UPDATE schedules SET ${moved('fire_at')} WHERE partition = ${partition}`);
  const columns = ['occurrence', 'scheduled_for', 'due_at'].map(moved);
  await askStore(store, `UPDATE deliveries SET ${columns.join(', ')} WHERE partition = ${partition}`);
  await tidyStore(store);
}
