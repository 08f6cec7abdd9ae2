/**
 * The API's answers match the store. An acknowledged change is durable when it is acknowledged. No delivery
 * is sent after it was acknowledged as canceled. A repeated request takes effect once. An error is a refusal
 * with a reason, or the store has failed.
 */
import { isDeepStrictEqual } from 'node:util';
import type { Delivery } from '#src/domain/delivery.ts';
import { Refusal } from '#src/domain/errors.ts';
import type { DeliveryId, ScheduleId } from '#src/domain/id.ts';
import { isEnded } from '#src/domain/schedule.ts';
import { StoreUnavailable } from '#src/ports/store.ts';
import type { ApiCall } from '../api-call.ts';
import { callOf } from '../contents.ts';
import { type Checker, Violation } from './checker.ts';
import type { SimulationView } from './simulation-view.ts';

const NAME = 'api';

export function apiChecker(simulation: SimulationView): Checker {
  const { observer } = simulation;
  const labels = new Map<string, ScheduleId>();
  /** Deliveries that were acknowledged as canceled, with the revision in the answer. */
  const held = new Map<DeliveryId, { readonly revision: number; readonly status: string }>();

  const checkStored = (call: ApiCall): void => {
    const { rendered } = call;
    if (rendered === null || call.replayed) return;
    if (rendered.of === 'plan' || rendered.of === 'list') return;
    const violation = (what: string) => new Violation(NAME, `${call.what} was acknowledged, ${what}`);
    if (rendered.of === 'profile') {
      const known = observer.profiles.get(rendered.profile.id);
      if ((known?.revision ?? 0) < rendered.profile.revision) throw violation('the profile is not stored');
      return;
    }
    const shown = rendered.of === 'delivery' ? rendered.delivery : rendered.view.pending;
    if (rendered.of === 'schedule') {
      const { schedule } = rendered.view;
      const known = observer.schedules.get(schedule.id);
      if (known === undefined) throw violation(`${schedule.id} is not stored`);
      if (known.revision < schedule.revision) throw violation(`${schedule.id} is stored as it was before`);
      if (known.revision === schedule.revision && known.state !== schedule.state) {
        throw violation(`${schedule.id} is stored ${known.state}`);
      }
    }
    if (shown !== null) checkDelivery(shown, violation);
  };

  const checkDelivery = (shown: Delivery, violation: (what: string) => Violation): void => {
    const known = observer.deliveries.get(shown.id);
    if (known === undefined) throw violation(`${shown.id} is not stored`);
    if (known.revision < shown.revision) throw violation(`${shown.id} is stored as it was before`);
    if (known.revision === shown.revision && !isDeepStrictEqual(known, shown)) {
      throw violation(`${shown.id} is stored differently`);
    }
    if (shown.status === 'canceled') held.set(shown.id, shown);
  };

  return {
    name: NAME,
    callAnswered(call) {
      if (call.error === null) checkStored(call);
      else if (call.error instanceof StoreUnavailable) {
        if (simulation.disturbedMs < call.calledMs) {
          throw new Violation(NAME, `${call.what} was answered 503, but the store worked`);
        }
      } else if (!(call.error instanceof Refusal)) {
        throw new Violation(NAME, `${call.what} failed: ${String(call.error)}`);
      }
    },
    schedule(before, after) {
      if (before !== null || after === null) return;
      const label = callOf(after);
      const other = labels.get(label);
      const earlier = observer.schedules.get(other ?? after.id);
      // A PUT that is repeated after its schedule has ended, or got another name, creates another.
      const hasName = earlier?.name === after.name && !isEnded(earlier);
      const isPutAgain = after.name !== null && !hasName;
      if (other !== undefined && !isPutAgain)
        throw new Violation(NAME, `${label} made both ${other} and ${after.id}`);
      labels.set(label, after.id);
    },
    requestSent({ deliveryId }) {
      const ended = held.get(deliveryId);
      if (ended !== undefined) {
        throw new Violation(NAME, `${deliveryId} was sent after it was acknowledged as ${ended.status}`);
      }
    },
  };
}
