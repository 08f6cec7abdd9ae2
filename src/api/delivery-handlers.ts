import { openResponse } from '#src/commands/attempt-response.ts';
import { type Commands, requireFound } from '#src/commands/command.ts';
import { cancelDelivery, replayDelivery } from '#src/commands/deliveries.ts';
import { listRecentAttempts } from './attempt-list.ts';
import { listDeliveries } from './delivery-list.ts';
import { type HandlerSettings, type Handlers, json } from './handler.ts';
import { answerSmallPage, readPage } from './lists.ts';
import { presentAttempt, presentResponse } from './present.ts';

export function deliveryHandlers(commands: Commands, { showDelivery }: HandlerSettings) {
  const { store, pause } = commands;

  return {
    listDeliveries: (call) => listDeliveries(commands, call, showDelivery),

    getDelivery: async (call) => {
      const id = call.id('dlv');
      const delivery = requireFound(await store.findDelivery(call.tenant.partition, id), id);
      return json(200, showDelivery(delivery, call.tenant.mode));
    },

    replayDelivery: (call) =>
      call.once((keep) =>
        replayDelivery(
          commands,
          call.tenant.partition,
          call.id('dlv'),
          (delivery) => json(201, showDelivery(delivery, call.tenant.mode)),
          keep,
          () => call.fields(),
        ),
      ),

    cancelDelivery: (call) =>
      cancelDelivery(
        commands,
        call.tenant.partition,
        call.id('dlv'),
        (delivery) => json(200, showDelivery(delivery, call.tenant.mode)),
        () => call.fields(),
      ),

    listAttempts: async (call) => {
      const id = call.id('dlv');
      requireFound(await store.findDelivery(call.tenant.partition, id), id);
      const page = readPage(call.query, call.tenant.partition, `attempts of ${id}`, 'attempt_no');
      return call.answer((bytesMax) =>
        answerSmallPage(
          { ...page, bytesMax },
          (after, limit) => store.listAttempts(call.tenant.partition, id, after ?? 0, limit),
          (attempt) => ({ position: attempt.attemptNo, resource: presentAttempt(attempt) }),
          (length) => pause(call.tenant.partition, length),
        ),
      );
    },

    getAttemptResponse: (call) =>
      call.answer(async () =>
        json(
          200,
          presentResponse(
            await openResponse(commands, call.tenant.partition, call.id('dlv'), call.attemptNo),
          ),
        ),
      ),

    listRecentAttempts: (call) => listRecentAttempts(commands, call),
  } satisfies Handlers;
}
