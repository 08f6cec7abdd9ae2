/** The handlers of all operations. */
import type { Commands } from '#src/commands/command.ts';
import type { RollingUpgrade } from '#src/commands/rolling-upgrade.ts';
import type { Delivery } from '#src/domain/delivery.ts';
import type { Mode } from '#src/domain/project.ts';
import type { OperationId } from './contract/operations.ts';
import { deliveryHandlers } from './delivery-handlers.ts';
import { endpointHandlers } from './endpoint-handlers.ts';
import type { EditGuard, Handler } from './handler.ts';
import { presentDelivery } from './present.ts';
import { scheduleHandlers } from './schedule-handlers.ts';

export interface HandlerOptions {
  readonly httpAllowed: boolean;
  readonly upgrade: Pick<RollingUpgrade, 'requireSince'>;
  /** Presents a delivery, by default as customers see it. */
  readonly showDelivery?: (delivery: Delivery, mode: Mode) => object;
  /** True when URLs are searched in the form that viewers see. They could guess a query one character at a time. */
  readonly hidesQueries?: boolean;
  readonly guard?: EditGuard;
}

/** A call that uses what older versions of the program do not know waits until no node has one. */
export function handlers(
  commands: Commands,
  { httpAllowed, upgrade, showDelivery = presentDelivery, hidesQueries = false, guard }: HandlerOptions,
): Readonly<Record<OperationId, Handler>> {
  const settings = { httpAllowed, guard, showDelivery, hidesQueries };
  const all: Readonly<Record<OperationId, Handler>> = {
    ...scheduleHandlers(commands, settings),
    ...endpointHandlers(commands, settings),
    ...deliveryHandlers(commands, settings),
  };
  const gated = Object.entries(all).map(([id, handle]): [string, Handler] => [
    id,
    (call) => {
      const { since } = call;
      return since === null ? handle(call) : upgrade.requireSince(since).then(() => handle(call));
    },
  ]);
  return Object.fromEntries(gated) as Readonly<Record<OperationId, Handler>>;
}
